"""The driver: Turn > Step > request > calls > results, until an answer, a limit, a failure, a cancel.

One driver is one session of one agent. Input is queued with ``send``; each follow-up is the work of one
turn. ``step()`` advances by exactly one step, and ``run_until_idle()`` is nothing but ``step()`` again and
again, so driving by hand gives the same log. Input that wakes is work until a cancel, a failed or a
blocked turn parks it; what is parked waits for the next input that wakes (CONFORMANCE 110, 114).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager

from harness.errors import UsageError
from harness.folds import status_for
from harness.loop.intake import drop, queue_input
from harness.loop.phases import Progress
from harness.loop.restore import restore
from harness.loop.session import Session
from harness.types.codes import CancelBy, CancelScope, InboxQueue, QueueDisposition
from harness.types.events import Event
from harness.types.lifecycle import REMOVED, RunEnd, RunStart
from harness.types.messages import CallId, MessageId
from harness.types.policy import ApprovalReply
from harness.types.reasons import Cancelled


class Driver(Session):
    """Drives one agent through the turns of one session."""

    @property
    def is_stopped(self) -> bool:
        """True once the whole run was cancelled, disposed or out of time."""
        return self._stopped is not None

    def open(self, past: Sequence[Event] = (), answers: Mapping[CallId, ApprovalReply] | None = None) -> None:
        """Begin the run: its first line, and its wall-clock limit.

        With ``past``, which the log holds already, go on behind it: a closed boundary, or a parked call's question.
        The work of an interrupted turn is taken up by a turn without new input, where the model owes an answer.
        """
        self._open = True
        limit_ms = self._desk.limits.wall_ms
        timer = asyncio.get_running_loop().call_later
        self._wall_timer = timer(limit_ms / 1000, self._out_of_time, limit_ms)
        self._n_turns, self._last, self._turn, self._unfinished = restore(self._desk, past, answers or {})
        if not (past or self.agent):
            self._desk.say(RunStart())

    def send(self, text: str, *, queue: InboxQueue = InboxQueue.FOLLOWUP, id: str | None = None) -> MessageId:  # noqa: A002
        """Queue one piece of input and give its id; safe in any callback, also while a cancel converges.

        Raises UsageError where the run is not open, out of time or disposed, so that nothing is accepted
        that no turn can take (CONFORMANCE 113, 117), and for an id that was used before (115).
        """
        if not self._open or self._over:
            raise UsageError("the run is not open, or it is over: call send() after open() and before its end")
        message_id = queue_input(self._desk, text, queue, id)
        self._holds.look_again()
        return message_id

    def remove(self, message_id: str, *, why: str = REMOVED) -> bool:
        """Take back input that no turn has claimed; False where it is not pending (CONFORMANCE 112)."""
        entry = self._inbox.take(message_id)
        drop(self._desk, (entry,) if entry is not None else (), why)
        return entry is not None

    def dispose(self, *, queue: QueueDisposition = QueueDisposition.DROP, reason: str | None = None) -> None:
        """End the driver's life; safe in any callback. An open turn ends as cancelled by dispose.

        From here on nothing is accepted and no turn begins. ``run/end`` is written at once where no step is
        under way, else by ``close()``, once the turn has converged.
        """
        if not self._open or self._over:
            return
        self._over = True
        self._cancel(CancelBy.DISPOSE, CancelScope.RUN, queue, reason)
        self._holds.look_again()
        if not self._stepping:
            self.close()

    @asynccontextmanager
    async def maintenance(self) -> AsyncIterator[None]:
        """The phase beside idle and running: input is latched, and no step begins before its end.

        Raises UsageError while a turn is open or a step is under way (ARTICLES 23).
        """
        if self._stepping or self._turn is not None:
            raise UsageError("a turn is open: maintenance begins where the driver is idle")
        with self._maintenance.begun():
            yield

    async def step(self) -> Progress:
        """Advance by one step, beginning or ending a turn where that is due; waits for maintenance to end.

        Raises UsageError when a step is under way (CONFORMANCE 20), or from inside maintenance. When the
        surrounding task is cancelled, the turn is closed as cancelled before the cancellation passes on.
        """
        if self._stepping:
            raise UsageError("a step is under way: send() queues input, cancel() stops it")
        self._stepping = True
        try:
            await self._maintenance.over()
            return await self._advance()
        except asyncio.CancelledError:
            self._interrupted()
            self._close_turn(Cancelled(CancelBy.USER))
            raise
        finally:
            self._stepping = False

    async def run_until_idle(self) -> None:
        """Step until no turn is open and nothing pending wakes."""
        while await self.step() is not Progress.IDLE:
            pass

    def hold(self) -> Callable[[], None]:
        """Announce input that comes later: ``awaited()`` waits until the function given back is called."""
        return self._holds.hold()

    async def awaited(self) -> bool:
        """Wait for announced input while idle. True when there is work for ``step()``, False when none will come."""
        return await self._holds.until(lambda: self._has_work, unless=lambda: self._over)

    def close(self, *, n_unsent: int = 0) -> None:
        """End the run: its status is its last turn's, or that of what kept ``n_unsent`` input from it."""
        if not self._open:
            return
        self._close_turn(Cancelled(CancelBy.DISPOSE))
        if self._wall_timer is not None:
            self._wall_timer.cancel()
        status, reason = self.outcome
        if self._stopped is not None and (self._last is None or self._cut_off or n_unsent):
            status, reason = status_for(self._stopped), self._stopped
        self._open = False  # before its last line: what a listener asks for there comes too late
        if not self.agent:
            self._desk.say(RunEnd(status, reason))
