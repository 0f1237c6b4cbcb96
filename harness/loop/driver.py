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
from harness.folds import CallIds
from harness.loop.context import Context
from harness.loop.hooks import Hooks
from harness.loop.intake import drop, queue_input, stop_or_go_on
from harness.loop.limits import before_request
from harness.loop.outcome import judged
from harness.loop.phases import Holds, Maintenance, Progress
from harness.loop.policies import Policies
from harness.loop.restore import PARKING, next_step, restore
from harness.loop.scheduler import Scheduler
from harness.loop.stop import StopSignal
from harness.loop.turn import Desk, Turn, end_turn, status_for
from harness.protocols import Log, ModelDoor, ToolDoor
from harness.types.codes import CancelBy, CancelScope, InboxQueue, LimitKind, QueueDisposition, Status
from harness.types.events import Event
from harness.types.lifecycle import REMOVED, CancelDelivered, CancelRequested, RunEnd, RunStart, TurnStart
from harness.types.messages import CallId, ChatDeveloper, ChatSystem, JsonText, MessageId
from harness.types.policy import ApprovalReply
from harness.types.reasons import Cancelled, Concluded, FinalAnswer, LimitHit, Reason, Waiting
from harness.types.scenario import NO_PARAMETERS, Limits


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
        policies: Policies | None = None,
        agent: str = "",
        used_ids: set[str] | None = None,
    ) -> None:
        scheduler = Scheduler(cap=limits.parallel_tools, grace_ms=limits.grace_ms, interrupted=self._interrupted)
        self._desk = Desk(
            model,
            tools,
            log,
            limits,
            system,
            parameters,
            hooks or Hooks(),
            agent,
            scheduler,
            CallIds(agent, used_ids),
            policies or Policies(),
        )
        self._inbox = self._desk.inbox
        self.context = Context(self._desk, lambda: (self._open, self._turn))
        self._maintenance = Maintenance()
        self._holds = Holds()
        self._turn: Turn | None = None
        self._n_turns = 0
        self._stepping = False
        self._cancelling = False
        self._stopped: Reason | None = None
        self._last: tuple[Status, Reason] | None = None
        self._wall_timer: asyncio.TimerHandle | None = None
        self._turn_timer: asyncio.TimerHandle | None = None
        self._open = False
        self._over = False  # out of time or disposed: nothing is accepted and no turn begins any more
        self._cut_off = False
        self._unfinished = False  # the turn before was interrupted, and its work is still owed

    # ------------------------------------------------------------ from outside

    @property
    def is_stopped(self) -> bool:
        """True once the whole run was cancelled, disposed or out of time."""
        return self._stopped is not None

    @property
    def agent(self) -> str:
        """Its agent path; "" for the main one, which alone begins and ends the run."""
        return self._desk.agent

    @property
    def outcome(self) -> tuple[Status, Reason]:
        """How its last turn ended; completed before the first."""
        return self._last or (Status.COMPLETED, Concluded())

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

    def cancel(
        self,
        *,
        by: CancelBy = CancelBy.USER,
        scope: CancelScope = CancelScope.RUN,
        queue: QueueDisposition = QueueDisposition.DROP,
        reason: str | None = None,
    ) -> None:
        """Stop the open turn, and with scope RUN the whole run; safe in any callback.

        What is queued is dropped, or parked until the next input that wakes; what is sent from then on
        runs after convergence (CONFORMANCE 109 to 111). Where nothing is open (idle, ended) and the scope is
        TURN, nothing happens and nothing leaks into the next turn (81); a second cancel changes nothing (82).
        """
        if not self._open or self._over or self._cancelling or (self._turn is None and scope is CancelScope.TURN):
            return
        if self._nothing_to_stop and (self._stopped is not None or scope is CancelScope.TURN):
            return
        self._cancel(by, scope, queue, reason)

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

    # ------------------------------------------------------------ inside

    @property
    def _has_work(self) -> bool:
        return self._turn is not None or (self._wakes and not self._over)

    @property
    def _nothing_to_stop(self) -> bool:
        """No turn that goes on, and nothing that would begin one."""
        return (self._turn is None or self._turn.stop.is_set) and not self._wakes

    @property
    def _wakes(self) -> bool:
        return self._unfinished or self._inbox.wakes

    async def _advance(self) -> Progress:
        if not self._has_work:
            return Progress.IDLE
        turn = self._turn or self._begin_turn()
        ended = await next_step(self._desk, turn)
        if ended is not None:
            may_go_on = before_request(self._desk, turn) is None
            ended = await stop_or_go_on(self._desk, turn, ended, may_go_on=may_go_on)
        if isinstance(ended, FinalAnswer):
            ended = await judged(self._desk, turn, ended)
        if ended is None:
            return Progress.STEPPED
        self._close_turn(ended)
        return Progress.TURN_ENDED

    def _begin_turn(self) -> Turn:
        self._n_turns += 1
        self._cut_off = False
        self._inbox.unpark()
        self._turn = turn = Turn(self._n_turns, StopSignal(), goes_on=self._unfinished)
        self._unfinished = False
        limit_ms = self._desk.limits.turn_wall_ms
        if limit_ms is not None:
            limit = LimitHit(LimitKind.TURN_TIME, limit_ms)
            self._turn_timer = asyncio.get_running_loop().call_later(limit_ms / 1000, turn.stop.set, limit)
        self._desk.say(TurnStart(), turn)
        return turn

    def _close_turn(self, reason: Reason) -> None:
        if self._turn is None:
            return
        if self._turn_timer is not None:
            self._turn_timer.cancel()
        turn, reason = self._turn, self._turn.stop.reason or reason
        status = status_for(reason)
        self._last = (status, reason)
        if status in PARKING:
            self._inbox.park()
        if _is_parked(reason):  # the answer goes on from the question, in a run of its own
            self._stopped, self._over = self._stopped or reason, True
            drop(self._desk, self._inbox.clear(), "the run waits for a person", turn)
        end_turn(self._desk, turn, reason)
        self._turn = None

    def _interrupted(self) -> None:
        by = CancelBy.PARENT if self.agent else CancelBy.USER
        self.cancel(by=by, reason="the surrounding task was cancelled")

    def _cancel(self, by: CancelBy, scope: CancelScope, queue: QueueDisposition, reason: str | None) -> None:
        """Say it, drop or park what is queued by then, stop the turn.

        The line is drawn at ``cancel/delivered``: what its listeners send comes after the cancel.
        """
        if self._turn is not None and _is_parked(self._turn.stop.reason):
            return  # nothing runs, and what was asked is a person's to answer
        self._cancelling = True
        cause = Cancelled(by)
        if scope is CancelScope.RUN:
            self._stopped = self._stopped or cause
        self._desk.observe(CancelRequested(by, scope, queue, reason))
        self._cut_off = self._cut_off or (scope is CancelScope.RUN and len(self._inbox) > 0)
        dropped = self._inbox.clear() if queue is QueueDisposition.DROP else ()
        self._inbox.park()
        self._unfinished = False
        self._desk.observe(CancelDelivered(by, scope, queue, reason))
        drop(self._desk, dropped, "cancelled")
        if self._turn is not None:
            self._turn.stop.set(cause)
        self._cancelling = False

    def _out_of_time(self, limit_ms: int) -> None:
        if not self._open or self._over:
            return
        limit = LimitHit(LimitKind.WALL_TIME, limit_ms)
        self._over = True
        self._cut_off = self._cut_off or len(self._inbox) > 0
        self._stopped = self._stopped or limit
        if self._turn is not None:
            self._turn.stop.set(limit)
        self._holds.look_again()


def _is_parked(reason: Reason | None) -> bool:
    return isinstance(reason, Waiting) and reason.call_id is not None
