"""The confusion matrix of an arm as rows and columns, cut to what a page can hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from harness.types.evaluation_summary import EvaluationSummary


class Matrix(NamedTuple):
    """``cells[i][j]``: how often ``columns[j]`` was chosen where ``rows[i]`` was right.

    Tools stand before what is no tool ("(none)" and its kin). ``n_left_out`` names are left out, the rarest.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[int, ...], ...]
    n_left_out: int


def matrix_of(summary: EvaluationSummary, arm: str, most: int) -> Matrix:
    """The matrix of an arm with at most so many rows, and so many columns, the most frequent ones."""
    return matrix_of_counts({(one.expected, one.chosen): one.n for one in summary.confusion if one.arm == arm}, most)


def matrix_of_counts(counts: Mapping[tuple[str, str], int], most: int) -> Matrix:
    """The same of how often each pair of expected and chosen came."""
    rows, columns = Counter[str](), Counter[str]()
    for (expected, chosen), n in counts.items():
        rows[expected] += n
        columns[chosen] += n
    kept_rows, kept_columns = _kept(rows, most), _kept(columns, most)
    cells = tuple(tuple(counts.get((row, column), 0) for column in kept_columns) for row in kept_rows)
    left_out = len(rows) - len(kept_rows) + len(columns) - len(kept_columns)
    return Matrix(kept_rows, kept_columns, cells, left_out)


def _kept(counts: Counter[str], most: int) -> tuple[str, ...]:
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:most]
    return tuple(sorted(frequent, key=lambda name: (name.startswith("("), name)))
