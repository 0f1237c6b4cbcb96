"""Sequences are aligned on equal items, in order, as many as there are where that is affordable."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import sequence
from harness.compare.sequence import SQUARE, matches

ITEMS = st.lists(st.integers(0, 4), max_size=14)


def longest(left: list[int], right: list[int]) -> int:
    @cache
    def of(i: int, j: int) -> int:
        if i == len(left) or j == len(right):
            return 0
        return 1 + of(i + 1, j + 1) if left[i] == right[j] else max(of(i + 1, j), of(i, j + 1))

    return of(0, 0)


def check_valid(left: list[int], right: list[int], found: list[tuple[int, int]]) -> None:
    assert all(left[i] == right[j] for i, j in found)
    assert all(a < c and b < d for (a, b), (c, d) in pairwise(found))


@given(ITEMS, ITEMS)
def test_short_sequences_have_the_longest_alignment_there_is(left: list[int], right: list[int]) -> None:
    found = matches(left, right)
    check_valid(left, right, found)
    assert len(found) == longest(left, right)


@given(st.lists(st.integers(0, 300), min_size=80, max_size=200), st.data())
def test_long_sequences_are_aligned_at_equal_items_in_order(left: list[int], data: st.DataObject) -> None:
    right = [item for item in left if data.draw(st.booleans()) or item % 3]
    check_valid(left, right, matches(left, right))


def test_what_was_put_in_the_middle_of_a_long_sequence_is_all_that_has_no_partner() -> None:
    left = list(range(1_000))
    right = [*left[:400], *range(5_000, 5_200), *left[400:600], *left[700:]]
    found = matches(left, right)
    assert [i for i in range(1_000) if i not in dict(found)] == list(range(600, 700))
    assert len(found) == 900


@pytest.mark.parametrize("n", [1_000, 10_000])
def test_no_stretch_is_squared_that_is_too_large_for_it(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    squared: list[int] = []
    real = sequence._longest

    def seen(left: list[int], right: list[int], bounds: tuple[int, int, int, int]) -> list[tuple[int, int]]:
        squared.append((bounds[1] - bounds[0]) * (bounds[3] - bounds[2]))
        return real(left, right, bounds)

    monkeypatch.setattr(sequence, "_longest", seen)
    left = [1, *(i % 7 for i in range(n)), 2]
    right = [3, *(i % 5 for i in range(n)), 4]
    check_valid(left, right, matches(left, right))
    assert all(area <= SQUARE for area in squared)
    assert len(squared) <= n
