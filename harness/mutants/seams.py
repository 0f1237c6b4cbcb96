"""Where a fully told loop can be broken from outside: its world, its log, its driver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from harness.loop import Driver
from harness.protocols import Controls, Listener, Log, Subject, World
from harness.types.codes import Origin
from harness.types.events import Event
from harness.types.facts import Fact
from harness.types.profile import Profile

Seam: TypeAlias = Callable[[World], World]
"""Makes the world of a broken loop from that of a sound one."""
Telling: TypeAlias = Callable[[Fact], tuple[Fact, ...]]
"""What is written in place of a fact: nothing, another one, several."""


class BrokenSubject:
    """A subject in a world that a seam has broken; everything else is that of the sound one."""

    def __init__(self, sound: Subject, name: str, seam: Seam) -> None:
        self._sound = sound
        self._seam = seam
        self.name = name

    @property
    def profile(self) -> Profile:
        """What the sound one declares."""
        return self._sound.profile

    @property
    def observed(self) -> tuple[tuple[str, Origin], ...]:
        """What the sound one tells."""
        return self._sound.observed

    async def run(self, world: World) -> None:
        """Run the sound one in the broken world."""
        await self._sound.run(self._seam(world))


class FalseLog:
    """A log that writes something else than it is told."""

    def __init__(self, log: Log, telling: Telling) -> None:
        self._log = log
        self._telling = telling

    def record(self, fact: Fact, *, origin: Origin, agent: str = "", **place: int | None) -> Event:
        """What was written last; where nothing was, the event that should have been."""
        event = Event(len(self.events), fact, origin, None, agent, place.get("turn"), place.get("step"))
        for told in self._telling(fact):
            event = self._log.record(told, origin=origin, agent=agent, **place)
        return event

    def listen(self, listener: Listener) -> None:
        """Listen to what is really written."""
        self._log.listen(listener)

    @property
    def events(self) -> Sequence[Event]:
        """What is really written."""
        return self._log.events


def telling(told: Telling) -> Seam:
    """A loop whose account is false."""
    return lambda world: replace(world, log=FalseLog(world.log, told))


def instead(kind: type[Fact], edit: Callable[[Any], tuple[Fact, ...]]) -> Seam:
    """A false account of one kind of fact."""
    return telling(lambda fact: edit(fact) if isinstance(fact, kind) else (fact,))


def limits(change: Callable[[Any], dict[str, object]]) -> Seam:
    """A loop that has its limits wrong; its header says the right ones."""
    return lambda world: replace(world, limits=replace(world.limits, **change(world.limits)))  # type: ignore[arg-type]


def driver(break_it: Callable[[Driver], None]) -> Seam:
    """A driver that is broken as soon as it is attached."""

    def seam(world: World) -> World:
        def attach(controls: Controls) -> None:
            assert isinstance(controls, Driver)
            break_it(controls)
            world.attach(controls)

        return replace(world, attach=attach)

    return seam
