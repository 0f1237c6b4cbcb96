"""Mutants of the inbox: input that is lost, doubled, out of order or in the wrong place."""

from __future__ import annotations

from typing import Final

from harness.mutants.behaviours.draft import Draft
from harness.mutants.editing import Mutant, change, changed, doubled, drop, find, followed_by, moved_behind, on
from harness.types.codes import InboxQueue
from harness.types.events import Trajectory
from harness.types.exchange import ToolResult, UserMessage
from harness.types.lifecycle import InboxClaimed, InboxQueued, TurnEnd
from harness.types.messages import ChatUser, MessageId
from harness.types.reasons import QueuedMessage

_LATE: Final = InboxQueued(InboxQueue.FOLLOWUP, (QueuedMessage(MessageId("late"), ChatUser("one more")),))
_GHOST: Final = MessageId("ghost")


def _steers(fact: InboxClaimed) -> bool:
    return fact.queue is InboxQueue.STEER


def _follows(fact: InboxClaimed) -> bool:
    return fact.queue is InboxQueue.FOLLOWUP


def _steered_into_the_batch(trajectory: Trajectory) -> Trajectory | None:
    claim, result = find(trajectory, InboxClaimed, _steers), find(trajectory, ToolResult)
    return None if claim is None or result is None else moved_behind(trajectory, claim, result)


def _queue_jumped(trajectory: Trajectory) -> Trajectory | None:
    """The second and the third follow-up, both pending before, change places."""
    one, two = find(trajectory, InboxClaimed, _follows, 1), find(trajectory, InboxClaimed, _follows, 2)
    if one is None or two is None or not isinstance(one.fact, InboxClaimed) or not isinstance(two.fact, InboxClaimed):
        return None
    ids = one.fact.message_ids, two.fact.message_ids
    return change(change(trajectory, one, message_ids=ids[1]), two, message_ids=ids[0])


def _entered_twice(trajectory: Trajectory) -> Trajectory | None:
    """Every request shows it twice too, so that the requests are right."""
    event = find(trajectory, UserMessage)
    if event is None:
        return None
    draft = Draft(trajectory)
    draft.put(draft.place(event) + 1, [draft.new(event, event.fact)])
    return draft.finished()


INPUT: Final = (
    Mutant("steered_into_the_batch", "steering is claimed between two results", _steered_into_the_batch),
    Mutant("queue_jumped", "a follow-up overtakes an older one", _queue_jumped),
    Mutant("input_stranded", "input is accepted last, and nobody takes it", on(TurnEnd, followed_by(_LATE), nth=-1)),
    Mutant("input_queued_twice", "one message id is pending twice", on(InboxQueued, doubled)),
    Mutant("input_claimed_twice", "one message is claimed twice", on(InboxClaimed, doubled)),
    Mutant("ghost_claimed", "input is claimed that nobody sent", on(InboxClaimed, changed(message_ids=(_GHOST,)))),
    Mutant("claimed_and_lost", "claimed input does not enter", on(UserMessage, drop)),
    Mutant("entered_twice", "input that was claimed once enters twice, and is shown twice", _entered_twice),
)  # fmt: skip
