"""What did not pass in the candidate, over all trials of a scenario: the pair that is shown is only one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.report.text import PIECE_CHARS, piece
from harness.types.codes import PASSING, Outcome
from harness.types.records import RunSummary, ScenarioComparison, Unpassed, Verdict

_WORST_FIRST: Final = (Outcome.ERROR, Outcome.FAIL, Outcome.INVALID, Outcome.INCONCLUSIVE, *PASSING)


def unpassed(scenario: ScenarioComparison) -> list[Unpassed]:
    """What did not pass in at least one trial of the candidate; errors first, which say nothing of the change."""
    found = [one for one in scenario.unpassed if one.n_candidate]
    return sorted(found, key=lambda one: (_WORST_FIRST.index(one.outcome), one.check))


def unpassed_text(one: Unpassed, scenario: ScenarioComparison, n_chars: int = PIECE_CHARS) -> str:
    """``ERROR endpoint in 1 of 2 trials``; of a single trial ``ERROR endpoint``."""
    check = f" {piece(one.check, n_chars)}" if one.check else ""
    n = scenario.n_candidate
    return f"{one.outcome}{check}{f' in {one.n_candidate} of {n} trials' if n > 1 else ''}"


def failing_checks(scenario: ScenarioComparison) -> list[str]:
    """The checks that did not pass in some trial of the candidate, each once."""
    return list(dict.fromkeys(one.check for one in unpassed(scenario) if one.check))


def of_trials(scenario: ScenarioComparison) -> list[str]:
    """A line for each thing that did not pass, and how often it did not in the base; none where one trial is all."""
    if max(scenario.n_base, scenario.n_candidate) < 2:
        return []
    base = scenario.n_base
    return [f"{unpassed_text(one, scenario)} (base: {one.n_base} of {base})" for one in unpassed(scenario)]


def bad_verdicts(run: RunSummary | None) -> list[Verdict]:
    """The checks of a run that did not pass."""
    return [verdict for verdict in run.verdicts if verdict.outcome not in PASSING] if run else []


def said_of(one: Unpassed, verdicts: Sequence[Verdict]) -> str:
    """What the shown trial says of it: its first finding, or why; empty where that trial passed it."""
    told = next((v for v in verdicts if (v.check, v.outcome) == (one.check, one.outcome)), None)
    if told is None:
        return ""
    return told.findings[0].message if told.findings else told.why
