"""How a tool's function runs: in the loop, in a thread that is waited for, or in a child process."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from harness.protocols import Signal
from harness.types.doors import Gate

_NEVER_AWAITED: Final = frozenset({str, int, float, bool, type(None), dict, list, tuple})


@dataclass(frozen=True, slots=True)
class Ended:
    """How a function that cannot be stopped ended: with a value, or with what it raised.

    It is the argument of the CancelledError that :func:`in_thread` raises when the surrounding task
    was cancelled meanwhile: what happened is not lost.
    """

    value: Any = None
    error: BaseException | None = None

    def unwrap(self) -> Any:
        """The value; raises what the function raised."""
        if self.error is not None:
            raise self.error
        return self.value


async def inline(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function in the event loop and await what it gives, where that can be awaited."""
    value = function(**arguments)
    if type(value) in _NEVER_AWAITED:  # the usual case, told without asking an abstract class
        return value
    return await value if inspect.isawaitable(value) else value


async def in_thread(function: Callable[..., Any], arguments: Mapping[str, Any], signal: Signal) -> Any:
    """Call a sync function in a thread of its own, and wait for it whatever happens.

    A cancel cannot stop a thread: it is waited for, then CancelledError passes with its Ended as
    argument (RELIABILITY P4). Where the cancel comes before the thread has begun, the function is not
    called any more (CONFORMANCE 63). A thread of its own, since a started body must never wait for a
    worker. Under the virtual clock the loop runs it inline, one tick later.
    """
    context = contextvars.copy_context()
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="harness-tool")
    was_cancelled = False

    def work() -> Ended | None:
        return None if was_cancelled or signal.is_set else _settled(function, arguments)

    job = asyncio.get_running_loop().run_in_executor(executor, context.run, work)
    while not job.done():
        try:
            await asyncio.wait((job,))
        except asyncio.CancelledError:
            was_cancelled = True
    executor.shutdown()  # the function has returned: the thread is gone when we are
    ended = job.result()
    if ended is None:
        raise asyncio.CancelledError
    if was_cancelled:
        raise asyncio.CancelledError(ended)
    return ended.unwrap()


def _settled(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Ended:
    # BaseException: a StopIteration or SystemExit set on a future would never reach who waits for it.
    try:
        return Ended(value=function(**arguments))
    except BaseException as error:
        return Ended(error=error)


async def gated(work: Awaitable[Any], gate: Gate, start: int) -> Any:
    """What a body comes to, a failure too, once it may be seen to end; a cancel meanwhile tells what it came to."""
    try:
        ended = Ended(await work)
    except Exception as error:
        ended = Ended(error=error)
    try:
        await gate(start)
    except asyncio.CancelledError:
        raise asyncio.CancelledError(ended) from None
    return ended.unwrap()
