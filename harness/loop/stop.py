"""Why and whether to stop: the cooperative signal of one turn, and of the driver behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from harness.types.codes import CancelBy
from harness.types.reasons import Cancelled, Reason


class StopSignal:
    """Set once, with the reason that ends the turn; the first cause wins (CONFORMANCE 80).

    A cancel comes before a limit on time, even where that stopped the turn a moment earlier (101).

    Implements :class:`harness.protocols.Signal`, which is what tools and models see of it.
    """

    def __init__(self) -> None:
        self.reason: Reason | None = None
        self.is_set = False
        """True once something asked to stop (a plain attribute: it is asked a dozen times a step)."""
        self._callbacks: list[Callable[[], None]] = []

    @property
    def by(self) -> CancelBy | None:
        """Who cancelled; None where nobody did (not set, or a limit)."""
        return self.reason.by if isinstance(self.reason, Cancelled) else None

    def set(self, reason: Reason) -> bool:
        """Ask to stop. False when somebody had asked before; then nothing changes."""
        if self.reason is not None:
            if isinstance(reason, Cancelled) and not isinstance(self.reason, Cancelled):
                self.reason = reason
            return False
        self.reason = reason
        self.is_set = True
        for callback in self._callbacks:
            callback()
        self._callbacks.clear()
        return True

    def on_set(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` when the signal is set; at once where it is."""
        if self.is_set:
            callback()
        else:
            self._callbacks.append(callback)

    def forget(self, callback: Callable[[], None]) -> None:
        """Do not call ``callback`` any more."""
        if callback in self._callbacks:
            self._callbacks.remove(callback)

    async def wait(self) -> None:
        """Return once the signal is set."""
        if self.is_set:
            return
        wakeup = Wakeup()
        self.on_set(wakeup.notify)
        try:
            await wakeup.wait()
        finally:
            self.forget(wakeup.notify)


class Wakeup:
    """Lets one waiter sleep until somebody notifies; a notification before the wait is kept."""

    def __init__(self) -> None:
        self._future: asyncio.Future[None] | None = None
        self._notified = False

    def notify(self, *_: object) -> None:
        """Wake the waiter, now or when it comes."""
        if self._future is not None and not self._future.done():
            self._future.set_result(None)
        else:
            self._notified = True

    async def wait(self) -> None:
        """Return at the next notification."""
        if self._notified:
            self._notified = False
            return
        self._future = asyncio.get_running_loop().create_future()
        try:
            await self._future
        finally:
            self._future = None
