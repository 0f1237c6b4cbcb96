"""Sweeps: one undisturbed reference, then one run for each boundary, cancelled or failed there, and judged.

The reference is run twice, after a warm-up, and must repeat itself; what comes before a boundary must
be what it was in the reference. Else the subject is flaky and not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from harness.errors import ConfigurationError, HarnessError
from harness.folds import boundaries_of
from harness.protocols import Subject
from harness.runner.pool import LOST
from harness.runner.specs import ModelSource, RunOptions, RunSpec, plan
from harness.runner.subjects import find_subject, real_time_of
from harness.runner.sweep_judging import judged, judged_limit, judged_order
from harness.runner.sweep_plan import injections, kinds_of, limits_to_sweep, orders_to_sweep
from harness.runner.sweep_rules import wishes_of
from harness.runner.sweep_runs import Observed, difference, observe
from harness.runner.sweep_scenario import answered_anew, bare, reproduction
from harness.types.codes import ClockKind
from harness.types.records import Finding
from harness.types.scenario import Injection, Scenario
from harness.types.sweeps import CellOutcome, Sweep, SweepCell, SweepKind, SweepLevel

_N_REFERENCES: Final = 3
"""The warm-up and two references."""
_FAILED, _ERROR = 1, 5


@dataclass(frozen=True, slots=True)
class SweepSpec:
    """One scenario to sweep, with everything needed in another process."""

    spec: RunSpec
    kinds: tuple[SweepKind, ...]
    level: SweepLevel = SweepLevel.BOUNDARIES
    asked: bool = False
    """Whether the kinds were named; else they are all there are."""


def plan_sweeps(
    scenarios: Sequence[Scenario],
    options: RunOptions,
    kinds: Iterable[SweepKind | str] = (),
    level: SweepLevel = SweepLevel.BOUNDARIES,
) -> tuple[SweepSpec, ...]:
    """One spec for each scenario that has a script; the others cannot be disturbed and go on.

    Everything that is named is looked up here. Raises what ``plan`` raises, ConfigurationError for another
    source than the script, NothingToRunError where no scenario has one.
    """
    if options.source not in (ModelSource.AUTO, ModelSource.SCRIPTED):
        raise ConfigurationError("a sweep runs scripts: a recording or a live model has no answers to a disturbed run")
    given = tuple(kinds)
    named = kinds_of(given)
    scripted = [one for one in scenarios if one.script is not None]
    quiet = replace(options, folder=None, checks=None, trials=1)
    return tuple(SweepSpec(spec, named, level, bool(given)) for spec in plan(scripted, quiet))


def sweep_one(wanted: SweepSpec, *, subject: Subject | None = None) -> Sweep:
    """Sweep one scenario. ``subject`` overrides the one that the options name.

    What a run raises becomes a cell; KeyboardInterrupt passes.
    """
    subject = subject or find_subject(wanted.spec.options.subject)
    spec = replace(wanted.spec, scenario=bare(wanted.spec.scenario))
    told = Sweep(spec.scenario.id, subject.name, SweepCell(None, CellOutcome.VOID))
    try:
        _, first, second = (observe(spec, subject) for _ in range(_N_REFERENCES))
    except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
        return _not_swept(told, error, spec.scenario)
    other = _not_repeated(first, second)
    if other:
        cell = SweepCell(None, CellOutcome.FLAKY, why=f"two undisturbed runs differ: {other}")
        return replace(told, reference=cell, n_runs=_N_REFERENCES)
    reference = _reference_cell(second, spec.scenario)
    uncounted = wanted.level is SweepLevel.TICKS and not second.ticks
    spec = replace(spec, scenario=answered_anew(spec.scenario, second.trajectory))
    planned = injections(
        second.trajectory,
        wanted.kinds,
        wanted.level,
        n_tasks=len(spec.scenario.tasks),
        n_ticks=second.n_ticks,
    )
    cells = tuple(_cell(spec, subject, injection, second) for injection in planned)
    cells += tuple(_variations(wanted, spec, subject, second))
    why = _level(real_time_of(subject), uncounted=uncounted)
    return replace(told, reference=reference, cells=cells, why=why, n_runs=_N_REFERENCES + len(cells))


def _level(real_time: str, *, uncounted: bool) -> str:
    """Which level of sweep was possible, where it was not the one that was asked for, or took real time."""
    if real_time:
        return f"swept at boundaries, in real time: {real_time}"
    return "ticks are not swept: the run takes the system's clock" if uncounted else ""


def _not_repeated(first: Observed, second: Observed) -> str:
    other = difference(second.trajectory, first.trajectory)
    if other or second.trajectory.header.clock is ClockKind.VIRTUAL:
        return other
    places, before = set(boundaries_of(second.trajectory)), set(boundaries_of(first.trajectory))
    return "" if places == before else f"{len(places ^ before)} boundaries are not in both"


def _not_swept(told: Sweep, error: BaseException, scenario: Scenario) -> Sweep:
    """What the undisturbed run raised: a fault of the loop, of the world, or something not offered."""
    text = f"{type(error).__name__}: {error}"
    code = error.exit_code if isinstance(error, HarnessError) else _ERROR
    if code == _FAILED:
        found = (Finding("run", text),)
        cell = SweepCell(None, CellOutcome.RED, found, reproduction=reproduction(scenario, None, found))
    else:
        cell = SweepCell(None, CellOutcome.ERROR if code == _ERROR else CellOutcome.VOID, why=text)
    return replace(told, reference=cell, why=text, n_runs=1)


def _reference_cell(run: Observed, scenario: Scenario) -> SweepCell:
    found = run.findings()
    if found:
        return SweepCell(None, CellOutcome.RED, found, reproduction=reproduction(scenario, None, found))
    errors = run.errors()
    return SweepCell(None, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)


def _variations(wanted: SweepSpec, spec: RunSpec, subject: Subject, reference: Observed) -> Iterator[SweepCell]:
    """Cells in which the scenario itself is another: its limit of steps, or the order in which bodies end."""
    scenario = spec.scenario
    for limit in limits_to_sweep(reference.trajectory, wanted.kinds, asked=wanted.asked):
        other = replace(scenario, limits=replace(scenario.limits, steps=limit[1]))
        yield _varied(replace(spec, scenario=other), subject, partial(judged_limit, limit), reference)
    timed = scenario.inject or scenario.release  # what comes at a time meets other work in another order
    for order in () if timed else orders_to_sweep(reference.trajectory, wanted.kinds):
        other = replace(scenario, release=order)
        yield _varied(replace(spec, scenario=other), subject, partial(judged_order, order), reference)


def _varied(
    spec: RunSpec, subject: Subject, judge: Callable[[Observed, Observed], SweepCell], reference: Observed
) -> SweepCell:
    try:
        cell = judge(observe(spec, subject), reference)
    except (Exception, SystemExit) as error:  # as below
        cell = _raised(None, error)
    if cell.outcome is not CellOutcome.RED:
        return cell
    return replace(cell, reproduction=reproduction(spec.scenario, None, cell.findings, done=cell))


def _cell(spec: RunSpec, subject: Subject, injection: Injection, reference: Observed) -> SweepCell:
    disturbed = replace(spec.scenario, inject=(*spec.scenario.inject, injection))
    try:
        cell = judged(injection, observe(replace(spec, scenario=disturbed), subject), reference)
    except (Exception, SystemExit) as error:  # as above
        cell = _raised(injection, error)
    if cell.outcome is not CellOutcome.RED:
        return cell
    wishes = wishes_of({finding.check for finding in cell.findings}, reference)
    return replace(cell, reproduction=reproduction(spec.scenario, injection, cell.findings, expect=wishes))


def _raised(injection: Injection | None, error: BaseException) -> SweepCell:
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, HarnessError) and error.exit_code != _FAILED:
        return SweepCell(injection, CellOutcome.ERROR, why=text)
    return SweepCell(injection, CellOutcome.RED, (Finding("run", f"the disturbed run raised {text}"),))


def lost_sweep(wanted: SweepSpec) -> Sweep:
    """What is told of a sweep whose process died."""
    cell = SweepCell(None, CellOutcome.ERROR, why=LOST)
    return Sweep(wanted.spec.scenario.id, wanted.spec.options.subject, cell, why=LOST)
