"""The host's rules for tools in the loop: failures that end the run, results in model order, one result a call."""

from typing import Any

import pytest

from harness.folds import calls_of
from harness.types.codes import Status
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.lifecycle import RunEnd
from tests.loop.lab import codes, play, results, starts

FAIL_RUN = {"tools": {"probe_throwing": {"failure": {"then": "fail-run"}}}}


@pytest.mark.article("20")
@pytest.mark.conformance("56")
def test_a_failure_that_ends_the_run_awaits_what_runs_and_starts_nothing_more() -> None:
    run = play(
        [{"call": {"probe_slow": {}, "probe_throwing": {}, "calculator": {"expression": "1 + 1"}}}, {"say": "never"}],
        tools=["probe_slow", "probe_throwing", "calculator"],
        limits={"parallel_tools": 2},
        tool_policy=FAIL_RUN,
        expect={"status": "failed"},
    )
    assert run.status is Status.FAILED
    assert starts(run) == ["probe_slow", "probe_throwing"]
    assert codes(run) == [None, "TOOL_FAILED", "ABORTED_BEFORE_DISPATCH"]
    (end,) = [event.fact for event in run.trajectory if isinstance(event.fact, RunEnd)]
    assert "broken on purpose" in str(end.reason)
    assert run.findings == ()


@pytest.mark.conformance("56")
def test_a_cancel_still_reaches_what_a_failed_run_waits_for() -> None:
    run = play(
        [{"call": {"probe_slow": {}, "probe_throwing": {}}}],
        tools={"use": ["probe_slow", "probe_throwing"], "options": {"probe_slow": {"ms": 500_000}}},
        tool_policy=FAIL_RUN,
        inject=[{"at": {"kind": "tool/end", "when": {"after_ms": 5}}, "do": "cancel"}],
    )
    assert (run.status, codes(run)) == (Status.CANCELLED, ["ABORTED", "TOOL_FAILED"])
    assert run.findings == ()


@pytest.mark.article("20")
@pytest.mark.public_case("PB-027")
def test_each_attempt_is_an_event_and_the_call_has_one_result() -> None:
    run = play(
        [{"call": "probe_flaky"}, {"say": "done"}],
        tools={"use": ["probe_flaky"], "options": {"probe_flaky": {"n_failures": 2}}},
        tool_policy={"failure": {"retries": 2}},
    )
    attempts = [event.fact.attempt for event in run.trajectory if isinstance(event.fact, ToolStart)]
    assert (attempts, results(run)) == ([1, 2, 3], [("probe_flaky", None, "data")])
    assert run.findings == ()


@pytest.mark.conformance("50")
@pytest.mark.public_case("PB-021")
@pytest.mark.parametrize("order", [(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)])
def test_results_are_committed_in_call_order_whatever_finishes_first(order: tuple[int, ...]) -> None:
    delays: dict[str, Any] = {f"t{n}": {"returns": f"r{n}", "delay_ms": 10 * order[n - 1]} for n in (1, 2, 3)}
    tools = {"stub": delays, "schemas": {name: {"type": "object"} for name in delays}}
    run = play([{"call": {name: {} for name in delays}}, {"say": "ok"}], tools=tools)
    assert [content for _, _, content in results(run)] == ["r1", "r2", "r3"]
    by_start = {trace.start.seq: trace.call.name for trace in calls_of(run.trajectory) if trace.start}
    ended = [by_start[event.fact.start] for event in run.trajectory if isinstance(event.fact, ToolEnd)]
    assert ended == [f"t{order.index(place) + 1}" for place in (1, 2, 3)]
