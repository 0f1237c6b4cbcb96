"""Input queues of a session log: splices become queued, claimed and discarded input."""

from __future__ import annotations

from typing import Any, Final

from harness.formats.builder import TrajectoryBuilder
from harness.formats.values import content_of_parts, objects, text_or_none, whole_or_none
from harness.types.codes import InboxQueue
from harness.types.lifecycle import InboxClaimed, InboxDiscarded, InboxQueued
from harness.types.messages import ChatUser, MessageId
from harness.types.reasons import QueuedMessage

_QUEUES: Final = {"next-turn": InboxQueue.FOLLOWUP, "next-step": InboxQueue.STEER}


class Inboxes:
    """What waits in each queue of one session."""

    def __init__(self, out: TrajectoryBuilder) -> None:
        self._out = out
        self._waiting: dict[InboxQueue, list[MessageId]] = {}
        self._n_unnamed = 0

    def splice(self, data: dict[str, Any]) -> None:
        """Take some messages out and put some in, at one place of one queue."""
        queue = _QUEUES.get(text_or_none(data.get("target")) or "", InboxQueue.INJECT)
        waiting = self._waiting.setdefault(queue, [])
        start, n_removed = _count(data.get("start")), _count(data.get("removedCount"))
        removed = tuple(waiting[start : start + n_removed])
        inserted = tuple(self._queued(message) for message in objects(data.get("inserted")))
        waiting[start : start + n_removed] = [message.id for message in inserted]
        outcome = text_or_none(data.get("outcome"))
        if removed and outcome:
            self._out.add(InboxDiscarded(queue, removed, outcome))
        elif removed:
            self._out.add(InboxClaimed(queue, removed))
        if inserted:
            self._out.add(InboxQueued(queue, inserted))

    def _queued(self, message: dict[str, Any]) -> QueuedMessage:
        identity = text_or_none(message.get("id"))
        if not identity:
            self._n_unnamed += 1
            identity = f"unnamed-{self._n_unnamed}"
        return QueuedMessage(MessageId(identity), ChatUser(content=content_of_parts(message.get("content"))))


def _count(value: Any) -> int:
    return max(0, whole_or_none(value) or 0)
