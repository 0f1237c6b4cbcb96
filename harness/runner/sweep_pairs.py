"""Sweeps of pairs: a cancel or a fault, and a cancel behind it, sampled by the scenario's seed.

The second place is one that the run with the first injection has, so it comes; two runs a pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, TypeVar

from harness.folds import boundaries_of
from harness.protocols import Subject
from harness.runner.specs import RunSpec
from harness.runner.sweep_cells import raised
from harness.runner.sweep_judging import is_close, mark_of
from harness.runner.sweep_plan import injections
from harness.runner.sweep_runs import Observed, difference, observe
from harness.runner.sweep_scenario import reproduction
from harness.types.codes import CancelScope
from harness.types.events import Trajectory
from harness.types.lifecycle import CancelDelivered, CancelRequested
from harness.types.records import Finding
from harness.types.scenario import BoundaryWhen, CancelAction, Injection
from harness.types.sweeps import CellOutcome, SweepCell, SweepKind, SweepLevel

MOST_PAIRS: Final = 16
SECOND: Final = "a second injection of a sweep"
"""The reason of its second cancels."""
SECOND_CHANGES: Final = "second_cancel_changes_nothing"
"""Name of the finding on a run that a second cancel changed without being taken (CONFORMANCE 82)."""
_FIRST: Final = (SweepKind.CANCEL, SweepKind.TOOL_ERROR, SweepKind.MODEL_ERROR)
_T = TypeVar("_T")


def in_pairs(spec: RunSpec, subject: Subject, reference: Observed) -> Iterator[SweepCell]:
    """At most ``MOST_PAIRS`` cells, the kinds of first injections in turn; the same for the same seed."""
    seed, n_tasks = spec.scenario.seed, len(spec.scenario.tasks)
    groups = [
        _shuffled(
            list(injections(reference.trajectory, (kind,), SweepLevel.BOUNDARIES, n_tasks=n_tasks, n_ticks=0)), seed
        )
        for kind in _FIRST
    ]
    for first in _in_turn(groups)[:MOST_PAIRS]:
        cell = _pair(spec, subject, first, reference)
        if cell is not None:
            yield cell


def _in_turn(groups: Sequence[Sequence[_T]]) -> list[_T]:
    longest = max(map(len, groups), default=0)
    return [group[number] for number in range(longest) for group in groups if number < len(group)]


def _shuffled(items: list[_T], seed: int, salt: str = "") -> list[_T]:
    """In an order that the seed decides, the same on every machine."""

    def key(number: int) -> str:
        return hashlib.sha256(f"{seed}/{salt}/{number}".encode()).hexdigest()

    return [items[number] for number in sorted(range(len(items)), key=key)]


def _pair(spec: RunSpec, subject: Subject, first: Injection, reference: Observed) -> SweepCell | None:
    """The cell of a pair; None where the first injection alone came too late, or where nothing comes behind it."""
    once = replace(spec.scenario, inject=(*spec.scenario.inject, first))
    second: Injection | None = None
    try:
        single = observe(replace(spec, scenario=once), subject)
        second = _behind(single.trajectory, first, spec.scenario.seed)
        if second is None:
            return None
        twice = replace(once, inject=(*once.inject, second))
        cell = _judged(second, observe(replace(spec, scenario=twice), subject), single, reference)
    except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
        cell = raised(first, error)
    cell = replace(cell, injection=first, second=second)
    if cell.outcome is not CellOutcome.RED or second is None:
        return cell
    return replace(cell, reproduction=reproduction(once, second, cell.findings, done=cell))


def _behind(run: Trajectory, first: Injection, seed: int) -> Injection | None:
    """A cancel somewhere behind the first injection."""
    mark = mark_of(run, first)
    if mark is None or mark.judged_from is None:
        return None
    before = set(boundaries_of(Trajectory(run.header, run.events[: mark.judged_from.seq])))
    places = [at for at in boundaries_of(run) if at not in before]
    scopes = (CancelScope.RUN, CancelScope.TURN) if "turn/start" in dict(run.header.observed) else (CancelScope.RUN,)
    choices = [(at, when, scope) for at in places for when in BoundaryWhen for scope in scopes]
    for at, when, scope in _shuffled(choices, seed, str(first))[:1]:
        return Injection(replace(at, when=when), CancelAction(scope=scope, reason=SECOND))
    return None


def _judged(second: Injection, run: Observed, single: Observed, reference: Observed) -> SweepCell:
    facts = [(event, event.fact) for event in run.trajectory]
    asked = next((e for e, fact in facts if isinstance(fact, CancelRequested) and fact.reason == SECOND), None)
    got = next((e for e, fact in facts if isinstance(fact, CancelDelivered) and fact.reason == SECOND), None)
    other = difference(run.trajectory, single.trajectory, asked.seq if asked else None)
    if other and asked is not None:
        return SweepCell(second, CellOutcome.FLAKY, why=f"the loop did not repeat itself before that: {other}")
    if other:
        text = f"a second cancel was not taken, and the run changed: {other}"
        return SweepCell(second, CellOutcome.RED, (Finding(SECOND_CHANGES, text, (), "conformance:82"),))
    known = {*reference.findings(), *single.findings()}
    found = tuple(one for one in run.findings() if one not in known)
    if found:
        close = got is not None and all(is_close(one, run, got) for one in found)
        return SweepCell(second, CellOutcome.CLOSE if close else CellOutcome.RED, found)
    errors = run.errors()
    return SweepCell(second, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)
