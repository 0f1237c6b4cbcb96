"""The order in which bodies may be seen to end, as a scenario's ``release`` lists their calls."""

from __future__ import annotations

import asyncio

from harness.types.codes import Outcome
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.messages import CallId
from harness.types.records import Finding, Verdict


class Release:
    """A listener and a gate: a listed body ends once all that are listed before it have ended.

    Bodies of calls that are not listed end as they like.
    """

    def __init__(self, order: tuple[CallId, ...]) -> None:
        self._left = list(order)
        self._starts: dict[int, CallId | None] = {}
        self._waiting: list[asyncio.Future[None]] = []

    def __call__(self, event: Event) -> None:
        """Follow starts and ends."""
        if isinstance(event.fact, ToolStart):
            self._starts[event.seq] = event.fact.call_id
        elif isinstance(event.fact, ToolEnd):
            ended = self._starts.get(event.fact.start)
            if ended in self._left:
                self._left.remove(ended)
                waiting, self._waiting = self._waiting, []
                for future in waiting:
                    if not future.done():
                        future.set_result(None)

    async def gate(self, start: int) -> None:
        """Return once the body with this start may end."""
        call = self._starts.get(start)
        while call in self._left and self._left[0] != call:
            future = asyncio.get_running_loop().create_future()
            self._waiting.append(future)
            await future

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """INVALID where a listed call never ended: the order was not tested."""
        findings = tuple(Finding("release", f"no body of call {call!r} ended") for call in self._left)
        return (Verdict("release", Outcome.INVALID, findings),) if findings else ()
