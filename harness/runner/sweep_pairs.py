"""Sweeps of pairs: a cancel or a fault, and a cancel behind it, sampled by the scenario's seed.

The second place is one that the run with the first injection has, so it comes; two runs a pair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from harness.folds import boundaries_of
from harness.protocols import Subject
from harness.runner.specs import RunSpec
from harness.runner.sweep_again import Again
from harness.runner.sweep_cells import raised
from harness.runner.sweep_close import Held, found_in
from harness.runner.sweep_judging import mark_of
from harness.runner.sweep_plan import SECOND, injections
from harness.runner.sweep_runs import Observed, difference, observe
from harness.runner.sweep_scenario import reproduction
from harness.types.codes import CancelScope
from harness.types.events import Trajectory
from harness.types.lifecycle import CancelDelivered, CancelRequested
from harness.types.records import Finding
from harness.types.scenario import BoundaryWhen, CancelAction, Injection
from harness.types.sweeps import CellOutcome, SweepCell, SweepKind, SweepLevel

MOST_PAIRS: Final = 16
SECOND_CHANGES: Final = "second_cancel_changes_nothing"
"""Name of the finding on a run that a second cancel changed without being taken (CONFORMANCE 82)."""
_FIRST: Final = (SweepKind.CANCEL, SweepKind.TOOL_ERROR, SweepKind.MODEL_ERROR)
_T = TypeVar("_T")


def in_pairs(spec: RunSpec, subject: Subject, reference: Observed, again: Again) -> Iterator[SweepCell]:
    """At most ``MOST_PAIRS`` cells, the kinds of first injections in turn; the same for the same seed."""
    seed, n_tasks = spec.scenario.seed, len(spec.scenario.tasks)
    groups = [
        _shuffled(
            list(injections(reference.trajectory, (kind,), SweepLevel.BOUNDARIES, n_tasks=n_tasks, n_ticks=0)), seed
        )
        for kind in _FIRST
    ]
    for first in _in_turn(groups)[:MOST_PAIRS]:
        cell = _pair(spec, subject, first, reference, again)
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


def _pair(spec: RunSpec, subject: Subject, first: Injection, reference: Observed, again: Again) -> SweepCell | None:
    """The cell of a pair; None where the first injection alone came too late, or where nothing comes behind it."""
    once = replace(spec.scenario, inject=(*spec.scenario.inject, first))
    try:
        single = observe(replace(spec, scenario=once), subject)
        second = _behind(single.trajectory, first, spec.scenario.seed)
    except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
        return raised(first, error)
    if second is None:
        return None
    twice = replace(spec, scenario=replace(once, inject=(*once.inject, second)))

    def made() -> SweepCell:
        held = partial(observe, twice, Held(subject))
        try:
            cell = _judged(second, observe(twice, subject), single, reference, held)
        except (Exception, SystemExit) as error:  # as above
            cell = raised(first, error)
        return replace(cell, injection=first, second=second)

    cell = again.confirmed(made)
    cell = replace(cell, n_runs=cell.n_runs + 1)
    if cell.outcome is not CellOutcome.RED:
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


def _judged(
    second: Injection, run: Observed, single: Observed, reference: Observed, held: Callable[[], Observed]
) -> SweepCell:
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
        return found_in(second, found, run, got, held, known)
    errors = run.errors()
    return SweepCell(second, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)
