"""Boundaries of looks against published tables, and looks at whole blocks only."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, t

from harness.errors import UsageError
from harness.statistics.sequential import Spending, Walk, boundaries, plan_looks, spent


def even(looks: int) -> list[float]:
    return [number / looks for number in range(1, looks + 1)]


class Exits(NamedTuple):
    """How likely it is to leave at each look first, upwards and downwards."""

    up: tuple[float, ...]
    down: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.up) + sum(self.down)


def exits(fractions: Sequence[float], low: Sequence[float], high: Sequence[float], drift: float = 0.0) -> Exits:
    """Where z, whose mean at the end is ``drift``, leaves these boundaries first."""
    walk = Walk(drift)
    up, down = [], []
    for fraction, lower, upper in zip(fractions, low, high, strict=True):
        walk.to(fraction)
        up.append(walk.above(upper))
        down.append(walk.below(lower))
        walk.stay(lower, upper)
    return Exits(tuple(up), tuple(down))


# D. M. Reboussin, D. L. DeMets, K. Kim, K. K. G. Lan, "Computations for group sequential boundaries using the Lan-DeMets
# spending function method", Controlled Clinical Trials 21 (2000) 190-207; two-sided 0.05, equal steps.
SPENDING_TABLE = [
    pytest.param(Spending.OBRIEN_FLEMING, (2.963, 1.969), id="obrien-fleming-2"),
    pytest.param(Spending.OBRIEN_FLEMING, (3.710, 2.511, 1.993), id="obrien-fleming-3"),
    pytest.param(Spending.OBRIEN_FLEMING, (4.333, 2.963, 2.359, 2.014), id="obrien-fleming-4"),
    pytest.param(Spending.OBRIEN_FLEMING, (4.877, 3.357, 2.680, 2.290, 2.031), id="obrien-fleming-5"),
    pytest.param(Spending.POCOCK, (2.157, 2.201), id="pocock-2"),
    pytest.param(Spending.POCOCK, (2.279, 2.295, 2.296), id="pocock-3"),
    pytest.param(Spending.POCOCK, (2.368, 2.368, 2.358, 2.350), id="pocock-4"),
    pytest.param(Spending.POCOCK, (2.438, 2.427, 2.410, 2.397, 2.386), id="pocock-5"),
]

# C. Jennison and B. W. Turnbull, "Group Sequential Methods with Applications to Clinical Trials" (2000), tables 2.1 and
# 2.3 (constants C_P and C_B at 0.05), 2.2 and 2.4 (factors of the sample size for a power of 0.9).
POCOCK_TABLE = [(2, 2.178, 1.100), (3, 2.289, 1.151), (4, 2.361, 1.183), (5, 2.413, 1.207)]
OBRIEN_FLEMING_TABLE = [(2, 1.977, 1.007), (3, 2.004, 1.016), (4, 2.024, 1.022), (5, 2.040, 1.026)]


@pytest.mark.parametrize(("spending", "published"), SPENDING_TABLE)
def test_boundaries_are_those_of_the_published_table(spending: Spending, published: tuple[float, ...]) -> None:
    found = boundaries(even(len(published)), alpha=0.05, spending=spending)
    assert found == pytest.approx(published, abs=0.0011)  # the table has three digits


@pytest.mark.parametrize(("looks", "constant", "factor"), POCOCK_TABLE)
def test_the_constants_of_pocock_have_their_level_and_power(looks: int, constant: float, factor: float) -> None:
    low, high = [-constant] * looks, [constant] * looks
    assert exits(even(looks), low, high).total == pytest.approx(0.05, abs=1e-4)
    drift = (norm.isf(0.025) + norm.isf(0.1)) * math.sqrt(factor)
    assert sum(exits(even(looks), low, high, drift).up) == pytest.approx(0.9, abs=4e-4)


@pytest.mark.parametrize(("looks", "constant", "factor"), OBRIEN_FLEMING_TABLE)
def test_the_constants_of_obrien_and_fleming_have_their_level_and_power(
    looks: int, constant: float, factor: float
) -> None:
    high = [constant * math.sqrt(looks / number) for number in range(1, looks + 1)]
    low = [-z for z in high]
    assert exits(even(looks), low, high).total == pytest.approx(0.05, abs=1e-4)
    drift = (norm.isf(0.025) + norm.isf(0.1)) * math.sqrt(factor)
    assert sum(exits(even(looks), low, high, drift).up) == pytest.approx(0.9, abs=4e-4)


# P. Armitage, C. K. McPherson, B. C. Rowe, "Repeated significance tests on accumulating data", JRSS A 132 (1969), table 2.
@pytest.mark.parametrize(
    ("looks", "published"), [(1, 0.05), (2, 0.083), (3, 0.107), (4, 0.126), (5, 0.142), (10, 0.193), (20, 0.248)]
)
def test_looking_again_and_again_at_five_percent_errs_as_often_as_was_published(looks: int, published: float) -> None:
    z = norm.isf(0.025)
    assert exits(even(looks), [-z] * looks, [z] * looks).total == pytest.approx(published, abs=6e-4)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.floats(0.02, 1.0), min_size=1, max_size=6),
    st.sampled_from(list(Spending)),
    st.sampled_from([0.01, 0.05, 0.1, 0.2]),
)
def test_boundaries_use_up_alpha_exactly_whatever_the_steps(
    gaps: list[float], spending: Spending, alpha: float
) -> None:
    total = math.fsum(gaps)
    fractions = [min(1.0, math.fsum(gaps[: index + 1]) / total) for index in range(len(gaps) - 1)] + [1.0]
    found = boundaries(fractions, alpha=alpha, spending=spending)
    left = exits(fractions, [-z for z in found], list(found))
    assert left.total == pytest.approx(alpha, abs=2e-7)
    for number, fraction in enumerate(fractions, start=1):
        assert sum(left.up[:number]) == pytest.approx(spent(spending, alpha / 2, fraction), abs=1e-7)


def test_boundaries_hold_in_a_simulation_with_uneven_steps() -> None:
    fractions = np.array([0.2, 0.3, 0.7, 1.0])
    found = np.array(boundaries(list(fractions), alpha=0.05, spending=Spending.POCOCK))
    steps = np.diff(fractions, prepend=0)
    walks = (np.random.default_rng(5).standard_normal((200_000, 4)) * np.sqrt(steps)).cumsum(axis=1) / np.sqrt(
        fractions
    )
    crossed = (np.abs(walks) >= found).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.002)


def test_a_look_where_nothing_may_be_spent_has_no_boundary() -> None:
    first, *rest = boundaries([0.02, 0.5, 1.0], alpha=0.05, spending=Spending.OBRIEN_FLEMING)
    assert math.isinf(first)
    assert rest == pytest.approx([2.963, 1.969], abs=0.001)


@pytest.mark.parametrize("fractions", [(), (0.0, 1.0), (0.5, 0.5), (0.9, 0.4), (0.5, 1.2)], ids=str)
def test_fractions_that_do_not_rise_to_one_are_refused(fractions: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="must rise"):
        boundaries(fractions, alpha=0.05, spending=Spending.POCOCK)


# ---------------------------------------------------------------- plans of looks


def test_one_look_is_the_plain_interval_at_the_end() -> None:
    plan = plan_looks(5, 1, alpha=0.05)
    assert plan.blocks == (5,)
    assert plan.levels == pytest.approx((0.95,))


@pytest.mark.parametrize(
    ("n_blocks", "looks", "blocks"),
    [(6, 3, (2, 4, 6)), (5, 2, (3, 5)), (5, 5, (1, 2, 3, 4, 5)), (10, 4, (3, 5, 8, 10))],
    ids=str,
)
def test_looks_are_spread_over_whole_blocks(n_blocks: int, looks: int, blocks: tuple[int, ...]) -> None:
    plan = plan_looks(n_blocks, looks)
    assert plan.blocks == blocks
    assert plan.fractions == tuple(block / n_blocks for block in blocks)


@pytest.mark.parametrize("looks", [0, 4])
def test_looks_without_a_block_of_their_own_are_refused(looks: int) -> None:
    with pytest.raises(UsageError, match="whole block"):
        plan_looks(3, looks)


@pytest.mark.parametrize("between", [0.0, 0.05, 0.5])
@pytest.mark.parametrize("spending", list(Spending))
def test_looking_at_blocks_errs_at_most_as_often_as_planned(between: float, spending: Spending) -> None:
    """Blocks of the same cases are not independent where cases change; the plan takes them to be, on the safe side."""
    plan, n_cases, n_times = plan_looks(4, 4, alpha=0.05, spending=spending), 40, 10_000
    source = np.random.default_rng(11)
    change = source.normal(0, math.sqrt(between), (n_times, 1, n_cases))
    blocks = change + source.normal(0, 0.5, (n_times, 4, n_cases))
    wrong = np.zeros(n_times, dtype=bool)
    for block, level in zip(plan.blocks, plan.levels, strict=True):
        seen = blocks[:, :block].mean(axis=1)
        wrong |= np.abs(seen.mean(axis=1)) > t.ppf((1 + level) / 2, n_cases - 1) * seen.std(axis=1, ddof=1) / math.sqrt(
            n_cases
        )
    assert wrong.mean() <= (0.055 if between == 0 else 0.05)
