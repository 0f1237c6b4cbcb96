"""The interval of the mean difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from harness.errors import UsageError
from harness.statistics.needs import libraries
from harness.statistics.rates import Interval, check_level


def mean_difference(differences: Sequence[float], level: float = 0.95, method: Literal["t"] = "t") -> Interval | None:
    check_differences(differences)
    check_level(level)
    if len(differences) < 2:
        return None
    n = len(differences) + 2
    mean = math.fsum(differences) / n
    variance = (math.fsum((value - mean) ** 2 for value in differences) + (1 - mean) ** 2 + (1 + mean) ** 2) / (n - 1)
    half = t_quantile(level, n - 1) * math.sqrt(variance / n)
    return Interval(max(-1.0, mean - half), min(1.0, mean + half), level, "t over units, with two units added")


def t_quantile(level: float, freedom: float) -> float:
    with libraries():
        from scipy.special import stdtrit
    return float(stdtrit(freedom, (1 + level) / 2))


def check_differences(differences: Sequence[float]) -> None:
    """Raises UsageError unless each difference of two shares lies in [-1, 1]."""
    for place, difference in enumerate(differences):
        if not -1 - 1e-9 <= difference <= 1 + 1e-9:
            raise UsageError(f"difference {place} is {difference!r}; differences of two shares lie between -1 and 1")
