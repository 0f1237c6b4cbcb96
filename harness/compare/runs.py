"""Two folders of runs, run by run: what is the same, better, worse, missing or new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from harness.compare.divergence import first_divergence
from harness.errors import TrajectoryFormatError
from harness.types.codes import Change, Outcome
from harness.types.events import Trajectory
from harness.types.records import Comparison, Divergence, RunSummary, ScenarioComparison

Load: TypeAlias = Callable[[str, RunSummary], Trajectory]
"""Gives the trajectory of a summary of one side (``"base"`` or ``"candidate"``)."""

BASE: Final = "base"
CANDIDATE: Final = "candidate"
_Key: TypeAlias = tuple[str, str, int]
_GOOD: Final = (Outcome.PASS, Outcome.NOT_APPLICABLE)


def compare_runs(
    base: Sequence[RunSummary],
    candidate: Sequence[RunSummary],
    load: Load,
    *,
    base_name: str = BASE,
    candidate_name: str = CANDIDATE,
) -> Comparison:
    """Compare two folders. Runs pair by scenario, arm and trial; where each side has one arm, by scenario and trial.

    A run of the base that is missing is a regression; a new one is listed, and a difference only where
    it does not pass (INVARIANTS 33). Without a gate every other difference is FAIL; with nothing on both
    sides to compare, INVALID. ``load`` is called for one pair at a time. Raises
    TrajectoryFormatError when one side has two runs of one scenario, arm and trial.
    """
    arms = [{summary.arm for summary in side} for side in (base, candidate)]
    by_arm = max(map(len, arms), default=0) > 1
    left, right = _keyed(base, BASE, by_arm=by_arm), _keyed(candidate, CANDIDATE, by_arm=by_arm)
    scenarios = tuple(_pair(left.get(key), right.get(key), load) for key in sorted({*left, *right}))
    return Comparison(base_name, candidate_name, scenarios, _outcome(scenarios))


def _keyed(side: Sequence[RunSummary], name: str, *, by_arm: bool) -> dict[_Key, RunSummary]:
    keyed: dict[_Key, RunSummary] = {}
    for summary in side:
        key = (summary.scenario or summary.run_id, summary.arm if by_arm else "", summary.trial)
        if key in keyed:
            raise TrajectoryFormatError(
                f"the {name} holds two runs of scenario {key[0]!r}, arm {summary.arm!r}, trial {summary.trial}: "
                f"{keyed[key].file!r} and {summary.file!r}. Remove one, or compare another folder."
            )
        keyed[key] = summary
    return keyed


def _pair(base: RunSummary | None, candidate: RunSummary | None, load: Load) -> ScenarioComparison:
    if base is None or candidate is None:
        some = base or candidate
        run_id = some.run_id if some else ""
        return ScenarioComparison(run_id, Change.NEW if base is None else Change.MISSING, None, base, candidate)
    divergence = first_divergence(load(BASE, base), load(CANDIDATE, candidate))
    change = _change(base, candidate, divergence)
    return ScenarioComparison(candidate.run_id, change, divergence, base, candidate)


def _change(base: RunSummary, candidate: RunSummary, divergence: Divergence | None) -> Change:
    was_good, is_good = base.outcome in _GOOD, candidate.outcome in _GOOD
    if was_good != is_good:
        return Change.BETTER if is_good else Change.WORSE
    if divergence is not None or _judged(base) != _judged(candidate):
        return Change.CHANGED
    return Change.SAME


def _judged(summary: RunSummary) -> tuple[Outcome, frozenset[tuple[str, Outcome]]]:
    """The outcome, and the checks that did not pass."""
    return summary.outcome, frozenset((v.check, v.outcome) for v in summary.verdicts if v.outcome not in _GOOD)


def _outcome(scenarios: tuple[ScenarioComparison, ...]) -> Outcome:
    changes = {scenario.change for scenario in scenarios}
    failing_news = any(
        s.change == Change.NEW and s.candidate is not None and s.candidate.outcome not in _GOOD for s in scenarios
    )
    if failing_news or changes - {Change.SAME, Change.NEW}:
        return Outcome.FAIL
    return Outcome.PASS if Change.SAME in changes else Outcome.INVALID
