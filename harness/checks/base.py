"""What every check is made of: what it needs, when it applies, and what it found.

A check is a pure function from a trajectory to a verdict. It says which kinds of event it needs and
who must have seen them; where the header does not list them as observed there is no evidence, so
there is no PASS: NOT_APPLICABLE, or INCONCLUSIVE where somebody asked (design page, Verdicts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from harness.types.codes import Origin, Outcome
from harness.types.events import Event, Trajectory
from harness.types.records import Finding, Verdict

Needs: TypeAlias = tuple[tuple[str, Origin | None], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Something found, before it carries the name of its check."""

    message: str
    events: tuple[int, ...]
    rule: str | None


def found(message: str, *events: Event | None, rule: str | None = None) -> Found:
    """A finding that cites ``events`` in order of their numbers; None are left out."""
    return Found(message, tuple(sorted({event.seq for event in events if event is not None})), rule)


def always(_: Trajectory) -> str:
    """For checks that apply to every trajectory."""
    return ""


@dataclass(frozen=True, slots=True)
class BuiltCheck:
    """A check from its parts.

    ``applies`` gives "" or why there is nothing to judge. An ``information`` check reports and never
    fails. An ``expectation`` is asked for by the scenario, so what it needs and cannot see leaves
    it INCONCLUSIVE. ``evidence`` gives "" or what else is missing, ``doubt`` "" or why what happened was
    not seen although it should have been: INCONCLUSIVE, whoever asked.
    """

    name: str
    about: str
    needs: Needs
    rules: tuple[str, ...]
    findings: Callable[[Trajectory], Iterable[Found]]
    applies: Callable[[Trajectory], str] = always
    evidence: Callable[[Trajectory], str] = always
    doubt: Callable[[Trajectory], str] = always
    information: bool = False
    expectation: bool = False

    def __call__(self, trajectory: Trajectory) -> Verdict:
        """Judge one trajectory."""
        if self.expectation and (why := self.applies(trajectory)):
            return Verdict(self.name, Outcome.NOT_APPLICABLE, why=why)
        if why := unseen(trajectory, self.needs) or self.evidence(trajectory):
            return Verdict(self.name, Outcome.INCONCLUSIVE if self.expectation else Outcome.NOT_APPLICABLE, why=why)
        if why := self.doubt(trajectory):
            return Verdict(self.name, Outcome.INCONCLUSIVE, why=why)
        if not self.expectation and (why := self.applies(trajectory)):
            return Verdict(self.name, Outcome.NOT_APPLICABLE, why=why)
        said = tuple(Finding(self.name, one.message, one.events, one.rule) for one in self.findings(trajectory))
        return Verdict(self.name, Outcome.FAIL if said and not self.information else Outcome.PASS, said)


def unseen(trajectory: Trajectory, needs: Needs) -> str:
    """Which of the needed kinds the header does not list as observed (and by whom); "" for none."""
    observed = dict(trajectory.header.observed)
    missing = []
    for kind, origin in needs:
        seen_by = observed.get(kind)
        if seen_by is None:
            missing.append(f"{kind} is not observed")
        elif origin is not None and seen_by is not origin:
            missing.append(f"{kind} is observed by {seen_by}, not by {origin}")
    return "; ".join(missing)
