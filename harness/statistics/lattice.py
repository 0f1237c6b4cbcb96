"""Distributions of sums on the whole numbers, convolved exactly; what is cut off at the far ends is counted as tail.

Everything is positive arithmetic, so small probabilities keep their relative precision, which a Fourier transform
would not give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Final

from harness.statistics.needs import libraries

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

NEGLIGIBLE: Final = 1e-60
"""Masses at either end below this share of the largest are cut off; sums of very many units stay short that way."""


@dataclass(frozen=True, slots=True)
class Lattice:
    """``masses[i]`` is the probability of ``start + i``; ``lost`` bounds what was cut off at the ends together."""

    start: int
    masses: NDArray[float64]
    lost: float = 0.0

    def plus(self, other: Lattice) -> Lattice:
        """The distribution of the sum of two independent values."""
        with libraries():
            import numpy as np
        both = np.convolve(self.masses, other.masses)
        return _cut(self.start + other.start, both, self.lost + other.lost)

    def plus_steps(self, size: int, counts: Lattice) -> Lattice:
        """The distribution of this value plus ``size`` times an independent count."""
        with libraries():
            import numpy as np
        n_counts, n_masses = len(counts.masses), len(self.masses)
        both = np.zeros(size * (n_counts - 1) + n_masses)
        if n_counts < n_masses:
            for i, mass in enumerate(counts.masses):
                both[i * size : i * size + n_masses] += mass * self.masses
        else:
            for i, mass in enumerate(self.masses):
                both[i : i + size * n_counts : size] += mass * counts.masses
        return _cut(self.start + size * counts.start, both, self.lost + counts.lost)

    def times(self, n: int) -> Lattice:
        """The distribution of the sum of ``n`` independent values, by doubling."""
        total, power = point(0), self
        while n:
            if n & 1:
                total = total.plus(power)
            n >>= 1
            if n:
                power = power.plus(power)
        return total

    def at_most(self, value: int) -> float:
        """The probability of ``value`` or less; never too small for what was cut off."""
        n = max(0, min(len(self.masses), value - self.start + 1))
        return min(1.0, float(self.masses[:n].sum()) + self.lost)

    def at_least(self, value: int) -> float:
        """The probability of ``value`` or more; never too small for what was cut off."""
        n = max(0, min(len(self.masses), value - self.start))
        return min(1.0, float(self.masses[n:].sum()) + self.lost)


def point(value: int) -> Lattice:
    """All mass on one value."""
    with libraries():
        import numpy as np
    return Lattice(value, np.ones(1))


def summed(parts: Iterable[Lattice]) -> Lattice:
    """The distribution of the sum of independent values; 0 where there are none."""
    return reduce(Lattice.plus, parts, point(0))


def fair_coins(n: int) -> Lattice:
    """How many of ``n`` fair coins show heads."""
    with libraries():
        import numpy as np
    # From the middle outward by ratios of neighbours, then scaled: no large factorials, full relative precision.
    k = np.arange(n // 2, n, dtype=np.float64)
    upper = np.concatenate(([1.0], np.cumprod((n - k) / (k + 1))))  # of n // 2 and more
    lower = upper[::-1][: n // 2]  # the rest, by symmetry
    masses = np.concatenate((lower, upper))
    return _cut(0, masses / masses.sum(), 0.0)


def hypergeometric(n_first: int, n_second: int, n_passed: int) -> Lattice:
    """How many of ``n_passed`` passes among ``n_first + n_second`` trials fall on the second part, by chance alone."""
    with libraries():
        import numpy as np
    low, high = max(0, n_passed - n_first), min(n_second, n_passed)
    total = math.comb(n_first + n_second, n_passed)
    ways = [math.comb(n_second, k) * math.comb(n_first, n_passed - k) / total for k in range(low, high + 1)]
    return _cut(low, np.array(ways), 0.0)


def _cut(start: int, masses: NDArray[float64], lost: float) -> Lattice:
    with libraries():
        import numpy as np
    kept = np.flatnonzero(masses > NEGLIGIBLE * masses.max())
    first, end = int(kept[0]), int(kept[-1]) + 1
    lost += float(masses[:first].sum() + masses[end:].sum())
    return Lattice(start + first, masses[first:end], lost)
