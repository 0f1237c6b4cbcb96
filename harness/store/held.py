"""The chunks among the lines that a sink holds back: a secret may be cut over several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from harness.redaction import Piece
from harness.types.events import Event
from harness.types.exchange import AssistantChunk
from harness.types.messages import JsonText


class HeldChunks:
    """Where the chunks stand that are still in hand, and whether their streams go on."""

    def __init__(self) -> None:
        self._held: list[tuple[int, Event, AssistantChunk]] = []
        self._open: dict[str, bool] = {}

    def saw(self, event: Event, position: int) -> None:
        """An event was taken as the line with that position; any but a chunk ends the stream of its agent."""
        if isinstance(event.fact, AssistantChunk):
            self._held.append((position, event, event.fact))
            self._open[event.agent] = True
        else:
            self._open.pop(event.agent, None)

    def masked(self, mask: Callable[[Sequence[Piece]], list[str]]) -> Iterator[tuple[int, Event]]:
        """Position and new event of each chunk that held a secret; then none is in hand any more."""
        held, self._held = self._held, []
        if not held:
            return
        last = {event.agent: at for at, (_, event, _) in enumerate(held)}
        pieces = [
            Piece(
                _stream(event, fact),
                fact.chunk,
                is_open=event.agent in self._open and _stream(*held[last[event.agent]][1:]) == _stream(event, fact),
            )
            for _, event, fact in held
        ]
        for (position, event, fact), text in zip(held, mask(pieces), strict=True):
            if text is not fact.chunk:
                yield position, replace(event, fact=replace(fact, chunk=JsonText(text)))


def _stream(event: Event, fact: AssistantChunk) -> str:
    return f"{event.agent} {event.turn} {event.step} {fact.attempt}"
