"""What one arm came to: its counts, the rate over units with its interval, and how steady the trials are."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import fsum
from typing import TypeVar

from harness.evaluate.changes import changes_of
from harness.evaluate.tally import PASSED, Tally
from harness.statistics.noise import flakes, intraclass_correlation, repeatability, worth
from harness.statistics.rates import Interval, pass_at_k, wilson
from harness.types.evaluation import Execute
from harness.types.evaluation_comparison import Range
from harness.types.evaluation_summary import ArmSummary, NeverCount, PassAt, rounded

Closed = TypeVar("Closed", bound=StrEnum)


def unit_rates(tally: Tally, arm: int, cases: Sequence[int], blocks: int | None = None) -> list[float]:
    """Of each unit that these cases have, in order: the share of its planned trials that passed."""
    n_units = tally.index.n_units
    passed, planned = array("L", [0]) * n_units, array("L", [0]) * n_units
    for case in cases:
        row = tally.row(case, arm, blocks)
        unit = tally.index.unit[case]
        passed[unit] += row.count(PASSED)
        planned[unit] += len(row)
    known: dict[float, float] = {}  # equal rates are one object, since there may be very many units
    rates = (passed[unit] / planned[unit] for unit in range(n_units) if planned[unit])
    return [known.setdefault(rate, rate) for rate in rates]


def arm_line(tally: Tally, arm: int) -> ArmSummary:
    """The summary of an arm over all cases."""
    spec, counted = tally.evaluation.arms[arm], tally.arms[arm]
    everything = range(len(tally.index))
    rates = unit_rates(tally, arm, everything)
    known: dict[tuple[int, int], tuple[int, int]] = {}
    scores = [known.setdefault(pair, pair) for pair in (tally.scores(case, arm) for case in everything)]
    icc, steady = intraclass_correlation(scores), repeatability(scores)
    counts = tally.arm_counts(arm)
    whole = _any_asked_to_the_end(tally, arm)
    return ArmSummary(
        name=spec.name,
        changes=changes_of(spec),
        counts=counts,
        n_units=len(rates),
        unit_rate=rounded(fsum(rates) / len(rates)) if counts.scored else None,
        interval=range_of(wilson(fsum(rates), len(rates))) if counts.scored else None,
        k=tally.n_judged,
        pass_hat_k=rounded(sum(rate == 1.0 for rate in rates) / len(rates)) if counts.scored and whole else None,
        n_flaky=len(flakes(scores)),
        repeatability=None if steady is None else rounded(steady),
        icc=None if icc is None else rounded(icc),
        trials_worth=None if icc is None else rounded(worth(tally.n_judged, icc)),
        pass_at=pass_at(scores, tally.n_judged) if tally.evaluation.execute is not Execute.FIRST else (),
        stages=_sorted(counted.stages),
        why_no_call=_sorted(counted.reasons()),
        never=NeverCount(counted.never_trials, counted.never_violated),
        spent=counted.spent(),
    )


def _any_asked_to_the_end(tally: Tally, arm: int) -> bool:
    """Whether any unit has all its planned trials asked: else none can have passed all, and pass^k has no value."""
    n_units = tally.index.n_units
    missing = bytearray(n_units)
    for case in range(len(tally.index)):
        missing[tally.index.unit[case]] |= tally.counts(case, arm).skipped > 0
    return 0 in missing


def range_of(interval: Interval | None) -> Range | None:
    """An interval as the summary holds it."""
    if interval is None:
        return None
    return Range(rounded(interval.low), rounded(interval.high), rounded(interval.level), interval.method)


def pass_at(scores: Sequence[tuple[int, int]], k_max: int) -> tuple[PassAt, ...]:
    """pass@k for one trial and for all planned, as means over the cases that have k scored trials (PB-041)."""
    lines = []
    for k in sorted({1, k_max}):
        known = [value for passed, n in scores if (value := pass_at_k(passed, n, k)) is not None]
        mean = rounded(fsum(known) / len(known)) if known else None
        lines.append(PassAt(k, mean, len(known), len(scores) - len(known)))
    return tuple(lines)


def _sorted(counter: Mapping[Closed, int]) -> tuple[tuple[Closed, int], ...]:
    """Counts, most frequent first, and by name where they are equal."""
    return tuple(sorted(Counter(counter).items(), key=lambda item: (-item[1], item[0].value)))
