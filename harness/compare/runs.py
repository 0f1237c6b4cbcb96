"""Two folders of runs, scenario by scenario: what is the same, better, worse, missing or new, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from harness.compare.scenario import Trials, compare_scenario, missing_or_new
from harness.compare.sides import Counted, measures
from harness.errors import TrajectoryFormatError
from harness.folds import several_arms, side_key
from harness.types.codes import Change, Outcome
from harness.types.events import Trajectory
from harness.types.records import Comparison, RunSummary, ScenarioComparison, Unpassed

Load: TypeAlias = Callable[[str, RunSummary], Trajectory]
"""Gives the trajectory of a summary of one side (``"base"`` or ``"candidate"``)."""
Digest: TypeAlias = Callable[[str, RunSummary], bytes | None]
"""Gives :func:`harness.compare.digest_of` of a run, where that is known already; two equal ones need no loading."""

BASE: Final = "base"
CANDIDATE: Final = "candidate"
MOST_SEGMENTS: Final = 500
"""So many scenarios that changed keep their segments, the first by name."""
_Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class About:
    """What a folder says beside its runs: how many were skipped, and how many were planned and not run.

    ``not_run`` are the ids of the latter, as far as they are known: such a run of the base is no new one of the other.
    """

    n_skipped: int = 0
    n_not_run: int = 0
    not_run: frozenset[str] = frozenset()


def compare_runs(
    base: Iterable[RunSummary],
    candidate: Iterable[RunSummary],
    load: Load,
    *,
    base_name: str = BASE,
    candidate_name: str = CANDIDATE,
    digest: Digest | None = None,
    about: tuple[About, About] = (About(), About()),
) -> Comparison:
    """Compare two folders, a row for each scenario; where a side has several arms, for each arm of it.

    Trials of a scenario pair where nothing differs, then by number, then in order. A scenario of the base that
    is missing is a regression; a new one is listed, and a difference only where it does not pass (INVARIANTS
    33). Without a gate every other difference is FAIL; with nothing on both sides to compare, INVALID.

    ``load`` is called for pairs whose digests differ, and for the base's other trials where a model chose
    differently; no trajectory is kept. Raises TrajectoryFormatError when one side has two runs of one
    scenario, arm and trial.
    """
    sides = (list(base), list(candidate))
    by_arm = several_arms(*sides)
    left, right = _keyed(sides[0], BASE, by_arm=by_arm), _keyed(sides[1], CANDIDATE, by_arm=by_arm)
    rows: list[ScenarioComparison] = []
    n_kept = 0
    for key in sorted({*left, *right}):
        one, other = left.get(key), right.get(key)
        if one is None or other is None:
            rows.append(_with_not_run(missing_or_new(one or (), other or ()), other or (), about[0].not_run))
            continue
        row = compare_scenario(Trials(one, other, load, digest), segments=n_kept < MOST_SEGMENTS)
        n_kept += bool(row.segments)
        rows.append(row)
    found = measures([(left[key], right[key]) for key in sorted({*left} & {*right})])
    return Comparison(
        base_name,
        candidate_name,
        tuple(rows),
        _outcome(rows),
        base_side=Counted.of(sides[0]).side(about[0].n_skipped, about[0].n_not_run),
        candidate_side=Counted.of(sides[1]).side(about[1].n_skipped, about[1].n_not_run),
        **found,
    )


def _with_not_run(
    row: ScenarioComparison, candidate: Sequence[RunSummary], not_run: Collection[str]
) -> ScenarioComparison:
    """A new scenario that the base planned, too, and did not run, is one of which nothing is known there."""
    n = sum(run.run_id in not_run for run in candidate)
    return replace(row, unpassed=(*row.unpassed, Unpassed("", Outcome.INCONCLUSIVE, n, 0))) if n else row


def _keyed(side: Sequence[RunSummary], name: str, *, by_arm: bool) -> dict[_Key, tuple[RunSummary, ...]]:
    keyed: dict[_Key, dict[tuple[str, int], RunSummary]] = {}
    for summary in side:
        key = side_key(summary, by_arm=by_arm)
        trials = keyed.setdefault(key, {})
        first = trials.setdefault((summary.arm, summary.trial), summary)
        if first is not summary:
            raise TrajectoryFormatError(
                f"the {name} holds two runs of scenario {key[0]!r}, arm {summary.arm!r}, trial {summary.trial}: "
                f"{first.file!r} and {summary.file!r}. Remove one, or compare another folder."
            )
    return {key: tuple(trials[at] for at in sorted(trials)) for key, trials in keyed.items()}


def _outcome(rows: Sequence[ScenarioComparison]) -> Outcome:
    changes = {row.change for row in rows}
    failing_news = any(
        row.change == Change.NEW and row.candidate is not None and row.candidate_passed < row.n_candidate
        for row in rows
    )
    if failing_news or changes - {Change.SAME, Change.NEW}:
        return Outcome.FAIL
    return Outcome.PASS if Change.SAME in changes else Outcome.INVALID
