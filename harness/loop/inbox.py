"""Input that the model has not seen yet: three queues, in the order of arrival."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from harness.errors import UsageError
from harness.types.codes import InboxQueue
from harness.types.messages import ChatUser, MessageId
from harness.types.reasons import QueuedMessage


@dataclass(frozen=True, slots=True)
class Entry:
    """One pending message: its place in the order of arrival (from 1), its queue, its id and text."""

    number: int
    queue: InboxQueue
    queued: QueuedMessage


class Inbox:
    """The pending input of one driver.

    ``followup``: the work of a turn of its own, first in, first out. ``steer``: joins the open turn at its
    next request, and wakes an idle driver. ``inject``: is seen by the next request, and starts nothing.
    What is parked wakes nobody; the next turn, whatever woke it, makes it pending as before.
    """

    def __init__(self) -> None:
        self._queues: dict[InboxQueue, dict[MessageId, Entry]] = {queue: {} for queue in InboxQueue}
        self._used: set[MessageId] = set()
        self._n_accepted = 0
        self._n_parked = 0

    def accept(self, message: ChatUser, queue: InboxQueue, given: str | None = None) -> QueuedMessage:
        """Take one message in under the id given, else under ``m1``, ``m2``, ... by arrival.

        Raises UsageError for an id that is empty or that a message of this run had (CONFORMANCE 115).
        """
        if given is not None and (not given or given in self._used):
            raise UsageError(f"the message id {given!r} is empty or taken in this run: give another, or none")
        self._n_accepted += 1
        queued = QueuedMessage(MessageId(given or self._free_id()), message)
        self._used.add(queued.id)
        self._queues[queue][queued.id] = Entry(self._n_accepted, queue, queued)
        return queued

    def restore(self, queued: QueuedMessage, queue: InboxQueue) -> None:
        """Take in what an earlier run had accepted, under its id."""
        self._n_accepted += 1
        self._used.add(queued.id)
        self._queues[queue][queued.id] = Entry(self._n_accepted, queue, queued)

    def _free_id(self) -> str:
        number = self._n_accepted
        while f"m{number}" in self._used:
            number += 1
        return f"m{number}"

    def due(self, *, first: bool) -> tuple[Entry, ...]:
        """What the next request shows: all that steers and is injected, in order of arrival.

        The ``first`` request of a turn also shows the oldest follow-up; it shows nothing where nothing is
        there to begin a turn.
        """
        followups = self._queues[InboxQueue.FOLLOWUP]
        if first and not (followups or self.has_steering):
            return ()
        due = [next(iter(followups.values()))] if first and followups else []
        for queue in (InboxQueue.STEER, InboxQueue.INJECT):
            due += self._queues[queue].values()
        return tuple(sorted(due, key=lambda entry: entry.number))

    def take(self, message_id: str) -> Entry | None:
        """Take one out; None where it is not pending."""
        for entries in self._queues.values():
            if message_id in entries:
                return entries.pop(MessageId(message_id))
        return None

    def clear(self) -> tuple[Entry, ...]:
        """Take all out, in order of arrival."""
        entries = [entry for pending in self._queues.values() for entry in pending.values()]
        for pending in self._queues.values():
            pending.clear()
        return tuple(sorted(entries, key=lambda entry: entry.number))

    def park(self) -> None:
        """What is pending now wakes nobody any more."""
        self._n_parked = self._n_accepted

    def unpark(self) -> None:
        """Everything pending is work again."""
        self._n_parked = 0

    @property
    def wakes(self) -> bool:
        """Whether something is pending that begins a turn (what came last was parked last)."""
        newest = (next(reversed(self._queues[q].values()), None) for q in (InboxQueue.FOLLOWUP, InboxQueue.STEER))
        return any(entry is not None and entry.number > self._n_parked for entry in newest)

    @property
    def has_steering(self) -> bool:
        """Whether something is pending that joins the open turn."""
        return bool(self._queues[InboxQueue.STEER])

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))


def by_queue(entries: Iterable[Entry]) -> Iterable[tuple[InboxQueue, tuple[MessageId, ...]]]:
    """Ids under their queue, neighbours of one queue together; the order stays."""
    for queue, group in groupby(entries, key=lambda entry: entry.queue):
        yield queue, tuple(entry.queued.id for entry in group)
