"""All runs of both sides by the row that they belong to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.folds import several_arms, side_key
from harness.types.records import RunSummary, ScenarioComparison


@dataclass(frozen=True, slots=True)
class Sides:
    """All trials of a row on both sides; empty where a side has none."""

    base: tuple[RunSummary, ...]
    candidate: tuple[RunSummary, ...]


def sides_of(
    rows: Sequence[ScenarioComparison], base: Iterable[RunSummary], candidate: Iterable[RunSummary]
) -> list[Sides]:
    """For each row its trials: runs of its scenario and, where a side has several arms, of its arm."""
    sides = (tuple(base), tuple(candidate))
    by_arm = several_arms(*sides)
    left, right = (_keyed(side, by_arm=by_arm) for side in sides)
    found = []
    for row in rows:
        some = row.candidate or row.base
        key = ("", "") if some is None else side_key(some, by_arm=by_arm)
        found.append(Sides(tuple(left.get(key, ())), tuple(right.get(key, ()))))
    return found


def _keyed(runs: Sequence[RunSummary], *, by_arm: bool) -> dict[tuple[str, str], list[RunSummary]]:
    keyed: dict[tuple[str, str], list[RunSummary]] = {}
    for run in runs:
        keyed.setdefault(side_key(run, by_arm=by_arm), []).append(run)
    return keyed
