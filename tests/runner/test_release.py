"""`release`: bodies are seen to end in the order that the scenario lists, failures too, and nothing else changes."""

from __future__ import annotations

from typing import Any

import pytest

from harness.testing import RunResult, scenario
from harness.types.codes import CancelBy, Outcome, Status
from harness.types.exchange import ToolEnd, ToolResult, ToolStart

CALLS = [{"name": "ten", "arguments": {}, "id": "c10"}, {"name": "twenty", "arguments": {}, "id": "c20"}]
TWO = [{"calls": CALLS}, {"say": "done"}]
SCHEMAS = {"ten": {"type": "object"}, "twenty": {"type": "object"}}
TOOLS = {"stub": {"ten": {"returns": 1, "delay_ms": 10}, "twenty": {"returns": 2, "delay_ms": 20}}, "schemas": SCHEMAS}


def ran(release: list[str], **fields: Any) -> RunResult:
    return scenario(**{"task": "go", "tools": TOOLS, "script": TWO, "release": release, **fields}).run()


def ends(run: RunResult) -> list[str | None]:
    starts = {e.seq: e.fact.call_id for e in run.trajectory.events if isinstance(e.fact, ToolStart)}
    return [starts[e.fact.start] for e in run.trajectory.events if isinstance(e.fact, ToolEnd)]


@pytest.mark.conformance("49", "50")
@pytest.mark.parametrize("order", [["c10", "c20"], ["c20", "c10"]])
def test_bodies_end_in_the_order_listed_and_results_stay_in_model_order(order: list[str]) -> None:
    run = ran(order)
    assert (ends(run), run.status, run.outcome) == (order, Status.COMPLETED, Outcome.PASS)
    results = [e.fact.call_id for e in run.trajectory.events if isinstance(e.fact, ToolResult)]
    assert results == ["c10", "c20"]


def test_a_failing_body_is_held_back_like_any_other() -> None:
    tools = {**TOOLS, "stub": {**TOOLS["stub"], "ten": {"raises": "broken"}}}
    assert ends(ran(["c20", "c10"], tools=tools)) == ["c20", "c10"]


def test_a_call_that_never_ends_makes_the_run_invalid_and_is_named() -> None:
    run = ran(["c20", "c99"])
    (verdict,) = [one for one in run.verdicts if one.check == "release"]
    assert (run.outcome, verdict.outcome) == (Outcome.INVALID, Outcome.INVALID)
    assert [finding.message for finding in verdict.findings] == ["no body of call 'c99' ended"]


@pytest.mark.conformance("73")
def test_a_body_that_had_ended_when_the_cancel_found_it_held_back_keeps_its_result() -> None:
    at = {"kind": "tool/start", "call": "c20", "when": {"after_ms": 15}}
    run = ran(["c20", "c10"], inject=[{"at": at, "do": "cancel"}], limits={"grace_ms": 1})
    results = {e.fact.call_id: e.fact for e in run.trajectory.events if isinstance(e.fact, ToolResult)}
    assert run.status is Status.CANCELLED
    assert getattr(run.reason, "by", None) is CancelBy.USER
    assert (results["c10"].is_error, results["c20"].is_error) == (False, True)
