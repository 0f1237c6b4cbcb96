"""How much the differences of units vary, and why: what a plan has to believe, from a pilot or from assumptions.

The difference of a unit's pass rates (candidate less base) varies for two reasons: units really change by different
amounts (``between``), and a rate over few trials is noise (``within``). Only the second gets smaller with more trials:

    variance of a unit's difference = between + (within_base + within_candidate) / trials
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.errors import UsageError
from harness.statistics.needs import libraries

Counts: TypeAlias = tuple[int, int]
"""Of one unit under one arm: trials passed, trials done."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Why differences vary: variances of a unit's difference, in squared shares.

    ``within_*`` are variances of a single trial given its unit. ``n_units`` is how many units of a pilot this rests
    on (0: on assumptions). ``pass_rate`` is the mean over units.
    """

    between: float
    within_base: float
    within_candidate: float
    pass_rate: float
    n_units: int = 0

    @property
    def correlation(self) -> float:
        """The intraclass correlation of trials that this goes with; at least what the changes between units need."""
        variance = self.pass_rate * (1 - self.pass_rate)
        if variance <= 0:
            return 0.0
        within = (self.within_base + self.within_candidate) / 2
        return min(1.0, max(0.0, 1 - within / variance, self.between / (2 * variance)))

    @property
    def changing(self) -> float:
        """The share of units that change, in the words of :func:`spread_assumed`; at most 1."""
        most = 2 * self.correlation * self.pass_rate * (1 - self.pass_rate)
        return min(1.0, self.between / most) if most > 0 else 0.0

    def difference(self, trials: float) -> float:
        """The variance of the difference of one unit with so many trials in each arm; infinity is a number too."""
        return self.between + (self.within_base + self.within_candidate) / trials

    def enlarged(self, factor: float, trials: float) -> Spread:
        """The spread whose differences at so many trials vary ``factor`` times as much, since more units change."""
        more = self.between + (factor - 1) * self.difference(trials)
        return replace(self, between=min(more, 2 * self.pass_rate * (1 - self.pass_rate)))


def spread_assumed(pass_rate: float, correlation: float, changing: float) -> Spread:
    """The spread where trials of a case agree with this intraclass correlation and ``changing`` is the share of the
    cases that change at all: those get a pass rate that has nothing to do with the one they had.

    Raises UsageError for what is no share.
    """
    for name, share in (("pass rate", pass_rate), ("correlation", correlation), ("share that changes", changing)):
        if not 0 <= share <= 1:
            raise UsageError(f"the {name} is {share!r}: it must lie between 0 and 1")
    variance = pass_rate * (1 - pass_rate)
    within = variance * (1 - correlation)
    return Spread(2 * changing * correlation * variance, within, within, pass_rate)


def spread_of_pilot(base: Sequence[Counts], candidate: Sequence[Counts]) -> Spread:
    """The spread that a pilot saw: the same units under both arms, in the same order.

    With one trial a unit the two parts cannot be told apart; all counts as between, so that no trials are promised to
    help. Where no unit's difference differs from another's, the pilot does not know the spread: it is then set to the
    upper 95 % bound of the share of units that change (nearly 3 / n, Hanley and Lippman-Hand 1983). Raises UsageError
    for fewer than two units.
    """
    pairs = [(b, c) for b, c in zip(base, candidate, strict=True) if b[1] > 0 and c[1] > 0]
    if len(pairs) < 2:
        raise UsageError(f"the pilot has {len(pairs)} units with trials under both arms: a spread needs at least two")
    within_base, within_candidate = (_within([pair[side] for pair in pairs]) for side in (0, 1))
    differences = [_rate(c) - _rate(b) for b, c in pairs]
    noise = math.fsum(within_base / b[1] + within_candidate / c[1] for b, c in pairs) / len(pairs)
    seen = _variance(differences)
    unseen = 1 - 0.05 ** (1 / len(pairs))
    between = max(0.0, seen - noise) if seen > 0 else unseen
    pass_rate = math.fsum(_rate(counts) for pair in pairs for counts in pair) / (2 * len(pairs))
    if pass_rate in (0.0, 1.0):  # a rate at which nothing can change is not known either
        pass_rate = abs(pass_rate - unseen / 2)
    return Spread(between, within_base, within_candidate, pass_rate, len(pairs))


def spread_of_one_arm(base: Sequence[Counts], changing: float) -> Spread:
    """The spread where a pilot has one arm only: the other is taken to be like it but for ``changing`` of its units.

    Raises UsageError for fewer than two units.
    """
    units = [counts for counts in base if counts[1] > 0]
    if len(units) < 2:
        raise UsageError(f"the pilot has {len(units)} units with trials: a spread needs at least two")
    within = _within(units)
    noise = math.fsum(within / counts[1] for counts in units) / len(units)
    levels = max(0.0, _variance([_rate(counts) for counts in units]) - noise)
    pass_rate = math.fsum(_rate(counts) for counts in units) / len(units)
    if pass_rate in (0.0, 1.0):
        pass_rate = abs(pass_rate - (1 - 0.05 ** (1 / len(units))) / 2)
        levels = pass_rate * (1 - pass_rate)
    return Spread(2 * changing * levels, within, within, pass_rate, len(units))


def _rate(counts: Counts) -> float:
    return counts[0] / counts[1]


def _within(units: Sequence[Counts]) -> float:
    """The mean variance of a single trial given its unit, unbiased; 0 where no unit has two trials."""
    repeated = [(passed, n) for passed, n in units if n >= 2]
    if not repeated:
        return 0.0
    return math.fsum(passed * (n - passed) / (n * (n - 1)) for passed, n in repeated) / len(repeated)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def upper_factor(spread: Spread, level: float = 0.8) -> float:
    """By how much the true variance may exceed what the pilot saw, at a one-sided level (Browne 1995).

    1 for assumptions.
    """
    with libraries():
        from scipy.stats import chi2
    if spread.n_units < 2:
        return 1.0
    return float((spread.n_units - 1) / chi2.ppf(1 - level, spread.n_units - 1))
