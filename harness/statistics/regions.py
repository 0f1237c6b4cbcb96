"""From an interval to a verdict region, and whether a rule could have said anything else with these numbers.

A gate looks at the bounds of the interval of the difference (candidate minus base) and never at bare significance: a
small p with a tiny difference is no reason to stop, a large p with few cases no reason to go on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.errors import UsageError
from harness.statistics.difference import MIN_DIFFERENCES, mean_difference
from harness.statistics.rates import Interval, normal_quantile
from harness.statistics.within import within_cases


class Region(StrEnum):
    """Where the interval of the difference lies. FAIL_BY_MARGIN is a FAIL that is worse by more than the margin."""

    PASS = "pass"
    FAIL = "fail"
    FAIL_BY_MARGIN = "fail by more than the margin"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"

    @property
    def fails(self) -> bool:
        """Is the candidate worse?"""
        return self in (Region.FAIL, Region.FAIL_BY_MARGIN)


def region(interval: Interval | None, margin: float) -> Region:
    """PASS where the lower bound is above ``-margin``; FAIL where the upper bound is below 0, FAIL_BY_MARGIN where it
    is below ``-margin`` too; else INCONCLUSIVE. No interval: INVALID.

    A candidate that is worse, but surely by less than the margin, passes: that is what a margin says. Raises
    UsageError unless the margin is a share in [0, 1].
    """
    check_margin(margin)
    if interval is None:
        return Region.INVALID
    if interval.low > -margin:
        return Region.PASS
    if interval.high < -margin:
        return Region.FAIL_BY_MARGIN
    return Region.FAIL if interval.high < 0 else Region.INCONCLUSIVE


@dataclass(frozen=True, slots=True)
class Reach:
    """What a rule could say with so many units and trials, whatever the outcome.

    ``smallest_p``: the smallest p that any outcome gives; ``can_fail`` and ``can_pass``: is there an outcome with that
    verdict? A rule without ``can_fail`` is INVALID, whatever was seen.
    """

    smallest_p: float
    can_fail: bool
    can_pass: bool


def reach_of_gate(n_units: int, margin: float, level: float = 0.95) -> Reach:
    """Of :func:`region` for prompts like these, over so many units.

    It can fail where it fails a candidate that never passes beside a base that always does, and can pass where it
    passes a candidate without any difference.
    """
    worst = region(mean_difference([-1.0] * n_units, level), margin)
    equal = region(mean_difference([0.0] * n_units, level), margin)
    return Reach(smallest_sign_flip(n_units), worst.fails, equal is Region.PASS)


def reach_within(
    trials: Sequence[tuple[int, int]], margin: float, level: float = 0.95, weights: Sequence[float] | None = None
) -> Reach:
    """The same for these cases, of ``(base trials, candidate trials)`` and the weight of each case; None: all alike."""
    base = [(n, n) for n, _ in trials]
    worst = region(within_cases(base, [(0, n) for _, n in trials], weights, level), margin)
    equal = region(within_cases(base, [(n, n) for _, n in trials], weights, level), margin)
    return Reach(smallest_stratified(trials), worst.fails, equal is Region.PASS)


def fewest_units(margin: float, level: float = 0.95) -> int | None:
    """With how many units a candidate without any difference passes; None for margin 0: with none.

    35 at a margin of 0.10: so much has to be seen to exclude that one case in ten breaks.
    """
    check_margin(margin)
    if margin == 0:
        return None
    return max(MIN_DIFFERENCES, math.floor(normal_quantile(level) ** 2 * (1 / margin - 1)) + 1)


def smallest_sign_flip(n_units: int) -> float:
    """The smallest one-sided p of the sign-flip test, and of McNemar's: every unit differs in one direction."""
    return 0.5**n_units


def smallest_stratified(trials: Sequence[tuple[int, int]]) -> float:
    """The smallest one-sided p of the exact test within cases, of ``(base trials, candidate trials)`` per case.

    It is reached where every trial of one arm passes and none of the other: 1 / C(m+n, n) per case, multiplied. Five
    trials against five of one case: 1/252, so 40 such cases, each tested for itself under Holm at 0.05, cannot fail.
    """
    return math.exp(-math.fsum(math.log(math.comb(m + n, n)) for m, n in trials))


def holm(p: Sequence[float], alpha: float) -> tuple[bool, ...]:
    """Which of several hypotheses are rejected so that any false one is rejected with probability ``alpha`` at most.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979) 65-70.
    Raises UsageError for a p that is none.
    """
    for place, value in enumerate(p):
        if not 0 <= value <= 1:
            raise UsageError(f"p {place} is {value!r}; a p lies between 0 and 1")
    rejected = [False] * len(p)
    for rank, place in enumerate(sorted(range(len(p)), key=lambda place: p[place])):
        if p[place] > alpha / (len(p) - rank):
            break
        rejected[place] = True
    return tuple(rejected)


def holm_can_reject(smallest_p: Sequence[float], alpha: float) -> bool:
    """Could :func:`holm` reject anything, with these smallest reachable p of the several tests?"""
    return any(holm(smallest_p, alpha))


def check_margin(margin: float) -> None:
    """Raises UsageError unless the margin is a share in [0, 1]."""
    if not 0 <= margin <= 1:
        raise UsageError(f"a margin is a share between 0 and 1, not {margin!r}; 0.10 is ten percentage points")
