"""Input that the model has not seen yet, in the order it came."""

from __future__ import annotations

from collections import deque

from harness.types.codes import InboxQueue
from harness.types.messages import ChatUser, MessageId
from harness.types.reasons import QueuedMessage


class Inbox:
    """Follow-ups of one driver: each is the work of one turn, first in, first out."""

    def __init__(self) -> None:
        self._followups: deque[QueuedMessage] = deque()
        self._n_accepted = 0

    def accept(self, message: ChatUser) -> QueuedMessage:
        """Take one message in and give it its id (``m1``, ``m2``, ...)."""
        self._n_accepted += 1
        queued = QueuedMessage(MessageId(f"m{self._n_accepted}"), message)
        self._followups.append(queued)
        return queued

    def claim(self) -> QueuedMessage | None:
        """Take the oldest out; None where there is none."""
        return self._followups.popleft() if self._followups else None

    def discard(self) -> tuple[MessageId, ...]:
        """Take all out and name them."""
        ids = tuple(queued.id for queued in self._followups)
        self._followups.clear()
        return ids

    @property
    def queue(self) -> InboxQueue:
        """The queue that these messages stand in."""
        return InboxQueue.FOLLOWUP

    def __len__(self) -> int:
        return len(self._followups)
