"""Decisions of recorded runs become cases: what was shown, what was asked, what was called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.documents import dump_yaml
from harness.errors import NothingToRunError
from harness.evaluate.arms import request_of
from harness.evaluate.dataset_problems import check_against
from harness.formats import read_foreign
from harness.runner import RunOptions, RunSpec, execute
from harness.scenarios import load_scenario, scenario
from harness.scenarios.evaluation_lifted import lift_evaluation
from harness.scenarios.evaluation_loading import evaluation, parse_evaluation
from harness.scenarios.evaluation_turns import Decisions
from harness.tools.snapshot import snapshot_of
from harness.types.evaluation import EvalTool, Evaluation
from harness.types.events import Trajectory
from harness.types.exchange import ModelRequest
from tests.conftest import REPO

SHARED = REPO.parent / "shared" / "data"
ADD = {"calculator": {"expression": "1+2"}}
TWO_TURNS: dict[str, Any] = {
    "id": "sums",
    "system": "You compute.",
    "tasks": ["What is 1+2?", "And twice that?"],
    "tools": {"use": ["calculator", "get_weather"]},
    "script": [{"call": ADD}, {"say": "3"}, {"calls": [{"calculator": {"expression": "2*3"}}, {"get_weather": {"city": "Oslo"}}]}, {"say": "6"}],
}


def run_of(**fields: Any) -> Trajectory:
    return execute(RunSpec(scenario(**fields), RunOptions())).trajectory


def lifted(*runs: Trajectory, decisions: Decisions = Decisions.FIRST) -> dict[str, Any]:
    return lift_evaluation(runs, decisions).document


def test_each_user_turn_is_a_case_with_the_conversation_before_it() -> None:
    document = lifted(run_of(**TWO_TURNS))
    assert document["system"] == "You compute."
    assert [tool["name"] for tool in document["tools"]["schemas"]] == ["calculator", "get_weather"]
    assert document["cases"] == [
        {"id": "sums-1", "ask": "What is 1+2?", "expect": ADD, "group": "sums"},
        {
            "id": "sums-2", "ask": "And twice that?", "group": "sums",
            "expect": [{"calculator": {"expression": "2*3"}}, {"get_weather": {"city": "Oslo"}}],
            "history": [{"user": "What is 1+2?"}, {"calls": [ADD]}, {"tool": "3"}, {"assistant": "3"}],
        },
    ]  # fmt: skip


def test_every_decision_may_be_a_case_also_behind_tool_results() -> None:
    cases = lifted(run_of(**TWO_TURNS), decisions=Decisions.EVERY)["cases"]
    assert [(case.get("ask"), case["expect"] if isinstance(case["expect"], str) else "calls") for case in cases] == [
        ("What is 1+2?", "calls"), (None, "no_call"), ("And twice that?", "calls"), (None, "no_call"),
    ]  # fmt: skip
    assert cases[1]["history"] == [{"user": "What is 1+2?"}, {"calls": [ADD]}, {"tool": "3"}]


def test_a_whole_turn_is_a_case_with_stubs_of_what_came_back() -> None:
    fields = {**TWO_TURNS, "tasks": ["What is (1+2)*2?"], "script": [{"call": ADD}, {"call": {"calculator": {"expression": "3*2"}}}, {"say": "6"}]}
    document = lifted(run_of(**fields), decisions=Decisions.TURN)
    assert document["cases"] == [{"id": "sums-1", "ask": "What is (1+2)*2?", "expect": {"in-order": [ADD, {"calculator": {"expression": "3*2"}}]}}]
    assert document["stubs"] == {"calculator": {"cases": [{"when": {"expression": "1+2"}, "returns": "3"}, {"when": {"expression": "3*2"}, "returns": "6"}]}}


def test_a_case_asks_the_model_exactly_what_the_run_asked() -> None:
    run = run_of(**TWO_TURNS)
    value = evaluation(**lifted(run, decisions=Decisions.EVERY))
    tools = [EvalTool(tool.name, tool.description, tool.parameters) for tool in run.header.tools]
    requests = [event.fact for event in run.events if isinstance(event.fact, ModelRequest)]
    asked = [request_of(value, value.arms[0], case, snapshot_of(tools)) for case in value.cases]
    assert [[(message.role, message.content) for message in call.messages] for call in asked] == [
        [(message.role, message.content) for message in request.messages] for request in requests
    ]
    assert len(asked) == 4


def test_what_was_asked_before_is_one_case_and_another_decision_is_told() -> None:
    other = {**TWO_TURNS, "tasks": ["What is 1+2?"], "script": [{"say": "3"}]}
    found = lift_evaluation([run_of(**TWO_TURNS), run_of(**TWO_TURNS), run_of(**other)])
    assert [case["id"] for case in found.document["cases"]] == ["sums-1", "sums-2"]
    assert found.document["cases"][0]["expect"] == ADD
    assert found.lost == ("a question was decided in different ways; what is expected is the first of them",)


def test_system_prompts_that_differ_stand_with_their_cases() -> None:
    other = {**TWO_TURNS, "id": "other", "system": "You add."}
    document = lifted(run_of(**TWO_TURNS), run_of(**other))
    assert "system" not in document
    assert [case["system"] for case in document["cases"]] == ["You compute.", "You compute.", "You add.", "You add."]


def test_asking_the_user_is_recognised() -> None:
    tool = {"type": "object", "properties": {"question": {"type": "string"}}}
    fields = {**TWO_TURNS, "tasks": ["Refund it"], "tools": {"stub": {"ask_user": {"returns": "7"}}, "schemas": {"ask_user": tool}}, "script": [{"call": {"ask_user": {"question": "Which?"}}}, {"say": "x"}]}
    assert [case["expect"] for case in lifted(run_of(**fields))["cases"]] == ["ask_user"]


def test_arguments_that_read_like_matchers_are_taken_as_they_are() -> None:
    fields = {**TWO_TURNS, "tasks": ["x"], "script": [{"call": {"calculator": {"expression": {"$any": True}}}}, {"say": "x"}]}
    (case,) = lifted(run_of(**fields))["cases"]
    assert case["expect"] == {"calculator": {"expression": {"$equal": {"$any": True}}}}


def test_arguments_that_are_no_json_are_left_out_and_told() -> None:
    fields = {**TWO_TURNS, "script": [{"call": {"calculator": "{bad"}}, {"say": "x"}, {"say": "y"}]}
    found = lift_evaluation([run_of(**fields)])
    assert [case["expect"] for case in found.document["cases"]] == ["no_call"]
    assert found.lost == ("decisions left out: the arguments of a call were no JSON object",)


def test_runs_without_decisions_or_tools_are_refused() -> None:
    with pytest.raises(NothingToRunError, match="there are no runs"):
        lift_evaluation([])
    with pytest.raises(NothingToRunError, match="offered no tools"):
        lift_evaluation([run_of(**{**TWO_TURNS, "tools": [], "tasks": ["x"], "script": [{"say": "y"}]})])


SHIPPED = [path for family in ("articles", "damage", "inbox", "streaming") for path in sorted((REPO / "scenarios" / family).glob("*.yaml"))]


@pytest.mark.parametrize("decisions", Decisions)
def test_runs_of_the_shipped_scenarios_become_an_evaluation_that_fits_its_tools(decisions: Decisions) -> None:
    runs = [execute(RunSpec(load_scenario(path), RunOptions())).trajectory for path in SHIPPED[::3]]
    value = loaded(lifted(*[run for run in runs if run.header.tools], decisions=decisions))
    assert len(value.cases) > 5
    assert [problem for problem in check_against(value, tools_of(value)) if "ask_user" not in str(problem) and problem.is_fatal] == []


def loaded(document: dict[str, Any]) -> Evaluation:
    return parse_evaluation(dump_yaml(document), "x.yaml")


def tools_of(value: Evaluation) -> Any:
    import json

    (source,) = value.sources
    return snapshot_of(EvalTool(tool["name"], tool["description"], json.dumps(tool["parameters"])) for tool in json.loads(source.inline or "[]"))  # type: ignore[arg-type]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data is not here")
def test_trajectories_of_another_product_become_cases() -> None:
    (path, *_) = sorted((SHARED / "tau-bench").rglob("*.json*"))
    document = lifted(*list(read_foreign(Path(path), None))[:3])
    small = {**document, "cases": document["cases"][:20]}
    value = loaded(small)
    assert len(value.cases) == 20
    assert check_against(value, tools_of(value)) == ()
