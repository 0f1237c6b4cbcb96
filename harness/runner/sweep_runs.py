"""The runs of a sweep: observed with the ticks of their events, and compared with the reference."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Final

from harness.clock import VirtualLoop
from harness.folds import committed_view
from harness.protocols import Subject, World
from harness.runner.executing import execute
from harness.runner.judging import EXPECTATIONS
from harness.runner.result import RunResult
from harness.runner.specs import RunSpec
from harness.runner.subjects import profile_of, real_time_of
from harness.types.codes import ClockKind, Origin, Outcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolEnd
from harness.types.lifecycle import Note, RunEnd
from harness.types.profile import Profile
from harness.types.records import Finding, Verdict
from harness.types.scenario import Scenario
from harness.types.script import ScriptFollows

NOT_JUDGED: Final = EXPECTATIONS | {"script", "inject"}
"""Verdicts on what the scenario wanted of an undisturbed run."""


class Counted:
    """A subject whose events get the tick of the event loop in which they were recorded (virtual time only)."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self.ticks: list[int] = []

    @property
    def name(self) -> str:
        """The subject's own."""
        return self._subject.name

    @property
    def profile(self) -> Profile:
        """The subject's own."""
        return self._subject.profile

    def profile_for(self, scenario: Scenario) -> Profile:
        """The subject's own."""
        return profile_of(self._subject, scenario)

    @property
    def real_time(self) -> str:
        """The subject's own."""
        return real_time_of(self._subject)

    @property
    def observed(self) -> tuple[tuple[str, Origin], ...]:
        """The subject's own."""
        return self._subject.observed

    async def run(self, world: World) -> None:
        """Run the subject."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop):
            virtual = loop
            world.log.listen(lambda _: self.ticks.append(virtual.n_ticks))
        await self._subject.run(world)


@dataclass(frozen=True, slots=True)
class Observed:
    """A run and the tick of each of its events, by seq (empty under the system's clock)."""

    result: RunResult
    ticks: tuple[int, ...]
    follows: ScriptFollows = ScriptFollows.ORDER

    @property
    def trajectory(self) -> Trajectory:
        """What it recorded."""
        return self.result.trajectory

    @property
    def n_ticks(self) -> int:
        """Ticks from its first event to its end; 0 where they are not counted."""
        end = run_end(self.trajectory)
        return self.ticks[end.seq] - self.ticks[0] if self.ticks and end else 0

    def findings(self) -> tuple[Finding, ...]:
        """What failed checks found, the scenario's own wishes apart."""
        return findings_in(self.result.verdicts)

    def errors(self) -> str:
        """Which verdicts are errors, and why; "" for none."""
        return errors_in(self.result.verdicts)


def findings_in(verdicts: Iterable[Verdict]) -> tuple[Finding, ...]:
    """What failed checks found, the scenario's own wishes apart."""
    failed = [v for v in verdicts if v.outcome is Outcome.FAIL and v.check not in NOT_JUDGED]
    return tuple(one for v in failed for one in (v.findings or (Finding(v.check, v.why or "failed"),)))


def errors_in(verdicts: Iterable[Verdict]) -> str:
    """Which verdicts are errors, and why; "" for none."""
    wrong = [v for v in verdicts if v.outcome is Outcome.ERROR]
    return "; ".join(f"{v.check}: {v.why or v.findings[0].message}" for v in wrong)


def observe(spec: RunSpec, subject: Subject) -> Observed:
    """Run a spec and judge it. Raises what ``execute`` raises."""
    counted = Counted(subject)
    return Observed(execute(spec, subject=counted), tuple(counted.ticks), spec.scenario.script_follows)


def difference(run: Trajectory, reference: Trajectory, n_events: int | None = None) -> str:
    """Where the first ``n_events`` (None: all) of a run are not those of the reference; "" for nowhere.

    Under virtual time everything counts but the order of ends that come together: a group of tasks is a set, and
    who of it is stopped first is chance. Under the system's clock the committed view, since tools in threads may swap.
    """
    if run.header.clock is not ClockKind.VIRTUAL:
        return _other_view(run, reference, n_events)
    n_events = _not_among_ends(reference.events, n_events)
    mine, theirs = (_ends_in_order(_undisturbed(one.events[:n_events])) for one in (run, reference))
    for a, b in zip(mine, theirs, strict=False):
        if a != b:
            return f"event {a.seq} is {a.fact.TYPE}{_same_kind(a, b)}"
    return "" if len(mine) == len(theirs) else f"{len(mine)} events, in the reference {len(theirs)}"


def _undisturbed(events: Iterable[Event]) -> list[Event]:
    """Without the harness's notes at the end, which tell of the injection itself."""
    return [event for event in events if not isinstance(event.fact, Note)]


def _not_among_ends(events: Sequence[Event], n_events: int | None) -> int | None:
    """``n_events``, or fewer where they would part ends that come together."""
    while n_events and n_events < len(events) and _together(events[n_events - 1], events[n_events]):
        n_events -= 1
    return n_events


def _ends_in_order(events: list[Event]) -> list[Event]:
    """The events, ends of bodies that come together in the order in which the bodies began."""
    told: list[Event] = []
    while len(told) < len(events):
        first = events[len(told)]
        group = [first, *takewhile(partial(_together, first), events[len(told) + 1 :])]
        ends = sorted(group, key=lambda one: one.fact.start if isinstance(one.fact, ToolEnd) else one.seq)
        told += (replace(end, seq=place.seq) for end, place in zip(ends, group, strict=True))
    return told


def _together(a: Event, b: Event) -> bool:
    return isinstance(a.fact, ToolEnd) and isinstance(b.fact, ToolEnd) and a.time == b.time


def _same_kind(a: Event, b: Event) -> str:
    if a.fact.TYPE == b.fact.TYPE:
        return " with other content than in the reference"
    return f", in the reference {b.fact.TYPE}"


def _other_view(run: Trajectory, reference: Trajectory, n_events: int | None) -> str:
    mine = committed_view(Trajectory(run.header, run.events[:n_events]))
    theirs = committed_view(reference)
    for a, b in zip(mine, theirs, strict=False):
        if a.key != b.key:
            return f"event {a.seq} is {a.kind}, in the reference {b.kind} or other content"
    if n_events is None and len(mine) != len(theirs):
        return f"{len(mine)} committed events, in the reference {len(theirs)}"
    return ""


def run_end(trajectory: Trajectory) -> Event | None:
    """The event of its ``run/end``."""
    return next((event for event in trajectory if isinstance(event.fact, RunEnd)), None)
