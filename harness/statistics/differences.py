"""Which differences of a unit's pass rates come, and how often, where pass rates of units have a beta distribution.

A unit keeps its rate under the candidate, or changes: then its new rate has nothing to do with the old one. A true mean
difference lies in the new rates; where the share that changes cannot carry it, more units change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from harness.statistics.needs import libraries
from harness.statistics.spread import Spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[Any]

_EDGE: Final = 1e-6
GRID: Final = 20


class Differences(NamedTuple):
    """Values in [-1, 1], rising, and the probability of each."""

    values: Floats
    probabilities: Floats


def differences_of_rates(spread: Spread, trials: int, difference: float = 0.0) -> Differences:
    """Of the shares of ``trials`` that pass: multiples of 1 / trials."""
    return _collapsed(_together(spread, trials, difference))


def differences_of_all_pass(spread: Spread, trials: int, difference: float = 0.0) -> Differences:
    """Of units that count as passed only if every trial passes: -1, 0 or 1."""
    with libraries():
        import numpy as np
    both = _together(spread, trials, difference)
    worse, better = both[trials, :trials].sum(), both[:trials, trials].sum()
    return Differences(np.array([-1.0, 0.0, 1.0]), np.array([worse, 1 - worse - better, better]))


def differences_between(spread: Spread, difference: float = 0.0) -> Differences:
    """Of the rates themselves, as trials without end would show them: on a grid of GRID steps, with no noise."""
    with libraries():
        import numpy as np
        from scipy.stats import beta
    parts = parts_of(spread, difference)
    edges = np.concatenate([[0.0], (np.arange(GRID) + 0.5) / GRID, [1.0]])

    def shares(mean: float) -> Floats:
        return np.diff(beta.cdf(edges, mean * parts.size, (1 - mean) * parts.size))

    both = parts.changing * shares(parts.rate)[:, None] * shares(parts.new)[None, :]
    both[np.arange(GRID + 1), np.arange(GRID + 1)] += (1 - parts.changing) * shares(parts.rate)
    return _collapsed(both)


def _collapsed(both: Floats) -> Differences:
    """From pairs of steps to their differences."""
    with libraries():
        import numpy as np
    n = len(both) - 1
    steps = (np.arange(n + 1)[None, :] - np.arange(n + 1)[:, None] + n).ravel()
    sums = np.bincount(steps, weights=both.ravel(), minlength=2 * n + 1)
    return Differences(np.arange(-n, n + 1) / n, sums / sums.sum())


class Parts(NamedTuple):
    """The mean rate before, the mean of the new rates, the size a + b of the beta distribution, the share of units
    with a new rate.
    """

    rate: float
    new: float
    size: float
    changing: float


def parts_of(spread: Spread, difference: float) -> Parts:
    """How rates are spread and how many change; a difference lies in the new rates, of more units where it must."""
    rate, size = _inside(spread.pass_rate), 1 / _inside(spread.correlation) - 1
    if difference == 0:
        return Parts(rate, rate, size, spread.changing)
    changing = min(1.0, max(spread.changing, difference / (1 - rate), -difference / rate))
    return Parts(rate, _inside(rate + difference / changing), size, changing)


def _together(spread: Spread, trials: int, difference: float) -> Floats:
    """The probability of each pair of counts: passed under the base, passed under the candidate."""
    with libraries():
        import numpy as np
        from scipy.special import betaln, gammaln
    rate, new, size, changing = parts_of(spread, difference)
    counts = np.arange(trials + 1)
    ways = gammaln(trials + 1) - gammaln(counts + 1) - gammaln(trials - counts + 1)

    def single(mean: float) -> Floats:
        a, b = mean * size, (1 - mean) * size
        return np.asarray(np.exp(ways + betaln(a + counts, b + trials - counts) - betaln(a, b)))

    a, b = rate * size, (1 - rate) * size
    first, second = counts[:, None], counts[None, :]
    kept = ways[:, None] + ways[None, :] + betaln(a + first + second, b + 2 * trials - first - second) - betaln(a, b)
    return np.asarray((1 - changing) * np.exp(kept) + changing * single(rate)[:, None] * single(new)[None, :])


def _inside(share: float) -> float:
    return min(1 - _EDGE, max(_EDGE, share))
