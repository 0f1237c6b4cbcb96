"""What a run that died still owes is settled once, in order, the same every time; what is sound stays."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.checks import judge
from harness.folds import repair, repaired
from harness.mutants import originals
from harness.store import dump_trajectory
from harness.types.codes import Origin, Outcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.lifecycle import RunEnd, TurnEnd
from tests.resume.lab import codes, cut, deaths, two_turns

WHOLE = two_turns().run().trajectory
DEATHS = list(deaths(WHOLE))
STARTED, NEVER = "TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"


def behind(kind: str, nth: int = 1) -> Trajectory:
    """The run that died right behind an event."""
    event = [event for event in WHOLE.events if kind == event.fact.TYPE][nth - 1]
    return cut(WHOLE, event.seq + 1)


def owed(trajectory: Trajectory) -> list[str]:
    return [event.fact.TYPE for event in repair(trajectory)]


ENDS = ["step/end", "turn/end", "run/end", "run/quiescent"]


@pytest.mark.conformance("131", "132", "133")
@pytest.mark.parametrize(
    ("died", "told"),
    [
        pytest.param(behind("assistant/message"), [NEVER, NEVER], id="no-call-logged"),
        pytest.param(behind("tool/call"), [NEVER, NEVER], id="one-of-two-logged"),
        pytest.param(behind("tool/call", 2), [NEVER, NEVER], id="both-logged"),
        pytest.param(behind("tool/start"), [STARTED, NEVER], id="one-started"),
        pytest.param(behind("tool/start", 2), [STARTED, STARTED], id="both-started"),
        pytest.param(behind("tool/end"), [STARTED, NEVER], id="one-ended-result-lost"),
        pytest.param(behind("tool/result"), [None, STARTED], id="one-answered"),
    ],
)
def test_every_dangling_call_gets_one_result_in_order_and_then_the_ends(died: Trajectory, told: list[str]) -> None:
    whole = repaired(died)
    assert codes(whole) == told
    assert owed(died) == ["tool/result"] * sum(code is not None for code in told) + ENDS
    results = [event.fact for event in whole.events if isinstance(event.fact, ToolResult)]
    emitted = next(event.fact for event in whole.events if isinstance(event.fact, AssistantMessage))
    assert [result.call_id for result in results] == [call.id for call in emitted.tool_calls]


@pytest.mark.conformance("132")
def test_an_unknown_outcome_cites_the_start_and_says_what_to_do() -> None:
    died = behind("tool/start")
    (unknown, *_) = [event.fact for event in repair(died) if isinstance(event.fact, ToolResult)]
    assert f"event {died.events[-1].seq}" in (unknown.message or "")
    assert "call it again" in str(unknown.content), "the calculator only reads"
    writes = tuple(replace(tool, effect=type(tool.effect).WRITE) for tool in died.header.tools)
    (unknown, *_) = [
        event.fact
        for event in repair(replace(died, header=replace(died.header, tools=writes)))
        if isinstance(event.fact, ToolResult)
    ]
    assert "look before calling it again" in str(unknown.content)


@pytest.mark.conformance("133")
def test_the_run_ends_as_interrupted_and_so_does_the_open_turn() -> None:
    for died in DEATHS:
        *_, end, _ = repaired(died).events
        assert isinstance(end.fact, RunEnd)
        assert (end.fact.status, end.fact.reason.kind) == ("incomplete", "interrupted")
        turn_ends = [event.fact.reason.kind for event in repair(died) if isinstance(event.fact, TurnEnd)]
        n_open = sum(e.fact.TYPE == "turn/start" for e in died) - sum(e.fact.TYPE == "turn/end" for e in died)
        assert turn_ends == ["interrupted"] * n_open


@pytest.mark.conformance("134")
@pytest.mark.parametrize("name", originals())
def test_a_run_with_its_end_is_owed_nothing(name: str) -> None:
    assert repair(originals()[name]) == ()


@pytest.mark.conformance("134")
def test_a_file_without_events_and_one_of_another_product_are_owed_nothing() -> None:
    assert repair(cut(WHOLE, 0)) == ()
    foreign = replace(WHOLE.header, observed=tuple((kind, Origin.IMPORT) for kind, _ in WHOLE.header.observed))
    assert repair(replace(behind("tool/start"), header=foreign)) == ()


@pytest.mark.conformance("134")
def test_a_second_repair_finds_nothing_and_earlier_turns_are_as_they_were() -> None:
    for died in DEATHS:
        once = repaired(died)
        assert repair(once) == ()
        assert once.events[: len(died.events)] == died.events


@pytest.mark.conformance("134", "139")
def test_a_repair_that_was_itself_cut_short_is_completed_to_the_same_bytes() -> None:
    for died in DEATHS:
        whole = repaired(died)
        for n_events in range(len(died.events), len(whole.events)):
            again = repaired(cut(whole, n_events))
            if any(isinstance(event.fact, RunEnd) for event in whole.events[:n_events]):
                continue  # with its end it is owed nothing more
            assert dump_trajectory(again) == dump_trajectory(whole)


@pytest.mark.conformance("139")
def test_repair_takes_the_last_event_s_time_and_numbers_on() -> None:
    for died in DEATHS:
        events = repaired(died).events
        assert [event.seq for event in events] == list(range(len(events)))
        assert {event.time for event in repair(died)} == {died.events[-1].time}


@pytest.mark.conformance("130", "133")
def test_what_was_repaired_passes_every_check_that_judges_the_loop() -> None:
    for died in DEATHS:
        bad = [verdict for verdict in judge(repaired(died)) if verdict.outcome is Outcome.FAIL]
        assert {verdict.check for verdict in bad} <= {"expected_end"}, bad


@pytest.mark.conformance("137")
def test_input_that_was_claimed_and_had_not_entered_is_queued_again() -> None:
    claimed = behind("inbox/claimed")
    assert owed(claimed) == ["inbox/queued", "turn/end", "run/end", "run/quiescent"]
    assert owed(behind("user/message")) == ["turn/end", "run/end", "run/quiescent"]
    queued = next(event for event in repair(claimed) if event.fact.TYPE == "inbox/queued")
    assert queued.fact == next(event.fact for event in WHOLE.events if event.fact.TYPE == "inbox/queued")


@pytest.mark.conformance("67", "133")
def test_a_turn_that_a_cancel_had_reached_ends_as_cancelled_and_what_it_drops_is_dropped() -> None:
    cancelled = originals()["cancelled"]
    delivered = next(event for event in cancelled.events if event.fact.TYPE == "cancel/delivered")
    died = cut(cancelled, delivered.seq + 1)
    assert owed(died) == [
        "tool/result",
        "tool/result",
        "step/end",
        "turn/end",
        "inbox/discarded",
        "run/end",
        "run/quiescent",
    ]
    whole = repaired(died)
    assert [e.fact.reason.kind for e in whole.events if isinstance(e.fact, TurnEnd | RunEnd)] == [
        "cancelled",
        "interrupted",
    ]
    assert [
        v.findings
        for v in judge(whole)
        if v.outcome is Outcome.FAIL and v.check not in ("expected_end", "result_codes")
    ] == []


def test_a_body_whose_end_nobody_saw_is_named_at_the_last_line() -> None:
    last: Event = repair(behind("tool/start", 2))[-1]
    assert [one.name for one in last.fact.alive] == ["calculator"]  # type: ignore[union-attr]


def test_a_file_of_two_doors_gets_its_end_and_no_results() -> None:
    doors = (("run/end", Origin.PROBE), ("tool/result", Origin.PROBE), ("run/quiescent", Origin.PROBE))
    kept = ("run/start", "model/request", "assistant/message", "tool/start")
    events = [event for event in behind("tool/start").events if event.fact.TYPE in kept]
    numbered = tuple(replace(event, seq=seq, turn=None, step=None) for seq, event in enumerate(events))
    died = Trajectory(replace(WHOLE.header, observed=doors), numbered)
    assert owed(died) == ["run/end", "run/quiescent"]
