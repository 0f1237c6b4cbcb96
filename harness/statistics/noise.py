"""How much of what is seen is noise: trials that disagree, cases that flip, and alarms where nothing changed.

Counts are ``(passed, trials)`` per case throughout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.errors import UsageError
from harness.statistics.difference import MIN_DIFFERENCES, mean_differences
from harness.statistics.needs import libraries
from harness.statistics.rates import check_counts
from harness.statistics.regions import Region, region
from harness.statistics.within import within_cases

Counts = Sequence[tuple[int, int]]


def repeatability(counts: Counts) -> float | None:
    """The share of cases whose trials all agree, of those with two trials or more; None where there are none."""
    checked = [(passed, trials) for passed, trials in _checked(counts) if trials > 1]
    return sum(passed in (0, trials) for passed, trials in checked) / len(checked) if checked else None


def flakes(counts: Counts) -> tuple[int, ...]:
    """The places of the cases that passed sometimes: 0 < passed < trials."""
    return tuple(place for place, (passed, trials) in enumerate(_checked(counts)) if 0 < passed < trials)


def intraclass_correlation(counts: Counts) -> float | None:
    """How alike the trials of one case are: 1 where each case always or never passes, about 0 where cases are alike.

    The analysis-of-variance estimator, for unequal trials too; it can be a little below 0. Cases without trials are
    left out. None where it is not defined: fewer than two cases, no case with two trials, or no variance at all (all
    passed, none passed). Source: M. S. Ridout, C. G. B. Demetrio and D. Firth, "Estimating intraclass correlation for
    binary data", Biometrics 55 (1999) 137-148.
    """
    squares = mean_squares(counts)
    return None if squares is None else correlation_of_squares(*squares)


def mean_squares(counts: Counts) -> tuple[float, float, float] | None:
    """Mean squares between and within cases, and the mean number of trials that goes with them; None as above."""
    filled = [(passed, trials) for passed, trials in _checked(counts) if trials]
    n_cases, n_trials = len(filled), sum(trials for _, trials in filled)
    if n_cases < 2 or n_trials == n_cases:
        return None
    n_passed = sum(passed for passed, _ in filled)
    between_raw = math.fsum(passed * passed / trials for passed, trials in filled)
    between = (between_raw - n_passed * n_passed / n_trials) / (n_cases - 1)
    within = (n_passed - between_raw) / (n_trials - n_cases)
    size = (n_trials - sum(trials * trials for _, trials in filled) / n_trials) / (n_cases - 1)
    return between, within, size


def correlation_of_squares(between: float, within: float, size: float) -> float | None:
    """The intraclass correlation of the mean squares between and within groups of (mean) size ``size``.

    (B - W) / (B + (size - 1) W), ICC(1,1) of P. E. Shrout and J. L. Fleiss, Psychological Bulletin 86 (1979) 420-428.
    None where nothing varies.
    """
    spread = between + (size - 1) * within
    # Sums of squares that cancel leave rounding behind, which is no variance.
    return (between - within) / spread if spread > 1e-12 else None


def worth(trials: float, icc: float) -> float:
    """How many independent cases' worth so many trials of one case are: trials / (1 + (trials - 1) icc).

    "5 trials worth 1.2" at a correlation of 0.8. A correlation below 0 counts as 0: a trial is worth one at most.
    Source: L. Kish, "Survey Sampling" (1965), the design effect.
    """
    if trials < 1 or icc > 1:
        raise UsageError(f"trials are 1 or more and a correlation 1 at most, not {trials!r} and {icc!r}")
    return trials / (1 + (trials - 1) * max(0.0, icc))


@dataclass(frozen=True, slots=True)
class FalseAlarms:
    """The A/A line: of ``n_splits`` splits of the base's own trials, the shares on which the gate would have said
    FAIL and PASS, with the half of the trials on each side.
    """

    fail_share: float
    pass_share: float
    n_splits: int


def false_alarm_rate(
    units: Sequence[Counts], margin: float, *, level: float = 0.95, n_splits: int = 500, seed: int = 0
) -> FalseAlarms | None:
    """How often the gate alarms where base and candidate are two halves of the same trials.

    Each unit is the ``(passed, trials)`` of its cases. A split deals every case's trials at random into two halves,
    as equal as they can be, the odd one to the candidate or the base in turn. Half the trials are noisier than all of
    them: the line says what the rule does where nothing changed, not how sharp it is with every trial. Cases with one
    trial cannot be split and are left out. None where fewer than MIN_DIFFERENCES units can be split. Same seed, same
    result.
    """
    with libraries():
        import numpy as np
    kept = [sum(trials > 1 for _, trials in _checked(unit)) for unit in units]
    sizes = np.array([size for size in kept if size], dtype=np.int64)
    if len(sizes) < MIN_DIFFERENCES:
        return None
    chance = np.random.default_rng(seed)
    passed = np.fromiter((c for unit in units for c, n in unit if n > 1), dtype=np.int64)
    trials = np.fromiter((n for unit in units for _, n in unit if n > 1), dtype=np.int64)
    starts = np.cumsum(sizes) - sizes

    def halves() -> Iterator[Sequence[float]]:
        for number in range(n_splits):
            half = (trials + number % 2) // 2
            ours = chance.hypergeometric(passed, trials - passed, half)
            differences = (passed - ours) / (trials - half) - ours / half
            # Equal means differ in their last bits where they were summed in another order.
            yield np.round(np.add.reduceat(differences, starts) / sizes, 12).tolist()

    regions = [region(interval, margin) for interval in mean_differences(halves(), level)]
    n_fails = sum(each.fails for each in regions)
    return FalseAlarms(n_fails / n_splits, regions.count(Region.PASS) / n_splits, n_splits)


def false_alarm_rate_within(
    cases: Counts,
    margin: float,
    *,
    weights: Sequence[float] | None = None,
    level: float = 0.95,
    n_splits: int = 500,
    seed: int = 0,
) -> FalseAlarms | None:
    """:func:`false_alarm_rate` of the gate about these cases, whose interval is :func:`within_cases`.

    ``weights`` are those of the cases. None where no case can be split, or the halves are too small for an interval.
    """
    with libraries():
        import numpy as np
    shares = [1.0] * len(cases) if weights is None else weights
    kept = [(c, n, share) for (c, n), share in zip(_checked(cases), shares, strict=True) if n > 1]
    if not kept:
        return None
    total = math.fsum(share for _, _, share in kept)
    shares = [share / total for _, _, share in kept]
    passed, trials = (np.array([row[place] for row in kept]) for place in (0, 1))
    chance = np.random.default_rng(seed)
    regions = []
    for number in range(n_splits):
        half = (trials + number % 2) // 2
        ours = chance.hypergeometric(passed, trials - passed, half)
        base = list(zip((passed - ours).tolist(), (trials - half).tolist(), strict=True))
        candidate = list(zip(ours.tolist(), half.tolist(), strict=True))
        interval = within_cases(base, candidate, shares, level)
        if interval is None:
            return None
        regions.append(region(interval, margin))
    n_fails = sum(each.fails for each in regions)
    return FalseAlarms(n_fails / n_splits, regions.count(Region.PASS) / n_splits, n_splits)


def _checked(counts: Counts) -> Counts:
    for passed, trials in counts:
        check_counts(passed, trials)
    return counts
