"""The state of one driver, and what moves it: a turn begins, is cancelled, runs out of time, ends."""

from __future__ import annotations

import asyncio

from harness.folds import CallIds, status_for
from harness.loop.context import Context
from harness.loop.hooks import Hooks
from harness.loop.intake import drop, stop_or_go_on
from harness.loop.limits import before_request
from harness.loop.outcome import judged
from harness.loop.phases import Holds, Maintenance, Progress
from harness.loop.policies import Policies
from harness.loop.restore import PARKING, next_step
from harness.loop.scheduler import Scheduler
from harness.loop.stop import StopSignal
from harness.loop.turn import Desk, Turn, end_turn
from harness.protocols import Log, ModelDoor, ToolDoor
from harness.types.codes import CancelBy, CancelScope, LimitKind, QueueDisposition, Status
from harness.types.lifecycle import CancelDelivered, CancelRequested, TurnStart
from harness.types.messages import ChatDeveloper, ChatSystem, JsonText
from harness.types.reasons import Cancelled, Concluded, FinalAnswer, LimitHit, Reason, Waiting
from harness.types.scenario import NO_PARAMETERS, Limits


class Session:
    """What a driver keeps between steps. ``model`` and ``tools`` are the harness's doors."""

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

    @property
    def agent(self) -> str:
        """Its agent path; "" for the main one, which alone begins and ends the run."""
        return self._desk.agent

    @property
    def outcome(self) -> tuple[Status, Reason]:
        """How its last turn ended; completed before the first."""
        return self._last or (Status.COMPLETED, Concluded())

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
