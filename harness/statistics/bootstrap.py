"""The bootstrap over units: whole cases (or groups) are drawn again, with all that belongs to them.

Drawing single trials would take five trials of one case for five cases. Seeded: the same numbers give the same
interval, to the last bit. Percentile and BCa (Efron 1987; Efron and Tibshirani 1993, chapter 14).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from harness.statistics.needs import libraries
from harness.statistics.rates import Interval, check_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]
    Statistic: TypeAlias = Callable[[Floats], Floats]

_AT_ONCE: Final = 2_000_000
"""How many drawn units are held at the same time; bounds the memory, not the result."""


class BootstrapMethod(StrEnum):
    """How the interval is read off the distribution of the drawn statistics."""

    PERCENTILE = "percentile"
    BCA = "BCa"


@dataclass(frozen=True, slots=True)
class Bootstrapped:
    """An estimate with its interval. ``bias`` (z0) and ``acceleration`` are those of BCa, 0 otherwise."""

    estimate: float
    low: float
    high: float
    level: float
    method: BootstrapMethod
    n_units: int
    n_resamples: int
    bias: float = 0.0
    acceleration: float = 0.0

    @property
    def interval(self) -> Interval:
        """The interval alone, as the verdict regions take it."""
        return Interval(self.low, self.high, self.level, f"bootstrap over units, {self.method}")


def mean_over_units(units: Floats) -> Floats:
    """The mean of the first value of each unit. A statistic takes (..., units, values) and gives (...)."""
    means: Floats = units[..., 0].mean(axis=-1)
    return means


def ratio_of_sums(units: Floats) -> Floats:
    """The sum of all first values over the sum of all second values: passed and trials of units of unequal size."""
    sums: Floats = units.sum(axis=-2)
    ratio: Floats = sums[..., 0] / sums[..., 1]
    return ratio


def cluster_bootstrap(
    units: Sequence[Sequence[float]],
    statistic: Statistic = mean_over_units,
    *,
    level: float = 0.95,
    method: BootstrapMethod = BootstrapMethod.BCA,
    n_resamples: int = 9_999,
    seed: int = 0,
) -> Bootstrapped | None:
    """The interval of ``statistic`` over units, each given by the same number of values that sum up its trials.

    ``statistic`` takes an array (..., units, values) and gives an array (...): it is called on many draws at once.
    None where fewer than two units are there, or where every draw gives the same: then nothing is known of the spread.
    Raises UsageError for a level that is no share between 0 and 1.
    """
    with libraries():
        import numpy as np
    check_level(level)
    table = np.asarray(units, dtype=np.float64)
    if len(table) < 2:
        return None
    drawn = _draws(table, statistic, n_resamples, seed)
    if drawn.min() == drawn.max():
        return None
    estimate = float(statistic(table))
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    bias = acceleration = 0.0
    if method is BootstrapMethod.BCA:
        bias, acceleration = _bias(drawn, estimate), _acceleration(table, statistic)
        tails = _corrected(tails, bias, acceleration)
    low, high = (float(value) for value in np.quantile(drawn, tails))
    return Bootstrapped(estimate, low, high, level, method, len(table), n_resamples, bias, acceleration)


def _draws(table: Floats, statistic: Statistic, n_resamples: int, seed: int) -> Floats:
    with libraries():
        import numpy as np
    n = len(table)
    source = np.random.default_rng(seed)
    rows = max(1, _AT_ONCE // n)
    parts = []
    for done in range(0, n_resamples, rows):
        chosen = source.integers(0, n, size=(min(rows, n_resamples - done), n))
        parts.append(statistic(table[chosen]))
    drawn: Floats = np.concatenate(parts)
    return drawn


def _bias(drawn: Floats, estimate: float) -> float:
    """z0: how far the draws lie to one side of the estimate; ties count half. Kept finite where all lie on one side."""
    with libraries():
        from scipy.stats import norm
    below = ((drawn < estimate).sum() + (drawn <= estimate).sum()) / (2 * len(drawn))
    edge = 1 / (2 * len(drawn))
    return float(norm.ppf(min(1 - edge, max(edge, below))))


def _acceleration(table: Floats, statistic: Statistic) -> float:
    """a: from the statistic without each unit in turn (jackknife)."""
    with libraries():
        import numpy as np
    n = len(table)
    without = np.array([float(statistic(np.delete(table, index, axis=0))) for index in range(n)])
    pull = without.mean() - without
    squares = float((pull * pull).sum())
    return float((pull**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0


def _corrected(tails: Floats, bias: float, acceleration: float) -> Floats:
    with libraries():
        from scipy.stats import norm
    ahead = bias + norm.ppf(tails)
    corrected: Floats = norm.cdf(bias + ahead / (1 - acceleration * ahead))
    return corrected
