"""Owns every task of a driver: the model request, and the tool bodies of one answer.

Bodies run in a rolling bounded pool; an exclusive one is a barrier; the mode is read again before
each start; results are committed in model order as soon as all earlier ones are there. When the
signal is set nothing more starts: running bodies get the grace to end by themselves, then they are
cancelled, then (all but threads, which are waited for) abandoned and named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from harness.errors import ConfigurationError
from harness.guarding import Stopped as Stopped
from harness.loop.stop import StopSignal, Wakeup
from harness.protocols import ToolDoor
from harness.types.codes import Code, Isolation, Mode, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.reasons import EmittedCall, Waiting

if TYPE_CHECKING:
    from harness.loop.gate import Gate

T = TypeVar("T")
_TICKS_TO_HAND_OVER = 10


class CancelledByItself(Exception):
    """It raised CancelledError although nobody had asked it to stop: a failure like any other (154)."""


class ToolFailedRun(Exception):
    """A tool failed, and the host's policy ends the run for it: the code and text of its result (ARTICLES 20)."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code


class Scheduler:
    """Starts and settles tasks; ``grace_ms`` before the hard stop, and again after it.

    ``interrupted`` is called when the surrounding task is cancelled, before anything is settled. Raises
    ConfigurationError for a ``cap`` that is no whole number from 1 (CONFORMANCE 44).
    """

    def __init__(self, *, cap: int, grace_ms: int, interrupted: Callable[[], None] = lambda: None) -> None:
        if type(cap) is not int or cap < 1:
            raise ConfigurationError(f"parallel_tools is {cap!r}; allowed: whole numbers from 1")
        self.cap = cap
        self.interrupted = interrupted
        self._grace_s = grace_ms / 1000

    async def run_request(self, request: Coroutine[Any, Any, T], stop: StopSignal, *, name: str = "model request") -> T:
        """The result of ``request``; Stopped when the signal comes first (the request is cancelled).

        Raises what the request raises; CancelledByItself for a CancelledError of its own making.
        """
        wakeup = Wakeup()
        task = asyncio.create_task(request, name=name)
        task.add_done_callback(wakeup.notify)

        def cancel() -> None:  # at once, so that nothing of it starts between the stop and the next tick
            task.cancel()
            wakeup.notify()

        stop.on_set(cancel)
        try:
            while not task.done() and not stop.is_set:
                await wakeup.wait()
        except asyncio.CancelledError:
            self.interrupted()
            raise
        finally:
            stop.forget(cancel)
            if not task.done():
                if not stop.is_set:
                    task.cancel()
                await self._settle({task})
        if stop.is_set:
            _retrieve(task)
            raise Stopped
        if task.cancelled():
            raise CancelledByItself("raised CancelledError, although nothing was cancelled")
        return task.result()

    async def _settle(self, tasks: Iterable[asyncio.Task[Any]], *, for_ever: bool = False) -> None:
        waiting = {task for task in tasks if not task.done()}
        if waiting:
            _, late = await asyncio.wait(waiting, timeout=None if for_ever else self._grace_s)
            late = await _handed_over(late)
            for task in late:
                task.add_done_callback(_retrieve)

    async def stop_bodies(self, bodies: dict[asyncio.Task[ToolReply | None], Isolation]) -> None:
        """Grace, hard stop, grace again; bodies in threads are waited for."""
        await self._settle(bodies)
        for task in bodies:
            if not task.done():
                task.cancel()
        await self._settle(bodies)
        await self._settle([t for t, isolation in bodies.items() if isolation is Isolation.THREAD], for_ever=True)


async def _handed_over(late: set[asyncio.Task[T]]) -> set[asyncio.Task[T]]:
    """Those still not done after some ticks: a body that ended in time must not lose its reply on the way."""
    for _ in range(_TICKS_TO_HAND_OVER):
        late = {task for task in late if not task.done()}
        if not late:
            break
        await asyncio.sleep(0)
    return late


def _retrieve(task: asyncio.Task[Any]) -> None:
    if task.done() and not task.cancelled():
        task.exception()


class Batch:
    """The calls of one answer on their way to results.

    ``commit`` is called once for each call, in model order, with its reply; where a question parked the turn,
    neither for its call nor for those behind it.
    """

    def __init__(
        self,
        calls: Sequence[EmittedCall],
        *,
        door: ToolDoor,
        gate: Gate,
        scheduler: Scheduler,
        stop: StopSignal,
        start: Callable[[EmittedCall], Coroutine[Any, Any, ToolReply]],
        commit: Callable[[EmittedCall, ToolReply], None],
    ) -> None:
        self._calls = calls
        self._door = door
        self._gate = gate
        self._scheduler = scheduler
        self._stop = stop
        self._start = start
        self._commit = commit
        self._replies: dict[int, ToolReply] = {}
        self._running: dict[asyncio.Task[ToolReply | None], int] = {}
        self._dispatched: set[int] = set()
        self._next = 0
        self._n_committed = 0
        self._exclusive = False
        self._failure: BaseException | None = None
        self._wakeup = Wakeup()
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Run what may run and commit a reply for every call. Raises what broke a door, at the end."""
        self._stop.on_set(self._wakeup.notify)
        try:
            while True:
                self._collect()
                if self._n_committed in self._replies:
                    await self._commit_ready()
                if self._next < len(self._calls):
                    await self._start_what_may()
                done = not self._running and (self._failure is not None or self._next == len(self._calls))
                if self._stop.is_set or done:  # after a failure nothing starts, and what runs is awaited (56)
                    break
                await self._wakeup.wait()
            if self._running:
                await self._stop_running()
        except asyncio.CancelledError:
            self._scheduler.interrupted()
            await self._stop_running()
            raise
        finally:
            self._stop.forget(self._wakeup.notify)
            if self._n_committed < len(self._calls) and not isinstance(self._stop.reason, Waiting):
                self._commit_rest()
        if self._failure is not None:
            raise self._failure

    @property
    def _halted(self) -> bool:
        return self._stop.is_set or self._failure is not None

    async def _start_what_may(self) -> None:
        while self._next < len(self._calls) and not self._halted:
            call = await self._passed(self._gate.admit(self._calls[self._next], alone=not self._running))
            if isinstance(call, ToolReply):
                self._replies[self._next] = call
                self._next += 1
                await self._commit_ready()
                continue
            if call is None or self._halted:
                return
            exclusive = self._door.mode_of(call.name, call.arguments) is Mode.EXCLUSIVE
            if self._running and (exclusive or self._exclusive or len(self._running) >= self._scheduler.cap):
                return
            self._exclusive = exclusive
            self._begin(self._next, call)
            self._next += 1

    async def _passed(self, said: Coroutine[Any, Any, T]) -> T | None:
        """What the gate says; None where the turn is stopped meanwhile, or a hook broke."""
        try:
            return await said
        except Stopped:
            return None
        except Exception as error:  # nothing more starts, what runs is settled, then it is raised
            self._failure = self._failure or error
            return None

    def _begin(self, index: int, call: EmittedCall) -> None:
        task = self._loop.create_task(self._body(index, call), name=f"tool {call.name} {call.id}")
        self._running[task] = index
        task.add_done_callback(self._wakeup.notify)

    async def _body(self, index: int, call: EmittedCall) -> ToolReply | None:
        if self._halted:
            return None
        self._dispatched.add(index)
        try:
            reply = await self._start(call)
            self._wakeup.notify()  # a tick before the task's callback, which is for a task that never began
            return reply
        except asyncio.CancelledError as cancelled:
            done = next((arg for arg in cancelled.args if isinstance(arg, ToolReply)), None)
            if done is None:
                raise
            return done  # it ended anyway: the model is never told that what happened did not

    def _collect(self) -> None:
        for task in [task for task in self._running if task.done()]:
            index = self._running.pop(task)
            self._exclusive = self._exclusive and bool(self._running)
            reply = self._reply_of(task)
            if reply is not None:
                self._replies[index] = reply

    def _reply_of(self, task: asyncio.Task[ToolReply | None]) -> ToolReply | None:
        if task.cancelled():
            return None
        error = task.exception()
        if error is not None:
            self._failure = self._failure or error
            return None
        reply = task.result()
        if reply is not None and reply.fails_run:
            self._failure = self._failure or ToolFailedRun(reply.code or Code.TOOL_FAILED, reply.message or "failed")
        return reply

    async def _commit_ready(self) -> None:
        while self._n_committed in self._replies and not self._halted:
            index = self._n_committed
            if index in self._dispatched and self._gate.shows:
                reply = await self._passed(self._gate.shown(self._calls[index], self._replies[index]))
                self._replies[index] = reply or self._replies[index]
            self._commit_next()

    def _commit_next(self) -> None:
        index = self._n_committed
        self._n_committed += 1
        self._commit(self._calls[index], self._replies[index])

    async def _stop_running(self) -> None:
        if self._running:
            await self._scheduler.stop_bodies(
                {task: self._door.isolation_of(self._calls[index].name) for task, index in self._running.items()}
            )
            self._collect()

    def _commit_rest(self) -> None:
        for index in range(self._n_committed, len(self._calls)):
            if index not in self._replies:
                self._replies[index] = _ABORTED if index in self._dispatched else _NOT_DISPATCHED
            self._commit_next()


_ABORTED = ToolReply(
    "ABORTED: the call was stopped before it finished; part of its work may have been done.",
    ToolOutcome.CANCELLED,
    is_error=True,
    code=Code.ABORTED,
    message="the call was stopped before it finished",
)
_NOT_DISPATCHED = ToolReply(
    "ABORTED_BEFORE_DISPATCH: the call was never started.",
    ToolOutcome.CANCELLED,
    is_error=True,
    code=Code.ABORTED_BEFORE_DISPATCH,
    message="the call was never started",
)
