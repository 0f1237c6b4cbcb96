"""Quiescence: what a run started and left running, by name."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from harness.protocols import Clock
from harness.types.codes import ClockKind
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.lifecycle import RunQuiescent
from harness.types.reasons import Alive

SETTLE_MS = {ClockKind.VIRTUAL: 3_600_000, ClockKind.SYSTEM: 350}
"""How long is waited for what is still running: an hour where time costs nothing."""
_LOOK_AGAIN_MS = 5


class WatchedExecutor(ThreadPoolExecutor):
    """An event loop's executor that knows which of its threads only wait for work (``idle``)."""

    def __init__(self) -> None:
        super().__init__(thread_name_prefix="executor")
        self.idle: set[threading.Thread] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """As in the base class."""
        return super().submit(self._work, fn, args, kwargs)

    def _work(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        thread = threading.current_thread()
        self.idle.discard(thread)
        try:
            return fn(*args, **kwargs)
        finally:
            self.idle.add(thread)


_UNDER_WAY: set[Watch] = set()


class Watch:
    """Remembers which tasks and threads were there before the run.

    A thread does not say who started it: where runs overlap in one process, no thread is named.
    """

    def __init__(self, kind: ClockKind) -> None:
        self._alone = True
        _UNDER_WAY.add(self)
        if len(_UNDER_WAY) > 1:
            for watch in tuple(_UNDER_WAY):
                watch._alone = False
        self._idle: set[threading.Thread] = set()
        if kind is ClockKind.SYSTEM:  # a virtual loop runs such jobs in its own thread
            executor = WatchedExecutor()
            self._idle = executor.idle
            asyncio.get_running_loop().set_default_executor(executor)
        self._tasks = asyncio.all_tasks()
        self._threads = set(threading.enumerate())

    def __enter__(self) -> Watch:
        """Watch a run; raises nothing."""
        return self

    def __exit__(self, *_: object) -> None:
        _UNDER_WAY.discard(self)

    async def quiescent(self, clock: Clock, events: Sequence[Event]) -> RunQuiescent:
        """Wait until nothing of the run is left, at most SETTLE_MS; name what still is."""
        began_ms = clock.now_ms()
        left = self._left()
        if left:
            await asyncio.wait(left, timeout=SETTLE_MS[clock.kind] / 1000)
        threads = await self._threads_left(clock, began_ms)
        bodies = open_bodies(events)
        others = [Alive("task", task.get_name()) for task in self._left() if not _is_body(task, bodies)]
        alive = (*bodies, *sorted(others, key=_name), *sorted(threads, key=_name))
        return RunQuiescent(alive, clock.now_ms() - began_ms)

    async def _threads_left(self, clock: Clock, began_ms: int) -> list[Alive]:
        """Threads that still work when the time to settle is over (where it is the time that they live in)."""
        while (threads := self._working()) and clock.kind is ClockKind.SYSTEM:
            if clock.now_ms() - began_ms >= SETTLE_MS[clock.kind]:
                break
            await clock.sleep_ms(_LOOK_AGAIN_MS)
        return [Alive("thread", thread.name) for thread in threads]

    def _working(self) -> list[threading.Thread]:
        if not self._alone:
            return []
        known = self._threads | self._idle
        return [thread for thread in threading.enumerate() if thread not in known and not thread.daemon]

    def _left(self) -> set[asyncio.Task[object]]:
        return {task for task in asyncio.all_tasks() - self._tasks if not task.done()}


def open_bodies(events: Sequence[Event]) -> tuple[Alive, ...]:
    """Tool bodies that started and have not ended, by start: the log says so."""
    started = {event.seq: event.fact for event in events if isinstance(event.fact, ToolStart)}
    for event in events:
        if isinstance(event.fact, ToolEnd):
            started.pop(event.fact.start, None)
    return tuple(Alive("tool", fact.name, seq) for seq, fact in sorted(started.items()))


def _is_body(task: asyncio.Task[object], bodies: tuple[Alive, ...]) -> bool:
    return any(task.get_name().startswith(f"tool {body.name} ") for body in bodies)


def _name(alive: Alive) -> str:
    return alive.name
