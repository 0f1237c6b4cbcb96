"""Does a rate fall or rise along a factor: distractors 0, 5, 10, 20, number of needed tools, length of the history?

Where the same cases are asked at every value of the factor (arms), each case has a slope of its own and the case is
the unit: :func:`slope_trend`. :func:`cochran_armitage` is for groups that share no case, such as cases that need 1, 2
or 3 tools. One trend is one question: no pair of values is tested beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from harness.errors import UsageError
from harness.statistics.needs import libraries
from harness.statistics.paired import PValues, sign_flip

_NO_SLOPE: Final = 1e-12
"""What arithmetic leaves of slopes, or of their differences, that are none."""


@dataclass(frozen=True, slots=True)
class Trend:
    """A change per one unit of the factor. ``statistic`` is z or t, as ``method`` says.

    ``p_falling`` and ``p_rising`` are one-sided. ``n_units`` is how many cases, or groups of them, it rests on.
    ``exact`` is the sign-flip test of the units' slopes (its "worse" is falling), which needs no normal distribution
    and is what a report shows: t takes slopes of three units that hardly differ for strong evidence.
    """

    slope: float
    standard_error: float
    statistic: float
    p_falling: float
    p_rising: float
    p_two_sided: float
    n_units: int
    method: str
    exact: PValues | None = None


def cochran_armitage(passed: Sequence[int], n: Sequence[int], scores: Sequence[float]) -> Trend | None:
    """The test of Cochran 1954 and Armitage 1955 for a linear trend of independent shares ``passed[i] / n[i]``.

    ``n`` counts units, each with one outcome (its one trial, or whether all its trials passed), never trials of the
    same case. None where all passed or none did, or all stand at one score: there is no trend to see. Raises
    UsageError for counts that cannot be.
    """
    if not len(passed) == len(n) == len(scores) or any(not 0 <= x <= m for x, m in zip(passed, n, strict=True)):
        raise UsageError(f"{tuple(passed)!r} of {tuple(n)!r} at {tuple(scores)!r}: each score needs passed and n")
    total, total_passed = sum(n), sum(passed)
    if total_passed in (0, total):
        return None
    mean = math.fsum(m * score for m, score in zip(n, scores, strict=True)) / total
    width = math.fsum(m * (score - mean) ** 2 for m, score in zip(n, scores, strict=True))
    if width <= 0:
        return None
    slope = math.fsum(x * (score - mean) for x, score in zip(passed, scores, strict=True)) / width
    rate = total_passed / total
    return _normal(slope, math.sqrt(rate * (1 - rate) / width), total)


def _normal(slope: float, error: float, n_units: int) -> Trend:
    with libraries():
        from scipy.stats import norm
    z = slope / error
    falling, rising = float(norm.cdf(z)), float(norm.sf(z))
    return Trend(slope, error, z, falling, rising, 2 * min(falling, rising), n_units, "Cochran-Armitage, z")


def slopes(curves: Sequence[Sequence[float | None]], scores: Sequence[float]) -> tuple[float, ...]:
    """The least-squares slope of each unit's rates over the scores; None in a curve is a value it was not asked at.

    A unit with fewer than two different scores has no slope and is left out. Raises UsageError for a curve of another
    length than the scores.
    """
    found = (_slope(curve, scores) for curve in curves)
    return tuple(slope for slope in found if slope is not None)


def _slope(curve: Sequence[float | None], scores: Sequence[float]) -> float | None:
    if len(curve) != len(scores):
        raise UsageError(f"a curve has {len(curve)} values at {len(scores)} scores: give one each, None where missing")
    points = [(score, rate) for score, rate in zip(scores, curve, strict=True) if rate is not None]
    if not points:
        return None
    mean = math.fsum(score for score, _ in points) / len(points)
    width = math.fsum((score - mean) ** 2 for score, _ in points)
    if width <= 0:
        return None
    return math.fsum((score - mean) * rate for score, rate in points) / width


def slope_trend(curves: Sequence[Sequence[float | None]], scores: Sequence[float]) -> Trend | None:
    """The trend over units that were asked at every score: the mean of their own slopes, by t over units.

    ``curves`` holds for each unit the share of its trials that passed at each score. What a unit's trials have in
    common is in its slope once, so that more trials of few cases do not pass for many cases. Where all slopes are the
    same (every unit breaks, or none moves) t has nothing to divide by, and every p is the exact one. None where fewer
    than two units have a slope.
    """
    found = slopes(curves, scores)
    if len(found) < 2:
        return None
    mean = math.fsum(found) / len(found)
    variance = math.fsum((slope - mean) ** 2 for slope in found) / (len(found) - 1)
    error = math.sqrt(variance / len(found))
    largest = max(abs(slope) for slope in found)
    if largest <= _NO_SLOPE:
        return _all_alike(0.0, len(found), sign_flip([0.0] * len(found)))
    if error <= _NO_SLOPE * max(1.0, abs(mean)):
        return _all_alike(mean, len(found), sign_flip([math.copysign(1.0, mean)] * len(found)))
    return _student(mean, error, len(found), sign_flip([slope / largest for slope in found]))


def _all_alike(slope: float, n_units: int, exact: PValues) -> Trend:
    statistic = math.copysign(math.inf, slope) if slope else 0.0
    return Trend(
        slope,
        0.0,
        statistic,
        exact.p_worse,
        exact.p_better,
        exact.p_two_sided,
        n_units,
        "slopes of units, sign-flip",
        exact,
    )


def _student(slope: float, error: float, n_units: int, exact: PValues) -> Trend:
    with libraries():
        from scipy.stats import t
    statistic = slope / error
    falling, rising = float(t.cdf(statistic, n_units - 1)), float(t.sf(statistic, n_units - 1))
    return Trend(
        slope, error, statistic, falling, rising, 2 * min(falling, rising), n_units, "slopes of units, t", exact
    )
