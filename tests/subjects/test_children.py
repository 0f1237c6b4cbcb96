"""Agents that call agents: paths, ids, limits of their own, a parent's cancel at every event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import ScenarioError
from harness.testing import RunResult, scenario
from harness.types.agents import MAX_DEPTH
from harness.types.codes import CancelBy, Code, Outcome, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolEnd, ToolResult
from harness.types.jsontext import parse_json
from harness.types.lifecycle import RunEnd, RunStart, TurnEnd
from harness.types.reasons import Cancelled

FAMILY = "scenarios/children"


def shipped(repo: Path, name: str) -> Any:
    return scenario(repo / FAMILY / f"{name}.yaml")


def failed(run: RunResult) -> list[str]:
    return [verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.FAIL]


def call_ids(trajectory: Trajectory) -> list[str]:
    return [call.id for e in trajectory.events if isinstance(e.fact, AssistantMessage) for call in e.fact.tool_calls]


@pytest.mark.article("21")
def test_only_the_main_agent_begins_and_ends_the_run_and_no_call_id_comes_twice(repo: Path) -> None:
    trajectory = shipped(repo, "two-in-parallel").run().trajectory
    assert [e.agent for e in trajectory.events if isinstance(e.fact, RunStart | RunEnd)] == ["", ""]
    assert {e.agent for e in trajectory.events} == {"", "call_1_0", "call_1_1"}
    ids = call_ids(trajectory)
    assert len(ids) == len(set(ids)) == 4


@pytest.mark.article("21")
def test_paths_of_nested_children_join(repo: Path) -> None:
    trajectory = shipped(repo, "a-child-of-a-child").run().trajectory
    agents = list(dict.fromkeys(e.agent for e in trajectory.events))
    assert agents == ["", "call_1_0", "call_1_0/1.1.0"]


@pytest.mark.article("26")
def test_a_tool_that_is_not_visible_is_not_offered_and_is_unknown(repo: Path) -> None:
    fields = {
        "task": "x",
        "tools": {"use": ["calculator", "list_files"], "visible": ["list_files"]},
        "script": [{"call": {"calculator": {"expression": "1"}}}, {"say": "ok"}],
    }
    run = scenario(**fields).run()  # type: ignore[arg-type]
    (header,) = [e.fact for e in run.trajectory.events if isinstance(e.fact, RequestHeader)]
    tools: Any = parse_json(header.tools)
    assert [tool["name"] for tool in tools] == ["list_files"]
    assert [e.fact.code for e in run.trajectory.events if isinstance(e.fact, ToolResult)] == [Code.UNKNOWN_TOOL]
    assert failed(run) == []


@pytest.mark.conformance("88")
def test_a_parents_cancel_ends_the_child_by_its_parent_and_before_it(repo: Path) -> None:
    trajectory = shipped(repo, "cancelled-while-a-child-works").run().trajectory
    ends = [(e.agent, e.fact.reason) for e in trajectory.events if isinstance(e.fact, TurnEnd)]
    assert [(agent, reason.by) for agent, reason in ends if isinstance(reason, Cancelled)] == [
        ("call_1_0", CancelBy.PARENT),
        ("", CancelBy.USER),
    ]
    bodies = [e.agent for e in trajectory.events if isinstance(e.fact, ToolEnd)]
    assert bodies == ["call_1_0", ""], "the child's body settles before the call that the child is"


@pytest.mark.conformance("63", "64", "65", "76", "88")
@pytest.mark.parametrize("name", ["two-in-parallel", "a-child-of-a-child", "cancelled-while-a-child-works"])
def test_a_cancel_at_every_event_of_a_family_leaves_nothing_at_work(repo: Path, name: str) -> None:
    sweep = shipped(repo, name).sweep(None, "cancel", "tool-error", "model-error", "throw")
    assert sweep.clean, sweep.strip


def test_agents_call_each_other_only_so_deep() -> None:
    again = {"call": {"again": {"task": "on"}}}
    fields: dict[str, Any] = {
        "task": "x",
        "agents": {"again": {"description": "Calls itself.", "tools": ["again"]}},
        "script": [again, {"say": "done"}],
        "models": {"child:again": {"script": [again] * MAX_DEPTH + [{"say": "up"}] * MAX_DEPTH}},
    }
    run = scenario(**fields).run()
    errors = [e.fact.message for e in run.trajectory.events if isinstance(e.fact, ToolResult) and e.fact.is_error]
    assert (run.status, len(errors)) == (Status.COMPLETED, 1)
    assert f"{MAX_DEPTH} deep" in str(errors[0])
    assert failed(run) == []


def test_a_child_without_a_model_of_its_own_is_answered_by_the_main_one() -> None:
    fields: dict[str, Any] = {
        "task": "x",
        "agents": {"other": {"description": "Another."}},
        "script": [{"call": {"other": {"task": "y"}}}, {"say": "from the child"}, {"say": "from the parent"}],
    }
    run = scenario(**fields).run()
    said = [(e.agent, e.fact.content) for e in run.trajectory.events if isinstance(e.fact, AssistantMessage)]
    assert said[1:] == [("call_1_0", "from the child"), ("", "from the parent")]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"agents": {"a": {"description": "A.", "tools": ["b"]}}}, "may use b, which the scenario does not have", id="unknown-tool"),
        pytest.param({"tools": ["calculator"], "agents": {"calculator": {"description": "A."}}}, "more than one", id="clash"),
        pytest.param({"tools": {"use": ["calculator"], "visible": ["b"]}}, "visible: there is no tool 'b'", id="unknown-visible"),
    ],
)  # fmt: skip
def test_agents_that_cannot_be_are_refused_before_anything_runs(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        scenario(task="x", script=[{"say": "x"}], **fields).run()
