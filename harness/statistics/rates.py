"""Rates of one arm: the share of trials that pass, over units, and pass^k and pass@k of one case.

The unit is the case, or its group; trials of one case are no new cases. Sources: E. B. Wilson, "Probable inference, the
law of succession, and statistical inference", JASA 22 (1927) 209-212; M. Chen et al., "Evaluating large language models
trained on code" (2021), equation 1; S. Yao et al., "tau-bench" (2024), section 3, for pass^k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

from harness.errors import UsageError

MIN_UNITS: Final = 10
"""Under so many units a rate is shown as counts only, without an interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high``, both included, at confidence ``level`` (0.95); ``method`` names how it was made."""

    low: float
    high: float
    level: float
    method: str


def wilson(rate_sum: float, n: int, level: float = 0.95) -> Interval | None:
    """The score interval of the mean of ``n`` per-unit shares, each in [0, 1], whose sum is ``rate_sum``.

    With the correction for continuity: without it, 25 units at a rate of 0.7 are covered in 92.3 % of samples only.
    A mean of shares varies at most as much as a mean of so many yes-or-no answers with the same expectation, so with
    several trials the interval errs to the wide side. None where ``n`` < MIN_UNITS. Raises UsageError where no shares
    could have that sum.
    """
    check_level(level)
    if n < 0 or not -1e-9 <= rate_sum <= n + 1e-9:
        raise UsageError(f"{n!r} shares between 0 and 1 cannot have the sum {rate_sum!r}; give the sum of the shares")
    if n < MIN_UNITS:
        return None
    low, high = score_of_rate(min(1.0, max(0.0, rate_sum / n)), n, level, shift=0.5)
    return Interval(low, high, level, "Wilson over units, with continuity correction")


def score_of_rate(rate: float, n: int, level: float, *, shift: float) -> tuple[float, float]:
    """Wilson's bounds of a rate over ``n``, moved outward by ``shift`` / n before the equation is solved.

    R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998)
    857-872: method 3 is ``shift`` 0, method 4 is ``shift`` 0.5, the correction for continuity.
    """
    lower, upper = rate - shift / n, rate + shift / n
    return (
        0.0 if lower <= 0 else _solved(lower, n, level, side=-1),
        1.0 if upper >= 1 else _solved(upper, n, level, side=1),
    )


def _solved(rate: float, n: int, level: float, *, side: int) -> float:
    """The p below (``side`` -1) or above (1) the rate with (rate - p)^2 = z^2 p (1 - p) / n."""
    z_squared = normal_quantile(level) ** 2
    half = math.sqrt(z_squared * (rate * (1 - rate) / n + z_squared / (4 * n * n)))
    return (rate + z_squared / (2 * n) + side * half) / (1 + z_squared / n)


def pass_hat_k(c: int, n: int, k: int) -> float | None:
    """pass^k: the probability that ``k`` trials drawn from ``n``, of which ``c`` passed, all pass: C(c,k)/C(n,k).

    None where ``k`` > ``n``: no estimate. Raises UsageError for counts that cannot be.
    """
    _check_draw(c, n, k)
    return None if k > n else math.comb(c, k) / math.comb(n, k)


def pass_at_k(c: int, n: int, k: int) -> float | None:
    """pass@k: the probability that at least one of ``k`` trials drawn from ``n`` passes: 1 - C(n-c,k)/C(n,k).

    None where ``k`` > ``n``: no estimate, never 1 for what was never solved. Raises UsageError for impossible counts.
    """
    _check_draw(c, n, k)
    if k > n:
        return None
    total = math.comb(n, k)
    return (total - math.comb(n - c, k)) / total


def normal_quantile(level: float) -> float:
    """The standard normal value that cuts off half of what is outside a two-sided ``level`` (1.96 for 0.95)."""
    return NormalDist().inv_cdf((1 + level) / 2)


def check_level(level: float) -> None:
    """Raises UsageError unless ``level`` is a share strictly between 0 and 1."""
    if not 0 < level < 1:
        raise UsageError(f"a confidence level lies between 0 and 1, not {level!r}; 0.95 is usual")


def check_counts(passed: int, trials: int) -> None:
    """Raises UsageError unless ``passed`` of ``trials`` can be."""
    if not 0 <= passed <= trials:
        raise UsageError(f"{passed!r} of {trials!r} trials cannot have passed; give (passed, trials)")


def _check_draw(c: int, n: int, k: int) -> None:
    check_counts(c, n)
    if k < 1:
        raise UsageError(f"k is the number of trials drawn and at least 1, not {k!r}")
