"""How the rate goes with something that was varied, or that cases differ in; with one test for a trend each."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import fsum
from typing import Final, NamedTuple

from harness.evaluate.arm_lines import unit_rates
from harness.evaluate.tally import Tally
from harness.statistics.rates import wilson
from harness.statistics.trend import cochran_armitage, slope_trend
from harness.types.evaluation import Arm
from harness.types.evaluation_insight import Curve, CurvePoint
from harness.types.evaluation_summary import rounded


class _ArmCurve(NamedTuple):
    """A curve whose points are arms: they differ from the first arm in one number of theirs at most."""

    name: str
    number: Callable[[Arm], int]
    without: Callable[[Arm], Arm]


class _Bucket(NamedTuple):
    """A place on a curve of cases: those whose number lies in ``low`` to ``high``."""

    low: int
    high: int
    label: str


_BY_ARM: Final = (
    _ArmCurve("distractors", lambda arm: arm.distractors, lambda arm: replace(arm, name="", distractors=0)),
    _ArmCurve("turns of padding", lambda arm: arm.history_turns, lambda arm: replace(arm, name="", history_turns=0)),
)
_NEEDED: Final = (_Bucket(0, 0, "0"), _Bucket(1, 1, "1"), _Bucket(2, 2, "2"), _Bucket(3, 255, "3 or more"))
_HISTORY: Final = (
    _Bucket(0, 0, "0"),
    _Bucket(1, 1, "1"),
    _Bucket(2, 3, "2 to 3"),
    _Bucket(4, 7, "4 to 7"),
    _Bucket(8, 255, "8 or more"),
)


def curves(tally: Tally) -> tuple[Curve, ...]:
    """All curves that have two places at least."""
    made = [_by_arm(tally, curve) for curve in _BY_ARM]
    for arm in range(len(tally.arms)):
        if tally.evaluation.arms[arm].offer_tools and tally.arm_counts(arm).scored:
            made.append(_by_case(tally, arm, "needed calls", tally.index.needed, _NEEDED))
            made.append(_by_case(tally, arm, "turns before the question", tally.index.history, _HISTORY))
    return tuple(curve for curve in made if curve is not None)


def _by_arm(tally: Tally, curve: _ArmCurve) -> Curve | None:
    arms = tally.evaluation.arms
    plain = curve.without(arms[0])
    alike = [i for i, arm in enumerate(arms) if curve.without(arm) == plain and tally.arm_counts(i).scored]
    places = sorted((curve.number(arms[i]), i) for i in alike)
    if len({x for x, _ in places}) < 2:
        return None
    rates = [unit_rates(tally, i, range(len(tally.index))) for _, i in places]
    trend = slope_trend(list(zip(*rates, strict=True)), [x for x, _ in places])
    points = tuple(_point(x, arms[i].name, units) for (x, i), units in zip(places, rates, strict=True))
    if trend is None or trend.exact is None:
        return Curve(curve.name, "", points, None, None, "slopes of units, sign-flip")
    p = rounded(trend.exact.p_two_sided)
    return Curve(curve.name, "", points, rounded(trend.slope), p, "slopes of units, sign-flip")


def _by_case(tally: Tally, arm: int, name: str, numbers: Sequence[int], buckets: Sequence[_Bucket]) -> Curve | None:
    filled, low = [], array("B", bytes(len(numbers)))
    for bucket in buckets:
        cases = [case for case, number in enumerate(numbers) if bucket.low <= number <= bucket.high]
        for case in cases:
            low[case] = bucket.low
        if cases:
            filled.append((bucket, unit_rates(tally, arm, cases)))
    if len(filled) < 2:
        return None
    places = _unit_places(tally, low)
    passed = Counter(
        place for place, rate in zip(places, unit_rates(tally, arm, range(len(low))), strict=True) if rate == 1.0
    )
    n = sorted(Counter(places).items())
    trend = cochran_armitage([passed[x] for x, _ in n], [m for _, m in n], [float(x) for x, _ in n])
    points = tuple(_point(bucket.low, bucket.label, units) for bucket, units in filled)
    slope, p = (None, None) if trend is None else (rounded(trend.slope), rounded(trend.p_two_sided))
    return Curve(name, tally.evaluation.arms[arm].name, points, slope, p, "units whose every trial passed, z")


def _unit_places(tally: Tally, low: Sequence[int]) -> list[Fraction]:
    """Of each unit one place on the curve, the mean of its cases': units are independent, halves of them are not."""
    sums, sizes = array("L", [0]) * tally.index.n_units, array("L", [0]) * tally.index.n_units
    for unit, place in zip(tally.index.unit, low, strict=True):
        sums[unit] += place
        sizes[unit] += 1
    known: dict[tuple[int, int], Fraction] = {}
    return [known.setdefault(pair, Fraction(*pair)) for pair in zip(sums, sizes, strict=True)]


def _point(x: int, label: str, units: Sequence[float]) -> CurvePoint:
    interval = wilson(fsum(units), len(units))
    low, high = (None, None) if interval is None else (rounded(interval.low), rounded(interval.high))
    return CurvePoint(x, label, len(units), rounded(fsum(units) / len(units)), low, high)
