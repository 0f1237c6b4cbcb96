"""These cases, some of which count more than others: interval and test are about one and the same weighted mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.statistics import reach_within, stratified_exact, within_cases

Counts = list[tuple[int, int]]


def weights_of(sizes: Sequence[int]) -> list[float]:
    """Of units of so many cases each: every case's share of the mean over units."""
    return [1 / (size * len(sizes)) for size in sizes for _ in range(size)]


def weighted_mean(base: Counts, candidate: Counts, weights: Sequence[float]) -> float:
    pairs = zip(weights, base, candidate, strict=True)
    return math.fsum(weight * (c / n - b / m) for weight, (b, m), (c, n) in pairs)


def enumerated(base: Counts, candidate: Counts, weights: Sequence[float]) -> tuple[float, float]:
    """One-sided p (worse, better) by every deal of every case's passes."""
    seen = weighted_mean(base, candidate, weights)
    worse = better = 0.0
    deals: list[list[tuple[float, int]]] = []
    for (b, m), (c, n) in zip(base, candidate, strict=True):
        t = b + c
        ways = [
            (k, math.comb(n, k) * math.comb(m, t - k) / math.comb(m + n, t))
            for k in range(max(0, t - m), min(n, t) + 1)
        ]
        deals.append([(chance, k) for k, chance in ways])
    for deal in product(*deals):
        chance = math.prod(each for each, _ in deal)
        dealt = [(k, n) for (_, k), (_, n) in zip(deal, candidate, strict=True)]
        rest = [(b + c - k, m) for (_, k), (b, m), (c, _) in zip(deal, base, candidate, strict=True)]
        mean = weighted_mean(rest, dealt, weights)
        worse += chance * (mean <= seen + 1e-9)
        better += chance * (mean >= seen - 1e-9)
    return worse, better


@st.composite
def unequal(draw: Any) -> tuple[Counts, Counts, list[float]]:
    """Up to six cases in units of one to three, with one to three trials in each arm."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    counts = st.integers(1, 3).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
    n_cases = sum(sizes)
    both = st.lists(counts, min_size=n_cases, max_size=n_cases)
    return draw(both), draw(both), weights_of(sizes)


@settings(max_examples=60, deadline=None)
@given(unequal())
def test_the_weighted_test_counts_every_deal_of_the_weighted_sum(arms: tuple[Counts, Counts, list[float]]) -> None:
    p = stratified_exact(*arms)
    assert (p.p_worse, p.p_better) == pytest.approx(enumerated(*arms), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(4, 12), st.integers(2, 40), st.data())
def test_the_weighted_interval_holds_its_mean_and_agrees_with_the_test_of_it(
    n_single: int, size: int, data: Any
) -> None:
    weights = weights_of([1] * n_single + [size])
    passes = st.lists(st.integers(0, 5), min_size=n_single + size, max_size=n_single + size)
    base, candidate = ([(c, 5) for c in data.draw(passes)] for _ in range(2))
    interval = within_cases(base, candidate, weights)
    if interval is None:
        return
    assert interval.low - 1e-9 <= weighted_mean(base, candidate, weights) <= interval.high + 1e-9
    p = stratified_exact(base, candidate, weights)
    assert interval.high >= 0 or p.p_worse <= 0.025
    assert interval.low <= 0 or p.p_better <= 0.025


def test_a_large_group_that_rose_a_little_does_not_hide_twenty_cases_that_fell_altogether() -> None:
    weights = weights_of([1] * 20 + [400])
    base, candidate = [(5, 5)] * 20 + [(4, 5)] * 400, [(0, 5)] * 20 + [(5, 5)] * 400
    interval, p = within_cases(base, candidate, weights), stratified_exact(base, candidate, weights)
    assert interval is not None
    assert interval.low < weighted_mean(base, candidate, weights) < interval.high < -0.1
    assert p.p_worse < 1e-9
    assert p.p_better > 0.999
    back = stratified_exact(candidate, base, weights)
    assert back.p_better == pytest.approx(p.p_worse, rel=1e-6)


def test_weights_that_are_all_alike_change_nothing() -> None:
    base, candidate = [(5, 5)] * 9 + [(2, 5)], [(5, 5)] * 8 + [(3, 5), (0, 5)]
    assert stratified_exact(base, candidate, [0.1] * 10) == stratified_exact(base, candidate)


def test_weights_without_a_small_common_denominator_keep_the_test() -> None:
    sizes = [1, 2, 3, 5, 7, 11, 13, 17, 19, 23]
    weights = weights_of(sizes)
    base = [(5, 5)] * sum(sizes)
    candidate = [(3, 5) if place % 2 else (5, 5) for place in range(sum(sizes))]
    chance = np.random.default_rng(5)
    seen, n = weighted_mean(base, candidate, weights), 40_000
    dealt = chance.hypergeometric(5, 5, [b + c for (b, _), (c, _) in zip(base, candidate, strict=True)], (n, len(base)))
    both = np.array([b + c for (b, _), (c, _) in zip(base, candidate, strict=True)])
    means = ((2 * dealt - both) / 5) @ np.array(weights)
    p = stratified_exact(base, candidate, weights)
    assert p.p_better == pytest.approx((means >= seen - 1e-9).mean(), abs=0.01)


def test_where_nothing_changed_unequal_weights_alarm_seldom_and_the_interval_covers() -> None:
    sizes = [1] * 12 + [2] * 6 + [8]
    weights, chance = weights_of(sizes), np.random.default_rng(17)
    rates = chance.beta(2, 1, len(weights))
    covered = alarms = 0
    for _ in range(400):
        base, candidate = ([(int(c), 3) for c in chance.binomial(3, rates)] for _ in range(2))
        interval = within_cases(base, candidate, weights)
        assert interval is not None
        covered += interval.low <= 0 <= interval.high
        alarms += interval.high < 0
    assert covered >= 0.93 * 400
    assert alarms <= 0.065 * 400


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        pytest.param([1.0], "2 cases and 1 weights", id="too-few"),
        pytest.param([-0.5, 1.5], "not -0.5", id="negative"),
        pytest.param([float("nan"), 1.0], "not nan", id="no-number"),
    ],
)
def test_weights_that_are_none_are_refused(weights: list[float], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        stratified_exact([(1, 1), (1, 1)], [(0, 1), (1, 1)], weights)


def test_what_a_rule_can_reach_goes_by_the_weights() -> None:
    trials, weights = [(1, 1)] * 101, weights_of([1, 100])
    assert reach_within(trials, 0.10).can_pass
    assert not reach_within(trials, 0.10, weights=weights).can_fail, "the pairs are worth fewer than four"
    assert not reach_within(trials, 0.10, weights=weights).can_pass
