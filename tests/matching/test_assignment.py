"""Assignments and alignments cost as little as the best of all that there are, and are always the same one."""

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.matching import cheapest_alignment, cheapest_assignment

BIG = 10**40


def every_assignment(n_rows: int, n_columns: int):
    """All ways to pair as many as there can be."""
    if n_rows <= n_columns:
        yield from permutations(range(n_columns), n_rows)
        return
    for rows in combinations(range(n_rows), n_columns):
        for columns in permutations(range(n_columns)):
            paired = dict(zip(rows, columns, strict=True))
            yield tuple(paired.get(row) for row in range(n_rows))


def every_alignment(n_rows: int, n_columns: int):
    for n in range(min(n_rows, n_columns) + 1):
        for rows in combinations(range(n_rows), n):
            for columns in combinations(range(n_columns), n):
                paired = dict(zip(rows, columns, strict=True))
                yield tuple(paired.get(row) for row in range(n_rows))


def first(pairs, n_columns):
    return tuple(n_columns if column is None else column for column in pairs)


@st.composite
def tables(draw, least=0, most=4):
    n_rows, n_columns = draw(st.integers(least, most)), draw(st.integers(0, most))
    cost = draw(st.sampled_from([st.integers(0, 2), st.integers(0, BIG)]))
    return [[draw(cost) for _ in range(n_columns)] for _ in range(n_rows)], n_columns


@given(tables())
def test_the_assignment_is_the_cheapest_of_all_and_the_first_of_those(table):
    costs, n_columns = table

    def rank(pairs):
        return sum(costs[r][c] for r, c in enumerate(pairs) if c is not None), first(pairs, n_columns)

    best = min(every_assignment(len(costs), n_columns), key=rank)
    assert cheapest_assignment(costs, n_columns) == best


@given(tables(), st.data())
def test_the_alignment_is_the_cheapest_of_all_and_the_first_of_those(table, data):
    costs, n_columns = table
    rows = [data.draw(st.integers(0, 3)) for _ in costs]
    columns = [data.draw(st.integers(0, 3)) for _ in range(n_columns)]

    def rank(pairs):
        paired = sum(costs[r][c] for r, c in enumerate(pairs) if c is not None)
        alone = sum(rows[r] for r, c in enumerate(pairs) if c is None)
        over = sum(columns[c] for c in set(range(n_columns)) - set(pairs))
        return paired + alone + over, first(pairs, n_columns)

    best = min(every_alignment(len(costs), n_columns), key=rank)
    assert cheapest_alignment(costs, rows, columns) == best


@pytest.mark.parametrize(
    ("costs", "n_columns", "pairs"),
    [
        pytest.param([], 3, (), id="no-rows"),
        pytest.param([[], []], 0, (None, None), id="no-columns"),
        pytest.param([[0, 9], [0, 0]], 2, (0, 1), id="the-first-is-left-to-who-needs-it"),
        pytest.param([[0, 0], [0, 9]], 2, (1, 0), id="greedy-would-fail"),
        pytest.param([[1], [0]], 1, (None, 0), id="more-rows-than-columns"),
        pytest.param([[BIG + 1, BIG], [BIG, BIG]], 2, (1, 0), id="one-beyond-any-float"),
    ],
)
def test_an_assignment(costs, n_columns, pairs):
    assert cheapest_assignment(costs, n_columns) == pairs


def test_a_hundred_alike_are_paired_in_their_order():
    assert cheapest_assignment([[0] * 100] * 100, 100) == tuple(range(100))
