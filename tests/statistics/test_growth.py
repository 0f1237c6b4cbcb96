"""The growth of what runs take: a ratio of sums over paired units, with an interval that covers."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.statistics import growth

AMOUNTS = st.lists(st.tuples(st.integers(1, 10_000), st.integers(0, 10_000)), min_size=8, max_size=40)


def test_a_worked_example_by_hand() -> None:
    """n = 8, sums 80 and 96, so a ratio of 1.2; squares of what is left 8 * 4; t(7, 97.5 %) = 2.3646."""
    units = [(10.0, 14.0), (10.0, 10.0)] * 4
    found = growth(units)
    assert found is not None
    half = 2.364624 * math.sqrt(8 / 7 * 32) / 80
    assert (found.low, found.high) == pytest.approx((0.2 - half, 0.2 + half), abs=1e-6)


def test_the_same_growth_everywhere_has_an_interval_without_width() -> None:
    found = growth([(base, base * 3) for base in range(1, 30)])
    assert found is not None
    assert (found.low, found.high) == pytest.approx((2.0, 2.0))
    assert found.low == found.high


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


@pytest.mark.parametrize("n", [8, 30, 120])
def test_the_interval_covers_about_as_often_as_it_says(n: int) -> None:
    """Unequal units whose growth is noisy about 20 %: of 1,000 samples the truth is inside in nine of ten at least."""
    chance = random.Random(7)
    inside = 0
    for _ in range(1_000):
        base = [chance.lognormvariate(7, 0.6) for _ in range(n)]
        found = growth([(amount, amount * 1.2 * chance.lognormvariate(-0.02, 0.2)) for amount in base])
        assert found is not None
        inside += found.low <= 0.2 <= found.high
    assert inside >= 900
