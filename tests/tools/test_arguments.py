"""Raw arguments: validated objects, or INVALID_ARGS with path, fault and what is allowed."""

import enum
import json
import time
from datetime import date
from typing import Annotated, Any, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.tools import FunctionTool
from harness.types.codes import Code
from harness.types.doors import ToolReply
from harness.types.jsontext import parse_json
from tests.tools.lab import Lab, in_lab, made, reply_of

NUMBER = {"type": "object", "properties": {"r": {"type": "number", "minimum": 0, "maximum": 1}}, "required": ["r"]}


def echo_tool(schema: dict[str, Any]) -> FunctionTool:
    return made(lambda **values: values, name="f", parameters=schema)


def run_one(tool: FunctionTool, arguments: str) -> tuple[ToolReply, list[str], list[Any]]:
    async def main(lab: Lab) -> tuple[ToolReply, list[str], list[Any]]:
        refusal = lab.door.refuse(tool.name, arguments)
        reply = await lab.call(tool.name, arguments)
        assert refusal == (None if lab.started() else reply)
        return reply, lab.started(), lab.arguments()

    result: tuple[ToolReply, list[str], list[Any]] = in_lab([tool], main)
    return result


@pytest.mark.conformance("35", "36")
@pytest.mark.public_case("PB-012", "PB-013")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param('{"r":1}}', ["JSON", "minimum"], id="one-brace-too-many"),
        pytest.param('{"r":NaN}', ["NaN"], id="nan"),
        pytest.param('{"r":-Infinity}', ["-Infinity"], id="infinity"),
        pytest.param('{"r":1e400}', ["1e400"], id="out-of-range"),
        pytest.param('{"r":"NaN"}', ["r", "number"], id="nan-as-text"),
        pytest.param('{"r":0.5,"r":1}', ["duplicate", "r"], id="duplicate-key"),
        pytest.param("[1]", ["array", "object"], id="array"),
        pytest.param('"x"', ["string", "object"], id="string"),
        pytest.param("null", ["null", "object"], id="null"),
        pytest.param("7", ["number", "object"], id="number"),
        pytest.param("true", ["boolean", "object"], id="boolean"),
        pytest.param("{'r': 1}", ["JSON"], id="single-quotes"),
        pytest.param('{"r":2}', ["r:", "2", "maximum", "allowed", '"minimum": 0'], id="above-the-maximum"),
        pytest.param("{}", ['"r"', "required", "allowed properties: r"], id="missing"),
        pytest.param('{"r":' + "[" * 100_000, ["nested deeper"], id="depth"),
        pytest.param('{"r":' + "9" * 5_000 + "}", ["digit"], id="digits"),
        pytest.param("\ufeff{}", ["JSON"], id="byte-order-mark"),
    ],
)
def test_bad_arguments_are_an_error_result_and_no_body_runs(arguments: str, words: list[str]) -> None:
    reply, started, _ = run_one(echo_tool(NUMBER), arguments)
    assert (reply.is_error, reply.code, started) == (True, Code.INVALID_ARGS, [])
    assert [word for word in words if word not in str(reply.content)] == []


@pytest.mark.conformance("37")
@pytest.mark.public_case("PB-011")
@pytest.mark.parametrize("arguments", ["", "  ", "\n\t", "{}", " {} "])
def test_empty_arguments_equal_an_empty_object(arguments: str) -> None:
    reply, started, used = run_one(made(lambda: "up", name="health"), arguments)
    assert (reply.content, started, used) == ("up", ["health"], ["{}"])


@pytest.mark.conformance("37")
@pytest.mark.public_case("PB-011")
def test_empty_arguments_of_a_tool_that_needs_some_are_refused_by_name() -> None:
    reply, started, _ = run_one(
        echo_tool({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}), ""
    )
    assert (reply.code, started) == (Code.INVALID_ARGS, [])
    assert '"id"' in str(reply.content)


@pytest.mark.conformance("36")
@pytest.mark.public_case("PB-032", "PB-014")
@pytest.mark.parametrize(
    ("arguments", "accepted"),
    [
        pytest.param('{"n":true}', False, id="true-is-never-1"),
        pytest.param('{"n":5.5}', False, id="no-whole-number"),
        pytest.param('{"flag":true}', False, id="missing"),
        pytest.param('{"n":1,"code":"020"}', True, id="zeros-are-kept"),
        pytest.param('{"n":"5"}', False, id="text-is-never-5"),
        pytest.param('{"n":1,"flag":"no"}', False, id="no-is-not-false"),
        pytest.param('{"n":1,"flag":0}', False, id="zero-is-not-false"),
        pytest.param('{"n":9007199254740993}', True, id="beyond-2-53"),
        pytest.param('{"n":1,"code":20}', False, id="number-is-not-text"),
    ],
)
@pytest.mark.parametrize("kind", ["hand-written", "derived"])
def test_nothing_is_coerced(arguments: str, accepted: bool, kind: str) -> None:
    def f(n: int, flag: bool = False, code: str = "") -> dict[str, Any]:
        return {"n": n, "flag": flag, "code": code}

    schema = {
        "type": "object",
        "properties": {"n": {"type": "integer"}, "flag": {"type": "boolean"}, "code": {"type": "string"}},
        "required": ["n"],
    }
    reply, started, used = run_one(made(f, parameters=schema if kind == "hand-written" else None), arguments)
    assert (reply.code, bool(started)) == ((None, True) if accepted else (Code.INVALID_ARGS, False))
    if accepted:
        assert json.loads(str(reply.content)) == {"flag": False, "code": "", **json.loads(arguments)}
        assert json.loads(used[0]) == json.loads(arguments)


@pytest.mark.conformance("38")
@pytest.mark.parametrize("kind", ["hand-written", "derived"])
def test_a_property_that_the_function_cannot_take_is_refused_with_those_it_can(kind: str) -> None:
    def f(city: str) -> str:
        return city

    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    tool = made(f, parameters=schema if kind == "hand-written" else None)
    reply, started, _ = run_one(tool, '{"city":"x","unit":"c"}')
    assert (reply.code, started) == (Code.INVALID_ARGS, [])
    assert "unit" in str(reply.content)
    assert "allowed properties: city" in str(reply.content)


@pytest.mark.conformance("38")
def test_a_schema_that_is_silent_about_others_lets_a_function_of_any_keywords_have_them() -> None:
    reply, _, _ = run_one(echo_tool({"type": "object", "properties": {"a": {"type": "string"}}}), '{"b":1}')
    assert reply.content == '{"b":1}'


@pytest.mark.public_case("PB-015")
def test_a_lone_surrogate_in_arguments_is_replaced_for_the_body_and_the_log_alike() -> None:
    def f(t: str) -> str:
        return t.encode("utf-8").hex()  # fails for what nobody can encode

    reply, _, used = run_one(made(f, parameters={"properties": {"t": {}}, "required": ["t"]}), r'{"t":"x\ud83d"}')
    assert (reply.content, used) == ("x\ufffd".encode().hex(), ['{"t":"x\ufffd"}'])


class Unit(enum.Enum):
    C = "c"
    F = "f"


class Place(pydantic.BaseModel):
    city: str


@pytest.mark.article("7")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param('{"unit":"k","day":"2024-01-01","place":{"city":"x"}}', ["unit", '"c"', '"f"'], id="enum"),
        pytest.param('{"unit":"c","day":"soon","place":{"city":"x"}}', ["day"], id="date"),
        pytest.param('{"unit":"c","day":"2024-01-01","place":{"city":1}}', ["place.city", "string"], id="nested"),
        pytest.param(
            '{"unit":"c","day":"2024-01-01","place":{"city":"x"},"many":[1,"2"]}', ["many[1]", "integer"], id="item"
        ),
    ],
)
def test_a_fault_deep_inside_is_told_by_its_path_and_what_is_allowed(arguments: str, words: list[str]) -> None:
    reply, started, _ = run_one(made(typed), arguments)
    assert (reply.code, started) == (Code.INVALID_ARGS, [])
    assert [word for word in words if word not in str(reply.content)] == []


def typed(unit: Unit, day: date, place: Place, many: Annotated[list[int], "numbers"] = []) -> str:  # noqa: B006
    return f"{unit!r} {day!r} {place.city} {many}"


def test_a_typed_function_gets_its_types_and_its_own_defaults() -> None:
    reply, _, _ = run_one(made(typed), '{"unit":"c","day":"2024-01-01","place":{"city":"x"}}')
    assert reply.content == "<Unit.C: 'c'> datetime.date(2024, 1, 1) x []"


def test_a_whole_number_written_as_5_0_is_not_handed_to_an_int_parameter() -> None:
    def f(n: int) -> str:
        return repr(n)

    assert reply_of(made(f), '{"n":5.0}').code is Code.INVALID_ARGS


def test_a_pattern_that_explodes_elsewhere_costs_nothing_here() -> None:
    tool = echo_tool({"properties": {"p": {"type": "string", "pattern": "(a+)+$"}}})
    began = time.process_time()
    assert tool.check({"p": "a" * 5_000 + "!"}) is not None
    assert time.process_time() - began < 1.0


def test_a_huge_value_at_fault_is_shown_in_part() -> None:
    fault = echo_tool({"properties": {"p": {"type": "integer"}}}).check({"p": "x" * 1_000_000})
    assert fault is not None
    assert len(fault) < 1_000


JSONISH = st.text() | st.text(alphabet='{}[]":,0123456789.eE-+ \\nulltrefasNI', max_size=40)


@given(JSONISH)
def test_any_raw_arguments_are_either_used_as_they_are_or_refused(arguments: str) -> None:
    def f(**values: Any) -> Any:
        return values

    reply, started, used = run_one(made(f, parameters={"type": "object"}), arguments)
    if started:
        assert json.loads(used[0]) == (parse_json(arguments) if arguments.strip() else {})
    else:
        assert reply.code is Code.INVALID_ARGS


def test_a_choice_of_words_is_an_enum_in_the_schema() -> None:
    def f(order: Literal["up", "down"], label: Annotated[str, "What to call it."] = "x") -> str:
        return order + label

    assert json.loads(made(f).parameters) == {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "order": {"type": "string", "enum": ["up", "down"]},
            "label": {"type": "string", "default": "x", "description": "What to call it."},
        },
        "required": ["order"],
    }


@pytest.mark.conformance("35")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")], ids=repr)
def test_a_number_that_json_cannot_write_is_refused_where_values_are_checked_directly(number: float) -> None:
    def body(anything: Any, deep: dict[str, Any]) -> None: ...

    tool = FunctionTool(body)
    for arguments in ({"anything": number, "deep": {}}, {"anything": 1.5, "deep": {"a": [{"b": number}]}}):
        fault = tool.check(arguments)
        assert fault is not None
        assert "not lossless JSON" in fault
    assert tool.check({"anything": "NaN", "deep": {"Infinity": "-Infinity"}}) is None
