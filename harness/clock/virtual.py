"""The event loop under virtual time: it jumps instead of waiting, and counts its ticks."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable
from typing import Any, TypeVar

from harness.errors import DeadlockError
from harness.types.codes import ClockKind

T = TypeVar("T")
_RESOLUTION_S = 1e-6


class VirtualClock:
    """The time of a :class:`VirtualLoop`; starts at 0."""

    kind = ClockKind.VIRTUAL

    def __init__(self, loop: VirtualLoop) -> None:
        self._jumping = loop._jumping

    def now_ms(self) -> int:
        """Whole virtual milliseconds since the loop was made."""
        return self._jumping.now_ms

    async def sleep_ms(self, duration_ms: int) -> None:
        """Let ``duration_ms`` of virtual time pass."""
        await asyncio.sleep(duration_ms / 1000)


class _JumpingSelector(selectors.DefaultSelector):
    """Never waits: looks at what is ready now, else moves its virtual time on by the time-out."""

    def __init__(self) -> None:
        super().__init__()
        self.now_s = 0.0
        self.now_ms = 0
        self.n_ticks = 0
        self.at_ticks: dict[int, list[Callable[[], object]]] = {}

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Ready files; without any, time jumps. A tick of the loop begins here: each asks exactly once.

        Raises DeadlockError when nothing can ever happen.
        """
        ready = [] if timeout is not None and timeout <= 0 else self._ready_files(timeout)
        self.n_ticks += 1
        if self.at_ticks:
            for callback in self.at_ticks.pop(self.n_ticks, ()):
                callback()
        return ready

    def _ready_files(self, timeout: float | None) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise DeadlockError(
                "nothing in this run is ready and no timer is set: it would wait for ever. "
                "A wait on a thread, socket or subprocess needs 'clock: system'."
            )
        self.now_s += timeout
        self.now_ms = round(self.now_s * 1000)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop under virtual time; executor jobs run inline, one tick later."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # A timer is due when its time is below now plus this. The machine's own nanosecond vanishes in
        # rounding after some months of virtual time, and a timer that is due would never be.
        self._clock_resolution = _RESOLUTION_S

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumping.now_s

    @property
    def now_ms(self) -> int:
        """Whole virtual milliseconds since the loop was made."""
        return self._jumping.now_ms

    @property
    def n_ticks(self) -> int:
        """Ticks begun so far; what runs in a tick was ready, or due by time, when it began."""
        return self._jumping.n_ticks

    def at_tick(self, number: int, callback: Callable[[], object]) -> None:
        """Call ``callback`` when tick ``number`` begins, at its time and before anything that runs in it.

        It must not raise: nobody would know whose fault it is. A tick that has begun never begins again.
        """
        self._jumping.at_ticks.setdefault(number, []).append(callback)

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run ``func`` in the next tick, in this thread."""
        future: asyncio.Future[T] = self.create_future()
        self.call_soon(_run_inline, future, func, args)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Nothing: jobs run inline. The base class waits here for a thread, which virtual time cannot see."""


def _run_inline(future: asyncio.Future[Any], func: Callable[..., Any], args: tuple[Any, ...]) -> None:
    if future.cancelled():
        return
    try:
        future.set_result(func(*args))
    except StopIteration as error:  # no future can carry one: the waiter would wait for ever
        future.set_exception(RuntimeError(f"the function raised {error!r}"))
    except Exception as error:
        future.set_exception(error)
