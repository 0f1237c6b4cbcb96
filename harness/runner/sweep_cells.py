"""The cells of a sweep: each one run that was disturbed, or that another scenario had, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from harness.errors import HarnessError
from harness.protocols import Subject
from harness.runner.specs import RunSpec
from harness.runner.sweep_again import Again
from harness.runner.sweep_axes import queued_before
from harness.runner.sweep_close import Held
from harness.runner.sweep_judging import judged, judged_limit, judged_order
from harness.runner.sweep_limits import SweptLimit
from harness.runner.sweep_rules import wishes_of
from harness.runner.sweep_runs import Observed, observe
from harness.runner.sweep_scenario import reproduction
from harness.types.messages import CallId
from harness.types.records import Finding
from harness.types.scenario import Injection
from harness.types.sweeps import CellOutcome, SweepAxis, SweepCell

_FAILED: Final = 1


def injected(
    spec: RunSpec,
    subject: Subject,
    injection: Injection,
    reference: Observed,
    *,
    again: Again,
    axes: tuple[SweepAxis, ...] = (),
) -> SweepCell:
    """The cell of one injection, and of the input that it is to find queued."""
    queued = (queued_before(injection),) if SweepAxis.QUEUED in axes else ()
    scenario = replace(spec.scenario, inject=(*spec.scenario.inject, *queued))
    disturbed = replace(spec, scenario=replace(scenario, inject=(*scenario.inject, injection)))

    def made() -> SweepCell:
        held = partial(observe, disturbed, Held(subject))
        try:
            cell = judged(injection, observe(disturbed, subject), reference, held)
        except (Exception, SystemExit) as error:  # somebody else's loop may raise anything
            cell = raised(injection, error)
        return replace(cell, axes=axes)

    cell = again.confirmed(made)
    if cell.outcome is not CellOutcome.RED:
        return cell
    wishes = wishes_of({finding.check for finding in cell.findings}, reference)
    return replace(cell, reproduction=reproduction(scenario, injection, cell.findings, expect=wishes, done=cell))


def under_limits(
    spec: RunSpec, subject: Subject, limits: tuple[SweptLimit, ...], reference: Observed, again: Again
) -> Iterator[SweepCell]:
    """A cell for each value of each limit."""
    for limit in limits:
        for value in limit.values:
            other = replace(spec.scenario, limits=limit.set_to(value, spec.scenario.limits))
            judge = partial(judged_limit, limit, value)
            yield _varied(replace(spec, scenario=other), subject, judge, reference, again)


def in_orders(
    spec: RunSpec, subject: Subject, orders: Iterator[tuple[CallId, ...]], reference: Observed, again: Again
) -> Iterator[SweepCell]:
    """A cell for each order in which bodies are seen to end."""
    for order in orders:
        other = replace(spec.scenario, release=order)
        yield _varied(replace(spec, scenario=other), subject, partial(judged_order, order), reference, again)


def _varied(
    spec: RunSpec, subject: Subject, judge: Callable[[Observed, Observed], SweepCell], reference: Observed, again: Again
) -> SweepCell:
    def made() -> SweepCell:
        try:
            return judge(observe(spec, subject), reference)
        except (Exception, SystemExit) as error:  # as above
            return raised(None, error)

    cell = again.confirmed(made)
    if cell.outcome is not CellOutcome.RED:
        return cell
    return replace(cell, reproduction=reproduction(spec.scenario, None, cell.findings, done=cell))


def raised(injection: Injection | None, error: BaseException) -> SweepCell:
    """The cell of a run that raised: a fault of the world or of the harness, else the loop's."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, HarnessError) and error.exit_code != _FAILED:
        return SweepCell(injection, CellOutcome.ERROR, why=text)
    return SweepCell(injection, CellOutcome.RED, (Finding("run", f"the disturbed run raised {text}"),))
