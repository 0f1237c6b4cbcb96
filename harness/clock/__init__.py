"""Time, and nothing else here asks the machine for it.

Under the virtual clock a run's event loop never waits: when nothing is ready its time jumps to the
next timer. Sleeps, time-outs and back-off of any asyncio code obey it, so an hour passes in well
under a millisecond, and the same scenario always takes the same (virtual) time. Threads,
subprocesses and sockets are invisible to it; runs that need them take the system clock.
"""

from __future__ import annotations

import asyncio
import ctypes
import datetime
import gc
import random
import signal
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from harness.clock.virtual import VirtualClock, VirtualLoop
from harness.types.codes import ClockKind

__all__ = [
    "Clocks",
    "SystemClock",
    "VirtualClock",
    "VirtualLoop",
    "monotonic_ms",
    "run_in_loop",
    "wall_clock_iso",
]

T = TypeVar("T")
_LAST_GRACE_S = 1.0
_OBJECTS_A_COLLECTION = 10_000


class SystemClock:
    """The machine's monotonic clock."""

    kind = ClockKind.SYSTEM

    def now_ms(self) -> int:
        """Whole milliseconds since some fixed instant of this machine."""
        return time.monotonic_ns() // 1_000_000

    async def sleep_ms(self, duration_ms: int) -> None:
        """Let ``duration_ms`` pass."""
        await asyncio.sleep(duration_ms / 1000)


@contextmanager
def _outside_running_loop() -> Iterator[None]:
    """Leave the thread's running loop, if any, so that a run may have its own (pytest-asyncio)."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)


class _PutBack:
    """A setting of the whole process that runs change and put back, also where runs overlap in threads.

    A run that ends before one that began after it leaves what it found to that one.
    """

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
        self._read = read
        self._write = write
        self._lock = threading.Lock()
        self._found: list[list[Any]] = []

    @contextmanager
    def afterwards(self) -> Iterator[None]:
        """Put back what was found, when every run that overlaps has ended."""
        with self._lock:
            mine = [self._read()]
            self._found.append(mine)
        try:
            yield
        finally:
            with self._lock:
                place = next(i for i, one in enumerate(self._found) if one is mine)
                del self._found[place]
                if place < len(self._found):
                    self._found[place][0] = mine[0]
                else:
                    self._write(mine[0])


_COLLECTIONS: Final = _PutBack(gc.get_threshold, lambda found: gc.set_threshold(*found))
_CHANCE: Final = _PutBack(random.getstate, random.setstate)


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """A run keeps nearly all that it makes, so the collector finds little and would take a twentieth of it."""
    with _COLLECTIONS.afterwards():
        often = gc.get_threshold()
        if 0 < often[0] < _OBJECTS_A_COLLECTION:
            gc.set_threshold(_OBJECTS_A_COLLECTION, *often[1:])
        yield


Clocks = VirtualClock | SystemClock


def run_in_loop(kind: ClockKind, main: Callable[[Clocks], Coroutine[Any, Any, T]], *, seed: int = 0) -> T:
    """Run ``main(clock)`` in a fresh event loop of that clock and give its result.

    Under the virtual clock the module ``random`` begins at ``seed`` (a client's retry jitter uses it) and
    is afterwards as it was.

    Works in a plain function and inside a running event loop, which stands still meanwhile.
    Raises what ``main`` raises, and DeadlockError under the virtual clock.
    """
    with _outside_running_loop(), _fewer_collections():
        if kind is ClockKind.VIRTUAL:
            loop = VirtualLoop()
            with _seeded(seed):
                return _run_virtual(loop, main(VirtualClock(loop)))
        with asyncio.Runner() as runner:
            return runner.run(_leaving_nothing(main(SystemClock())))


def _run_virtual(loop: VirtualLoop, main: Coroutine[Any, Any, T]) -> T:
    """What ``asyncio.Runner`` does, at a third of its price where nothing is left to be cleared away."""
    task = loop.create_task(_leaving_nothing(main))
    interrupts = _Interrupts(loop, task)
    try:
        with interrupts.taken():
            return loop.run_until_complete(task)
    except asyncio.CancelledError:
        if interrupts.n_taken and task.uncancel() == 0:
            raise KeyboardInterrupt from None
        raise
    finally:
        if asyncio.all_tasks(loop):  # a deadlock or a second interrupt left them
            with asyncio.Runner(loop_factory=lambda: loop):
                pass  # leaving it cancels them, waits for them and closes the loop
        else:
            loop.close()


class _Interrupts:
    """SIGINT during a run, as ``asyncio.Runner`` takes it: the first cancels the run, the next one interrupts.

    The runner's own handler holds the task, and the module ``signal`` spells each handler out four times
    a run, in errors that nobody sees: a tenth of a short run.
    """

    __slots__ = ("_loop", "_task", "n_taken")

    def __init__(self, loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
        self._loop = loop
        self._task = task
        self.n_taken = 0

    def __call__(self, number: int, frame: object) -> None:
        self.n_taken += 1
        if self.n_taken > 1 or self._task.done():
            raise KeyboardInterrupt
        self._task.cancel()
        self._loop.call_soon_threadsafe(lambda: None)  # the loop may be waiting

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take signals, where nobody else does and this thread may; afterwards it is as it was."""
        alone = threading.current_thread() is threading.main_thread()
        if not alone or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self)
        try:
            yield
        finally:
            if signal.getsignal(signal.SIGINT) is self:
                signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    with _CHANCE.afterwards():
        random.seed(seed)
        yield


async def _leaving_nothing(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main``, then cancel what it left running; what ignores that is dropped with the loop."""
    try:
        return await main
    finally:
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left, timeout=_LAST_GRACE_S)
        for task in left:
            if not task.done():
                asyncio._unregister_task(task)  # or the runner would wait for it for ever
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(task))  # freed, it would swallow that too, and run on
                task._log_destroy_pending = False  # type: ignore[attr-defined]
        await asyncio.get_running_loop().shutdown_asyncgens()


def wall_clock_iso() -> str:
    """The date and time of now in UTC, ISO 8601 with whole seconds; for volatile fields only."""
    return datetime.datetime.now(datetime.UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def monotonic_ms() -> int:
    """Whole milliseconds for measuring how long something outside a run took."""
    return time.monotonic_ns() // 1_000_000
