"""One scenario on both sides, over its trials: which pairs differ, which tells most, better or worse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from harness.compare.alignment import align, segments_of
from harness.compare.choices import Choices, behaviour_of
from harness.compare.common import on_common_ground
from harness.compare.explain import explain
from harness.compare.sides import hindered, n_hindered, took, unpassed
from harness.folds import parting_line, run_name
from harness.types.codes import PASSING, Cause, Change, DivergenceKind, Outcome
from harness.types.events import Trajectory
from harness.types.records import Explanation, RunSummary, ScenarioComparison, Segment, Share

BASE: Final = "base"
CANDIDATE: Final = "candidate"
_QUIET: Final = (DivergenceKind.SETUP, DivergenceKind.DETAIL)
_Mark: TypeAlias = Callable[[str, RunSummary], object]
_MOST_TRIALS: Final = 100
"""At most so many trials of the base are asked how often it chose as the candidate did."""


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of one scenario on both sides, and how to come by their trajectories and digests."""

    base: Sequence[RunSummary]
    candidate: Sequence[RunSummary]
    load: Callable[[str, RunSummary], Trajectory]
    digest: Callable[[str, RunSummary], bytes | None] | None = None


@dataclass(frozen=True, slots=True)
class _Paired:
    """Two trials side by side, and why they part (None: they do not)."""

    base: RunSummary
    candidate: RunSummary
    explanation: Explanation | None = None

    @property
    def tells(self) -> tuple[int, bool, bool]:
        """The smaller, the more it tells: got worse, then better, then behaves otherwise, then differs at all."""
        was, now = self.base.outcome in PASSING, self.candidate.outcome in PASSING
        return (0 if was and not now else 1 if now and not was else 2, self.quiet, self.explanation is None)

    @property
    def quiet(self) -> bool:
        """True where nothing differs but bookkeeping and setup."""
        return self.explanation is None or self.explanation.first.kind in _QUIET

    @property
    def behaves(self) -> bool:
        """True where they behave differently, and not because the world failed one or its recording is out of date."""
        return not self.quiet and not hindered(self.base) and not hindered(self.candidate)


def missing_or_new(base: Sequence[RunSummary], candidate: Sequence[RunSummary]) -> ScenarioComparison:
    """The row of a scenario that is on one side only."""
    some = (base or candidate)[0]
    return ScenarioComparison(
        some.run_id,
        Change.MISSING if base else Change.NEW,
        base=base[0] if base else None,
        candidate=_worst(candidate) if candidate else None,
        n_base=len(base),
        n_candidate=len(candidate),
        base_passed=_n_passed(base),
        candidate_passed=_n_passed(candidate),
        line=f"{run_name(some)}  in the {'base' if base else 'candidate'} only",
        unpassed=unpassed(base, candidate),
        base_took=took(base),
        candidate_took=took(candidate),
        base_hindered=n_hindered(base),
        candidate_hindered=n_hindered(candidate),
    )


def _worst(runs: Sequence[RunSummary]) -> RunSummary:
    return next((run for run in runs if run.outcome not in PASSING), runs[0])


def _n_passed(runs: Sequence[RunSummary]) -> int:
    return sum(run.outcome in PASSING for run in runs)


def compare_scenario(trials: Trials, *, segments: bool) -> ScenarioComparison:
    """The row of a scenario on both sides. ``segments``: keep those of the pair that tells most."""
    pairs = [_compared(trials, base, candidate) for base, candidate in _paired(trials)]
    told = min(pairs, key=lambda pair: pair.tells)
    found = told.explanation
    kept: tuple[Segment, ...] = ()
    share: Share | None = None
    if found is not None and found.first.kind != DivergenceKind.SETUP:
        kept, share = _looked_at(trials, told, found, segments=segments)
    name = run_name(told.candidate)
    row = ScenarioComparison(
        told.candidate.run_id,
        Change.SAME,
        found.first if found else None,
        told.base,
        told.candidate,
        explanation=found,
        base_chose=share,
        n_base=len(trials.base),
        n_candidate=len(trials.candidate),
        base_passed=_n_passed(trials.base),
        candidate_passed=_n_passed(trials.candidate),
        n_differ=sum(pair.explanation is not None for pair in pairs),
        segments=kept,
        line=parting_line(name, found, share) if found else name,
        unpassed=unpassed(trials.base, trials.candidate),
        n_behave=sum(pair.behaves for pair in pairs),
        n_details=sum(pair.quiet and pair.explanation is not None for pair in pairs),
        base_took=took(trials.base),
        candidate_took=took(trials.candidate),
        base_hindered=n_hindered(trials.base),
        candidate_hindered=n_hindered(trials.candidate),
    )
    return replace(row, change=_change(row, pairs))


def _compared(trials: Trials, base: RunSummary, candidate: RunSummary) -> _Paired:
    digest = _digest(trials, BASE, base)
    if digest is not None and digest == _digest(trials, CANDIDATE, candidate):
        return _Paired(base, candidate)
    return _Paired(base, candidate, explain(trials.load(BASE, base), trials.load(CANDIDATE, candidate)))


def _digest(trials: Trials, side: str, run: RunSummary) -> bytes | None:
    return trials.digest(side, run) if trials.digest is not None else None


def _paired(trials: Trials) -> list[tuple[RunSummary, RunSummary]]:
    """Trials side by side: equal ones, those that behave alike, those of one number, the others in order.

    A surplus of the candidate stands beside trials of the base once more, so that each of its trials is looked at;
    one of the base is left. How a trial behaves is asked only of those without an equal one.
    """
    base, candidate = list(trials.base), list(trials.candidate)
    if len(base) == len(candidate) == 1:
        return [(base[0], candidate[0])]
    marks: tuple[_Mark, ...] = (
        lambda side, run: _digest(trials, side, run),
        lambda side, run: behaviour_of(trials.load(side, run)),
        lambda _, run: run.trial,
    )
    pairs = [pair for mark in marks if base and candidate for pair in _taken(base, candidate, mark)]
    pairs += zip(base, candidate, strict=False)
    pairs += _once_more(trials, candidate[len(base) :], marks[:2])
    return sorted(pairs, key=lambda pair: pair[1].trial)


def _once_more(
    trials: Trials, surplus: Sequence[RunSummary], marks: Sequence[_Mark]
) -> Iterator[tuple[RunSummary, RunSummary]]:
    """Each trial that is left beside the trial of the base that it equals, else behaves like, else the first."""
    if not surplus:
        return
    known = [{mark(BASE, run): run for run in reversed(trials.base)} for mark in marks]
    for run in surplus:
        signs = ((by, mark(CANDIDATE, run)) for by, mark in zip(known, marks, strict=True))
        yield next((by[sign] for by, sign in signs if sign is not None and sign in by), trials.base[0]), run


def _taken(base: list[RunSummary], candidate: list[RunSummary], mark: _Mark) -> list[tuple[RunSummary, RunSummary]]:
    """Takes the pairs of one mark off both sides; of trials with one mark, first those that came out alike."""
    signs = {id(run): mark(side, run) for side, runs in ((BASE, base), (CANDIDATE, candidate)) for run in runs}
    pairs: list[tuple[RunSummary, RunSummary]] = []
    for sort in (_judged, lambda _: None):
        waiting: dict[object, list[RunSummary]] = {}
        for run in reversed(candidate):
            waiting.setdefault((signs[id(run)], sort(run)), []).append(run)
        for run in base:
            sign = signs[id(run)]
            if sign is not None and waiting.get((sign, sort(run))):
                pairs.append((run, waiting[sign, sort(run)].pop()))
        taken = {id(run) for pair in pairs for run in pair}
        for side in (base, candidate):
            side[:] = [run for run in side if id(run) not in taken]
    return pairs


def _looked_at(
    trials: Trials, told: _Paired, found: Explanation, *, segments: bool
) -> tuple[tuple[Segment, ...], Share | None]:
    """Segments of the pair, and how often the base chose as the candidate did."""
    ask = found.cause in (Cause.MODEL, Cause.OTHER_MODEL) and found.effect is not None and len(trials.base) > 1
    if not segments and not ask:
        return (), None
    base, candidate = trials.load(BASE, told.base), trials.load(CANDIDATE, told.candidate)
    share = None
    if ask and found.effect is not None:
        asked = (trials.load(BASE, run) for run in trials.base[:_MOST_TRIALS])
        choices = Choices(on_common_ground(one, candidate)[0] for one in asked)
        share = choices.share(*on_common_ground(base, candidate), found.effect)
    return (segments_of(align(base, candidate, found.first)) if segments else ()), share


def _change(row: ScenarioComparison, pairs: Sequence[_Paired]) -> Change:
    """By the share of trials that passed; then by behaviour, by what the checks say, by trials that are not there."""
    was, now = row.base_passed * row.n_candidate, row.candidate_passed * row.n_base
    if was != now:
        return Change.BETTER if now > was else Change.WORSE
    if row.n_differ or row.n_candidate < row.n_base or any(_judged(p.base) != _judged(p.candidate) for p in pairs):
        return Change.CHANGED
    return Change.SAME


def _judged(summary: RunSummary) -> tuple[Outcome, frozenset[tuple[str, Outcome]]]:
    """The outcome, and the checks that did not pass."""
    return summary.outcome, frozenset((v.check, v.outcome) for v in summary.verdicts if v.outcome not in PASSING)
