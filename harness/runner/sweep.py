"""Sweeps: one undisturbed reference, then one run for each boundary, cancelled or failed there, and judged.

The reference is run twice, after a warm-up, and must repeat itself; what comes before a boundary must
be what it was in the reference. Else the subject is flaky and not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from harness.errors import ConfigurationError, HarnessError
from harness.folds import boundaries_of
from harness.protocols import Subject
from harness.runner.pool import LOST
from harness.runner.specs import ModelSource, RunOptions, RunSpec, plan
from harness.runner.subjects import find_subject, real_time_of
from harness.runner.sweep_again import Again, of_both
from harness.runner.sweep_axes import TAKES_NO_INPUT, Stubborn, takes_input
from harness.runner.sweep_cells import in_orders, injected, under_limits
from harness.runner.sweep_kill import CANNOT_GO_ON, killed
from harness.runner.sweep_limits import SweptLimit, limits_to_sweep
from harness.runner.sweep_pairs import in_pairs
from harness.runner.sweep_plan import axes_of, injections, kinds_of, nothing_of, orders_to_sweep
from harness.runner.sweep_runs import Observed, difference, observe
from harness.runner.sweep_scenario import answered_anew, bare, reproduction
from harness.types.codes import ClockKind
from harness.types.records import Finding
from harness.types.scenario import Scenario
from harness.types.sweeps import CellOutcome, Sweep, SweepAxis, SweepCell, SweepKind, SweepLevel

_N_REFERENCES: Final = 3
"""The warm-up and two references."""
_FAILED, _ERROR = 1, 5
_NO_TICKS: Final = "ticks are not swept: the run takes the system's clock"


@dataclass(frozen=True, slots=True)
class SweepSpec:
    """One scenario to sweep, with everything needed in another process."""

    spec: RunSpec
    kinds: tuple[SweepKind, ...]
    level: SweepLevel = SweepLevel.BOUNDARIES
    asked: bool = False
    """Whether the kinds were named; else they are all there are."""
    axes: tuple[SweepAxis, ...] = ()


def plan_sweeps(
    scenarios: Sequence[Scenario],
    options: RunOptions,
    kinds: Iterable[SweepKind | str] = (),
    level: SweepLevel = SweepLevel.BOUNDARIES,
    axes: Iterable[SweepAxis | str] = (),
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
    varied = axes_of(axes)
    return tuple(SweepSpec(spec, named, level, bool(given), varied) for spec in plan(scripted, quiet))


def sweep_one(wanted: SweepSpec, *, subject: Subject | None = None) -> Sweep:
    """Sweep one scenario. ``subject`` overrides the one that the options name.

    What a run raises becomes a cell; KeyboardInterrupt passes.
    """
    subject = subject or find_subject(wanted.spec.options.subject)
    spec = replace(wanted.spec, scenario=bare(wanted.spec.scenario))
    told = _swept(wanted, spec, subject)
    if SweepAxis.STUBBORN not in wanted.axes or SweepKind.CANCEL not in wanted.kinds or not told.cells:
        return told
    return _with_stubborn(told, _swept(replace(wanted, kinds=(SweepKind.CANCEL,)), spec, Stubborn(subject)))


def _with_stubborn(told: Sweep, stubborn: Sweep) -> Sweep:
    """One answer of both sweeps; the reference among stubborn tools is a cell where it is not clean.

    No scenario says that its tools are stubborn, so no file shows such a cell again.
    """
    reference = (
        () if stubborn.reference.outcome in (CellOutcome.CLEAN, told.reference.outcome) else (stubborn.reference,)
    )
    cells = (
        replace(cell, axes=(*cell.axes, SweepAxis.STUBBORN), reproduction="") for cell in (*reference, *stubborn.cells)
    )
    why = "; ".join(dict.fromkeys(one for one in (told.why, stubborn.why) if one))
    return replace(told, cells=(*told.cells, *cells), why=why, n_runs=told.n_runs + stubborn.n_runs)


def _swept(wanted: SweepSpec, spec: RunSpec, subject: Subject) -> Sweep:
    told = Sweep(spec.scenario.id, subject.name, SweepCell(None, CellOutcome.VOID))
    try:
        _, first, second = (observe(spec, subject) for _ in range(_N_REFERENCES))
    except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
        return _not_swept(told, error, spec, subject)
    other = _not_repeated(first, second)
    if other:
        cell = SweepCell(None, CellOutcome.FLAKY, why=f"two undisturbed runs differ: {other}")
        return replace(told, reference=cell, n_runs=_N_REFERENCES)
    reference = _reference_cell(first, second, spec.scenario)
    spec = replace(spec, scenario=answered_anew(spec.scenario, second.trajectory))
    again = Again()
    cells = tuple(_disturbed(wanted, spec, subject, second, again))
    varied, skipped = _variations(wanted, spec, subject, second, again)
    cells += varied
    n_runs = _N_REFERENCES + sum(cell.n_runs for cell in cells)
    if wanted.asked:
        swept = {kind for kind in SweepKind for cell in cells if cell.row.split()[0] == kind}
        skipped = (*skipped, *nothing_of(wanted.kinds, swept, spec.scenario))
    why = "; ".join((*_unswept(wanted, subject, second), *skipped))
    return replace(told, reference=reference, cells=cells, why=why, n_runs=n_runs)


def _unswept(wanted: SweepSpec, subject: Subject, reference: Observed) -> Iterator[str]:
    if real_time := real_time_of(subject):
        yield f"swept at boundaries, in real time: {real_time}"
    elif wanted.level is SweepLevel.TICKS and not reference.ticks:
        yield _NO_TICKS
    if SweepAxis.QUEUED in wanted.axes and not takes_input(reference.trajectory):
        yield TAKES_NO_INPUT


def _disturbed(
    wanted: SweepSpec, spec: RunSpec, subject: Subject, reference: Observed, again: Again
) -> Iterator[SweepCell]:
    """A cell for each injection, and one for each cancel that finds input queued."""
    n_tasks, trajectory = len(spec.scenario.tasks), reference.trajectory
    plan = partial(injections, trajectory, level=wanted.level, n_ticks=reference.n_ticks)
    for injection in plan(wanted.kinds, n_tasks=n_tasks):
        yield injected(spec, subject, injection, reference, again=again)
    if SweepAxis.QUEUED in wanted.axes and SweepKind.CANCEL in wanted.kinds and takes_input(trajectory):
        for injection in plan((SweepKind.CANCEL,), n_tasks=n_tasks + 1):
            yield injected(spec, subject, injection, reference, again=again, axes=(SweepAxis.QUEUED,))


def _not_repeated(first: Observed, second: Observed) -> str:
    other = difference(second.trajectory, first.trajectory)
    if other or second.trajectory.header.clock is ClockKind.VIRTUAL:
        return other
    places, before = set(boundaries_of(second.trajectory)), set(boundaries_of(first.trajectory))
    return "" if places == before else f"{len(places ^ before)} boundaries are not in both"


def _not_swept(told: Sweep, error: BaseException, spec: RunSpec, subject: Subject) -> Sweep:
    """What the undisturbed run raised: a fault of the loop, of the world, or something not offered."""
    cell = _raising(error)
    if cell.outcome is CellOutcome.RED:
        try:
            again = _at_rest(observe(spec, subject))
        except (Exception, SystemExit) as second:  # as above
            again = _raising(second)
        cell = of_both(cell, again)
    if cell.outcome is CellOutcome.RED:
        cell = replace(cell, reproduction=reproduction(spec.scenario, None, cell.findings))
    return replace(told, reference=cell, why=f"{type(error).__name__}: {error}", n_runs=1)


def _raising(error: BaseException) -> SweepCell:
    text = f"{type(error).__name__}: {error}"
    code = error.exit_code if isinstance(error, HarnessError) else _ERROR
    if code == _FAILED:
        return SweepCell(None, CellOutcome.RED, (Finding("run", text),))
    return SweepCell(None, CellOutcome.ERROR if code == _ERROR else CellOutcome.VOID, why=text)


def _reference_cell(first: Observed, second: Observed, scenario: Scenario) -> SweepCell:
    """Red with what both undisturbed runs show."""
    cell = _at_rest(second)
    cell = of_both(cell, _at_rest(first)) if cell.outcome is CellOutcome.RED else cell
    if cell.outcome is not CellOutcome.RED:
        return cell
    return replace(cell, reproduction=reproduction(scenario, None, cell.findings))


def _at_rest(run: Observed) -> SweepCell:
    found, errors = run.findings(), run.errors()
    if found:
        return SweepCell(None, CellOutcome.RED, found)
    return SweepCell(None, CellOutcome.ERROR if errors else CellOutcome.CLEAN, why=errors)


def _variations(
    wanted: SweepSpec, spec: RunSpec, subject: Subject, reference: Observed, again: Again
) -> tuple[tuple[SweepCell, ...], tuple[str, ...]]:
    """Cells in which the scenario is another, by its limits or the order in which bodies end; why some are not."""
    scenario = spec.scenario
    limits: tuple[SweptLimit, ...] = ()
    skipped: tuple[str, ...] = ()
    if SweepKind.LIMIT in wanted.kinds:
        limits, skipped = limits_to_sweep(scenario, reference.trajectory, asked=wanted.asked)
    cells = tuple(under_limits(spec, subject, limits, reference, again))
    timed = scenario.inject or scenario.release  # what comes at a time meets other work in another order
    orders = iter(()) if timed else orders_to_sweep(reference.trajectory, wanted.kinds)
    cells += tuple(in_orders(spec, subject, orders, reference, again))
    if SweepKind.PAIR in wanted.kinds:
        cells += tuple(in_pairs(spec, subject, reference, again))
    if SweepKind.KILL in wanted.kinds:
        if getattr(subject, "goes_on", False):
            cells += tuple(killed(spec, subject, reference, again))
        else:
            skipped = (*skipped, f"kill is not swept: {CANNOT_GO_ON}")
    return cells, skipped if wanted.asked else ()


def lost_sweep(wanted: SweepSpec) -> Sweep:
    """What is told of a sweep whose process died."""
    cell = SweepCell(None, CellOutcome.ERROR, why=LOST)
    return Sweep(wanted.spec.scenario.id, wanted.spec.options.subject, cell, why=LOST)
