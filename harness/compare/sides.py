"""The runs of a side counted, and what both sides took, with the noise that repeated trials show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypedDict

from harness.folds import known_sum, tokens_of
from harness.types.codes import PASSING, Outcome
from harness.types.records import Hindered, Measure, RunSummary, Side, Took, Unpassed, Verdict
from harness.types.verdict_names import STALE_RULES, WORLD_CHECKS

_OPEN: Final = (Outcome.INCONCLUSIVE, Outcome.INVALID)
_ERRORS: Final = 2
"""Noise is so many standard errors."""
Both = tuple[Sequence[RunSummary], Sequence[RunSummary]]


class Measures(TypedDict):
    """What both sides took; None where it is not known."""

    cost: Measure | None
    latency: Measure | None
    tokens: Measure | None


@dataclass(slots=True)
class Counted:
    """Runs of one side, counted one by one."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    models: set[str] = field(default_factory=set)
    subjects: set[str] = field(default_factory=set)
    n_out_of_date: int = 0

    @classmethod
    def of(cls, runs: Iterable[RunSummary]) -> Counted:
        """All runs of a side, counted."""
        counted = cls()
        for run in runs:
            counted.add(run)
        return counted

    def add(self, run: RunSummary) -> None:
        """Count one more run; a model that plays several roles is one."""
        self.outcomes[run.outcome] += 1
        self.models.update(name for name in run.model.split(", ") if name)
        self.subjects.add(run.subject)
        self.n_out_of_date += any(map(_is_stale, run.verdicts))

    def side(self, n_skipped: int = 0, n_not_run: int = 0) -> Side:
        """The counts; ``planned`` is their sum (INVARIANTS 30)."""
        n = self.outcomes
        return Side(
            planned=sum(n.values()) + n_skipped + n_not_run,
            passed=n[Outcome.PASS] + n[Outcome.NOT_APPLICABLE],
            failed=n[Outcome.FAIL],
            errored=n[Outcome.ERROR],
            inconclusive=n[Outcome.INCONCLUSIVE],
            invalid=n[Outcome.INVALID],
            skipped=n_skipped,
            not_run=n_not_run,
            out_of_date=self.n_out_of_date,
            models=tuple(sorted(self.models)),
            subjects=tuple(sorted(self.subjects)),
        )


def measures(scenarios: Sequence[Both]) -> Measures:
    """Cost, latency and tokens over the scenarios that both sides have, and of which no trial is hindered."""
    heard = [both for both in scenarios if not any(hindered(run) for side in both for run in side)]
    return Measures(
        cost=_measure(heard, lambda run: run.cost_micro_usd),
        latency=_measure(heard, lambda run: run.duration_ms),
        tokens=_measure(heard, tokens_of),
    )


def _measure(scenarios: Sequence[Both], value: Callable[[RunSummary], int | None]) -> Measure | None:
    """Sums of means over scenarios of which all trials know the value.

    Noise where each of them has repeated trials.
    """
    # Whole numbers and fractions: exact, and of any size, as the numbers that files hold are.
    sums: list[int | Fraction] = [0, 0]
    variance, n, repeated = Fraction(), 0, True
    for both in scenarios:
        known = [[found for run in side if (found := value(run)) is not None] for side in both]
        if any(len(values) < len(side) for values, side in zip(known, both, strict=True)):
            continue
        n += 1
        repeated = repeated and all(len(values) > 1 for values in known)
        for at, values in enumerate(known):
            total, n_values = sum(values), len(values)
            whole, rest = divmod(total, n_values)
            sums[at] += Fraction(total, n_values) if rest else whole
            if n_values > 1:
                squares = n_values * sum(one * one for one in values) - total * total
                variance += Fraction(squares, n_values * n_values * (n_values - 1))
    if not n:
        return None
    noise = _rounded_root(_ERRORS * _ERRORS * variance) if repeated else None
    return Measure(round(sums[0]), round(sums[1]), n, noise)


def _rounded_root(square: Fraction) -> int:
    """The square root, to the nearest whole number."""
    return (math.isqrt(math.floor(4 * square)) + 1) // 2


def _is_stale(verdict: Verdict) -> bool:
    return bool(verdict.findings) and any(finding.rule in STALE_RULES for finding in verdict.findings)


def hindered(run: RunSummary) -> bool:
    """True for a run that says nothing of the change: the world failed it, or its recording is out of date."""
    if run.outcome in PASSING:
        return False  # the worst of its verdicts: none of them is an error, or on a recording out of date
    return _errored(run) or any(map(_is_stale, run.verdicts))


def _errored(run: RunSummary) -> bool:
    errors = [verdict.check for verdict in run.verdicts if verdict.outcome is Outcome.ERROR]
    return not WORLD_CHECKS.isdisjoint(errors) or (run.outcome is Outcome.ERROR and not errors)


def _unjudged(run: RunSummary) -> bool:
    """True for a run that went its way, and of which a check could not say whether it passes."""
    return not hindered(run) and any(verdict.outcome is Outcome.ERROR for verdict in run.verdicts)


_NONE: Final = Hindered()


def n_hindered(runs: Sequence[RunSummary]) -> Hindered:
    """How many of these trials say nothing of the change."""
    if all(run.outcome in PASSING for run in runs):
        return _NONE
    return Hindered(sum(map(hindered, runs)), sum(map(_errored, runs)), sum(map(_unjudged, runs)))


def unpassed(base: Sequence[RunSummary], candidate: Sequence[RunSummary]) -> tuple[Unpassed, ...]:
    """What did not pass, by check and outcome, in how many trials of each side."""
    counts: dict[tuple[str, Outcome, bool], list[int]] = {}
    for at, runs in enumerate((base, candidate)):
        for run in runs:
            for key in _unpassed(run):
                counts.setdefault(key, [0, 0])[at] += 1
    return tuple(Unpassed(check, how, n[0], n[1], stale) for (check, how, stale), n in sorted(counts.items()))


def _unpassed(run: RunSummary) -> set[tuple[str, Outcome, bool]]:
    """One cause is one failure: what is left open because of an error or a recording is not told beside it."""
    found: set[tuple[str, Outcome, bool]] = {
        (one.check, one.outcome, _is_stale(one)) for one in run.verdicts if one.outcome not in PASSING
    }
    if not found:
        return set() if run.outcome in PASSING else {("", run.outcome, False)}
    if hindered(run):
        found = {one for one in found if one[1] not in _OPEN or one[2]}
    return found


def took(runs: Sequence[RunSummary]) -> Took | None:
    """What several trials took together; None for one, whose summary says it."""
    if len(runs) < 2:
        return None
    return Took(
        sum(run.n_steps for run in runs),
        known_sum(tokens_of(run) for run in runs),
        known_sum(run.cost_micro_usd for run in runs),
        known_sum(run.duration_ms for run in runs),
    )
