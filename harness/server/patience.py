"""When a loop that asks and asks is stopped: the model's door is where that can be seen, and bounded.

A loop that takes every failure for a reason to ask again never ends, and lets no virtual time pass in
which a limit could end it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from harness.types.codes import Code
from harness.types.reasons import Failed

MOST_UNANSWERED: Final = 100
"""Requests in a row without an answer, in one instant, or at any time once there is nothing left to answer with."""
MOST_IN_AN_INSTANT: Final = 10_000
"""Requests in one instant, answered or not."""
_DRY: Final = (Code.SCRIPT_EXHAUSTED, Code.CASSETTE_MISS, Code.REPLAY_DIFFERS)


class Patience:
    """Counts the requests of a run. Beyond the limits ``give_up`` is called, once, with why the run ends.

    Whoever asks all the same waits until cancelled, so that time passes and the run can be left.
    """

    def __init__(self, now_ms: Callable[[], int], give_up: Callable[[Failed], object]) -> None:
        self._now_ms = now_ms
        self._give_up = give_up
        self._instant_ms = -1
        self._n_in_instant = 0
        self._n_unanswered = 0
        self._dry: Code | None = None
        self.is_over = False

    async def admit(self) -> None:
        """Let others run, a cancel among them, and then one more request; never returns once it is over."""
        await asyncio.sleep(0)
        self.count()
        if self.is_over:
            await asyncio.Event().wait()

    def count(self) -> None:
        """One more request is made."""
        now_ms = self._now_ms()
        if now_ms != self._instant_ms:
            self._instant_ms, self._n_in_instant = now_ms, 0
            self._n_unanswered = self._n_unanswered if self._dry else 0
        if not self.is_over and self._n_unanswered >= MOST_UNANSWERED:
            self._end(f"the loop asked {MOST_UNANSWERED} times in a row without an answer, and would ask for ever")
        elif not self.is_over and self._n_in_instant >= MOST_IN_AN_INSTANT:
            self._end(f"the loop asked {MOST_IN_AN_INSTANT} times and let no time pass: it would ask for ever")
        self._n_in_instant += 1
        self._n_unanswered += 1

    def answered(self) -> None:
        """The newest request got its answer."""
        self._n_unanswered, self._dry = 0, None

    def failed(self, code: str) -> None:
        """It got none."""
        self._dry = next((dry for dry in _DRY if dry == code), self._dry)

    def _end(self, why: str) -> None:
        self.is_over = True
        self._give_up(Failed(self._dry or Code.UNKNOWN, why))
