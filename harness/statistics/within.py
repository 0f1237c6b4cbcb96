"""The interval of the mean difference between two arms, for these very cases: only their trials are chance.

Each trial of the base is set beside a trial of the candidate on the same case. Trials of one case are independent
draws once the case is given, so the pairs of all cases are one large paired sample with -1, 0 or 1 each, and the score
interval of :mod:`harness.statistics.score` holds for their mean. Which trial stands beside which means nothing, so the
pairs of a case count by their mean over all ways to set them. Cases that really changed by different amounts make the
interval wider than it had to be, never narrower (J. Neyman's bound, 1923).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from harness.errors import UsageError
from harness.statistics.difference import MIN_DIFFERENCES, agreeing
from harness.statistics.exact import stratified_exact
from harness.statistics.needs import libraries
from harness.statistics.rates import Interval, check_counts, check_level
from harness.statistics.score import score_bounds

Counts = Sequence[tuple[int, int]]

METHOD = "score within cases"


def within_cases(
    base: Counts, candidate: Counts, weights: Sequence[float] | None = None, level: float = 0.95
) -> Interval | None:
    """The interval of the weighted mean of the cases' differences, candidate minus base.

    ``(passed, trials)`` of the same cases in the same order; ``weights`` sum to 1, None: all alike. It excludes 0 only
    where :func:`stratified_exact` with the same weights at the same level does. None where the pairs of trials are
    worth fewer than MIN_DIFFERENCES, or a case has no trial in one arm. Raises UsageError where the arms hold different
    numbers of cases.
    """
    check_level(level)
    shares = [1 / len(base)] * len(base) if weights is None and base else weights or []
    if not len(base) == len(candidate) == len(shares):
        raise UsageError(
            f"the base has {len(base)} cases, the candidate {len(candidate)}, and there are {len(shares)} weights; "
            f"give the same cases in the same order, and a weight for each"
        )
    if not base or not all(n for _, n in base) or not all(n for _, n in candidate):
        return None
    n_pairs, worse, better = _pairs(base, candidate, shares)
    if n_pairs < MIN_DIFFERENCES - 1e-9:
        return None
    with libraries():
        import numpy as np
    counts = np.array([[worse, 1 - worse - better, better]]) * n_pairs
    lows, highs = score_bounds(counts, np.array([-1.0, 0.0, 1.0]), level)
    low, high = float(lows[0]), float(highs[0])
    if low > 0 or high < 0:
        low, high = agreeing(low, high, stratified_exact(base, candidate, shares), level)
    return Interval(low, high, level, METHOD)


def _pairs(base: Counts, candidate: Counts, shares: Sequence[float]) -> tuple[float, float, float]:
    """How many pairs of equal weight all the trials are worth, and the shares of them that are worse and better.

    Where weights or trials differ, the pairs are worth no more than their weights say alone (L. Kish's effective size),
    and no more than those that differ are worth: a heavy case that wavers must not hide behind many light ones.
    """
    worse, better, weight, noise = [], [], [], []
    for share, (base_passed, base_trials), (passed, trials) in zip(shares, base, candidate, strict=True):
        check_counts(base_passed, base_trials)
        check_counts(passed, trials)
        before, after = base_passed / base_trials, passed / trials
        worse.append(share * before * (1 - after))
        better.append(share * after * (1 - before))
        weight.append(share * share * (1 / base_trials + 1 / trials) / 2)
        noise.append(weight[-1] * (before * (1 - after) + after * (1 - before)))
    n_pairs, n_worse, n_better, spread = 1 / math.fsum(weight), math.fsum(worse), math.fsum(better), math.fsum(noise)
    return min(n_pairs, (n_worse + n_better) / spread) if spread > 0 else n_pairs, n_worse, n_better
