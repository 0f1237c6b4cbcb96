"""Editing a trajectory: find, drop, put, change; numbers and what refers to them follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from harness.types.codes import Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import ContextReplaced, ModelRequest, ToolEnd
from harness.types.facts import Fact
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import ChatMessage, Messages

F = TypeVar("F", bound=Fact)
G = TypeVar("G", bound=Fact)
Mutate: TypeAlias = Callable[[Trajectory], Trajectory | None]
"""A broken copy, or None where the trajectory has nothing of the kind to break."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One named way to break a good trajectory."""

    name: str
    about: str
    mutate: Mutate


def with_events(trajectory: Trajectory, events: Iterable[Event]) -> Trajectory:
    """These events under the same header, numbered anew; references by seq follow."""
    listed = list(events)
    number = {event.seq: position for position, event in reversed(list(enumerate(listed)))}
    return replace(trajectory, events=tuple(_moved(event, position, number) for position, event in enumerate(listed)))


def _moved(event: Event, position: int, number: dict[int, int]) -> Event:
    fact = event.fact
    if isinstance(fact, ToolEnd):
        fact = replace(fact, start=number.get(fact.start, fact.start))
    elif isinstance(fact, ContextReplaced):
        fact = replace(fact, start=number.get(fact.start, fact.start), end=number.get(fact.end, fact.end))
    elif isinstance(fact, RunQuiescent):
        alive = (
            replace(one, start=number.get(one.start, one.start)) if one.start is not None else one for one in fact.alive
        )
        fact = replace(fact, alive=tuple(alive))
    return replace(event, seq=position, fact=fact)


def find(
    trajectory: Trajectory, kind: type[F], where: Callable[[F], bool] = lambda _: True, nth: int = 0
) -> Event | None:
    """The nth (from 0; negative from the end) event of a kind that fits, or None."""
    fitting = [event for event in trajectory.events if isinstance(event.fact, kind) and where(event.fact)]
    return fitting[nth] if -len(fitting) <= nth < len(fitting) else None


def drop(trajectory: Trajectory, event: Event) -> Trajectory:
    """Without that event."""
    return with_events(trajectory, (other for other in trajectory.events if other is not event))


def put(trajectory: Trajectory, after: Event, *new: Event) -> Trajectory:
    """With ``new`` events right behind one; they keep the time, turn and step they carry."""
    events: list[Event] = []
    for other in trajectory.events:
        events.append(other)
        if other is after:
            events += new
    return with_events(trajectory, events)


def like(event: Event, fact: Fact, **changes: object) -> Event:
    """Another fact at the same place and time, under a number that nothing refers to."""
    return replace(event, fact=fact, seq=-1, **changes)  # type: ignore[arg-type]  # fields of Event, by name


def change(trajectory: Trajectory, event: Event, **changes: object) -> Trajectory:
    """With fields of that event's fact changed."""
    fact = replace(event.fact, **changes)  # type: ignore[arg-type]  # fields of the fact, by name
    return swap(trajectory, event, replace(event, fact=fact))


def swap(trajectory: Trajectory, event: Event, other: Event) -> Trajectory:
    """With ``other`` in the place of ``event``."""
    return replace(trajectory, events=tuple(other if one is event else one for one in trajectory.events))


def move(trajectory: Trajectory, event: Event, after: Event, **changes: object) -> Trajectory:
    """With that event right behind another one, fields of its envelope changed."""
    moved = replace(event, time=after.time, **changes)  # type: ignore[arg-type]  # fields of Event, by name
    events: list[Event] = []
    for other in trajectory.events:
        if other is not event:
            events.append(other)
        if other is after:
            events.append(moved)
    return with_events(trajectory, events)


def show(trajectory: Trajectory, edit: Callable[[list[ChatMessage]], bool], *, last: bool = False) -> Trajectory | None:
    """With the messages of the first request (``last``: last) that ``edit`` can change (it says True) changed."""
    requests = [event for event in trajectory.events if isinstance(event.fact, ModelRequest)]
    for event in reversed(requests) if last else requests:
        if isinstance(event.fact, ModelRequest):
            messages = list(event.fact.messages)
            if edit(messages):
                return change(trajectory, event, messages=Messages.of(messages))
    return None


# ---------------------------------------------------------------- mutators from parts

Edit: TypeAlias = Callable[[Trajectory, Event], Trajectory]
Edit2: TypeAlias = Callable[[Trajectory, Event, Event], Trajectory]


def on(kind: type[F], edit: Edit, where: Callable[[F], bool] = lambda _: True, nth: int = 0) -> Mutate:
    """Edit the nth event of a kind."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        event = find(trajectory, kind, where, nth)
        return None if event is None else edit(trajectory, event)

    return mutate


def on_both(kind: type[F], other: type[G], edit: Edit2, *, nth: int = 0, other_nth: int = 0) -> Mutate:
    """Edit with regard to two events."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        one, two = find(trajectory, kind, nth=nth), find(trajectory, other, nth=other_nth)
        return None if one is None or two is None else edit(trajectory, one, two)

    return mutate


def doubled(trajectory: Trajectory, event: Event) -> Trajectory:
    """That event comes twice."""
    return put(trajectory, event, like(event, event.fact))


def changed(**fields: object) -> Edit:
    """Fields of the fact changed."""
    return lambda trajectory, event: change(trajectory, event, **fields)


def followed_by(fact: Fact, origin: Origin = Origin.SUBJECT) -> Edit:
    """Another fact right behind it."""
    return lambda trajectory, event: put(trajectory, event, like(event, fact, origin=origin))


def moved_behind(trajectory: Trajectory, event: Event, other: Event) -> Trajectory:
    """The first event stands behind the second."""
    return move(trajectory, event, other)


def repeated_behind(trajectory: Trajectory, event: Event, other: Event) -> Trajectory:
    """The first event comes again behind the second."""
    again = replace(event, time=other.time, seq=-1)
    return put(trajectory, other, again)
