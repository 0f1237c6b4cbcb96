"""What an idle driver waits for: the end of maintenance, and input that somebody has announced."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from harness.errors import UsageError
from harness.loop.stop import Wakeup


class Progress(Enum):
    """What ``step()`` came to."""

    STEPPED = "stepped"
    TURN_ENDED = "turn-ended"
    IDLE = "idle"


class Maintenance:
    """While it is under way no step begins (ARTICLES 23)."""

    def __init__(self) -> None:
        self._by: asyncio.Task[object] | None = None
        self._wakeup = Wakeup()

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Under way inside; raises UsageError where it is already."""
        if self._by is not None:
            raise UsageError("maintenance is under way: it does not nest")
        self._by = asyncio.current_task()
        try:
            yield
        finally:
            self._by = None
            self._wakeup.notify()

    async def over(self) -> None:
        """Return once it is over. Raises UsageError where its own task would wait for itself."""
        if self._by is not None and self._by is asyncio.current_task():
            raise UsageError("maintenance is under way: step when it is over")
        while self._by is not None:
            await self._wakeup.wait()


class Holds:
    """Input announced by whoever will send it; while some is, an idle run stays open."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._n_given = 0
        self._wakeup = Wakeup()

    def hold(self) -> Callable[[], None]:
        """One announcement; call what is given back once its input was sent, or will not be."""
        self._n_given += 1
        number = self._n_given
        self._open.add(number)

        def release() -> None:
            self._open.discard(number)
            self._wakeup.notify()

        return release

    def look_again(self) -> None:
        """Something happened that whoever waits must see."""
        self._wakeup.notify()

    async def until(self, ready: Callable[[], bool], *, unless: Callable[[], bool]) -> bool:
        """Wait while something is announced and ``unless`` does not hold; whether ``ready`` holds then."""
        while self._open and not ready() and not unless():
            await self._wakeup.wait()
        return ready()
