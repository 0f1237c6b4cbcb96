"""A run rewritten into another run: events in and out, and everything that depends on them made anew.

Requests show the conversation as it would have been, steps count on without a gap, bodies and replacements name the
events they named, and time never goes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.folds import History, Node
from harness.mutants.editing import with_events
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolStart
from harness.types.facts import Fact
from harness.types.lifecycle import StepStart
from harness.types.messages import ChatMessage, Messages


@dataclass(frozen=True, slots=True)
class _Shown:
    """A request of the run as it was, and the conversation at that point by the events it came with.

    ``nodes`` is () where the request showed the whole conversation.
    """

    messages: Messages
    nodes: tuple[Node, ...] = ()


class Draft:
    """Events that are edited in place; ``finished`` makes a whole trajectory of them.

    Until then events keep the numbers they had in the run; new ones have numbers below zero.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self.run = trajectory
        self.events: list[Event] = list(trajectory.events)
        self._n_new = 0

    def new(self, like: Event, fact: Fact) -> Event:
        """Another event with the envelope of one, its origin the one that the header names for its kind."""
        self._n_new += 1
        origin = dict(self.run.header.observed).get(fact.TYPE, like.origin)
        return replace(like, seq=-self._n_new, fact=fact, origin=origin)

    def place(self, event: Event) -> int:
        """Where an event stands now."""
        return next(i for i, one in enumerate(self.events) if one.seq == event.seq)

    def change(self, event: Event, **fields: object) -> None:
        """With fields of its fact changed."""
        place = self.place(event)
        fact = replace(self.events[place].fact, **fields)  # type: ignore[arg-type]  # fields of the fact, by name
        self.events[place] = replace(self.events[place], fact=fact)

    def drop(self, events: Sequence[Event]) -> None:
        """Without these."""
        gone = {event.seq for event in events}
        self.events = [event for event in self.events if event.seq not in gone]

    def put(self, place: int, events: Sequence[Event]) -> None:
        """With ``events`` from that place on."""
        self.events[place:place] = list(events)

    def observed(self, kind: type[Fact]) -> bool:
        """Whether the run tells events of a kind."""
        return kind.TYPE in dict(self.run.header.observed)

    def finished(self) -> Trajectory:
        """The trajectory that these events make."""
        self._number_steps()
        self._never_back()
        self._show()
        return _with_bodies_inside(with_events(self.run, self.events), self.events)

    def _number_steps(self) -> None:
        counts: Counter[tuple[str, int | None]] = Counter()
        for place, event in enumerate(self.events):
            key = (event.agent, event.turn)
            counts[key] += isinstance(event.fact, StepStart)
            if event.step is not None and event.step != counts[key]:
                self.events[place] = replace(event, step=counts[key])

    def _never_back(self) -> None:
        latest = 0
        for place, event in enumerate(self.events):
            if event.time is not None:
                if event.time < latest:
                    self.events[place] = replace(event, time=latest)
                latest = max(latest, event.time)

    def _show(self) -> None:
        shown = _shown(self.run)
        histories: dict[str, History] = {}
        for place, event in enumerate(self.events):
            history = histories.setdefault(event.agent, History(event.agent))
            if isinstance(event.fact, ModelRequest):
                before = shown.get(event.seq)
                messages = history.messages if before is None else _shown_anew(before, history)
                self.events[place] = replace(event, fact=replace(event.fact, messages=messages))
            history.apply(event)


_latest: list[tuple[Trajectory, dict[int, _Shown]]] = []
"""The run that was drafted from last, and its requests: many drafts are made of one run."""


def _shown(trajectory: Trajectory) -> dict[int, _Shown]:
    """Every request by its number."""
    if not _latest or _latest[0][0] is not trajectory:
        _latest[:] = [(trajectory, _shown_of(trajectory))]
    return _latest[0][1]


def _shown_of(trajectory: Trajectory) -> dict[int, _Shown]:
    found: dict[int, _Shown] = {}
    histories: dict[str, History] = {}
    for event in trajectory.events:
        history = histories.setdefault(event.agent, History(event.agent))
        if isinstance(event.fact, ModelRequest):
            whole = event.fact.messages == history.messages
            found[event.seq] = _Shown(event.fact.messages, () if whole else history.nodes)
        history.apply(event)
    return found


def _shown_anew(before: _Shown, history: History) -> Messages:
    """A request with the messages of the conversation as they are now; what came from elsewhere stays as it was."""
    if not before.nodes:
        return history.messages
    nodes = history.nodes
    places = {node.seq: place for place, node in enumerate(nodes)}
    anew: list[ChatMessage] = []
    left = list(before.nodes)
    for message in before.messages:
        at = next((i for i, node in enumerate(left) if node.message == message), None)
        if at is None:
            anew.append(message)
            continue
        place = places.get(left[at].seq)
        left = left[at + 1 :]
        if place is not None:
            anew.append(nodes[place].message)
            anew += [node.message for node in _new_behind(nodes, place)]
    return Messages.of(anew)


def _new_behind(nodes: Sequence[Node], place: int) -> list[Node]:
    """Messages that are new and follow one directly."""
    end = place + 1
    while end < len(nodes) and nodes[end].seq < 0:
        end += 1
    return list(nodes[place + 1 : end])


def _with_bodies_inside(trajectory: Trajectory, events: Sequence[Event]) -> Trajectory:
    """A body within another names the start of that one by its new number (``events`` are as they were numbered)."""
    number = {event.seq: place for place, event in enumerate(events)}
    moved = [
        replace(event, fact=replace(event.fact, within=number.get(event.fact.within, event.fact.within)))
        if isinstance(event.fact, ToolStart) and event.fact.within is not None
        else event
        for event in trajectory.events
    ]
    return replace(trajectory, events=tuple(moved))
