"""How much more a candidate takes than its base, as a share of all that the base took, with its interval over units.

The ratio of sums over paired units, with the large-sample variance of a ratio estimator and Student's t: W. G. Cochran,
"Sampling Techniques", 3rd edition (1977), sections 2.11 and 6.4. Units that took much weigh much, as they do on a bill.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from harness.errors import UsageError
from harness.statistics.difference import MIN_DIFFERENCES
from harness.statistics.needs import libraries
from harness.statistics.rates import Interval, check_level

METHOD: Final = "ratio of sums over units"


def growth(units: Sequence[tuple[float, float]], level: float = 0.95) -> Interval | None:
    """The interval of ``sum(candidate) / sum(base) - 1``, of ``(base, candidate)`` of each unit.

    The order of units does not matter. A growth that is the same in every unit has an interval without width. None
    where there are fewer than MIN_DIFFERENCES units, or the base took nothing. Raises UsageError for a negative amount.
    """
    check_level(level)
    for place, (base, candidate) in enumerate(units):
        if not (base >= 0 and candidate >= 0 and math.isfinite(base) and math.isfinite(candidate)):
            raise UsageError(f"unit {place} took {base!r} and {candidate!r}; amounts are finite and not negative")
    n, total = len(units), math.fsum(base for base, _ in units)
    if n < MIN_DIFFERENCES or not total:
        return None
    ratio = math.fsum(candidate for _, candidate in units) / total
    squares = math.fsum((candidate - ratio * base) ** 2 for base, candidate in units)
    half = _student(n - 1, level) * math.sqrt(n / (n - 1) * squares) / total
    # Rests of rounding are no width.
    half = half if half > 1e-12 * max(1.0, ratio) else 0.0
    return Interval(max(-1.0, ratio - 1 - half), ratio - 1 + half, level, METHOD)


def _student(freedom: int, level: float) -> float:
    with libraries():
        from scipy.special import stdtrit
    return float(stdtrit(freedom, (1 + level) / 2))
