"""A foreign loop in a thread of its own, beside the event loop of its run.

Whatever it does to its thread (a synchronous client, a loop of its own), the run goes on: its events are
recorded, its limits hold, its model answers. What must happen in the run's own event loop is handed over.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, TypeVar

from harness.protocols import Listener, Log
from harness.server.asking import Ask, Asked
from harness.types.codes import Origin
from harness.types.doors import Answer
from harness.types.events import Event
from harness.types.facts import Fact
from harness.types.messages import JsonText

T = TypeVar("T")
_HAND_OVER_S: Final = 30.0


class Beside:
    """Made in the run's event loop, which is the home of all that is recorded."""

    def __init__(self) -> None:
        self._home = asyncio.get_running_loop()
        self._thread = threading.current_thread()

    def at_home(self, work: Callable[[], T]) -> T:
        """Do it in the run's event loop and wait for it; at once where this is its thread. Raises what it raises."""
        if threading.current_thread() is self._thread:
            return work()
        done: Future[T] = Future()
        self._home.call_soon_threadsafe(_do, work, done)
        return done.result(_HAND_OVER_S)

    def later(self, work: Callable[[], Any]) -> None:
        """Do it in the run's event loop, behind what was handed over before; nowhere once the run has ended."""
        with suppress(RuntimeError):
            self._home.call_soon_threadsafe(work)

    def asking(self, ask: Ask) -> Ask:
        """The same, for a server in another thread: asked in the run's event loop, chunks handed back."""

        async def asked_elsewhere(asked: Asked) -> Answer:
            there = asyncio.get_running_loop()

            def emit(chunk: JsonText) -> None:
                there.call_soon_threadsafe(asked.emit, chunk)

            here = Asked(asked.request, asked.number, emit, asked.given, asked.lost)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_coroutine(ask(here)), self._home))

        return asked_elsewhere

    async def run(self, work: Callable[[], Any], *, name: str) -> Any:
        """The value of ``work()`` in a thread of its own, awaited in a loop of that thread where it is awaitable.

        A cancel is handed on to what is awaited there, once; plain code goes on, and is waited for until a second
        cancel. Raises what the work raises.
        """
        body = _Body(work, self._home)
        threading.Thread(target=body.main, name=name, daemon=True).start()
        asked_to_stop = False
        while True:
            try:
                return await asyncio.shield(body.done)
            except asyncio.CancelledError:
                if body.done.done() or asked_to_stop:
                    raise
                asked_to_stop = True
                body.cancel()


class LogBeside:
    """A log for another thread: what is recorded there is recorded in the run's event loop."""

    def __init__(self, log: Log, beside: Beside) -> None:
        self._log = log
        self._beside = beside

    def record(
        self, fact: Fact, *, origin: Origin, agent: str = "", turn: int | None = None, step: int | None = None
    ) -> Event:
        """As in the log itself."""
        return self._beside.at_home(lambda: self._log.record(fact, origin=origin, agent=agent, turn=turn, step=step))

    def listen(self, listener: Listener) -> None:
        """As in the log itself; called in the run's event loop."""
        self._log.listen(listener)

    @property
    def events(self) -> Sequence[Event]:
        """All events so far."""
        return self._log.events


class _Body:
    """What runs in the thread, and how it ended."""

    def __init__(self, work: Callable[[], Any], home: asyncio.AbstractEventLoop) -> None:
        self._work = work
        self._home = home
        self._own: tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]] | None = None
        self._cancelled = False
        self.done: asyncio.Future[Any] = home.create_future()
        self.done.add_done_callback(_retrieved)

    def main(self) -> None:
        """The thread."""
        try:
            value = self._work()
            if inspect.isawaitable(value):
                value = asyncio.run(self._awaited(value))
        except BaseException as error:  # told to the run, whatever it is
            self._tell(self._fail, error)
        else:
            self._tell(self._succeed, value)

    def cancel(self) -> None:
        """Cancel what is awaited in the thread; plain code has nothing that could be."""
        self._cancelled = True
        if self._own is not None:
            loop, task = self._own
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)

    async def _awaited(self, value: Awaitable[Any]) -> Any:
        task = asyncio.current_task()
        assert task is not None
        self._own = (asyncio.get_running_loop(), task)
        if self._cancelled:
            task.cancel()
        return await value

    def _tell(self, tell: Callable[[Any], None], what: Any) -> None:
        with suppress(RuntimeError):  # the run has ended without it
            self._home.call_soon_threadsafe(tell, what)

    def _succeed(self, value: Any) -> None:
        if not self.done.done():
            self.done.set_result(value)

    def _fail(self, error: BaseException) -> None:
        if self.done.done():
            return
        if isinstance(error, asyncio.CancelledError):
            self.done.cancel()
        elif isinstance(error, StopIteration):  # no future can carry one
            self.done.set_exception(RuntimeError(f"the loop raised {error!r}"))
        else:
            self.done.set_exception(error)


def _do(work: Callable[[], Any], done: Future[Any]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # the caller's, in its own thread
        done.set_exception(error)


def _retrieved(done: asyncio.Future[Any]) -> None:
    if not done.cancelled():
        done.exception()


def _coroutine(work: Awaitable[T]) -> Coroutine[Any, Any, T]:
    async def awaited() -> T:
        return await work

    return awaited()
