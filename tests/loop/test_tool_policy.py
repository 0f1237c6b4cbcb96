"""The host's rules for tools in the loop: failures that end the run, results in model order, one result a call."""

from typing import Any

import pytest

from harness.folds import calls_of
from harness.subjects.builtin import BUILT_IN_PROFILE
from harness.types.codes import Status
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.lifecycle import RunEnd
from harness.types.profile_tools import SequentialTool
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


def spans(run: Any) -> list[tuple[str, int, int]]:
    """(name, start, end) of every body, as seqs, in order of their starts."""
    opened = {event.seq: event.fact.name for event in run.trajectory if isinstance(event.fact, ToolStart)}
    ends = {event.fact.start: event.seq for event in run.trajectory if isinstance(event.fact, ToolEnd)}
    return [(name, seq, ends[seq]) for seq, name in opened.items()]


def most_at_once(run: Any) -> int:
    return max(sum(start <= at < end for _, start, end in spans(run)) for _, at, _ in spans(run))


@pytest.mark.conformance("43")
@pytest.mark.parametrize(("cap", "starts_at"), [(1, [0, 10, 20, 30]), (2, [0, 0, 10, 20]), (3, [0, 0, 0, 10])])
def test_at_most_cap_bodies_run_at_once_and_each_that_settles_makes_room(cap: int, starts_at: list[int]) -> None:
    delays: dict[str, Any] = {
        f"t{n}": {"returns": n, "delay_ms": 30 if cap > 1 and n == 1 else 10} for n in range(1, 5)
    }
    run = play(
        [{"call": {name: {} for name in delays}}, {"say": "ok"}],
        tools={"stub": delays, "schemas": {name: {"type": "object"} for name in delays}},
        limits={"parallel_tools": cap},
    )
    assert most_at_once(run) == cap
    assert [event.time for event in run.trajectory if isinstance(event.fact, ToolStart)] == starts_at


BARRIER = {"use": ["write_memory", "probe_slow"], "options": {"probe_slow": {"ms": 50}}}
CALLS = [
    {"probe_slow": {"label": "one"}},
    {"probe_slow": {"label": "two"}},
    {"write_memory": {"key": "k", "value": "v"}},
    {"probe_slow": {"label": "three"}},
]


@pytest.mark.conformance("45")
def test_an_exclusive_call_is_a_barrier_between_three_groups() -> None:
    run = play([{"calls": CALLS}, {"say": "ok"}], tools=BARRIER)
    first, second, exclusive, last = spans(run)
    assert max(first[2], second[2]) < exclusive[1] < exclusive[2] < last[1]
    assert second[1] < first[2], "the parallel ones overlap"


@pytest.mark.conformance("48")
def test_as_declared_an_exclusive_call_serialises_itself_and_not_its_batch() -> None:
    run = play([{"calls": CALLS}, {"say": "ok"}], tools=BARRIER)
    assert BUILT_IN_PROFILE.sequential_tool is SequentialTool.ITSELF_ONLY
    assert most_at_once(run) == 2


@pytest.mark.conformance("75")
def test_a_cancel_before_a_barrier_answers_every_call_of_the_later_groups() -> None:
    run = play(
        [{"calls": CALLS}, {"say": "never"}],
        tools=BARRIER,
        limits={"grace_ms": 0},
        inject=[{"at": {"kind": "tool/start", "when": {"after_ms": 5}}, "do": "cancel"}],
    )
    assert codes(run) == ["ABORTED", "ABORTED", "ABORTED_BEFORE_DISPATCH", "ABORTED_BEFORE_DISPATCH"]
    assert starts(run) == ["probe_slow", "probe_slow"]
