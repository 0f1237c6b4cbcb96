"""What a verdict makes of each scenario: it fails the gate, is only warned of, is held in quarantine, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.folds import row_name, worst_outcome
from harness.report.text import distinct
from harness.report.unpassed import unpassed
from harness.types.codes import PASSING, Change, Outcome
from harness.types.records import ScenarioComparison
from harness.types.review import GateVerdict, Quarantined, Review, Rule, RuleResult, Severity


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


@dataclass(frozen=True, slots=True)
class Row:
    """A scenario (and arm) with its fate, and the rules that gave it; without a gate there are no rules.

    ``quarantine`` is the entry that holds it back from the rules ``held``, of which it would have broken each.
    """

    scenario: ScenarioComparison
    fate: Fate
    broken: tuple[Rule, ...] = ()
    warned: tuple[Rule, ...] = ()
    quarantine: Quarantined | None = None
    held: tuple[Rule, ...] = ()

    @property
    def fails(self) -> bool:
        """True where this row alone keeps the verdict from being PASS."""
        return self.fate in FAILING


def rows_of(review: Review) -> list[Row]:
    """All scenarios in the order of the comparison, each with its fate."""
    gate = _Told.of(review) if is_gated(review.verdict) else None
    return [_without_rules(row) if gate is None else gate.row(row) for row in review.comparison.scenarios]


def worst_first(rows: Iterable[Row]) -> list[Row]:
    """Those that fail before all others; of both: worse, missing, new that fail, changed, better, failing as before."""
    return sorted(rows, key=lambda row: (not row.fails, _rank(row.scenario)))


def is_told(row: Row) -> bool:
    """Whether a report for people names this row: it changed, or fails for another reason."""
    return row.scenario.change != Change.SAME or row.fails


def _rank(row: ScenarioComparison) -> int:
    fails = row.candidate is not None and row.candidate_passed < row.n_candidate
    match row.change:
        case Change.WORSE:
            return 0
        case Change.MISSING:
            return 1
        case Change.NEW:
            return 2 if fails else 6
        case Change.CHANGED:
            return 3
        case Change.BETTER:
            return 4
        case Change.SAME:
            return 5 if fails else 7


@dataclass(frozen=True, slots=True)
class _Told:
    """What the rules of a gate say, by the name of a scenario; ``errored`` are those where a rule found errors only."""

    broken: dict[str, tuple[Rule, ...]]
    warned: dict[str, tuple[Rule, ...]]
    errored: frozenset[tuple[Rule, str]]
    held: dict[str, tuple[Quarantined, tuple[Rule, ...]]]

    @classmethod
    def of(cls, review: Review) -> _Told:
        results = review.verdict.results
        held: dict[str, tuple[Quarantined, tuple[Rule, ...]]] = {}
        for entry in review.verdict.quarantine:
            for one in entry.held_scenarios:
                held.setdefault(one.scenario, (entry, one.rules))
        errored = frozenset((one.rule, name) for one in results for name in one.errored)
        return cls(_by_name(results, Severity.FAIL), _by_name(results, Severity.WARN), errored, held)

    def row(self, scenario: ScenarioComparison) -> Row:
        name = row_name(scenario)
        broken, warned = self.broken.get(name, ()), self.warned.get(name, ())
        quarantine, held = self.held.get(name, (None, ()))
        if broken:
            fate = Fate.ERRORED if all((rule, name) in self.errored for rule in broken) else Fate.FAILED
        elif held:
            fate = Fate.HELD
        else:
            fate = Fate.WARNED if warned else _quiet_fate(scenario)
        return Row(scenario, fate, broken, warned, quarantine, held)


def _without_rules(scenario: ScenarioComparison) -> Row:
    """Every difference fails where nobody gave rules, and errors do on both sides."""
    found = unpassed(scenario)
    errs = [one.outcome is Outcome.ERROR for one in found]
    if any(errs) and (not differs(scenario) or (all(errs) and not scenario.n_behave)):
        return Row(scenario, Fate.ERRORED)
    return Row(scenario, Fate.FAILED if differs(scenario) else _quiet_fate(scenario))


def _quiet_fate(scenario: ScenarioComparison) -> Fate:
    """Of what nothing speaks against: PASSED, where its trials say anything."""
    found = unpassed(scenario)
    open_only = worst_outcome([Outcome.PASS, *(one.outcome for one in found)]) in _NO_VERDICT
    not_in_base = scenario.change == Change.NEW and any(one.n_base for one in scenario.unpassed)
    return Fate.UNDECIDED if open_only or not_in_base or any(one.stale for one in found) else Fate.PASSED


def is_gated(verdict: GateVerdict) -> bool:
    """False where no rules judged: then every difference fails."""
    return bool(verdict.results)


def differs(scenario: ScenarioComparison) -> bool:
    """Whether it fails where nobody gave rules: it changed, or is new and does not always pass."""
    if scenario.change == Change.NEW:
        return scenario.candidate is not None and scenario.candidate_passed < scenario.n_candidate
    return scenario.change != Change.SAME


def shown_name(scenario: ScenarioComparison) -> str:
    """Scenario and arm on one line: a row stands for all its trials."""
    return distinct(row_name(scenario))


def failing_rules(review: Review) -> list[RuleResult]:
    """Rules that keep the verdict from being PASS, as the gate names them."""
    return [one for one in review.verdict.results if _counts(one, Severity.FAIL)]


def beside_rows(review: Review, rows: list[Row]) -> Iterator[tuple[str, Outcome, str]]:
    """What fails and is no scenario's: name, outcome and why of rules over all of them, or of the whole verdict.

    Of a rule that scenarios break too, only what broke it beside them (planned runs that were not run).

    So a report that lists what fails lists something wherever the verdict is not PASS.
    """
    named = {row_name(row.scenario) for row in rows}
    n_told = 0
    for result in failing_rules(review):
        n_named = len(named.intersection(result.scenarios))
        whole = n_named < result.n_scenarios or not n_named
        if whole or result.beside:
            n_told += 1
            yield result.rule, result.outcome, result.why if whole else result.beside
    if review.outcome is not Outcome.PASS and not n_told and not any(row.fails for row in rows):
        yield "verdict", review.outcome, review.verdict.text


def _by_name(results: Iterable[RuleResult], severity: Severity) -> dict[str, tuple[Rule, ...]]:
    found: dict[str, tuple[Rule, ...]] = {}
    for result in results:
        if _counts(result, severity):
            found.update({name: (*found.get(name, ()), result.rule) for name in result.scenarios})
    return found


def _counts(result: RuleResult, severity: Severity) -> bool:
    return result.severity is severity and result.outcome not in PASSING
