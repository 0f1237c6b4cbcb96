"""The growth of what runs take: a ratio of sums over paired units, with an interval that covers."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.statistics import growth

AMOUNTS = st.lists(st.tuples(st.integers(1, 10_000), st.integers(0, 10_000)), min_size=8, max_size=40)


def test_a_worked_example_by_hand() -> None:
    """Eight units of 10 that all take 12, and a ninth of 10 that takes 20, or nothing; t(8, 97.5 %) = 2.306004.

    Upper: 116 / 90, squares 8 * (12 - 10 r)^2 + (20 - 10 r)^2. Lower: 96 / 90, squares 8 * (12 - 10 r)^2 + (10 r)^2.
    """
    found = growth([(10.0, 12.0)] * 8)
    assert found is not None
    high, low = 116 / 90, 96 / 90
    upper = 2.306004 * math.sqrt(9 / 8 * (8 * (12 - 10 * high) ** 2 + (20 - 10 * high) ** 2)) / 90
    lower = 2.306004 * math.sqrt(9 / 8 * (8 * (12 - 10 * low) ** 2 + (10 * low) ** 2)) / 90
    assert (found.low, found.high) == pytest.approx((low - 1 - lower, high - 1 + upper), abs=1e-6)


def test_no_growth_at_all_is_surer_the_more_units_show_it() -> None:
    highs = [found.high for n in (8, 20, 50, 200) if (found := growth([(10.0, 10.0)] * n))]
    assert highs == sorted(highs, reverse=True)
    assert [round(high, 2) for high in highs] == [0.37, 0.15, 0.06, 0.01]


@pytest.mark.parametrize("units", [[(1.0, 2.0)] * 7, [(0.0, 2.0)] * 20, []], ids=["too-few", "from-nothing", "none"])
def test_too_little_has_no_interval(units: list[tuple[float, float]]) -> None:
    assert growth(units) is None


@pytest.mark.parametrize("unit", [(-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_an_amount_that_is_none_is_refused(unit: tuple[float, float]) -> None:
    with pytest.raises(UsageError, match="unit 8"):
        growth([(1.0, 1.0)] * 8 + [unit])


@given(AMOUNTS, st.randoms(use_true_random=False))
def test_the_order_of_units_plays_no_part(units: list[tuple[int, int]], chance: random.Random) -> None:
    other = list(units)
    chance.shuffle(other)
    assert growth(other) == growth(units)


@given(AMOUNTS, st.integers(2, 1_000))
def test_the_unit_of_money_plays_no_part(units: list[tuple[int, int]], factor: int) -> None:
    one, other = growth(units), growth([(base * factor, candidate * factor) for base, candidate in units])
    assert one is not None
    assert other is not None
    assert (other.low, other.high) == pytest.approx((one.low, one.high), abs=1e-9)


@given(AMOUNTS)
def test_the_interval_holds_the_growth_that_was_seen(units: list[tuple[int, int]]) -> None:
    found = growth(units)
    assert found is not None
    seen = sum(candidate for _, candidate in units) / sum(base for base, _ in units) - 1
    assert found.low - 1e-9 <= seen <= found.high + 1e-9


def samples(n: int, share: float, factor: float, noise: float) -> Iterator[list[tuple[float, float]]]:
    """1,000 samples of unequal units; that share of them takes so many times as much, all are noisy."""
    chance = random.Random(7)
    for _ in range(1_000):
        base = [chance.lognormvariate(7, 0.7) for _ in range(n)]
        yield [
            (one, one * (factor if chance.random() < share else 1) * chance.lognormvariate(-noise * noise / 2, noise))
            for one in base
        ]


@pytest.mark.parametrize("n", [8, 30, 120])
@pytest.mark.parametrize(
    ("share", "factor", "noise"),
    [
        pytest.param(0.02, 2.0, 0.0, id="few-double"),
        pytest.param(0.10, 2.0, 0.0, id="one-in-ten-doubles"),
        pytest.param(0.05, 0.1, 0.1, id="few-take-next-to-nothing"),
        pytest.param(1.0, 1.2, 0.4, id="all-grow-and-are-noisy"),
        pytest.param(0.0, 1.0, 0.4, id="nothing-but-noise"),
    ],
)
def test_the_interval_covers_at_least_as_often_as_is_written(n: int, share: float, factor: float, noise: float) -> None:
    truth = share * (factor - 1)
    found = [growth(units) for units in samples(n, share, factor, noise)]
    assert sum(one is not None and one.low <= truth <= one.high for one in found) >= 930
