"""How likely a gate passes: its own interval, made of many drawn samples.

A formula would answer for another interval, or for far more cases: with 20 to 60 cases the usual ones for paired
non-inferiority (H. Liu et al., Statistics in Medicine 21 (2002) 231-245) are wrong by up to 0.17 here, either way. So
samples are drawn from what is believed, by a fixed seed, and judged by the interval that the gate has:
``mean_difference`` for prompts like these, whose unit is the case or its group; ``within_cases`` for these cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from harness.statistics.difference import MIN_DIFFERENCES
from harness.statistics.differences import (
    Differences,
    differences_between,
    differences_of_all_pass,
    differences_of_rates,
    parts_of,
)
from harness.statistics.needs import libraries
from harness.statistics.score import score_bounds
from harness.statistics.spread import Spread
from harness.types.evaluation import Metric

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[Any]

Bounds: TypeAlias = "Callable[[int], Floats]"
"""From a number of units, or cases, to the lower bounds of the intervals of that many, in many samples."""

N_SAMPLES: Final = 2_000
_DRAWN_CASES: Final = 300
MOST: Final = 1_000_000
"""More units than this are out of reach."""


@dataclass(frozen=True, slots=True)
class Belief:
    """What samples are drawn from. ``trials`` of each unit (infinity: without end); ``difference`` is the true mean
    difference; ``level`` that of the interval.
    """

    spread: Spread
    trials: float
    metric: Metric = Metric.CASE_PASS_RATE
    difference: float = 0.0
    level: float = 0.95
    seed: int = 0

    @property
    def n_drawn_trials(self) -> int:
        """A number of trials that can be drawn."""
        return 1 if math.isinf(self.trials) else max(1, round(self.trials))


def bounds_over_units(belief: Belief) -> Bounds:
    """Of the interval of the mean difference over units that are drawn from many."""
    return bounds_of(_differences(belief), belief.level, belief.seed)


def _differences(belief: Belief) -> Differences:
    spread, trials, difference = belief.spread, belief.n_drawn_trials, belief.difference
    if belief.metric is Metric.PASS_HAT_K:
        return differences_of_all_pass(spread, trials, difference)
    if math.isinf(belief.trials):
        return differences_between(spread, difference)
    return differences_of_rates(spread, trials, difference)


def bounds_of(differences: Differences, level: float, seed: int = 0) -> Bounds:
    """The same, of units whose differences come as told."""
    values, probabilities = differences

    def bounds(n_units: int) -> Floats:
        with libraries():
            import numpy as np
        if n_units < MIN_DIFFERENCES:
            return np.full(1, -math.inf)
        drawn = np.random.default_rng(seed).multinomial(n_units, probabilities, size=N_SAMPLES)
        return score_bounds(drawn.astype(np.float64), values, level)[0]

    return bounds


def bounds_within_cases(belief: Belief) -> Bounds:
    """Of the interval over these very cases, whose rates are spread as believed.

    Trials are drawn, and which of the cases change: those exchange their rates, so that the true difference is what
    it is in every sample. Their change makes the interval wider, which takes pairs of trials that differ for chance.
    A true difference lies in the cases that change. Of many cases only some are drawn, and what their mean varies by
    is made as much smaller as more cases make it.
    """
    always = belief.metric is Metric.PASS_HAT_K
    trials = 1 if always else belief.n_drawn_trials

    def bounds(n_cases: int) -> Floats:
        with libraries():
            import numpy as np
        if n_cases * trials < MIN_DIFFERENCES:
            return np.full(1, -math.inf)
        if math.isinf(belief.trials) and not always:
            return np.full(1, belief.difference)  # then nothing is left to chance
        n_drawn = min(n_cases, _DRAWN_CASES)
        source = np.random.default_rng(belief.seed)
        rates = [np.power(rate, belief.n_drawn_trials if always else 1) for rate in _rates(belief, n_drawn, source)]
        before, after = (source.binomial(trials, rate) / trials for rate in rates)
        true = [(first * (1 - second)).mean() for first, second in (rates, rates[::-1])]
        seen = [(first * (1 - second)).mean(axis=1) for first, second in ((before, after), (after, before))]
        shrink = math.sqrt(n_drawn / n_cases)
        worse, better = (np.maximum(0.0, mean + (one - mean) * shrink) for mean, one in zip(true, seen, strict=True))
        shares = np.stack([worse, np.maximum(0.0, 1 - worse - better), better], axis=1)
        return score_bounds(shares * n_cases * trials, np.array([-1.0, 0.0, 1.0]), belief.level)[0]

    return bounds


def _rates(belief: Belief, n: int, source: Generator) -> tuple[Floats, Floats]:
    """The rates of ``n`` cases under both arms, in N_SAMPLES samples: evenly over their distribution.

    Those that change are evenly spread over it too; each of them takes the new rate of another one.
    """
    with libraries():
        import numpy as np
        from scipy.stats import beta
    parts = parts_of(belief.spread, belief.difference)
    places = (np.arange(n) + 0.5) / n
    old, new = (beta.ppf(places, mean * parts.size, (1 - mean) * parts.size) for mean in (parts.rate, parts.new))
    after = np.tile(old, (N_SAMPLES, 1))
    n_changing = np.floor(parts.changing * n + source.random(N_SAMPLES)).astype(int)
    for row, m in zip(after, n_changing, strict=True):
        chosen = np.floor((source.random() + np.arange(m)) * n / max(m, 1)).astype(int)
        source.shuffle(chosen)
        row[chosen] = new[np.roll(chosen, 1)]
    return np.tile(old, (N_SAMPLES, 1)), after


# ---------------------------------------------------------------- what bounds say


@dataclass(frozen=True, slots=True)
class Reckoning:
    """Power, margins and sizes of one rule, from its lower bounds."""

    bounds: Bounds

    @classmethod
    def of(cls, bounds: Bounds) -> Reckoning:
        """The same bounds are not drawn twice."""
        return cls(cache(bounds))

    def power(self, n: int, margin: float) -> float:
        """How likely a gate with this margin passes: the share of samples whose lower bound is above ``-margin``."""
        return float((self.bounds(n) > -margin).mean())

    def smallest_margin(self, n: int, wanted: float) -> float:
        """What is passed with the wanted power; infinity where no interval is shown."""
        with libraries():
            import numpy as np
        return -float(np.quantile(self.bounds(n), 1 - wanted, method="lower"))

    def needed(self, margin: float, wanted: float) -> int | None:
        """The fewest with the wanted power, to one in a hundred; None where even MOST have not.

        The smallest margin falls roughly with the root of their number; where it should be is guessed from that, and
        what was guessed narrows the bracket.
        """
        if self.power(MOST, margin) < wanted:
            return None
        low, high = MIN_DIFFERENCES - 1, MOST
        n = 64
        while high - low > max(1, high // 100):
            found = self.smallest_margin(n, wanted)
            low, high = (low, n) if found < margin else (n, high)
            guess = n * (found / margin) ** 2 if found > 0 < margin else math.sqrt(low * high)
            step = max(1, high // 100)
            n = (low + high) // 2 if high - low <= 2 * step else round(min(high - step, max(low + step, guess)))
        return high
