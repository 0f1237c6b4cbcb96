"""Exact tests of "no change" between two arms: within these cases, and over units drawn from many."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from harness.errors import UsageError
from harness.statistics.lattice import Lattice, fair_coins, hypergeometric, point, summed
from harness.statistics.rates import check_counts
from harness.statistics.steps import weighted_steps

MAX_DENOMINATOR: Final = 10_000
MAX_POINTS: Final = 200_000
"""How long the lattice of the null distribution may be, where differences have no common denominator that is small."""
MAX_SUMS: Final = 1 << 16
"""How many sums are held one by one, where differences have a common denominator that is no small one."""


_MOST_SLACK: Final = MAX_POINTS // 6_000
"""A two-hundredth of a standard deviation of a long lattice. Of so many units that rounding parts sums by more, equal
sums are less than one in MAX_POINTS / 30 of all.
"""


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
    the lattice of the differences (shares of trials are fractions with a small denominator). Where they have no small
    common denominator (groups of 17, 19, 23 trials), few units are summed as they are, and more are rounded to a fine
    lattice; sums that rounding may have parted count as equal there, so that no p is too small. No unit, or no
    difference at all: every p is 1. Source: R. A. Fisher, "The Design of Experiments" (1935), section 21.
    """
    check_differences(differences)
    steps = _on_lattice(differences)
    sizes = Counter(abs(size) for size in steps.sizes if size)
    seen = sum(size for size in steps.sizes if size > 0)
    if steps.one_by_one:
        return _p_values(_Sums.of(sizes), seen)
    null = point(0)
    for size, n in sorted(sizes.items()):
        null = null.plus_steps(size, fair_coins(n))
    return _p_values(null, seen, steps.slack)


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


def _p_values(null: Lattice | _Sums, seen: int, slack: int = 0) -> PValues:
    worse, better = null.at_most(seen + slack), null.at_least(seen - slack)
    return PValues(worse, better, min(1.0, 2 * min(worse, better)))


@dataclass(frozen=True, slots=True)
class _Sums:
    """The probability of each sum, where the sums are few and lie far apart."""

    masses: Mapping[int, float]

    @classmethod
    def of(cls, sizes: Mapping[int, int]) -> _Sums:
        """Of so many fair coins of each size."""
        sums = {0: 1.0}
        for size, n in sorted(sizes.items()):
            shares = [math.comb(n, k) / 2**n for k in range(n + 1)]
            grown: dict[int, float] = {}
            for total, mass in sums.items():
                for k, share in enumerate(shares):
                    grown[total + k * size] = grown.get(total + k * size, 0.0) + mass * share
            sums = grown
        return cls(sums)

    def at_most(self, value: int) -> float:
        """The probability of ``value`` or less."""
        return min(1.0, math.fsum(mass for total, mass in self.masses.items() if total <= value))

    def at_least(self, value: int) -> float:
        """The probability of ``value`` or more."""
        return min(1.0, math.fsum(mass for total, mass in self.masses.items() if total >= value))


class _Steps(NamedTuple):
    """Differences as whole multiples of one step; ``slack`` steps may part two sums that were equal."""

    sizes: Sequence[int]
    slack: int = 0
    one_by_one: bool = False


def _on_lattice(differences: Sequence[float]) -> _Steps:
    """The differences as whole multiples of one step."""
    fractions = {value: Fraction(value).limit_denominator(MAX_DENOMINATOR) for value in set(differences)}
    total = math.sqrt(sum(value * value for value in differences))
    # Thirty standard deviations hold all of the null distribution that is not negligible, or the whole of a short one.
    finest = MAX_POINTS / max(1.0, min(30 * total, sum(map(abs, differences))))
    if all(abs(value - fraction) <= 1e-9 for value, fraction in fractions.items()):
        denominator = math.lcm(*(fraction.denominator for fraction in fractions.values()))
        exact = {value: int(fraction * denominator) for value, fraction in fractions.items()}
        sizes = [exact[value] for value in differences]
        if denominator <= finest:
            return _Steps(sizes)
        if math.prod(n + 1 for n in Counter(abs(size) for size in sizes if size).values()) <= MAX_SUMS:
            return _Steps(sizes, one_by_one=True)
    step = int(finest)
    rounded = {value: round(value * step) for value in fractions}
    errors = [abs(float(fractions[value]) * step - rounded[value]) for value in differences]
    # Signs part equal sums by twice the errors at most, and by chance alone hardly ever by more than four deviations.
    slack = math.ceil(min(2 * math.fsum(errors), 8 * math.sqrt(math.fsum(error * error for error in errors))))
    return _Steps([rounded[value] for value in differences], min(slack, _MOST_SLACK))
