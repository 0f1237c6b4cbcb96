"""Mutants of order and completeness: results, frames, numbers, bodies."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.mutants.editing import (
    Mutant,
    changed,
    doubled,
    drop,
    find,
    followed_by,
    like,
    move,
    moved_behind,
    on,
    on_both,
    put,
    swap,
    with_events,
)
from harness.types.codes import Code, Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolCall, ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import Note, RunEnd, RunQuiescent, RunStart, StepEnd, StepStart, TurnEnd, TurnStart
from harness.types.messages import CallId
from harness.types.tool_policy import REPAIRED_NOTE


def _swapped(trajectory: Trajectory) -> Trajectory | None:
    first, second = find(trajectory, ToolResult), find(trajectory, ToolResult, nth=1)
    if first is None or second is None or (first.turn, first.step) != (second.turn, second.step):
        return None
    return move(trajectory, first, second)


def _into_step(trajectory: Trajectory, event: Event, step: Event) -> Trajectory:
    return move(trajectory, event, step, turn=step.turn, step=step.step)


def _before_body_ends(trajectory: Trajectory) -> Trajectory | None:
    event = find(trajectory, ToolResult, lambda fact: not fact.is_error)
    if event is None or not isinstance(event.fact, ToolResult):
        return None
    call_id = event.fact.call_id
    start = find(trajectory, ToolStart, lambda fact: fact.call_id == call_id)
    return move(trajectory, event, start) if start else None


def _gap(trajectory: Trajectory, event: Event) -> Trajectory:
    events = (replace(e, seq=e.seq + 1) if e.seq >= event.seq else e for e in trajectory.events)
    return replace(trajectory, events=tuple(events))


def _stamped_zero(trajectory: Trajectory, event: Event) -> Trajectory:
    return swap(trajectory, event, replace(event, time=0))


def _told_by_subject(trajectory: Trajectory, event: Event) -> Trajectory:
    return swap(trajectory, event, replace(event, origin=Origin.SUBJECT))


def _from_two(trajectory: Trajectory, _: Event) -> Trajectory:
    return with_events(
        trajectory, (replace(e, step=e.step + 1) if e.step is not None else e for e in trajectory.events)
    )


def _outside_step(trajectory: Trajectory, request: Event, end: Event) -> Trajectory:
    return put(trajectory, end, like(end, request.fact, origin=Origin.PROBE))


def _late_body(trajectory: Trajectory, start: Event, end: Event) -> Trajectory:
    return put(trajectory, end, like(end, start.fact, origin=Origin.PROBE))


def _nobody_failed(trajectory: Trajectory) -> Trajectory | None:
    if find(trajectory, ToolStart, lambda fact: fact.instead_of is not None) is None:
        return None
    failed = on(ToolEnd, changed(outcome=ToolOutcome.OK, code=None), lambda fact: fact.code is Code.TOOL_FAILED)
    return failed(trajectory)


ORDER: Final = (
    Mutant("drop_result", "the first result is lost", on(ToolResult, drop)),
    Mutant("double_result", "a result is committed twice", on(ToolResult, doubled)),
    Mutant("swap_results", "two results of one answer change places", _swapped),
    Mutant("result_under_wrong_id", "a result names another call", on(ToolResult, changed(call_id=CallId("x")))),
    Mutant(
        "result_in_next_step",
        "a result comes in the next step",
        on_both(ToolResult, StepStart, _into_step, other_nth=1),
    ),
    Mutant("result_before_call", "a result stands before its call", on_both(ToolResult, ModelRequest, moved_behind)),
    Mutant("result_before_body_ends", "a good result of a running body", _before_body_ends),
    Mutant("seq_gap", "a number is left out", on(TurnStart, _gap)),
    Mutant("time_goes_back", "an event is stamped earlier than the one before", on(StepEnd, _stamped_zero)),
    Mutant("foreign_origin", "the subject tells a start that the harness should see", on(ToolStart, _told_by_subject)),
    Mutant("lost_run_start", "no run/start", on(RunStart, drop)),
    Mutant("lost_run_end", "no run/end", on(RunEnd, drop)),
    Mutant("second_run_end", "run/end comes twice", on(RunEnd, doubled)),
    Mutant("event_after_quiescent", "something follows the last line", on(RunQuiescent, followed_by(Note("late")))),
    Mutant("lost_last_line", "no run/quiescent", on(RunQuiescent, drop)),
    Mutant("result_after_run_end", "a result is committed after run/end", on_both(ToolResult, RunEnd, moved_behind)),
    Mutant("body_starts_after_run_end", "a body starts after run/end", on_both(ToolStart, RunEnd, _late_body)),
    Mutant("missing_step_end", "a step is never closed", on(StepEnd, drop)),
    Mutant("missing_turn_end", "a turn is never closed", on(TurnEnd, drop)),
    Mutant("step_number_skipped", "steps count from 2", on(StepStart, _from_two)),
    Mutant("request_outside_step", "a request between steps", on_both(ModelRequest, StepEnd, _outside_step, nth=-1)),
    Mutant("start_without_call", "a body starts that no answer asks for", on(ToolStart, changed(call_id=CallId("x")))),
    Mutant("start_before_answer", "a body starts before the answer", on_both(ToolStart, ModelRequest, moved_behind)),
    Mutant(
        "start_before_calls",
        "a body starts before its calls are told",
        on_both(ToolStart, AssistantMessage, moved_behind),
    ),
    Mutant(
        "body_with_other_arguments",
        "a body runs with arguments that the model did not send",
        on(ToolStart, changed(arguments='{"q":"other"}')),
    ),
    Mutant(
        "takes_over_for_none",
        "a tool takes over although the other has not failed",
        _nobody_failed,
    ),
    Mutant(
        "body_within_nothing",
        "a body runs within one that is not running",
        on(ToolStart, changed(within=0), lambda fact: fact.within is not None),
    ),
    Mutant(
        "repair_not_told",
        "repaired arguments without a note",
        on(Note, drop, lambda note: note.name == REPAIRED_NOTE),
    ),
    Mutant("body_starts_twice", "one call runs twice", on(ToolStart, doubled)),
    Mutant("tool_ends_twice", "one body ends twice", on(ToolEnd, doubled)),
    Mutant("call_not_told", "a call of an answer has no tool/call", on(ToolCall, drop)),
    Mutant("answer_without_request", "an answer that nobody asked for", on(ModelRequest, drop)),
)
