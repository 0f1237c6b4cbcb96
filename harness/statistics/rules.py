"""The rule of a gate as a plan reckons with it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import assert_never

from harness.statistics.power import Belief, Reckoning, bounds_over_units, bounds_within_cases
from harness.statistics.sequential import plan_looks
from harness.statistics.spread import Spread
from harness.types.evaluation import Estimand, GateSpec, Metric


@dataclass(frozen=True, slots=True)
class Sample:
    """How much is asked: cases, the units that they make (a group is one), trials of each case in each arm."""

    n_cases: int
    n_units: int
    trials: int

    def n_counted(self, gate: GateSpec, n_cases: int) -> int:
        """How many of what the gate takes as independent so many cases make, in groups of the same size."""
        match gate.estimand:
            case Estimand.PROMPTS_LIKE_THESE:
                return max(1, round(n_cases * self.n_units / self.n_cases))
            case Estimand.THESE_CASES if gate.metric is Metric.PASS_HAT_K:  # one outcome a unit: all its cases pass
                return max(1, round(n_cases * self.n_units / self.n_cases))
            case Estimand.THESE_CASES:
                return n_cases
            case _:
                assert_never(gate.estimand)

    def cases_of(self, gate: GateSpec, n_counted: int) -> int:
        """How many cases make so many of them."""
        return math.ceil(n_counted * self.n_cases / self.n_counted(gate, self.n_cases))


def reckoning(gate: GateSpec, sample: Sample, spread: Spread, trials: float, difference: float) -> Reckoning:
    """Power and margins of a gate with so many trials of each case; infinity stands for any number.

    Units that count only where every trial passes are not asked for any number: that would be another question.
    """
    if gate.metric is Metric.PASS_HAT_K and math.isinf(trials):
        trials = sample.trials
    level, each = _level(gate, trials), trials * sample.n_cases / sample.n_units
    match gate.estimand:
        case Estimand.PROMPTS_LIKE_THESE:
            return Reckoning.of(bounds_over_units(Belief(spread, each, gate.metric, difference, level)))
        case Estimand.THESE_CASES:
            asked = each if gate.metric is Metric.PASS_HAT_K else trials
            return Reckoning.of(bounds_within_cases(Belief(spread, asked, gate.metric, difference, level)))
        case _:
            assert_never(gate.estimand)


def _level(gate: GateSpec, trials: float) -> float:
    """Of the interval at the last look, where there are trials enough for all looks."""
    if math.isinf(trials) or trials < gate.looks:
        return 1 - gate.alpha
    return plan_looks(int(trials), gate.looks, alpha=gate.alpha).levels[-1]
