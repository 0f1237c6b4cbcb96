"""A comparison judged by a gate: each rule for itself, then the verdict and the rule that gave it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from harness.folds import row_name, worst_outcome
from harness.gates.exact import Found, applies, errors, findings, on_both_sides
from harness.gates.quarantine import Ward
from harness.gates.statistical import Decided, grown, pass_rate
from harness.gates.without import not_run, nothing_known, of_new_ones
from harness.gates.words import exact_why
from harness.types.codes import PASSING, Outcome
from harness.types.gates import Gate
from harness.types.records import Comparison, ScenarioComparison
from harness.types.review import GateVerdict, Rule, RuleResult, Severity

_OF_WHAT_IS_THERE: Final = frozenset({Rule.MISSING, Rule.STALE})
"""Rules of which scenarios and recordings there are: that all are there is no judgement of what they did."""
_WEAKEST: Final = (Severity.PASS, Severity.WARN, Severity.FAIL)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A rule's result, whether it could have failed on this comparison, and how many scenarios were held back."""

    result: RuleResult
    can_fail: bool
    n_held: int = 0


def judge(
    comparison: Comparison,
    gate: Gate,
    *,
    today: str,
    inconclusive: Severity | None = None,
    empty_base: bool = False,
) -> GateVerdict:
    """The verdict of a gate, without where its rules come from.

    ``today`` (ISO 8601) ends quarantines; ``inconclusive`` says what becomes of rules that cannot be decided, exact
    and statistical ones, in place of what the gate says. A rule that only warns changes no verdict. A gate that could
    not have failed is INVALID; so is one with nothing on both sides to compare, but
    where the base is known to have no scenario at all (``empty_base``) and a new one passes. The order of scenarios
    plays no part.
    Raises ConfigurationError where a statistical rule needs a library that is not installed.
    """
    ward = Ward(gate.quarantine, comparison.scenarios, today)
    judged = [_exact(rule, severity, comparison, gate, ward, inconclusive) for rule, severity in gate.exact]
    judged += _statistical(comparison, gate, ward, inconclusive)
    results = tuple(one.result for one in judged)
    nothing = of_new_ones(comparison) if empty_base else nothing_known(comparison)
    cannot = _cannot_fail(gate, judged)
    outcome, text, rule = _verdict(results, nothing, cannot)
    return GateVerdict(outcome, text, rule, results, ward.told())


def _verdict(
    results: Sequence[RuleResult], nothing: tuple[Outcome, str] | None, cannot_fail: str
) -> tuple[Outcome, str, Rule | None]:
    """FAIL before ERROR before INVALID before INCONCLUSIVE before PASS; of rules with one outcome, the first.

    ``cannot_fail``: why the gate could not have failed; empty where it could.
    """
    told: list[tuple[Outcome, str, Rule | None]] = [
        (one.outcome, f"{one.rule.value}: {one.why}", one.rule)
        for one in results
        if one.severity is Severity.FAIL and one.outcome not in PASSING
    ]
    if nothing is not None:
        told.append((*nothing, None))
    if cannot_fail:
        told.append((Outcome.INVALID, cannot_fail, None))
    told.append((Outcome.PASS, "no rule is broken", None))
    worst = worst_outcome(outcome for outcome, _, _ in told)
    return next(one for one in told if one[0] is worst)


def _cannot_fail(gate: Gate, judged: Sequence[_Judged]) -> str:
    """Why the gate could not have failed; empty where it could."""
    asked = [*gate.exact, *((one.rule, one.severity) for one in gate.growth)]
    asked += [] if gate.pass_rate is None else [(Rule.PASS_RATE, gate.pass_rate.severity)]
    failing = {rule for rule, severity in asked if severity is Severity.FAIL}
    if not failing:
        return "the gate cannot fail: every rule that it asks only warns or passes"
    here = [one for one in judged if one.result.rule in failing]
    if not any(one.can_fail for one in here):
        return f"the gate cannot fail here: no rule that fails has anything to judge ({_by_why(here)})"
    of_runs = [one for one in here if one.result.rule not in _OF_WHAT_IS_THERE]
    if any(one.n_held for one in of_runs) and not any(one.can_fail for one in of_runs):
        return f"nothing is judged: every scenario is held back from the rules that judge runs ({_by_why(of_runs)})"
    return ""


def _by_why(judged: Sequence[_Judged]) -> str:
    """``checks, cancel: 40 in quarantine; new: nothing to ask``."""
    rules: dict[str, list[str]] = {}
    for one in judged:
        rules.setdefault(one.result.why, []).append(one.result.rule.value)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in rules.items())


# ---------------------------------------------------------------- exact rules


def _exact(
    rule: Rule, severity: Severity, comparison: Comparison, gate: Gate, ward: Ward, override: Severity | None
) -> _Judged:
    rows = [row for row in comparison.scenarios if applies(rule, row)]
    asked = [row for row in rows if not ward.holds(rule, row)]
    found = [(row, here) for row in asked if (here := _found(rule, row, gate))]
    if severity is not Severity.PASS:
        for row in rows:
            if ward.holds(rule, row) and _found(rule, row, gate):
                ward.keep(rule, row)
    beside = not_run(comparison) if rule is Rule.MISSING else None
    outcomes = [outcome for _, here in found for outcome, _ in here] + ([beside[0]] if beside else [])
    outcome = worst_outcome(outcomes) if outcomes else Outcome.PASS if asked else Outcome.NOT_APPLICABLE
    undecided = weaker(severity, override or gate.inconclusive_exact)
    result = RuleResult(
        rule,
        outcome,
        severity if outcome in (*PASSING, Outcome.FAIL) else undecided,
        exact_why(rule, found, len(asked), len(rows) - len(asked), beside[1] if beside else ""),
        *_named([row for row, _ in found]),
        _named([row for row, here in found if worst_outcome(how for how, _ in here) is Outcome.ERROR])[0],
        # What the rows break and this does not is no reason of its own.
        beside[1] if beside and beside[0] is outcome else "",
    )
    return _Judged(result, severity is Severity.FAIL and bool(asked or beside), len(rows) - len(asked))


def _found(rule: Rule, row: ScenarioComparison, gate: Gate) -> tuple[Found, ...]:
    """What a rule finds. Errors are those of ``checks``; of ``behaviour`` too where nobody asks for checks."""
    here = tuple(findings(rule, row))
    if rule is Rule.BEHAVIOUR and dict(gate.exact)[Rule.CHECKS] is Severity.PASS:
        return (*here, *((one.outcome, one.check) for one in errors(row)))
    return here


def _named(rows: Sequence[ScenarioComparison]) -> tuple[tuple[str, ...], int]:
    """All of them: a report that marks each scenario needs to know of each."""
    names = sorted(map(row_name, rows))
    return tuple(names), len(names)


def weaker(one: Severity, other: Severity) -> Severity:
    """What a rule that only warns cannot decide, does not fail."""
    return min(one, other, key=_WEAKEST.index)


# ---------------------------------------------------------------- statistical rules


def _statistical(comparison: Comparison, gate: Gate, ward: Ward, override: Severity | None) -> list[_Judged]:
    both = [row for row in comparison.scenarios if on_both_sides(row)]
    undecided = override or gate.inconclusive_statistical

    def told(rule: Rule, decide: Callable[[list[ScenarioComparison]], Decided], severity: Severity) -> _Judged:
        held = [row for row in both if ward.holds(rule, row)]
        decided, n_held = decide([row for row in both if not ward.holds(rule, row)]), len(held)
        for row in held if severity is not Severity.PASS else ():
            ward.keep(rule, row)
        becomes = weaker(severity, undecided) if decided.outcome is Outcome.INCONCLUSIVE else severity
        why = decided.why + (f"; {n_held} in quarantine" if n_held else "")
        result = RuleResult(rule, decided.outcome, becomes, why)
        return _Judged(result, severity is Severity.FAIL and decided.can_fail, n_held)

    rate = gate.pass_rate
    judged = [] if rate is None else [told(Rule.PASS_RATE, partial(pass_rate, rule=rate), rate.severity)]
    return judged + [told(asked.rule, partial(grown, rule=asked), asked.severity) for asked in gate.growth]
