"""Samples whose truth is known, for `make coverage-of-intervals`: what a case does, what happens between two arms, and
the intervals that are made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln, comb, ndtr, ndtri, stdtrit

from harness.statistics import sign_flip, stratified_exact
from harness.statistics.difference import agreeing
from harness.statistics.score import score_bounds

UNITS = (8, 25, 60, 200)
RATES = (0.5, 0.7, 0.85, 0.93, 0.97)
CORRELATIONS = (0.0, 0.3, 0.8, 1.0)
TRIALS = (1, 3, 5)
LEVEL, MARGIN = 0.95, 0.10
NONE, CHANGED, BREAK_3, BREAK_10 = "no case changes", "cases change, mean zero", "cases break, -3 points", "cases break, -10 points"
CHANGES: Mapping[str, float] = {NONE: 0.0, CHANGED: 0.0, BREAK_3: -0.03, BREAK_10: -MARGIN}
"""What happens between the arms, and the true mean difference."""

Array = Any


class Cell(NamedTuple):
    n_units: int
    rate: float
    correlation: float
    n_trials: int

    def __str__(self) -> str:
        return f"{self.n_units} units, rate {self.rate}, correlation {self.correlation}, {self.n_trials} trials"


GRID = tuple(Cell(*row) for row in product(UNITS, RATES, CORRELATIONS, TRIALS))


@dataclass(frozen=True)
class Measured:
    """Shares of samples: the interval holds the truth; the candidate is called worse; it passes. And the mean width."""

    coverage: float
    worse: float
    passes: float
    width: float


# ---------------------------------------------------------------- one case, exactly


def one_arm(cell: Cell) -> Array:
    """The probabilities of 0 .. n_trials passes of a case."""
    return both_arms(cell).sum(axis=1)


def both_arms(cell: Cell) -> Array:
    """The joint probabilities of the passes of a case in base (rows) and candidate, its pass rate the same in both."""
    n, rate, rho = cell.n_trials, cell.rate, cell.correlation
    k = np.arange(n + 1)
    if rho == 0.0:
        arm = comb(n, k) * rate**k * (1 - rate) ** (n - k)
        return np.outer(arm, arm)
    if rho == 1.0:
        always = np.zeros((n + 1, n + 1))
        always[0, 0], always[n, n] = 1 - rate, rate
        return always
    a, b = rate * (1 - rho) / rho, (1 - rate) * (1 - rho) / rho
    i, j = np.meshgrid(k, k, indexing="ij")
    return comb(n, i) * comb(n, j) * np.exp(betaln(a + i + j, b + 2 * n - i - j) - betaln(a, b))


def differences(cell: Cell, change: str) -> Array:
    """The probabilities of a case's difference, from -n_trials to n_trials passes."""
    joint, arm = both_arms(cell), one_arm(cell)
    if change == CHANGED:
        joint = (joint + np.outer(arm, arm)) / 2
    elif change != NONE:
        broken = -CHANGES[change] / cell.rate
        joint = (1 - broken) * joint
        joint[:, 0] += broken * arm
    n = cell.n_trials
    return np.array([np.trace(joint, offset=offset) for offset in range(-n, n + 1)])


# ---------------------------------------------------------------- intervals of many samples at once

Bounds = Callable[[Array, Array, float], tuple[Array, Array]]


def ours(counts: Array, values: Array, truth: float = 0.0) -> tuple[Array, Array]:
    """Bounds as `mean_difference` gives them, one row a sample of counts of the values.

    Where the truth is not 0, the step that may move a bound out to 0 is left out: it can only help to cover.
    """
    lows, highs = score_bounds(counts, values, LEVEL)
    if truth != 0.0:
        return lows, highs
    for row in np.flatnonzero((lows > 0) | (highs < 0)):
        exact = sign_flip(np.repeat(values, counts[row].astype(int)).tolist())
        lows[row], highs[row] = agreeing(float(lows[row]), float(highs[row]), exact, LEVEL)
    return lows, highs


def textbook_t(counts: Array, values: Array, _truth: float) -> tuple[Array, Array]:
    n = counts.sum(axis=1)
    return _around(counts, values, n, 0, stdtrit(n - 1, (1 + LEVEL) / 2))


def two_added(counts: Array, values: Array, _truth: float) -> tuple[Array, Array]:
    return _around(counts, values, counts.sum(axis=1) + 2, 2, float(ndtri((1 + LEVEL) / 2)))


def _around(counts: Array, values: Array, n: Array, n_added: int, quantile: Any) -> tuple[Array, Array]:
    mean = counts @ values / n
    variance = np.maximum(counts @ values**2 + n_added - n * mean**2, 0) / (n - 1)
    half = quantile * np.sqrt(variance / n)
    return mean - half, mean + half


def bca(counts: Array, values: Array, _truth: float) -> tuple[Array, Array]:
    """Bootstrap over units, bias-corrected and accelerated (B. Efron, JASA 82 (1987) 171-185), 999 resamples."""
    chance = np.random.default_rng(999)
    bounds = [_bca(row, values, chance) for row in counts]
    return np.array([low for low, _ in bounds]), np.array([high for _, high in bounds])


def _bca(row: Array, values: Array, chance: Any) -> tuple[float, float]:
    n = row.sum()
    mean = row @ values / n
    centred = row @ (values - mean) ** 2
    if centred < 1e-12:
        return float(mean), float(mean)
    means = np.sort(chance.multinomial(int(n), row / n, 999) @ values / n)
    below = ((means < mean - 1e-9).sum() + (np.abs(means - mean) <= 1e-9).sum() / 2) / len(means)
    bias, acceleration = ndtri(below), row @ (values - mean) ** 3 / (6 * centred**1.5)
    shifted = bias + ndtri([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    low, high = np.quantile(means, ndtr(bias + shifted / (1 - acceleration * shifted)))
    return float(low), float(high)


METHODS: Mapping[str, Bounds] = {
    "score (used)": ours,
    "textbook t": textbook_t,
    "two units added": two_added,
    "BCa, on some cells": bca,
}
SOME = tuple(cell for cell in GRID if cell.rate in (0.7, 0.93) and cell.correlation in (0.3, 1.0) and cell.n_trials != 3)


def measure(cell: Cell, change: str, bounds: Bounds, n_samples: int) -> Measured:
    """Prompts like these: units are drawn anew in every sample."""
    chance = np.random.default_rng([GRID.index(cell), list(CHANGES).index(change), n_samples])
    chances = differences(cell, change)
    samples, times = np.unique(chance.multinomial(cell.n_units, chances / chances.sum(), n_samples), axis=0, return_counts=True)
    values = np.arange(-cell.n_trials, cell.n_trials + 1) / cell.n_trials
    lows, highs = bounds(samples.astype(float), values, CHANGES[change])
    return _measured(lows, highs, CHANGES[change], times / n_samples)


def _measured(lows: Array, highs: Array, truth: Any, shares: Array) -> Measured:
    holds = (lows <= truth + 1e-9) & (highs >= truth - 1e-9)
    found = (holds, highs < 0, lows > -MARGIN, highs - lows)
    return Measured(*(float((each * shares).sum()) for each in found))


# ---------------------------------------------------------------- these very cases


def measure_within(cell: Cell, change: str, n_samples: int) -> Measured:
    """These cases: the truth is the mean difference of the pass rates that the cases of a sample really have."""
    chance = np.random.default_rng([7, GRID.index(cell), list(CHANGES).index(change), n_samples])
    before = _rates(cell, chance, n_samples)
    after = before.copy()
    if change == CHANGED:  # half of the cases exchange their rates, so that the mean stays
        after[:, : cell.n_units // 2] = np.roll(before[:, : cell.n_units // 2], 1, axis=1)
    elif change != NONE:
        after[chance.random(before.shape) < -CHANGES[change] / cell.rate] = 0.0
    base, candidate = chance.binomial(cell.n_trials, before), chance.binomial(cell.n_trials, after)
    lows, highs = _within(base, candidate, cell.n_trials, CHANGES[change])
    return _measured(lows, highs, (after - before).mean(axis=1), np.full(n_samples, 1 / n_samples))


def _rates(cell: Cell, chance: Any, n_samples: int) -> Array:
    shape, rho = (n_samples, cell.n_units), cell.correlation
    if rho == 0.0:
        return np.full(shape, cell.rate)
    if rho == 1.0:
        return (chance.random(shape) < cell.rate).astype(float)
    return chance.beta(cell.rate * (1 - rho) / rho, (1 - cell.rate) * (1 - rho) / rho, shape)


def _within(base: Array, candidate: Array, n: int, truth: float) -> tuple[Array, Array]:
    worse = (base * (n - candidate)).sum(axis=1) / n
    better = (candidate * (n - base)).sum(axis=1) / n
    pairs = np.stack([worse, base.shape[1] * n - worse - better, better], axis=1)
    kinds, place = np.unique(pairs, axis=0, return_inverse=True)
    lows, highs = (bound[place.reshape(-1)] for bound in score_bounds(kinds, np.array([-1.0, 0.0, 1.0]), LEVEL))
    for row in np.flatnonzero((lows > 0) | (highs < 0)) if truth == 0.0 else ():
        exact = stratified_exact([(c, n) for c in base[row].tolist()], [(c, n) for c in candidate[row].tolist()])
        lows[row], highs[row] = agreeing(float(lows[row]), float(highs[row]), exact, LEVEL)
    return lows, highs
