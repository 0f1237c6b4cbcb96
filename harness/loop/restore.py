"""Starting from an existing log: what a driver keeps is a fold over the events of its agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.folds import owes_an_answer
from harness.loop.step import finish_step, run_step
from harness.loop.stop import StopSignal
from harness.loop.turn import Desk, Turn
from harness.types.codes import LimitKind, Status
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.lifecycle import (
    CancelDelivered,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply
from harness.types.reasons import LimitHit, Reason

PARKING = (Status.BLOCKED, Status.FAILED)


class Restored(NamedTuple):
    """Turns begun, the last one's end, the open one (its step is parked), and whether its work is still owed (19)."""

    n_turns: int
    last: tuple[Status, Reason] | None
    turn: Turn | None
    unfinished: bool


def restore(desk: Desk, past: Sequence[Event], answers: Mapping[CallId, ApprovalReply]) -> Restored:
    """Fold history, ids, inbox and turns of the desk's agent from ``past``; nothing is said (CONFORMANCE 137)."""
    n_turns, last, turn = 0, None, None
    for event in past:
        if event.agent != desk.agent:
            continue
        desk.history.apply(event)
        match event.fact:
            case TurnStart():
                n_turns += 1
                turn = Turn(n_turns, StopSignal(), answers=answers)
                desk.inbox.unpark()
            case TurnEnd(status=status, reason=reason):
                last, turn = (status, reason), None
                if status in PARKING or (isinstance(reason, LimitHit) and reason.which is LimitKind.WALL_TIME):
                    desk.inbox.park()
            case AssistantMessage(tool_calls=calls):
                desk.ids.remember(call.id for call in calls)
        _fold_input(desk, event)
        if turn is not None:
            _fold_step(turn, event)
    return Restored(n_turns, last, turn, owes_an_answer(past, desk.agent))


def _fold_input(desk: Desk, event: Event) -> None:
    match event.fact:
        case InboxQueued(queue=queue, messages=messages):
            for message in messages:
                desk.inbox.restore(message, queue)
        case InboxClaimed(message_ids=ids) | InboxDiscarded(message_ids=ids):
            for message_id in ids:
                desk.inbox.take(message_id)
        case CancelDelivered():
            desk.inbox.park()


def _fold_step(turn: Turn, event: Event) -> None:
    match event.fact:
        case StepStart():
            turn.step, turn.step_is_open = turn.step + 1, True
        case AssistantMessage(tool_calls=calls):
            turn.parked = calls
        case ToolResult(call_id=call_id):
            turn.parked = tuple(call for call in turn.parked if call.id != call_id)


async def next_step(desk: Desk, turn: Turn) -> Reason | None:
    """The next step of a turn, or the rest of the one that was parked; the reason that ends the turn, or None."""
    calls, turn.parked = turn.parked, ()
    if calls:
        return await finish_step(desk, turn, calls, turn.answers)
    return turn.stop.reason or await run_step(desk, turn)
