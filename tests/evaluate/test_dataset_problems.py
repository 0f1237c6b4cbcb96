"""What does not fit the tools is listed before anything is asked; what fits is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.evaluate.arms import request_of
from harness.evaluate.dataset_problems import check_against
from harness.scenarios.evaluation_loading import load_evaluation
from harness.tools import skeleton
from harness.types.evaluation import TO_FILL_IN, EvalTool, ToolSnapshot
from harness.types.jsontext import canonical_json
from tests.evaluate.arms_lab import MANY, SHOP, shop, snapshot, tool

DEEP = EvalTool(
    "book", "Books.",
    canonical_json({
        "type": "object", "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "integer"}}}},
        "properties": {"at": {"$ref": "#/$defs/place"}, "days": {"type": "array", "items": {"type": "integer"}}, "class": {"enum": ["a", "b"]}, "max": {"type": "number", "maximum": 9}},
        "required": ["at"],
    }),
)  # fmt: skip
OPEN = EvalTool("open", "Open.", canonical_json({"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": True}))
INNER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
NEST = EvalTool("nest", "Nests.", canonical_json({"type": "object", "$defs": {"in": INNER}, "properties": {"in": {"$ref": "#/$defs/in"}, "list": {"type": "array", "items": INNER}}}))
EMPTY = EvalTool("empty", "No arguments.", canonical_json({"type": "object", "properties": {}}))
TOOLS = snapshot(*SHOP.tools, DEEP, OPEN, EMPTY, NEST)


def problems(tools: ToolSnapshot = TOOLS, distractors: ToolSnapshot | None = MANY, **fields: Any) -> list[str]:
    return [str(problem) for problem in check_against(shop(**fields), tools, distractors)]


def of_case(**case: Any) -> list[str]:
    found = problems(cases=[{"ask": "x", "expect": "no_call", **case}])
    return [text.removeprefix("case 'x', ") for text in found]


@pytest.mark.parametrize(
    "expect",
    [
        pytest.param("no_call", id="no-call"),
        pytest.param("ask_user", id="asking-by-the-tool-that-is-there"),
        pytest.param("get_order", id="any-arguments"),
        pytest.param({"get_order": {"id": 7}}, id="literal"),
        pytest.param({"get_order": {"id": {"$any": True}}}, id="any"),
        pytest.param({"get_order": {"id": {"$near": {"value": 7, "tolerance": 1}}}}, id="near"),
        pytest.param({"book": {"at": {"$subset": {"city": "Oslo"}}}}, id="part-of-a-reference"),
        pytest.param({"book": {"at": {"city": {"$regex": "^O"}, "zip": 7}, "days": [1, {"$any": True}]}}, id="matchers-inside"),
        pytest.param({"book": {"at": {"$any": True}, "class": {"$equal": "a"}}}, id="equal"),
        pytest.param({"open": {"y": 1}}, id="an-open-schema"),
        pytest.param({"empty": {}}, id="no-arguments"),
        pytest.param({"get_order": {"id": {"$one_of": ["7", 7]}}}, id="one-of-them-is-valid"),
        pytest.param({"book": {"at": {"$any": True}, "class": {"$optional": "c"}}}, id="what-may-be-left-out"),
        pytest.param({"any_of": [{"get_order": {"id": 1}}, {"in-order": ["get_order", {"open": {}}]}]}, id="several"),
        pytest.param({"nest": {"in": {"$optional": {"n": 7}}}}, id="what-may-be-left-out-and-requires-inside"),
    ],
)
def test_what_fits_is_not_listed(expect: Any) -> None:
    assert of_case(expect=expect) == []


@pytest.mark.parametrize(
    ("case", "told"),
    [
        pytest.param({"expect": "get_ordr"}, ["expect: no tool 'get_ordr'; did you mean 'get_order'?"], id="unknown-tool"),
        pytest.param({"expect": "no_cal"}, ["expect: no tool 'no_cal'; did you mean 'no_call'?"], id="no-call-misspelt"),
        pytest.param({"expect": {"any_of": ["get_order", ["empty", "emty"]]}}, ["expect: no tool 'emty'; did you mean 'empty'?"], id="unknown-among-several"),
        pytest.param({"never": ["refund"]}, ["never: no tool 'refund'; did you mean 'refund_order'?"], id="never-unknown"),
        pytest.param({"tools": ["get_order", "zzz"]}, ["tools: no tool 'zzz'; there are 'ask_user', 'book', 'empty', 'get_order', 'nest', 'open', 'refund_order', 'send_parcel'"], id="offers-unknown"),
        pytest.param({"expect": {"get_order": {"id": 7, "nr": 7}}}, ["expect.get_order: 'get_order' has no argument 'nr'; there are 'id'"], id="unknown-argument"),
        pytest.param({"expect": {"empty": {"x": 1}}}, ["expect.empty: 'empty' has no argument 'x'; there are none"], id="argument-of-none"),
        pytest.param({"expect": {"get_order": {}}}, ["expect.get_order: leaves out 'id', which 'get_order' requires; give a value, or {$any: true}"], id="required-left-out"),
        pytest.param({"expect": {"get_order": {"id": "7"}}}, ["expect.get_order: id: \"7\" is not of type \"integer\"; no valid call has it"], id="wrong-type"),
        pytest.param({"expect": {"get_order": {"id": {"$equal": "7"}}}}, ["expect.get_order: id: \"7\" is not of type \"integer\"; no valid call has it"], id="equal-of-a-wrong-type"),
        pytest.param({"expect": {"book": {"at": {"city": 7}}}}, ["expect.book: at.city: 7 is not of type \"string\"; no valid call has it"], id="inside-a-reference"),
        pytest.param({"expect": {"book": {"at": {"$subset": {"zip": "x"}}}}}, ["expect.book: at.zip: \"x\" is not of type \"integer\"; no valid call has it"], id="inside-a-subset"),
        pytest.param({"expect": {"book": {"at": {"$any": True}, "days": [1, "b", {"$any": True}]}}}, ["expect.book: days[1]: \"b\" is not of type \"integer\"; no valid call has it"], id="inside-a-list-of-matchers"),
        pytest.param({"expect": {"book": {"at": {"$any": True}, "class": "c"}}}, ["expect.book: class: \"c\" is not one of \"a\" or \"b\"; no valid call has it"], id="not-in-the-enum"),
        pytest.param({"expect": {"book": {"at": {}, "max": 10}}}, ["expect.book: max: 10 is greater than the maximum of 9; no valid call has it"], id="above-the-maximum"),
        pytest.param({"expect": {"get_order": {"id": {"$one_of": ["7", None]}}}}, ["expect.get_order: id: \"7\" is not of type \"integer\"; no valid call has it"], id="one-of-none-that-is-valid"),
        pytest.param({"expect": {"open": {"x": "y"}}}, ["expect.open: x: \"y\" is not of type \"integer\"; no valid call has it"], id="wrong-type-in-an-open-schema"),
        pytest.param({"expect": {"get_order": {"id": {"$optional": 7}}}}, ["expect.get_order: id: 'get_order' requires it, so that no valid call leaves it out; write it without $optional"], id="optional-though-required"),
        pytest.param({"expect": {"get_order": {"id": {"$optional": "7"}}}}, ["expect.get_order: id: 'get_order' requires it, so that no valid call leaves it out; write it without $optional", "expect.get_order: id: \"7\" is not of type \"integer\"; no valid call has it"], id="optional-though-required-and-of-a-wrong-type"),
        pytest.param({"expect": {"nest": {"in": {"$subset": {"n": {"$optional": 7}}}}}}, ["expect.nest: in.n: 'nest' requires it, so that no valid call leaves it out; write it without $optional"], id="optional-though-required-inside"),
        pytest.param({"expect": {"nest": {"list": [{"n": {"$optional": 7}}]}}}, ["expect.nest: list[0].n: 'nest' requires it, so that no valid call leaves it out; write it without $optional"], id="optional-though-required-in-a-list"),
        # What was called before, in a conversation.
        pytest.param({"history": [{"user": "a"}, {"calls": ["get_ordr", {"get_order": {"id": 1}}]}, {"tool": "x"}, {"tool": "y"}]}, ["history: calls a tool that no source has: no tool 'get_ordr'; did you mean 'get_order'?"], id="history-of-an-unknown-tool"),
    ],
)  # fmt: skip
def test_what_no_call_could_be_is_listed_with_its_place(case: dict[str, Any], told: list[str]) -> None:
    assert of_case(**case) == told


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        pytest.param({"descriptions": {"get_ordr": "x"}}, "arms.a.descriptions: no tool 'get_ordr'; did you mean 'get_order'?", id="description"),
        pytest.param({"descriptions": {"get_order.nr": "x"}}, "arms.a.descriptions: tool 'get_order' has no parameter 'nr'; there are 'id'", id="parameter"),
        pytest.param({"descriptions": {"zzz.nr": "x"}}, "arms.a.descriptions: no tool 'zzz'; there are 'ask_user', 'book', 'empty', 'get_order', 'nest', 'open', 'refund_order', 'send_parcel'", id="parameter-of-no-tool"),
        pytest.param({"rename": {"get_ordr": "x"}}, "arms.a.rename: no tool 'get_ordr'; did you mean 'get_order'?", id="rename"),
        pytest.param({"rename": {"get_order": "book"}}, "arms.a.rename: gives a tool the name 'book', which another has; choose another name", id="renamed-to-another"),
        pytest.param({"tool_choice": {"tool": "get"}}, "arms.a.tool_choice: no tool 'get'; there are 'ask_user', 'book', 'empty', 'get_order', 'nest', 'open', 'refund_order', 'send_parcel'", id="choice"),
        pytest.param({"distractors": 7}, "arms.a.distractors: wants 7, and 'distractor_tools' has 6 that are no tools of the evaluation; ask for fewer, or give more", id="distractors"),
    ],
)  # fmt: skip
def test_an_arm_that_does_not_fit_is_listed(fields: dict[str, Any], told: str) -> None:
    assert problems(arms={"a": fields}) == [told]


@pytest.mark.parametrize(
    ("case", "is_fatal"),
    [pytest.param({"expect": "zzz"}, True, id="unknown-tool"), pytest.param({"expect": {"get_order": {"id": "7"}}}, False, id="a-value-that-cannot-be")],
)
def test_what_cannot_be_judged_is_told_from_what_cannot_be_passed(case: dict[str, Any], is_fatal: bool) -> None:
    (problem,) = check_against(shop(cases=[{"ask": "x", **case}]), TOOLS)
    assert problem.is_fatal is is_fatal


def test_what_still_has_to_be_written_is_listed() -> None:
    assert TO_FILL_IN == skeleton.TO_FILL_IN
    assert of_case(ask=f"{TO_FILL_IN}: what a user says", id="x") == [f"ask: begins with '{TO_FILL_IN}'; write what a user would say"]


def test_a_benchmarks_own_rules_judge_its_values() -> None:
    cases = [{"ask": "x", "expect": {"get_order": {"id": "7"}}, "bfcl": {"truth": []}}]
    assert problems(cases=cases, grading="bfcl") == []


def test_stubs_of_unknown_tools_are_listed() -> None:
    assert problems(stubs={"get_ordr": {"returns": 1}}) == ["stubs: no tool 'get_ordr'; did you mean 'get_order'?"]


def test_a_case_that_does_not_offer_what_an_arm_forces_is_listed_once() -> None:
    cases = [{"ask": text, "expect": "no_call", "tools": ["book"]} for text in ("x", "y")]
    told = "case 'x', tools: does not offer 'get_order', which arm 'a' forces"
    assert problems(arms={"a": {"tool_choice": {"tool": "get_order"}}}, cases=cases) == [told]


def test_asking_without_a_way_to_ask_is_listed_once_with_what_to_do() -> None:
    cases = [{"ask": text, "expect": "ask_user"} for text in ("x", "y")]
    (told,) = problems(snapshot(tool("get_order")), cases=cases)
    assert told.startswith("case 'x', expect: nothing says how the model asks the user: no tool is called 'ask_user'")
    assert problems(snapshot(tool("get_order")), cases=cases, ask_user={"field": "status", "value": "ask"}) == []


def test_no_tools_at_all_is_one_problem() -> None:
    assert problems(ToolSnapshot((), "d")) == ["tools: no source has any tool"]


def test_parameters_that_are_no_schema_are_listed() -> None:
    broken = EvalTool("get_order", "x", canonical_json({"type": "objct"}))
    (told,) = problems(snapshot(broken), cases=[{"ask": "x", "expect": {"get_order": {"id": 1}}}])
    assert told.startswith("tools: the parameters of 'get_order' are no JSON Schema")


def test_problems_are_listed_up_to_a_number_and_cost_no_more() -> None:
    value = shop(cases=[{"ask": f"x{n}", "expect": "nothing"} for n in range(100)])
    assert len(check_against(value, SHOP, MANY)) == 50
    assert len(check_against(value, SHOP, MANY, most=7)) == 7


@pytest.mark.parametrize("fields", [{"descriptions": {"get_order.nr": "x"}}, {"rename": {"get_order": "book"}}, {"distractors": 7}], ids=["parameter", "rename", "distractors"])
def test_what_a_request_would_refuse_is_listed(fields: dict[str, Any]) -> None:
    value = shop(arms={"a": fields})
    assert check_against(value, TOOLS, MANY)
    with pytest.raises(Exception, match=r"get_order|renames|distractors"):
        request_of(value, value.arms[0], value.cases[0], TOOLS, MANY)


def test_the_place_of_a_case_is_told() -> None:
    from harness.scenarios.evaluation_loading import parse_evaluation

    value = parse_evaluation("format: harness-evaluation/1\ntools: {schemas: s.yaml}\ncases:\n  - {ask: x, expect: zzz}\n", "x.yaml")
    (problem,) = check_against(value, SHOP)
    assert str(problem).startswith("case 'x' (line 4), expect: no tool 'zzz'")


def test_a_padding_that_calls_an_unknown_tool_is_listed_and_one_of_a_distractor_is_not() -> None:
    padding = [{"user": "a"}, {"calls": ["zip_code", "zzz"]}, {"tool": "x"}, {"tool": "y"}]
    told = "padding: calls a tool that no source has: no tool 'zzz'; there are "
    (problem,) = check_against(shop(padding=padding), TOOLS, MANY)
    assert str(problem).startswith(told)
    assert problem.is_fatal is False


def test_a_case_of_a_file_of_lines_is_placed_in_that_file(tmp_path: Path) -> None:
    tmp_path.joinpath("cases.jsonl").write_text('{"ask": "x", "expect": "no_call"}\n{"ask": "y", "expect": "zzz"}\n', "utf-8")
    tmp_path.joinpath("e.yaml").write_text("format: harness-evaluation/1\ntools: {use: [calculator]}\ncases: [{ask: z, expect: yyy}, {from: cases.jsonl}]\n", "utf-8")
    found = check_against(load_evaluation(tmp_path / "e.yaml"), TOOLS)
    assert [one.place for one in found] == ["case 'z' (line 3)", f"case 'y' ({tmp_path.as_posix()}/cases.jsonl:2)"]
