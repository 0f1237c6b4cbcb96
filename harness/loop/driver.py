"""The driver: Turn > Step > request > calls > results, until an answer, a limit, a failure, a cancel.

One driver is one session of one agent. Input is queued with ``send``; each piece is the work of one
turn. ``step()`` advances by exactly one step, and ``run_until_idle()`` is nothing but ``step()`` again and
again, so driving by hand gives the same log.
"""

from __future__ import annotations

import asyncio
from enum import Enum

from harness.errors import UsageError
from harness.folds import CallIds
from harness.loop.hooks import Hooks
from harness.loop.inbox import Inbox
from harness.loop.scheduler import Scheduler
from harness.loop.step import run_step
from harness.loop.stop import StopSignal
from harness.loop.turn import Desk, Turn, begin_turn, end_turn, status_for
from harness.protocols import Log, ModelDoor, ToolDoor
from harness.types.codes import CancelBy, CancelScope, LimitKind, QueueDisposition, Status
from harness.types.lifecycle import (
    CancelDelivered,
    CancelRequested,
    InboxDiscarded,
    InboxQueued,
    RunEnd,
    RunStart,
)
from harness.types.messages import ChatDeveloper, ChatSystem, ChatUser, JsonText, MessageId
from harness.types.reasons import Cancelled, Concluded, LimitHit, Reason
from harness.types.scenario import NO_PARAMETERS, Limits


class Progress(Enum):
    """What ``step()`` came to."""

    STEPPED = "stepped"
    TURN_ENDED = "turn-ended"
    IDLE = "idle"


class Driver:
    """Drives one agent through the turns of one session. ``model`` and ``tools`` are the harness's doors."""

    def __init__(
        self,
        *,
        model: ModelDoor,
        tools: ToolDoor,
        log: Log,
        limits: Limits,
        system: tuple[ChatSystem | ChatDeveloper, ...] = (),
        parameters: JsonText = NO_PARAMETERS,
        hooks: Hooks | None = None,
        agent: str = "",
    ) -> None:
        scheduler = Scheduler(cap=limits.parallel_tools, grace_ms=limits.grace_ms, interrupted=self._interrupted)
        self._desk = Desk(
            model, tools, log, limits, system, parameters, hooks or Hooks(), agent, scheduler, CallIds(agent)
        )
        self._inbox = Inbox()
        self._turn: Turn | None = None
        self._n_turns = 0
        self._stepping = False
        self._stopped: Reason | None = None
        self._last: tuple[Status, Reason] | None = None
        self._wall_timer: asyncio.TimerHandle | None = None
        self._open = False
        self._cut_off = False

    # ------------------------------------------------------------ from outside

    @property
    def is_stopped(self) -> bool:
        """True once the whole run was cancelled or out of time: no turn begins any more."""
        return self._stopped is not None

    def open(self) -> None:
        """Begin the run: its first line, and its wall-clock limit."""
        self._open = True
        loop = asyncio.get_running_loop()
        limit_ms = self._desk.limits.wall_ms
        self._wall_timer = loop.call_later(limit_ms / 1000, self._out_of_time, limit_ms)
        self._desk.say(RunStart())

    def send(self, text: str) -> MessageId:
        """Queue one piece of input; safe in any callback. Raises UsageError when the run is not open."""
        if not self._open:
            raise UsageError("the run is not open: call open() before send()")
        queued = self._inbox.accept(ChatUser(text))
        self._desk.say(InboxQueued(self._inbox.queue, (queued,)))
        return queued.id

    def cancel(
        self,
        *,
        by: CancelBy = CancelBy.USER,
        scope: CancelScope = CancelScope.RUN,
        queue: QueueDisposition = QueueDisposition.DROP,
        reason: str | None = None,
    ) -> None:
        """Stop the open turn, and with scope RUN the whole run; safe in any callback.

        Where nothing is open (idle, ended) and the scope is TURN, nothing happens and nothing leaks
        into the next turn (CONFORMANCE 81); a second cancel changes nothing (82).
        """
        nothing_to_stop = self._turn is None and scope is CancelScope.TURN
        if not self._open or self._stopped is not None or nothing_to_stop:
            return
        if self._turn is not None and self._turn.stop.is_set and scope is CancelScope.TURN:
            return
        cause = Cancelled(by)
        if scope is CancelScope.RUN:
            self._stopped = cause
        self._desk.observe(CancelRequested(by, scope, queue, reason))
        self._desk.observe(CancelDelivered(by, scope, queue, reason))
        self._cut_off = self._cut_off or (scope is CancelScope.RUN and len(self._inbox) > 0)
        if queue is QueueDisposition.DROP:
            self._discard("cancelled")
        if self._turn is not None:
            self._turn.stop.set(cause)

    async def step(self) -> Progress:
        """Advance by one step, beginning or ending a turn where that is due.

        Raises UsageError when a step is under way (CONFORMANCE 20). When the surrounding task is
        cancelled, the turn is closed as cancelled before the cancellation passes on.
        """
        if self._stepping:
            raise UsageError("a step is under way: send() queues input, cancel() stops it")
        self._stepping = True
        try:
            return await self._advance()
        except asyncio.CancelledError:
            self._interrupted()
            self._close_turn(Cancelled(CancelBy.USER))
            raise
        finally:
            self._stepping = False

    async def run_until_idle(self) -> None:
        """Step until no turn is open and no input waits."""
        while await self.step() is not Progress.IDLE:
            pass

    def close(self, *, n_unsent: int = 0) -> None:
        """End the run: its status is its last turn's, or that of what kept ``n_unsent`` input from it."""
        if not self._open:
            return
        self._close_turn(Cancelled(CancelBy.DISPOSE))
        if self._wall_timer is not None:
            self._wall_timer.cancel()
        status, reason = self._last or (Status.COMPLETED, Concluded())
        if self._stopped is not None and (self._last is None or self._cut_off or len(self._inbox) or n_unsent):
            status, reason = status_for(self._stopped), self._stopped
        self._open = False  # before its last line: what a listener asks for there comes too late
        self._desk.say(RunEnd(status, reason))

    # ------------------------------------------------------------ inside

    async def _advance(self) -> Progress:
        if self._turn is None:
            if self._stopped is not None or not len(self._inbox):
                return Progress.IDLE
            self._n_turns += 1
            self._turn = Turn(self._n_turns, StopSignal())
            begin_turn(self._desk, self._turn, self._inbox)
        ended = self._turn.stop.reason or await run_step(self._desk, self._turn)
        if ended is None:
            return Progress.STEPPED
        self._close_turn(ended)
        return Progress.TURN_ENDED

    def _close_turn(self, reason: Reason) -> None:
        if self._turn is None:
            return
        turn, reason = self._turn, self._turn.stop.reason or reason
        self._last = (status_for(reason), reason)
        end_turn(self._desk, turn, reason)
        self._turn = None

    def _interrupted(self) -> None:
        self.cancel(reason="the surrounding task was cancelled")

    def _discard(self, why: str) -> None:
        ids = self._inbox.discard()
        if ids:
            self._desk.say(InboxDiscarded(self._inbox.queue, ids, why))

    def _out_of_time(self, limit_ms: int) -> None:
        if not self._open or self._stopped is not None:
            return
        self._stopped = LimitHit(LimitKind.WALL_TIME, limit_ms)
        if self._turn is not None:
            self._turn.stop.set(self._stopped)
