"""Leaving a virtual loop waits for nothing that virtual time cannot see."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from harness.clock import Clocks, run_in_loop
from harness.types.codes import ClockKind


def test_an_executor_that_somebody_set_is_not_waited_for_when_the_loop_is_left_with_a_task() -> None:
    """The base class waits for a thread that shuts it down, and loses the race where the machine is busy."""

    class SlowToShutDown(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            if wait:
                released.wait(10)
            super().shutdown(wait, cancel_futures=cancel_futures)

    async def main(clock: Clocks) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(SlowToShutDown())
        assert await loop.run_in_executor(None, threading.current_thread) is threading.current_thread()
        await loop.shutdown_default_executor()

    released = threading.Event()
    try:
        run_in_loop(ClockKind.VIRTUAL, main)
    finally:
        released.set()
