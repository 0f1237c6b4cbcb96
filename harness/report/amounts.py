"""What one trial of a scenario takes on average: the numbers that every table and every plot of a comparison shows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from harness.folds import tokens_of
from harness.types.codes import Change
from harness.types.records import Comparison, RunSummary, ScenarioComparison, Took

Number: TypeAlias = int | float | None
_PLACES: Final = 3
_LARGE: Final = 2**50


class Means(NamedTuple):
    """The mean over all trials of one side: steps, tokens, micro-dollars, ms. None where a trial does not know it."""

    steps: Number
    tokens: Number
    cost: Number
    latency: Number


def means_of(row: ScenarioComparison) -> tuple[Means, Means]:
    """Of the base and of the candidate; a side without runs knows nothing."""
    base, candidate = (Means(*(None if one is None else short(one) for one in side)) for side in _shares(row))
    return base, candidate


_Shares: TypeAlias = tuple[Fraction | None, ...]


def _shares(row: ScenarioComparison) -> tuple[_Shares, _Shares]:
    return _share(row.base, row.base_took, row.n_base), _share(row.candidate, row.candidate_took, row.n_candidate)


def _share(run: RunSummary | None, took: Took | None, n_trials: int) -> _Shares:
    """What all trials took, by their number; without a sum of all, the summary is that of the only one."""
    if run is None:
        return (None, None, None, None)
    if took is None:
        took, n_trials = Took(run.n_steps, tokens_of(run), run.cost_micro_usd, run.duration_ms), 1
    sums = (took.steps, took.tokens, took.cost_micro_usd, took.latency_ms)
    return tuple(None if found is None else Fraction(found, n_trials) for found in sums)


def mean(values: Sequence[int]) -> Number:
    """To three places, a whole number as one, exact however large; None without values."""
    return short(Fraction(sum(values), len(values))) if values else None


def short(value: float | Fraction) -> int | float:
    """To three places, and a whole number as one: what is exact stays so, and the file small."""
    rounded = round(Fraction(value), _PLACES)
    if rounded.denominator == 1:
        return rounded.numerator
    # Beyond what a float holds, places behind the point tell nothing.
    return float(rounded) if abs(rounded) < _LARGE else round(rounded)


def exact_sums(comparison: Comparison) -> dict[str, tuple[Number, Number]]:
    """``cost``, ``latency`` and ``tokens`` of both sides, unrounded: what is told of a change in them is told of these.

    As in :class:`Measure`, over scenarios of both sides of which all trials know the value.
    """
    sides = [_shares(row) for row in comparison.scenarios if _paired(row)]
    found: dict[str, tuple[Number, Number]] = {}
    for at, name in ((2, "cost"), (3, "latency"), (1, "tokens")):
        known = [
            (base, candidate)
            for left, right in sides
            if (base := left[at]) is not None and (candidate := right[at]) is not None
        ]
        if known:
            found[name] = short(sum(base for base, _ in known)), short(sum(candidate for _, candidate in known))
    return found


def n_paired(comparison: Comparison) -> int:
    """How many scenarios both sides have: those that sums could be over."""
    return sum(map(_paired, comparison.scenarios))


def _paired(row: ScenarioComparison) -> bool:
    return row.change not in (Change.MISSING, Change.NEW)
