"""Weights as whole steps of one lattice, so that a weighted sum of counts has an exact distribution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from harness.errors import UsageError

_MAX_DENOMINATOR: Final = 10_000
_MAX_POINTS: Final = 200_000
"""How long the lattice of a sum may be, where weights have no common denominator that is small."""

Counts = Sequence[tuple[int, int]]


def weighted_steps(base: Counts, candidate: Counts, weights: Sequence[float]) -> list[int]:
    """By how many steps the weighted sum of the cases' differences grows with one pass more of the candidate, a case.

    Given how often a case passed in both arms together, its difference of shares grows with each pass that falls to the
    candidate by ``1 / base trials + 1 / candidate trials``. 0 where the case has no trial in one arm. Equal growths
    are equal steps, and one where all are equal. Without a small common denominator they are rounded to a fine lattice,
    which keeps the test exact for the same null. Raises UsageError for a weight that is none, or too many or few.
    """
    if len(weights) != len(base):
        raise UsageError(f"there are {len(base)} cases and {len(weights)} weights; give a weight for each case")
    known: dict[float, float] = {}  # equal ones are one object, since there may be very many cases
    growths: list[float] = []
    for weight, (_, m), (_, n) in zip(weights, base, candidate, strict=True):
        if not 0 <= weight < math.inf:
            raise UsageError(f"the weight of a case is 0 or more, not {weight!r}")
        growth = weight * (1 / m + 1 / n) if m and n else 0.0
        growths.append(known.setdefault(growth, growth))
    largest = max(growths, default=0.0)
    if largest == 0:
        return [0] * len(growths)
    # Weights that were computed in different ways differ in their last bits.
    ratios = {growth: round(growth / largest, 12) for growth in known}
    denominator = _denominator(set(ratios.values()), _extent([ratios[growth] for growth in growths], base, candidate))
    steps = {growth: round(ratio * denominator) for growth, ratio in ratios.items()}
    shared = math.gcd(*steps.values())
    return [steps[growth] // shared for growth in growths]


def _extent(ratios: Sequence[float], base: Counts, candidate: Counts) -> float:
    """How far the sum reaches: thirty standard deviations, which hold all that is not negligible, or all of it."""
    reach = variance = 0.0
    for ratio, (passed_before, m), (passed, n) in zip(ratios, base, candidate, strict=True):
        both, total = passed_before + passed, m + n
        if ratio and 0 < both < total:
            reach += ratio * (min(n, both) - max(0, both - m))
            variance += ratio * ratio * m * n * both * (total - both) / (total * total * (total - 1))
    return max(1.0, min(30 * math.sqrt(variance), reach))


def _denominator(ratios: set[float], extent: float) -> int:
    """The common denominator of the ratios, or the finest that the lattice has room for."""
    finest, found = int(_MAX_POINTS / extent), 1
    for ratio in ratios:
        fraction = Fraction(ratio).limit_denominator(_MAX_DENOMINATOR)
        found = math.lcm(found, fraction.denominator)
        if found > finest or abs(ratio - fraction) > 1e-9:
            return max(1, finest)
    return found
