"""Who is paired with whom: assignments of least cost, and alignments that keep the order.

Costs are whole numbers of any size, so that a caller may pack several measures into one (the first in the highest
digits). Of several results that cost the same, always the same one is chosen: that whose columns, read row by row,
come first; a row without a column counts as behind all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Pairs: TypeAlias = tuple[int | None, ...]
"""For each row its column, or None."""


def cheapest_assignment(costs: Sequence[Sequence[int]], n_columns: int) -> Pairs:
    """Of all ways to pair as many rows with columns as there can be, each once, the one of least total cost.

    ``costs[row][column]`` is 0 or more. The time grows with the square of the rows times the larger side.
    """
    scale, places = _digits(len(costs), n_columns)
    weights = [
        [cost * scale + column * place for column, cost in enumerate(row)]
        + [n_columns * place] * (len(costs) - n_columns)  # places for the rows that get none
        for row, place in zip(costs, places, strict=True)
    ]
    return tuple(column if column < n_columns else None for column in _Assigning(weights).columns())


def cheapest_alignment(
    costs: Sequence[Sequence[int]], unpaired_rows: Sequence[int], unpaired_columns: Sequence[int]
) -> Pairs:
    """Of all ways to pair rows with columns that keep the order of both, the one of least total cost.

    ``unpaired_rows`` and ``unpaired_columns`` say what it costs to leave one over.
    """
    n_rows, n_columns = len(unpaired_rows), len(unpaired_columns)
    scale, places = _digits(n_rows, n_columns)
    alone = [cost * scale + n_columns * place for cost, place in zip(unpaired_rows, places, strict=True)]
    over = [cost * scale for cost in unpaired_columns]
    pairs = [
        [cost * scale + column * place for column, cost in enumerate(row)]
        for row, place in zip(costs, places, strict=True)
    ]
    return _followed(pairs, alone, over, _rests(pairs, alone, over))


def _digits(n_rows: int, n_columns: int) -> tuple[int, list[int]]:
    """By what costs are multiplied, and each row's digit below them: which columns come first."""
    base = n_columns + 1
    return base**n_rows, [base ** (n_rows - 1 - row) for row in range(n_rows)]


# ---------------------------------------------------------------- in any order


class _Assigning:
    """Shortest augmenting paths with potentials (the Hungarian method), in whole numbers.

    Rows and columns count from 1 inside; column 0 stands for the row that looks for its place.
    """

    def __init__(self, weights: Sequence[Sequence[int]]) -> None:
        self.weights = weights
        self.width = len(weights[0]) if weights else 0
        self.of_row = [0] * (len(weights) + 1)
        self.of_column = [0] * (self.width + 1)
        self.holder = [0] * (self.width + 1)

    def columns(self) -> list[int]:
        """Each row's column, from 0."""
        for row in range(1, len(self.weights) + 1):
            self.holder[0] = row
            self._shift(*self._path())
        placed = {row: column - 1 for column, row in enumerate(self.holder) if column and row}
        return [placed[row] for row in range(1, len(self.weights) + 1)]

    def _path(self) -> tuple[int, list[int]]:
        """The nearest free column, and from which column each one was reached."""
        least: list[int | None] = [None] * (self.width + 1)
        came_from = [0] * (self.width + 1)
        seen = [False] * (self.width + 1)
        here = 0
        while self.holder[here] or not here:
            seen[here] = True
            self._look_from(here, seen, least, came_from)
            here = self._step(seen, least)
        return here, came_from

    def _look_from(self, here: int, seen: list[bool], least: list[int | None], came_from: list[int]) -> None:
        row = self.holder[here]
        weights, potential = self.weights[row - 1], self.of_row[row]
        for column in range(1, self.width + 1):
            if seen[column]:
                continue
            reduced = weights[column - 1] - potential - self.of_column[column]
            known = least[column]
            if known is None or reduced < known:
                least[column], came_from[column] = reduced, here

    def _step(self, seen: list[bool], least: list[int | None]) -> int:
        """Go on to the nearest column that was not seen; potentials move by the distance."""
        open_columns = [(far, column) for column, far in enumerate(least) if far is not None and not seen[column]]
        distance, nearest = min(open_columns)
        for column, was_seen in enumerate(seen):
            if was_seen:
                self.of_row[self.holder[column]] += distance
                self.of_column[column] -= distance
        for far, column in open_columns:
            least[column] = far - distance
        return nearest

    def _shift(self, column: int, came_from: Sequence[int]) -> None:
        while column:
            self.holder[column] = self.holder[came_from[column]]
            column = came_from[column]


# ---------------------------------------------------------------- in order


def _rests(pairs: Sequence[Sequence[int]], alone: Sequence[int], over: Sequence[int]) -> list[list[int]]:
    """``[row][column]``: what it costs at least to settle all rows and columns from there on."""
    n_rows, n_columns = len(alone), len(over)
    rest = [[0] * (n_columns + 1) for _ in range(n_rows + 1)]
    for row in range(n_rows, -1, -1):
        for column in range(n_columns, -1, -1):
            ways = []
            if row < n_rows:
                ways.append(alone[row] + rest[row + 1][column])
            if column < n_columns:
                ways.append(over[column] + rest[row][column + 1])
            if row < n_rows and column < n_columns:
                ways.append(pairs[row][column] + rest[row + 1][column + 1])
            rest[row][column] = min(ways, default=0)
    return rest


def _followed(
    pairs: Sequence[Sequence[int]], alone: Sequence[int], over: Sequence[int], rest: Sequence[Sequence[int]]
) -> Pairs:
    found: list[int | None] = []
    column = 0
    while (row := len(found)) < len(alone):
        least = rest[row][column]
        if column < len(over) and pairs[row][column] + rest[row + 1][column + 1] == least:
            found.append(column)
            column += 1
        elif alone[row] + rest[row + 1][column] == least:
            found.append(None)
        else:
            column += 1
    return tuple(found)
