"""Two sequences aligned: equal items in order, at a bounded cost.

Equal ends are trimmed first, which is all there is to do for most pairs of runs. What is left is cut at items
that occur once on each side (patience), and the longest common subsequence is taken of stretches small enough for
its square; larger stretches without such an item have no match. So the cost stays near linear, and at most
``SQUARE`` cells are filled for any stretch.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final, TypeAlias

Match: TypeAlias = tuple[int, int]
SQUARE: Final = 4_096
"""A stretch whose sides multiply to no more than this is aligned in full."""


def matches(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Match]:
    """Pairs of places that hold equal items, increasing on both sides."""
    found: list[Match] = []
    todo = [(0, len(left), 0, len(right))]
    while todo:
        low, high, start, end = todo.pop()
        while low < high and start < end and left[low] == right[start]:
            found.append((low, start))
            low, start = low + 1, start + 1
        while low < high and start < end and left[high - 1] == right[end - 1]:
            high, end = high - 1, end - 1
            found.append((high, end))
        if low == high or start == end:
            continue
        if (high - low) * (end - start) <= SQUARE:
            found += _longest(left, right, (low, high, start, end))
            continue
        anchors = _anchors(left, right, (low, high, start, end))
        for one, other in zip(anchors, [*anchors[1:], (high, end)], strict=False):
            todo.append((one[0], other[0], one[1], other[1]))
        if anchors:
            todo.append((low, anchors[0][0], start, anchors[0][1]))
    return sorted(found)


Bounds: TypeAlias = tuple[int, int, int, int]


def _longest(left: Sequence[Hashable], right: Sequence[Hashable], bounds: Bounds) -> list[Match]:
    """The longest common subsequence of a small stretch; the earliest places on the left win."""
    low, high, start, end = bounds
    width = end - start
    if set(left[low:high]).isdisjoint(right[start:end]):
        return []
    lengths = [[0] * (width + 1) for _ in range(high - low + 1)]
    for i in range(high - low - 1, -1, -1):
        row, below, item = lengths[i], lengths[i + 1], left[low + i]
        for j in range(width - 1, -1, -1):
            row[j] = below[j + 1] + 1 if item == right[start + j] else max(below[j], row[j + 1])
    found, i, j = [], 0, 0
    while i < high - low and j < width:
        if left[low + i] == right[start + j]:
            found.append((low + i, start + j))
            i, j = i + 1, j + 1
        elif lengths[i][j + 1] > lengths[i + 1][j]:
            j += 1
        else:
            i += 1
    return found


def _anchors(left: Sequence[Hashable], right: Sequence[Hashable], bounds: Bounds) -> list[Match]:
    """Items that occur once on each side of a stretch, as many as stand in the same order."""
    low, high, start, end = bounds
    once = Counter(left[low:high])
    places = {item: place for place, item in enumerate(right[start:end], start) if once[item] == 1}
    many = Counter(right[start:end])
    pairs = [(at, places[left[at]]) for at in range(low, high) if left[at] in places and many[left[at]] == 1]
    return _increasing(pairs)


def _increasing(pairs: list[Match]) -> list[Match]:
    """The longest run of pairs that increases on the right, too."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        at = bisect_left(tails, place)
        tails[at : at + 1] = [place]
        ends[at : at + 1] = [index]
        before.append(ends[at - 1] if at else -1)
    found = []
    index = ends[-1] if ends else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]
