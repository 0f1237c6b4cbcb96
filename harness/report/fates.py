"""What a verdict makes of each scenario: it fails the gate, is only warned of, is held in quarantine, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.folds import named_by, row_name
from harness.report.text import distinct
from harness.types.codes import PASSING, Change, Outcome
from harness.types.records import RunSummary, ScenarioComparison, Verdict
from harness.types.review import Quarantined, Review, Rule, RuleResult, Severity


class Fate(StrEnum):
    """What becomes of a scenario in every report."""

    FAILED = "failed"
    ERRORED = "errored"
    HELD = "held"
    WARNED = "warned"
    UNDECIDED = "undecided"
    PASSED = "passed"


FAILING = frozenset({Fate.FAILED, Fate.ERRORED})
_NO_VERDICT = frozenset({Outcome.INCONCLUSIVE, Outcome.INVALID})
_WORST_FIRST = (Change.WORSE, Change.MISSING, Change.CHANGED, Change.BETTER, Change.NEW, Change.SAME)


@dataclass(frozen=True, slots=True)
class Row:
    """A scenario (and arm) with its fate, and the rules that gave it; without a gate there are no rules."""

    scenario: ScenarioComparison
    fate: Fate
    broken: tuple[Rule, ...] = ()
    warned: tuple[Rule, ...] = ()
    quarantine: Quarantined | None = None

    @property
    def fails(self) -> bool:
        """True where this row alone keeps the verdict from being PASS."""
        return self.fate in FAILING


def rows_of(review: Review) -> list[Row]:
    """All scenarios in the order of the comparison, each with its fate."""
    broken, warned = _by_name(review, Severity.FAIL), _by_name(review, Severity.WARN)
    quarantine = [one for one in review.verdict.quarantine if one.held and not one.remark]
    rows = []
    for scenario in review.comparison.scenarios:
        name = row_name(scenario)
        by = next((one for one in quarantine if named_by(one.scenario, scenario)), None)
        rows.append(_row(scenario, broken.get(name, ()), warned.get(name, ()), by, gated=is_gated(review)))
    return rows


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """Those that fail before all others, and of both the worst change first."""
    order = {change: i for i, change in enumerate(_WORST_FIRST)}
    return sorted(rows, key=lambda row: (not row.fails, order[row.scenario.change]))


def _row(
    scenario: ScenarioComparison,
    broken: tuple[Rule, ...],
    warned: tuple[Rule, ...],
    quarantine: Quarantined | None,
    *,
    gated: bool,
) -> Row:
    errored = not gated and any(one.outcome is Outcome.ERROR and one.n_candidate for one in scenario.unpassed)
    fails = bool(broken) if gated else differs(scenario) or errored
    outcome = scenario.candidate.outcome if scenario.candidate else None
    worse = differs(scenario) and scenario.change != Change.BETTER
    held = quarantine is not None and (worse or bool(bad_verdicts(scenario.candidate)))
    if fails:
        fate = Fate.ERRORED if outcome is Outcome.ERROR or (errored and not differs(scenario)) else Fate.FAILED
    elif held:
        fate = Fate.HELD
    elif warned:
        fate = Fate.WARNED
    else:
        stale = any(one.stale and one.n_candidate for one in scenario.unpassed)
        fate = Fate.UNDECIDED if outcome in _NO_VERDICT or stale else Fate.PASSED
    return Row(scenario, fate, broken, warned, quarantine)


def is_gated(review: Review) -> bool:
    """False where nobody named rules: then every difference fails."""
    return bool(review.verdict.results)


def differs(scenario: ScenarioComparison) -> bool:
    """Whether it fails where nobody gave rules: it changed, or is new and does not always pass."""
    if scenario.change == Change.NEW:
        return scenario.candidate is not None and scenario.candidate_passed < scenario.n_candidate
    return scenario.change != Change.SAME


def shown_name(scenario: ScenarioComparison) -> str:
    """Scenario and arm on one line: a row stands for all its trials."""
    return distinct(row_name(scenario))


def bad_verdicts(run: RunSummary | None) -> list[Verdict]:
    """The checks of a run that did not pass."""
    return [verdict for verdict in run.verdicts if verdict.outcome not in PASSING] if run else []


def failing_rules(review: Review) -> list[RuleResult]:
    """Rules that keep the verdict from being PASS, as the gate names them."""
    return [one for one in review.verdict.results if _counts(one, Severity.FAIL)]


def beside_rows(review: Review, rows: list[Row]) -> Iterator[tuple[str, Outcome, str]]:
    """What fails and is no scenario's: name, outcome and why of rules over all of them, or of the whole verdict.

    So a report that lists what fails lists something wherever the verdict is not PASS.
    """
    named = {row_name(row.scenario) for row in rows}
    n_told = 0
    for result in failing_rules(review):
        n_named = len(named.intersection(result.scenarios))
        if n_named < result.n_scenarios or not n_named:
            n_told += 1
            yield result.rule, result.outcome, result.why
    if review.outcome is not Outcome.PASS and not n_told and not any(row.fails for row in rows):
        yield "verdict", review.outcome, review.verdict.text


def _by_name(review: Review, severity: Severity) -> dict[str, tuple[Rule, ...]]:
    found: dict[str, tuple[Rule, ...]] = {}
    for result in review.verdict.results:
        if _counts(result, severity):
            found.update({name: (*found.get(name, ()), result.rule) for name in result.scenarios})
    return found


def _counts(result: RuleResult, severity: Severity) -> bool:
    return result.severity is severity and result.outcome not in PASSING
