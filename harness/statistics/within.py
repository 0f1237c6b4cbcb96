"""The interval of a mean difference over these very cases: only the trials within each case are chance.

The cases are not drawn from anything, so how much they differ from one another does not count. With a handful of
trials a case that always passed still has a chance that is not known to be 1; hence the variance of a case is taken
at a rate that is pulled to the middle, as if one trial more had passed and one more had failed (A. Agresti and B.
Caffo, "Simple and effective confidence intervals for proportions and differences of proportions", The American
Statistician 54 (2000) 280-288), and made larger by (n + 2) / (n + 1), so that it is not too small where the rate is
one half. The middle of the interval is the difference that was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.errors import UsageError
from harness.statistics.rates import Interval, check_counts, check_level, normal_quantile

Counts = Sequence[tuple[int, int]]


def within_cases(
    base: Counts, candidate: Counts, weights: Sequence[float] | None = None, level: float = 0.95
) -> Interval | None:
    """The interval of the weighted mean of the cases' differences, candidate minus base.

    ``(passed, trials)`` of the same cases in the same order; ``weights`` sum to 1, None: all alike. None without
    cases, or where a case has no trial in one arm. Raises UsageError where the arms hold different numbers of cases.
    """
    check_level(level)
    if not len(base) == len(candidate) == len(weights if weights is not None else base):
        raise UsageError(
            f"the base has {len(base)} cases and the candidate {len(candidate)}; give the same cases in the same order"
        )
    if not base or not all(n for _, n in base) or not all(n for _, n in candidate):
        return None
    shares = [1 / len(base)] * len(base) if weights is None else weights
    rows = list(zip(shares, base, candidate, strict=True))
    middle = math.fsum(share * (c[0] / c[1] - b[0] / b[1]) for share, b, c in rows)
    variance = math.fsum(share * share * (_variance(*b) + _variance(*c)) for share, b, c in rows)
    half = normal_quantile(level) * math.sqrt(variance)
    return Interval(max(-1.0, middle - half), min(1.0, middle + half), level, "normal within cases")


def _variance(passed: int, trials: int) -> float:
    """Of the share of a case's trials that pass; never more than any rate can have."""
    check_counts(passed, trials)
    rate = (passed + 1) / (trials + 2)
    return min(0.25, rate * (1 - rate) * (trials + 2) / (trials + 1)) / trials
