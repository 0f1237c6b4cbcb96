"""The two rules of a gate, as a plan sees them: how likely each passes, by the interval that it judges by.

``mean_difference`` for prompts like these, whose unit is the case or its group; ``within_cases`` for these cases,
where only trials are chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Protocol, assert_never

from harness.statistics.needs import libraries
from harness.statistics.power import Spread, all_pass_variance, power, smallest_margin, units_needed
from harness.statistics.sequential import plan_looks
from harness.types.evaluation import Estimand, GateSpec, Metric

ADDED_UNITS: Final = 2
"""How many units the interval of the mean difference adds to a sample before it is made."""


@dataclass(frozen=True, slots=True)
class Sample:
    """How much is asked: cases, the units that they make (a group is one), trials of each case in each arm."""

    n_cases: int
    n_units: int
    trials: int


class Rule(Protocol):
    """A gate's rule. ``n`` counts what it takes as independent: units, or cases; ``trials`` may be infinite."""

    @property
    def n_counted(self) -> int:
        """How many of them the sample holds."""
        ...

    def power(self, n: int, trials: float, doubt: float = 1.0) -> float:
        """How likely it passes, where the variance is ``doubt`` times what is believed."""
        ...

    def smallest_margin(self, n: int, trials: float) -> float:
        """What it shows with the wanted power."""
        ...

    def needed(self, trials: float) -> int | None:
        """The fewest with the wanted power at the declared margin; None where no number has it."""
        ...


@dataclass(frozen=True, slots=True)
class _Given:
    gate: GateSpec
    sample: Sample
    spread: Spread
    wanted: float
    difference: float

    def alpha(self, trials: float) -> float:
        """Of the interval at the last look, where there are trials enough for all looks."""
        if math.isinf(trials) or trials < self.gate.looks:
            return self.gate.alpha
        return 1 - plan_looks(int(trials), self.gate.looks, alpha=self.gate.alpha).levels[-1]

    def all_pass(self, trials: float, changing: float, each: float) -> float:
        """The variance of what always passes or does not, of ``each`` cases together. More trials than were declared
        would be another question, so infinitely many are not asked.
        """
        n = round(each * (self.sample.trials if math.isinf(trials) else trials))
        return all_pass_variance(self.spread.pass_rate, self.spread.correlation, changing, n)


class _PromptsLikeThese(_Given):
    """By t over units, some of them added."""

    __slots__ = ()

    @property
    def n_counted(self) -> int:
        return self.sample.n_units

    def power(self, n: int, trials: float, doubt: float = 1.0) -> float:
        return power(
            n,
            min(1.0, self._variance(trials) * doubt),
            self.gate.margin,
            difference=self.difference,
            alpha=self.alpha(trials),
            n_added=ADDED_UNITS,
        )

    def smallest_margin(self, n: int, trials: float) -> float:
        return smallest_margin(
            n,
            self._variance(trials),
            wanted=self.wanted,
            difference=self.difference,
            alpha=self.alpha(trials),
            n_added=ADDED_UNITS,
        )

    def needed(self, trials: float) -> int | None:
        return units_needed(
            self._variance(trials),
            self.gate.margin,
            wanted=self.wanted,
            difference=self.difference,
            alpha=self.alpha(trials),
            n_added=ADDED_UNITS,
        )

    def _variance(self, trials: float) -> float:
        """Of one unit's difference; a group of cases has the trials of all of them."""
        each = self.sample.n_cases / self.sample.n_units
        match self.gate.metric:
            case Metric.CASE_PASS_RATE:
                return self.spread.difference(trials * each)
            case Metric.PASS_HAT_K:
                return self.all_pass(trials, self.spread.changing, each)
            case _:
                assert_never(self.gate.metric)


class _TheseCases(_Given):
    """By the normal distribution within cases."""

    __slots__ = ()

    @property
    def n_counted(self) -> int:
        return self.sample.n_cases

    def power(self, n: int, trials: float, doubt: float = 1.0) -> float:
        estimated, chance = (math.sqrt(variance / n) for variance in self._variances(trials, doubt))
        room = self.gate.margin + self.difference - self._quantile(trials) * estimated
        with libraries():
            from scipy.stats import norm
        return float(norm.cdf(room / chance)) if chance > 0 else float(room > 0)

    def smallest_margin(self, n: int, trials: float) -> float:
        estimated, chance = (math.sqrt(variance / n) for variance in self._variances(trials))
        return self._quantile(trials) * estimated + _normal_quantile(self.wanted) * chance - self.difference

    def needed(self, trials: float) -> int | None:
        room = self.gate.margin + self.difference
        alone = self.smallest_margin(1, trials) + self.difference  # falls with the root of the number of cases
        return max(1, math.ceil((alone / room) ** 2)) if room > 0 else None

    def _quantile(self, trials: float) -> float:
        return _normal_quantile(1 - self.alpha(trials) / 2)

    def _variances(self, trials: float, doubt: float = 1.0) -> tuple[float, float]:
        """Of one case's difference: as the interval estimates it on the mean, and as it is."""
        match self.gate.metric:
            case Metric.CASE_PASS_RATE:
                if math.isinf(trials):
                    return 0.0, 0.0
                inner = [min(0.25, doubt * part) for part in (self.spread.within_base, self.spread.within_candidate)]
                return math.fsum(_pulled(part, trials) for part in inner), math.fsum(inner) / trials
            case Metric.PASS_HAT_K:
                return 2 * _pulled(0.25, 1), self.all_pass(trials, 0.0, 1)
            case _:
                assert_never(self.gate.metric)


def rule_of(gate: GateSpec, sample: Sample, spread: Spread, wanted: float, difference: float) -> Rule:
    """The rule that a gate's estimand asks for."""
    match gate.estimand:
        case Estimand.PROMPTS_LIKE_THESE:
            return _PromptsLikeThese(gate, sample, spread, wanted, difference)
        case Estimand.THESE_CASES:
            return _TheseCases(gate, sample, spread, wanted, difference)
        case _:
            assert_never(gate.estimand)


def _pulled(within: float, trials: float) -> float:
    """The mean of the variance that the interval gives a case's rate, whose trials vary by ``within`` on the mean.

    The interval takes the rate as if one trial more had passed and one more had failed.
    """
    seen = (trials * (trials - 1) * within + trials + 1) / (trials + 2) ** 2
    return min(0.25, seen * (trials + 2) / (trials + 1)) / trials


def _normal_quantile(share: float) -> float:
    with libraries():
        from scipy.stats import norm
    return float(norm.ppf(share))
