"""The tools of a scenario: by name, from the user's registry, and stubbed."""

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError, UnknownNameError
from harness.tools import FACTORIES, FunctionTool, Registry, build_tools
from harness.types.codes import Code, Effect, Isolation, Mode
from harness.types.messages import JsonText
from harness.types.scenario import Stub, ToolsSpec
from tests.tools.lab import Lab, in_lab, made, reply_of


def lookup_order(id: int) -> dict[str, Any]:  # noqa: A002
    """Look an order up."""
    raise AssertionError("the body of a stubbed tool runs")


def refund(order: int) -> str:
    """Refund an order."""
    return f"refunded {order}"


SCHEMA = {
    "type": "function",
    "function": {
        "name": "refund",
        "description": "Pay back.",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}, "required": ["order"]},
    },
}


def tools_of(spec: ToolsSpec, found: Any, folder: Path) -> dict[str, Any]:
    names: list[str] = []

    def resolve(name: str) -> Any:
        names.append(name)
        return found

    tools = build_tools(spec, resolve=resolve, workspace=folder)
    assert names == ([spec.source] if spec.source else [])
    assert [tool.name for tool in tools] == sorted(tool.name for tool in tools)
    return {tool.name: tool for tool in tools}


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(Registry(FunctionTool(refund), FunctionTool(lookup_order)), id="registry"),
        pytest.param([refund, lookup_order], id="functions"),
        pytest.param((made(refund), lookup_order), id="tools-and-functions"),
        pytest.param({"refund": refund, "lookup_order": lookup_order}, id="by-name"),
        pytest.param({"refund": made(refund), "lookup_order": lookup_order}, id="tools-by-name"),
        pytest.param([(SCHEMA, refund), lookup_order], id="provider-schema"),
        pytest.param([(SCHEMA["function"], refund), lookup_order], id="bare-schema"),
    ],
)
def test_a_users_registry_may_have_any_of_these_shapes(found: Any, tmp_path: Path) -> None:
    tools = tools_of(ToolsSpec(source="myapp:registry"), found, tmp_path)
    assert sorted(tools) == ["lookup_order", "refund"]
    assert reply_of(tools["refund"], '{"order":7}').content == "refunded 7"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        pytest.param(refund, "function", id="one-function"),
        pytest.param([7], "7", id="number"),
        pytest.param([({}, refund)], "without a name", id="schema-without-name"),
        pytest.param({"other": made(refund)}, "'refund' stands under the name 'other'", id="two-names"),
        pytest.param([refund, refund], "twice", id="twice"),
    ],
)
def test_any_other_registry_is_refused(found: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=words):
        tools_of(ToolsSpec(source="myapp:registry"), found, tmp_path)


def test_an_unknown_tool_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError) as caught:
        tools_of(ToolsSpec(use=("calculater",)), None, tmp_path)
    assert [name for name in ("calculater", *FACTORIES) if name not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"use": ("calculator", "calculator")}, "twice", id="used-twice"),
        pytest.param({"options": (("calculator", JsonText("{}")),)}, "calculator", id="options-of-nothing"),
        pytest.param({"schemas": (("x", JsonText("{}")),)}, "no stubs", id="schema-of-nothing"),
    ],
)
def test_a_specification_that_contradicts_itself_is_refused(fields: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=words):
        tools_of(ToolsSpec(**fields), None, tmp_path)


def test_every_tool_that_can_be_named_has_a_description_and_a_closed_schema(tmp_path: Path) -> None:
    tools = tools_of(ToolsSpec(use=tuple(FACTORIES)), None, tmp_path)
    assert sorted(tools) == sorted(FACTORIES)
    for tool in tools.values():
        assert tool.description
        assert json.loads(tool.parameters)["additionalProperties"] is False


# ---------------------------------------------------------------- stubs


def stubbed(stub: Stub, folder: Path) -> Any:
    spec = ToolsSpec(source="myapp:registry", stubs=(("lookup_order", stub),))
    return tools_of(spec, [lookup_order, refund], folder)["lookup_order"]


def test_a_stub_keeps_schema_description_and_checks_of_its_tool_and_never_runs_it(tmp_path: Path) -> None:
    tool, original = stubbed(Stub(returns=JsonText('{"id":7,"total":19.9}')), tmp_path), made(lookup_order)
    assert (tool.parameters, tool.description) == (original.parameters, original.description)
    assert reply_of(tool, '{"id":7}').content == '{"id":7,"total":19.9}'
    assert reply_of(tool, '{"id":"7"}').code is Code.INVALID_ARGS


def test_a_stub_keeps_the_effect_of_its_tool_but_runs_inline(tmp_path: Path) -> None:
    original = made(refund, effect=Effect.READ, idempotent=True, isolation=Isolation.THREAD)
    spec = ToolsSpec(source="a:b", stubs=(("refund", Stub(returns=JsonText("1"))),))
    tool = tools_of(spec, [original], tmp_path)["refund"]
    assert (tool.effect, tool.idempotent, tool.isolation) == (Effect.READ, True, Isolation.INLINE)


def test_a_sequence_gives_one_value_a_call_and_then_an_error(tmp_path: Path) -> None:
    tool = stubbed(Stub(sequence=(JsonText('"a"'), JsonText("null"))), tmp_path)
    replies = [reply_of(tool, '{"id":7}') for _ in range(3)]
    assert [reply.code for reply in replies] == [None, Code.EMPTY, Code.TOOL_FAILED]
    assert "has 2 results and was called 3 times" in str(replies[2].content)


CASES = (
    (JsonText('{"id":1}'), JsonText('"one"')),
    (JsonText('{"id":2,"more":{"deep":[1]}}'), JsonText('"deep"')),
    (JsonText('{"id":2}'), JsonText('"two"')),
)


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ('{"id":1}', "one"),
        ('{"id":1,"more":2}', "one"),
        ('{"id":2,"more":{"deep":[1]}}', "deep"),
        ('{"id":2,"more":{"deep":[2]}}', "two"),
        ('{"id":2}', "two"),
    ],
)
def test_the_first_case_that_the_arguments_hold_answers(arguments: str, content: str, tmp_path: Path) -> None:
    spec = ToolsSpec(stubs=(("find", Stub(cases=CASES)),))
    assert reply_of(tools_of(spec, None, tmp_path)["find"], arguments).content == content


@pytest.mark.parametrize("arguments", ['{"id":true}', '{"id":"1"}', '{"id":3}', "{}"])
def test_arguments_that_no_case_holds_are_an_error_that_lists_the_cases(arguments: str, tmp_path: Path) -> None:
    spec = ToolsSpec(stubs=(("find", Stub(cases=CASES)),))
    reply = reply_of(tools_of(spec, None, tmp_path)["find"], arguments)
    assert reply.is_error
    assert '{"id":1}' in str(reply.content)


@pytest.mark.parametrize(
    ("code", "seen"),
    [(None, Code.TOOL_FAILED), ("PERMISSION_DENIED", Code.PERMISSION_DENIED), ("TOOL_TIMEOUT", Code.TOOL_TIMEOUT)],
)
def test_a_stub_raises_with_the_code_that_it_says(code: str | None, seen: Code, tmp_path: Path) -> None:
    reply = reply_of(stubbed(Stub(raises="no access", code=code), tmp_path), '{"id":7}')
    assert (reply.code, reply.is_error) == (seen, True)
    assert "no access" in str(reply.content)


def test_a_delay_passes_on_the_runs_clock_and_can_be_cancelled(tmp_path: Path) -> None:
    tool = stubbed(Stub(returns=JsonText("1"), delay_ms=3_600_000), tmp_path)

    async def main(lab: Lab) -> Any:
        await lab.call("lookup_order", '{"id":7}')
        waited_ms = lab.clock.now_ms()
        task = asyncio.create_task(lab.call("lookup_order", '{"id":7}'))
        await lab.clock.sleep_ms(5)
        task.cancel()
        await asyncio.wait([task])
        return waited_ms, lab.clock.now_ms() - waited_ms, lab.ends()[1]

    assert in_lab([tool], main) == (3_600_000, 5, (2, "cancelled", None))


def test_the_first_bodies_have_delays_of_their_own_where_they_are_given(tmp_path: Path) -> None:
    tool = stubbed(Stub(returns=JsonText("1"), delay_ms=7, delays_ms=(30, 0)), tmp_path)

    async def main(lab: Lab) -> Any:
        times = [lab.clock.now_ms()]
        for _ in range(4):
            await lab.call("lookup_order", '{"id":7}')
            times.append(lab.clock.now_ms())
        return [later - earlier for earlier, later in itertools.pairwise(times)]

    assert in_lab([tool], main) == [30, 0, 7, 7]


def test_what_a_stub_says_of_itself_goes_before_what_its_tool_says(tmp_path: Path) -> None:
    stub = Stub(returns=JsonText("1"), description="Look.", mode=Mode.EXCLUSIVE, effect=Effect.READ)
    tool, original = stubbed(stub, tmp_path), made(lookup_order)
    assert (tool.description, tool.mode, tool.effect) == ("Look.", Mode.EXCLUSIVE, Effect.READ)
    assert tool.parameters == original.parameters
    alone = tools_of(ToolsSpec(stubs=(("find", stub),)), None, tmp_path)["find"]
    assert (alone.description, alone.mode, alone.effect) == ("Look.", Mode.EXCLUSIVE, Effect.READ)


def test_a_stub_of_nothing_known_takes_any_object_or_what_its_schema_says(tmp_path: Path) -> None:
    schema = JsonText('{"type":"object","description":"Find.","properties":{"q":{"type":"string"}},"required":["q"]}')
    spec = ToolsSpec(
        stubs=(("free", Stub(returns=JsonText("1"))), ("find", Stub(returns=JsonText("1")))),
        schemas=(("find", schema),),
    )
    tools = tools_of(spec, None, tmp_path)
    assert reply_of(tools["free"], '{"anything":[1]}').content == "1"
    assert tools["find"].description == "Find."
    assert reply_of(tools["find"], "{}").code is Code.INVALID_ARGS


def test_a_built_in_tool_can_be_stubbed(tmp_path: Path) -> None:
    spec = ToolsSpec(use=("calculator",), stubs=(("calculator", Stub(returns=JsonText("41"))),))
    assert reply_of(tools_of(spec, None, tmp_path)["calculator"], '{"expression":"6*7"}').content == "41"


def test_a_stub_of_a_name_that_the_registry_does_not_have_is_refused_with_its_names(tmp_path: Path) -> None:
    spec = ToolsSpec(source="myapp:registry", stubs=(("lookup", Stub(returns=JsonText("1"))),))
    with pytest.raises(UnknownNameError, match=r"'lookup'.*lookup_order, refund"):
        tools_of(spec, [lookup_order, refund], tmp_path)


@pytest.mark.parametrize(
    ("stub", "words"),
    [
        pytest.param(Stub(), "exactly one", id="says-nothing"),
        pytest.param(Stub(returns=JsonText("1"), raises="x"), "exactly one", id="says-two-things"),
        pytest.param(Stub(returns=JsonText("1"), code="TOOL_FAILED"), "raises", id="code-without-raises"),
        pytest.param(Stub(raises="x", code="NONSENSE"), "NONSENSE", id="unknown-code"),
        pytest.param(Stub(raises="x", code="UNKNOWN_TOOL"), "UNKNOWN_TOOL", id="code-of-the-harness"),
        pytest.param(Stub(returns=JsonText("1"), delay_ms=-1), "delay_ms", id="negative-delay"),
        pytest.param(Stub(returns=JsonText("1"), delays_ms=(1, -1)), "delay", id="negative-delay-of-one-body"),
    ],
)
def test_a_stub_that_makes_no_sense_is_refused(stub: Stub, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=words):
        stubbed(stub, tmp_path)
