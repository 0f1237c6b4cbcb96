"""What was varied, one thing at a time: each arm against the first (description, never a verdict)."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from harness.evaluate.arm_lines import unit_rates
from harness.evaluate.changes import changes_between, factors_of
from harness.evaluate.tally import Tally
from harness.statistics.difference import mean_difference
from harness.statistics.rates import MIN_UNITS
from harness.types.evaluation import Arm
from harness.types.evaluation_insight import FactorLine
from harness.types.evaluation_summary import rounded


def factor_lines(tally: Tally) -> tuple[FactorLine, ...]:
    """Each arm but the first, against the first: the mean of the units' differences, description only."""
    first = tally.evaluation.arms[0]
    base = unit_rates(tally, 0, range(len(tally.index)))
    return tuple(_factor(tally, number, arm, first, base) for number, arm in enumerate(tally.evaluation.arms) if number)


def _factor(tally: Tally, number: int, arm: Arm, first: Arm, base: Sequence[float]) -> FactorLine:
    rates = unit_rates(tally, number, range(len(tally.index)))
    if not (tally.arm_counts(0).scored and tally.arm_counts(number).scored):
        rates = base = []  # an arm that nobody answered differs by nothing that is known
    differences = [rate - before for rate, before in zip(rates, base, strict=True)]
    interval = mean_difference(differences) if len(differences) >= MIN_UNITS else None
    return FactorLine(
        arm=arm.name,
        first=first.name,
        changes=changes_between(first, arm),
        one_factor=len(set(factors_of(arm)) | set(factors_of(first))) == 1,
        n_units=len(differences),
        difference=rounded(fsum(differences) / len(differences)) if differences else None,
        low=None if interval is None else rounded(interval.low),
        high=None if interval is None else rounded(interval.high),
        violated=_violated(tally, number),
        first_violated=_violated(tally, 0),
    )


def _violated(tally: Tally, number: int) -> float | None:
    arm = tally.arms[number]
    return rounded(arm.never_violated / arm.never_trials) if arm.never_trials else None
