"""Event, header and trajectory: the envelope around facts (**wire**)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from harness.types.codes import ClockKind, Effect, Isolation, Mode, Origin
from harness.types.facts import Fact
from harness.types.messages import JsonText, OnDisk, RunId
from harness.types.profile import Profile

FORMAT: Final = "harness-trajectory/1"
ROOT_AGENT: Final = ""
"""The agent of a run that is nobody's child; left out on disk."""


@dataclass(frozen=True, slots=True)
class Event:
    """One immutable fact with its place.

    ``seq`` counts from 0 without gaps; ``time`` is whole milliseconds since the first event;
    ``turn`` counts from 1 in a run, ``step`` from 1 in each turn. Imports may lack the last three.
    """

    seq: int
    fact: Fact
    origin: Origin
    time: int | None = None
    agent: str = ROOT_AGENT
    turn: int | None = None
    step: int | None = None


class _Open:
    """An event that is being made: the same slots, not frozen yet."""

    __slots__ = ("agent", "fact", "origin", "seq", "step", "time", "turn")


def make_event(
    seq: int, fact: Fact, origin: Origin, time: int | None, agent: str, turn: int | None, step: int | None
) -> Event:
    """An Event as its constructor makes it, at a third of the price.

    For the two places that make one for each line, recorder and reader: a frozen dataclass goes through
    ``object.__setattr__`` for every field, this sets the fields first and freezes them by the class.
    """
    event: Any = _Open()
    event.seq = seq
    event.fact = fact
    event.origin = origin
    event.time = time
    event.agent = agent
    event.turn = turn
    event.step = step
    event.__class__ = Event
    made: Event = event
    return made


@dataclass(frozen=True, slots=True)
class OfferedTool(OnDisk):
    """A tool as the header lists it; ``parameters`` is its JSON Schema as canonical JSON text."""

    name: str
    description: str
    parameters: JsonText
    mode: Mode = Mode.PARALLEL
    effect: Effect = Effect.WRITE
    isolation: Isolation = Isolation.INLINE
    idempotent: bool = False
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class ScenarioRef(OnDisk):
    """Which scenario, and the sha256 of its canonical form."""

    id: str
    digest: str


@dataclass(frozen=True, slots=True)
class Parent(OnDisk):
    """The run that this one goes on from, up to and including ``seq``.

    ``digest`` is the sha256 of those events in canonical form, so that a file can show that they are unchanged.
    """

    run_id: RunId
    seq: int
    why: str
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Volatile(OnDisk):
    """What may differ between two runs of the same bytes."""

    started_at: str | None = None
    wall_ms: int | None = None
    versions: JsonText | None = None


@dataclass(frozen=True, slots=True)
class Header(OnDisk):
    """The first line of a trajectory, without envelope.

    ``expectations`` and ``limits`` are canonical JSON text, so that a file can be judged again
    without its scenario. ``models`` pairs role and name, ``observed`` kind and origin (both are
    JSON objects on disk). ``arm`` and ``trial`` (from 1) say which of many runs this is.
    """

    format: Literal["harness-trajectory/1"] = field(default="harness-trajectory/1", kw_only=True)
    version: str
    run_id: RunId
    subject: str
    scenario: ScenarioRef | None = None
    expectations: JsonText | None = None
    limits: JsonText | None = None
    tools: tuple[OfferedTool, ...] = ()
    profile: Profile = field(default_factory=Profile)
    models: tuple[tuple[str, str], ...] = ()
    arm: str = "default"
    trial: int = 1
    clock: ClockKind = ClockKind.UNKNOWN
    seed: int | None = None
    observed: tuple[tuple[str, Origin], ...] = ()
    parent: Parent | None = None
    volatile: Volatile = field(default_factory=Volatile)


@dataclass(frozen=True, slots=True)
class TornTail:
    """An unfinished last line: where it begins (line from 1, byte offset) and how many bytes."""

    line: int
    offset: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """Header and all events of a run, in order. ``source`` says where it came from, for messages."""

    header: Header
    events: tuple[Event, ...]
    torn: TornTail | None = None
    source: str = ""

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __len__(self) -> int:
        return len(self.events)
