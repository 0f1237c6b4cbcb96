"""Exact tests of "no change" between two arms: within these cases, and over units drawn from many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from harness.errors import UsageError
from harness.statistics.lattice import Lattice, fair_coins, hypergeometric, point, summed
from harness.statistics.rates import check_counts
from harness.statistics.steps import weighted_steps

MAX_DENOMINATOR: Final = 10_000
MAX_POINTS: Final = 200_000
"""How long the lattice of the null distribution may be, where differences have no common denominator that is small."""


@dataclass(frozen=True, slots=True)
class PValues:
    """How probable what was seen, or more of it, is where nothing changed.

    ``p_worse`` is small where the candidate is worse, ``p_better`` where it is better; ``p_two_sided`` is twice the
    smaller of them, at most 1.
    """

    p_worse: float
    p_better: float
    p_two_sided: float


def sign_flip(differences: Sequence[float]) -> PValues:
    """The permutation test of per-unit differences (candidate minus base, each in [-1, 1]), mean zero as the null.

    Under the null each difference is as likely with the other sign. All 2^n assignments are counted, by convolution on
    the lattice of the differences (shares of trials are fractions with a small denominator). Differences that have no
    small common denominator are rounded to a fine lattice first, which keeps the test exact for the same null. No
    unit, or no difference at all: every p is 1. Source: R. A. Fisher, "The Design of Experiments" (1935), section 21.
    """
    check_differences(differences)
    magnitudes = _on_lattice(differences)
    sizes = Counter(abs(size) for size in magnitudes if size)
    null = point(0)
    for size, n in sorted(sizes.items()):
        null = null.plus_steps(size, fair_coins(n))
    return _p_values(null, sum(size for size in magnitudes if size > 0))


def stratified_exact(
    base: Sequence[tuple[int, int]], candidate: Sequence[tuple[int, int]], weights: Sequence[float] | None = None
) -> PValues:
    """The exact test within cases: ``(passed, trials)`` of the same cases in the same order, in both arms.

    Given how many trials of a case passed in both arms together, chance alone would spread them over the arms as a
    draw without replacement. What is summed over the cases are the candidate's passes; with ``weights`` (0 or more, one
    a case) the differences of the shares, each times its weight, so that the test is about that very sum. Trials may be
    unequal, a case without trials in one arm tells nothing. With one trial each and no weights it is McNemar's exact
    test, with one case Fisher's. Raises UsageError where the arms, or the weights, are of different numbers of cases.
    Source: A. Agresti, "Categorical Data Analysis", exact conditional inference for 2 x 2 x K tables.
    """
    if len(base) != len(candidate):
        raise UsageError(
            f"the base has {len(base)} cases and the candidate {len(candidate)}; give the same cases in the same order"
        )
    for counts in (*base, *candidate):
        check_counts(*counts)
    steps = [1] * len(base) if weights is None else weighted_steps(base, candidate, weights)
    kinds: dict[int, Counter[tuple[int, int, int]]] = {}
    for step, (base_passed, base_trials), (passed, trials) in zip(steps, base, candidate, strict=True):
        if step:
            kinds.setdefault(step, Counter())[base_trials, trials, base_passed + passed] += 1
    null = point(0)
    for step, margins in sorted(kinds.items()):
        passes = summed(hypergeometric(*margin).times(n) for margin, n in sorted(margins.items()))
        null = null.plus_steps(step, passes)
    return _p_values(null, sum(step * passed for step, (passed, _) in zip(steps, candidate, strict=True)))


def mcnemar(only_base: int, only_candidate: int) -> PValues:
    """McNemar's exact test: so many units pass only under the base, so many only under the candidate.

    Source: Q. McNemar, Psychometrika 12 (1947) 153-157, in its binomial form. Raises UsageError for negative counts.
    """
    if only_base < 0 or only_candidate < 0:
        raise UsageError(f"counts of units cannot be negative: {only_base!r} and {only_candidate!r}")
    return _p_values(fair_coins(only_base + only_candidate), only_candidate)


def check_differences(differences: Sequence[float]) -> None:
    """Raises UsageError unless each difference of two shares lies in [-1, 1]."""
    if math.isfinite(sum(differences)) and min(differences, default=0) >= -1 and max(differences, default=0) <= 1:
        return
    for place, difference in enumerate(differences):
        if not -1 - 1e-9 <= difference <= 1 + 1e-9:
            raise UsageError(f"difference {place} is {difference!r}; differences of two shares lie between -1 and 1")


def _p_values(null: Lattice, seen: int) -> PValues:
    worse, better = null.at_most(seen), null.at_least(seen)
    return PValues(worse, better, min(1.0, 2 * min(worse, better)))


def _on_lattice(differences: Sequence[float]) -> list[int]:
    """The differences as whole multiples of one step."""
    fractions = {value: Fraction(value).limit_denominator(MAX_DENOMINATOR) for value in set(differences)}
    total = math.sqrt(sum(value * value for value in differences))
    # Thirty standard deviations hold all of the null distribution that is not negligible, or the whole of a short one.
    finest = MAX_POINTS / max(1.0, min(30 * total, sum(map(abs, differences))))
    denominator = 1
    for value, fraction in fractions.items():
        denominator = math.lcm(denominator, fraction.denominator)
        if denominator > finest or abs(value - fraction) > 1e-9:
            denominator = int(finest)
            break
    steps = {value: round(value * denominator) for value in fractions}
    return [steps[value] for value in differences]
