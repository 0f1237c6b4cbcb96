"""How likely a comparison decides: power of the paired non-inferiority comparison, with the case as the unit.

The difference of a case's pass rates (candidate less base) varies for two reasons: cases really change by different
amounts (``between``), and a rate over few trials is noise (``within``). Only the second gets smaller with more trials:

    variance of a case's difference = between + (within_base + within_candidate) / trials

A comparison passes where the lower bound of the interval of level 1 - alpha lies above -margin, so each side has
alpha / 2. That a candidate which is worse by just the margin fails has the same power, by symmetry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from harness.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

Counts: TypeAlias = tuple[int, int]
"""Of one unit under one arm: trials passed, trials done."""

_FAR: Final = 9.0
"""Standard errors; beyond lies less than 1e-18 of a normal distribution."""
_NODES: Final = 2001


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

    def difference(self, trials: float) -> float:
        """The variance of the difference of one unit with so many trials in each arm; infinity is a number too."""
        return self.between + (self.within_base + self.within_candidate) / trials


# ---------------------------------------------------------------- where a spread comes from


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
    between = max(0.0, seen - noise) if seen > 0 else _unseen(len(pairs))
    pass_rate = math.fsum(_rate(counts) for pair in pairs for counts in pair) / (2 * len(pairs))
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
    return Spread(2 * changing * levels, within, within, pass_rate, len(units))


def _unseen(n_units: int) -> float:
    return 1 - float(0.05 ** (1 / n_units))


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
    from scipy.stats import chi2

    if spread.n_units < 2:
        return 1.0
    return float((spread.n_units - 1) / chi2.ppf(1 - level, spread.n_units - 1))


def all_pass_variance(pass_rate: float, correlation: float, changing: float, trials: int) -> float:
    """The variance of a unit's difference where a unit counts as passed only if every trial passes (pass^k).

    Pass rates of units are taken to have a beta distribution with this mean and intraclass correlation.
    """
    once, twice = (_beta_moment(pass_rate, correlation, power) for power in (trials, 2 * trials))
    return (1 - changing) * 2 * (once - twice) + changing * 2 * (once - once * once)


def _beta_moment(pass_rate: float, correlation: float, power: int) -> float:
    """The mean of p to some power."""
    if correlation >= 1:
        return pass_rate
    spread = correlation / (1 - correlation)  # of a and b together: 1 / (a + b)
    return math.prod((pass_rate + index * spread) / (1 + index * spread) for index in range(power))


# ---------------------------------------------------------------- power


def power(
    n_units: int, variance: float, margin: float, *, difference: float = 0.0, alpha: float = 0.05, n_added: int = 0
) -> float:
    """How likely the comparison passes where the true mean difference is ``difference`` and units have this variance.

    Means and variances of samples are taken as normal and chi-squared. With ``n_added`` 0 this is the power of the
    paired t test, by the noncentral t distribution. Otherwise so many units are added to the sample before its
    interval is made, half of them with a difference of 1 and half with -1. 0 for fewer than two units.
    """
    import numpy as np
    from scipy.stats import chi2, norm, t

    if n_units < 2:
        return 0.0
    n_all = n_units + n_added
    error = math.sqrt(variance / n_units)
    quantile = float(t.ppf(1 - alpha / 2, n_all - 1))
    if variance == 0:
        return float(_allowed(np.array([difference]), n_units, n_added, margin, quantile)[0] > 0)
    low, high = max(difference - _FAR * error, -margin * n_all / n_units), difference + _FAR * error
    if low >= high:
        return 0.0
    means, step = np.linspace(low, high, _NODES, retstep=True)
    passing = chi2.cdf(_allowed(means, n_units, n_added, margin, quantile) / variance, n_units - 1)
    # At both ends next to nothing is left, so that equal weights are the trapezoid rule.
    return min(1.0, float((norm.pdf((means - difference) / error) * passing).sum() * step / error))


def _allowed(means: Floats, n_units: int, n_added: int, margin: float, quantile: float) -> Floats:
    """Below which sum of squares around its mean a sample passes, for each of these means; below 0: never."""
    n_all = n_units + n_added
    shrunk = means * n_units / n_all
    room = (shrunk + margin) / quantile
    allowed = n_all * (n_all - 1) * room * room - n_units * (means - shrunk) ** 2 - n_added * (1 + shrunk * shrunk)
    return allowed * (room > 0)


def smallest_margin(
    n_units: int,
    variance: float,
    *,
    wanted: float = 0.8,
    difference: float = 0.0,
    alpha: float = 0.05,
    n_added: int = 0,
) -> float:
    """The smallest margin that so many units can show with the wanted power. Infinity for fewer than two."""
    from scipy.optimize import brentq

    if n_units < 2:
        return math.inf

    def missing(margin: float) -> float:
        return power(n_units, variance, margin, difference=difference, alpha=alpha, n_added=n_added) - wanted

    low, high = -difference, -difference + 0.1
    while missing(high) < 0:
        low, high = high, high + 2 * (high + difference)
    return float(brentq(missing, low, high, xtol=1e-9))


def units_needed(
    variance: float,
    margin: float,
    *,
    wanted: float = 0.8,
    difference: float = 0.0,
    alpha: float = 0.05,
    n_added: int = 0,
) -> int | None:
    """The smallest number of units with the wanted power; None where no number has it."""
    if margin + difference <= 0:
        return None

    def enough(n_units: int) -> bool:
        return power(n_units, variance, margin, difference=difference, alpha=alpha, n_added=n_added) >= wanted

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
