"""Mutants of endings: limits, and what the end says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.mutants.editing import (
    Mutant,
    Mutate,
    change,
    changed,
    find,
    like,
    on,
    on_both,
    put,
    repeated_behind,
)
from harness.types.codes import CancelBy, Code, FinishReason, LimitKind, Origin, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult, ToolStart
from harness.types.lifecycle import (
    RunEnd,
    TurnEnd,
)
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Cancelled, Failed, FinalAnswer, LimitHit, Reason


def _ends(status: Status, reason: Reason, where: Callable[[TurnEnd], bool] = lambda _: True) -> Mutate:
    """The last turn and the run end otherwise."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        turn, run = find(trajectory, TurnEnd, nth=-1), find(trajectory, RunEnd)
        if turn is None or run is None or not isinstance(turn.fact, TurnEnd) or not where(turn.fact):
            return None
        return change(change(trajectory, turn, status=status, reason=reason), run, status=status, reason=reason)

    return mutate


def _limited(fact: TurnEnd) -> bool:
    return isinstance(fact.reason, LimitHit)


def _answered(fact: TurnEnd) -> bool:
    return isinstance(fact.reason, FinalAnswer)


def _stopped(fact: TurnEnd) -> bool:
    return isinstance(fact.reason, Cancelled)


def _one_step_more(trajectory: Trajectory) -> Trajectory | None:
    """The limit is checked one step too late: the last step comes once more, as the next."""
    end = find(trajectory, TurnEnd, _limited)
    if end is None:
        return None
    last = trajectory.events[end.seq - 1]
    step = [event for event in trajectory.events if (event.turn, event.step) == (last.turn, last.step)]
    again = [_again(event) for event in step]
    return put(trajectory, last, *again)


def _again(event: Event) -> Event:
    fact = event.fact
    if isinstance(fact, AssistantMessage):
        fact = replace(fact, tool_calls=tuple(replace(call, id=CallId(call.id + "'")) for call in fact.tool_calls))
    elif isinstance(fact, ToolResult) or (isinstance(fact, ToolStart) and fact.call_id):
        fact = replace(fact, call_id=CallId(f"{fact.call_id}'"))
    return replace(event, fact=fact, seq=-1, step=(event.step or 0) + 1)


def _cut_call_runs(trajectory: Trajectory) -> Trajectory | None:
    event = find(trajectory, AssistantMessage, lambda f: f.finish_reason is FinishReason.LENGTH and bool(f.tool_calls))
    if event is None or not isinstance(event.fact, AssistantMessage):
        return None
    call = event.fact.tool_calls[0]
    start = like(event, ToolStart(call.id, call.name, JsonText(call.arguments)), origin=Origin.PROBE)
    return put(trajectory, event, start)


def _last_answer(**fields: object) -> Mutate:
    return on(AssistantMessage, changed(**fields), lambda fact: not (fact.tool_calls or fact.interrupted), nth=-1)


ENDINGS: Final = (
    Mutant("limit_off_by_one", "one step more than the limit", _one_step_more),
    Mutant("request_at_limit", "a request is made at the limit", on_both(ModelRequest, TurnEnd, repeated_behind)),
    Mutant(
        "limit_told_wrong",
        "the limit named is not the limit",
        _ends(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 3), _limited),
    ),
    Mutant(
        "limit_told_early",
        "a limit is told before it is reached",
        _ends(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 10), _answered),
    ),
    Mutant(
        "completed_on_limit",
        "a limit is told as completed",
        _ends(Status.COMPLETED, LimitHit(LimitKind.STEPS, 2), _limited),
    ),
    Mutant(
        "completed_on_calls",
        "completed, though the last answer asks for a tool",
        _ends(Status.COMPLETED, FinalAnswer(), _limited),
    ),
    Mutant("completed_without_answer", "completed with an empty answer", _last_answer(content="  ")),
    Mutant(
        "completed_on_cut_answer",
        "completed with an answer that was cut",
        _last_answer(finish_reason=FinishReason.LENGTH),
    ),
    Mutant("completed_without_finish", "completed without a finish reason", _last_answer(finish_reason=None)),
    Mutant("cut_call_runs", "a call of a cut answer runs", _cut_call_runs),
    Mutant(
        "cancelled_by_nobody",
        "cancelled, though nobody cancelled",
        _ends(Status.CANCELLED, Cancelled(CancelBy.USER), _answered),
    ),
    Mutant("failed_without_words", "failed with an empty message", _ends(Status.FAILED, Failed(Code.SERVER, ""))),
    Mutant("run_differs_from_turn", "run/end contradicts its last turn", on(RunEnd, changed(status=Status.BLOCKED))),
    Mutant(
        "cancel_told_as_completed", "the cancelled run says completed", _ends(Status.COMPLETED, FinalAnswer(), _stopped)
    ),
    Mutant(
        "cancel_told_as_failed",
        "the cancelled run says failed",
        _ends(Status.FAILED, Failed(Code.INTERNAL, "oops"), _stopped),
    ),
    Mutant(
        "cancel_cause_changed",
        "the cause is not who cancelled",
        _ends(Status.CANCELLED, Cancelled(CancelBy.DISPOSE), _stopped),
    ),
)
