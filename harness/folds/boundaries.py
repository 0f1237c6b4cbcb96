"""Boundaries: which events fit one, which ones a trajectory has, and how they are called."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantChunk, ToolEnd, ToolStart
from harness.types.lifecycle import Note, RunQuiescent
from harness.types.scenario import Boundary, BoundaryWhen

_NO_PLACE: Final = (Note, AssistantChunk, RunQuiescent)
"""Kinds at which nothing can be injected for good: remarks, pieces, and what comes when all is over."""


class Places:
    """Follows a run event by event; the end of a body is known by its start."""

    def __init__(self) -> None:
        self._starts: dict[int, ToolStart] = {}

    def follow(self, event: Event) -> None:
        """Take the next event into account."""
        if isinstance(event.fact, ToolStart):
            self._starts[event.seq] = event.fact

    def fits(self, at: Boundary, event: Event) -> bool:
        """Whether an event is of the boundary's kind, tool, call, agent and turn (its ``nth`` apart)."""
        if getattr(event.fact, "TYPE", "") != at.kind:
            return False
        tool, call = self._names(event)
        return (
            (at.tool is None or tool == at.tool)
            and (at.call is None or call == at.call)
            and (at.agent is None or event.agent == at.agent)
            and (at.turn is None or event.turn == at.turn)
        )

    def key_of(self, event: Event) -> Boundary:
        """Kind, tool and call of an event: what stays the same where parallel tools swap."""
        return Boundary(getattr(event.fact, "TYPE", ""), *self._names(event))

    def _names(self, event: Event) -> tuple[str | None, str | None]:
        fact = self._starts.get(event.fact.start) if isinstance(event.fact, ToolEnd) else event.fact
        return getattr(fact, "name", None), getattr(fact, "call_id", None)


def boundaries_of(trajectory: Trajectory) -> tuple[Boundary, ...]:
    """A boundary for each event of a run at which something can be injected, in the order of the events."""
    places = Places()
    seen: Counter[Boundary] = Counter()
    found = []
    for event in trajectory.events:
        places.follow(event)
        if isinstance(event.fact, _NO_PLACE):
            continue
        key = places.key_of(event)
        seen[key] += 1
        found.append(replace(key, nth=seen[key]))
    return tuple(found)


def event_at(trajectory: Trajectory, at: Boundary) -> Event | None:
    """The event of a run that completes a boundary of an event; None where it never comes."""
    places, n_left = Places(), at.nth
    for event in trajectory.events:
        places.follow(event)
        n_left -= places.fits(at, event)
        if n_left == 0:
            return event
    return None


def place_text(at: Boundary) -> str:
    """``tool/start of 'slow', number 2`` and the like; when it is, is not told."""
    if at.tick is not None:
        return f"tick {at.tick} of the event loop"
    parts = [at.kind]
    parts += [f"of {at.tool!r}"] if at.tool else []
    parts += [f"of call {at.call!r}"] if at.call else []
    parts += [f"of agent {at.agent!r}" if at.agent else "of the main agent"] if at.agent is not None else []
    parts += [f"in turn {at.turn}"] if at.turn else []
    return " ".join(parts) + (f", number {at.nth}" if at.nth > 1 else "")


def when_text(at: Boundary) -> str:
    """``inside``, ``in the tick after`` and the like; "" for a tick."""
    if at.tick is not None:
        return ""
    if at.after_ms is not None:
        return f"{at.after_ms} ms after"
    return "in the tick after" if at.when is BoundaryWhen.NEXT_TICK else "inside"
