"""Runs beside the accepted variants of their scenarios: equal to one, or where they leave the nearest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from harness.folds import parting_line
from harness.runner.accepted import accepted_header
from harness.runner.baseline_accept import parting
from harness.runner.baselines import Baselines, by_scenario
from harness.runner.review.comparing import RunSet
from harness.types.baselines import BaselineDiff, BaselineRow
from harness.types.codes import Change, Outcome
from harness.types.events import Trajectory
from harness.types.records import Explanation, RunSummary

_Variants = Sequence[tuple[int, Trajectory]]


def diff_runs(runs: Path, root: Path) -> BaselineDiff:
    """Each run beside the variants of its scenario.

    A scenario that has variants and no run is a regression where ``runs`` is a folder; one without variants is
    listed (INVARIANTS 33). Nothing with variants on both sides is INVALID (INVARIANTS 31). Raises UsageError,
    NothingToRunError, TrajectoryFormatError for damage and for a run that is there twice.
    """
    found, baselines = RunSet.read_to_accept(runs), Baselines.read(root)
    scenarios = by_scenario(found.runs)
    rows: list[BaselineRow] = []
    for scenario in sorted({*scenarios, *(baselines.headers if runs.is_dir() else ())}):
        if scenario in scenarios:
            rows += _rows(scenario, scenarios[scenario], found, tuple(baselines.load(scenario)))
        else:
            n = len(baselines.headers[scenario])
            rows.append(BaselineRow(scenario, Change.MISSING, scenario, f"{scenario}  has no run", n_variants=n))
    return BaselineDiff(str(runs), str(root), _outcome(rows), tuple(rows))


def _rows(scenario: str, runs: Sequence[RunSummary], found: RunSet, variants: _Variants) -> Iterator[BaselineRow]:
    for run in runs:
        name = scenario if len(runs) == 1 else f"{scenario} ({run.arm}, trial {run.trial})"
        line = f"{name}  has no accepted variant"
        row = BaselineRow(scenario, Change.NEW, name, line, run.run_id, run.file, n_variants=len(variants))
        yield _beside(row, found.load(run), variants) if variants else row


def _beside(row: BaselineRow, whole: Trajectory, variants: _Variants) -> BaselineRow:
    number, why = nearest_variant(whole, row.scenario, variants)
    if why is None:
        return replace(row, change=Change.SAME, line=row.name, variant=number)
    return replace(row, change=Change.CHANGED, line=parting_line(row.name, why), variant=number, explanation=why)


def nearest_variant(whole: Trajectory, scenario: str, variants: _Variants) -> tuple[int, Explanation | None]:
    """The number of the variant that a run took, and None; else of the one it follows longest, and where it leaves it.

    There is at least one variant.
    """
    run = replace(whole, header=accepted_header(whole.header, scenario))
    parted: list[tuple[int, int, Explanation]] = []
    for number, variant in variants:
        explanation = parting(variant, run)
        if explanation is None:
            return number, None
        followed = explanation.first.base_seq
        parted.append((-(len(variant) if followed is None else followed), number, explanation))
    _, nearest, why = min(parted, key=lambda one: one[:2])
    return nearest, why


def _outcome(rows: Sequence[BaselineRow]) -> Outcome:
    changes = {row.change for row in rows}
    if changes - {Change.SAME, Change.NEW}:
        return Outcome.FAIL
    return Outcome.PASS if Change.SAME in changes else Outcome.INVALID
