"""`termination`: does the end that is told agree with what happened?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.ending_answers import cut_answer_findings, final_answer_findings
from harness.checks.reading import at, by_agent, is_within, sees
from harness.types.codes import CancelScope, Code, Status
from harness.types.events import Event, Trajectory
from harness.types.lifecycle import CancelDelivered, RunEnd, TurnEnd
from harness.types.reasons import (
    Blocked,
    Cancelled,
    Concluded,
    ContentFiltered,
    Failed,
    FinalAnswer,
    Interrupted,
    LimitHit,
    OutOfTokens,
    Reason,
    Waiting,
)

_JUDGED_ANSWER: Final = (Status.COMPLETED, Status.INCOMPLETE, Status.WAITING_FOR_USER, Status.BLOCKED)
_OF_THE_RUN: Final = (Code.INTERNAL, Code.HOOK_FAILED, Code.RECORDING_FAILED)


def statuses_of(reason: Reason) -> tuple[Status, ...]:
    """The statuses that may stand beside a reason (design page, Statuses)."""
    match reason:
        case FinalAnswer(outcome=Status() as outcome):
            return (outcome,)
        case FinalAnswer():
            return _JUDGED_ANSWER  # completed, or what the outcome judge says
        case Concluded():
            return (Status.COMPLETED,)
        case OutOfTokens() | ContentFiltered() | Interrupted():
            return (Status.INCOMPLETE,)
        case LimitHit():
            return (Status.LIMIT_REACHED,)
        case Waiting():
            return (Status.WAITING_FOR_USER,)
        case Blocked():
            return (Status.BLOCKED,)
        case Failed():
            return (Status.FAILED,)
        case Cancelled():
            return (Status.CANCELLED,)
        case _:
            assert_never(reason)


def _termination(trajectory: Trajectory) -> Iterator[Found]:
    for agent, events in by_agent(trajectory).items():
        ends = [event for event in events if isinstance(event.fact, TurnEnd | RunEnd)]
        for end in ends:
            yield from _end(trajectory, end)
        yield from _last_turn(trajectory, agent, ends)
        yield from final_answer_findings(trajectory, events)
        yield from cut_answer_findings(trajectory, events)


def _end(trajectory: Trajectory, event: Event) -> Iterator[Found]:
    fact = event.fact
    if not isinstance(fact, TurnEnd | RunEnd):
        return
    allowed = statuses_of(fact.reason)
    if fact.status not in allowed:
        expected = " or ".join(allowed)
        text = f"{fact.TYPE}{at(event)} says {fact.status} for the reason {fact.reason.kind}, which means {expected}"
        yield found(text, event, rule="conformance:90")
    if isinstance(fact.reason, Failed) and not fact.reason.message.strip():
        yield found(f"{fact.TYPE}{at(event)} failed without a message", event, rule="conformance:150")
    told = isinstance(fact.reason, Cancelled) and sees(trajectory, CancelDelivered.TYPE)
    if told and not any(_reaches(cancel, event) for cancel in _cancels(trajectory)):
        text = f"{fact.TYPE}{at(event)} says cancelled, but no cancel was delivered"
        yield found(text, event, rule="conformance:154")


def _cancels(trajectory: Trajectory) -> list[Event]:
    return [event for event in trajectory.events if isinstance(event.fact, CancelDelivered)]


def _reaches(cancel: Event, event: Event) -> bool:
    return cancel.seq < event.seq and is_within(event.agent, cancel.agent)


def _last_turn(trajectory: Trajectory, agent: str, ends: list[Event]) -> Iterator[Found]:
    turns = [event for event in ends if isinstance(event.fact, TurnEnd)]
    run = next((event for event in ends if isinstance(event.fact, RunEnd)), None)
    if run is None or not turns or not isinstance(run.fact, RunEnd):
        return
    turn = turns[-1]
    if not isinstance(turn.fact, TurnEnd) or (turn.fact.status, turn.fact.reason) == (
        run.fact.status,
        run.fact.reason,
    ):
        return
    if not _may_differ(trajectory, run, run.fact):
        text = (
            f"run/end says {run.fact.status} ({run.fact.reason.kind}), its last turn ended"
            f" {turn.fact.status} ({turn.fact.reason.kind})"
        )
        yield found(text, turn, run, rule="conformance:67")


def _may_differ(trajectory: Trajectory, run: Event, end: RunEnd) -> bool:
    """What befell the run outside its turns: a cancel or a limit that kept input from it, our own fault."""
    match end.reason:
        case Cancelled():
            return any(
                isinstance(cancel.fact, CancelDelivered) and cancel.fact.scope is CancelScope.RUN
                for cancel in _cancels(trajectory)
                if _reaches(cancel, run)
            )
        case Failed(code=code):
            return code in _OF_THE_RUN
        case LimitHit() | Interrupted():
            return True
        case _:
            return False


TERMINATION = BuiltCheck(
    name="termination",
    about="status, reason and last answer agree, and what was cut or filtered runs nothing",
    needs=(("run/end", None),),
    rules=tuple(f"conformance:{n}" for n in (1, 22, 90, 91, 94, "97a", 98, 99, 150, 154)),
    findings=_termination,
    applies=lambda trajectory: (
        ""
        if any(isinstance(event.fact, TurnEnd | RunEnd) for event in trajectory.events)
        else "neither a turn nor the run has ended"
    ),
)
