"""Each exact rule is shown what breaks it, what it cannot decide, and what it lets through."""

from __future__ import annotations

from typing import Any

import pytest

from harness.checks import CHECKS
from harness.compare import About
from harness.gates import without_gate
from harness.gates.exact import CANCEL_CHECKS, PAIRING_CHECKS, findings
from harness.types.codes import Outcome, Status
from harness.types.gates import UNLESS_SAID, Gate
from harness.types.review import Rule, Severity
from tests.gates.lab import compared, judged, only, result, run

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR
OPEN, INVALID, NONE = Outcome.INCONCLUSIVE, Outcome.INVALID, Outcome.NOT_APPLICABLE
GOOD = run("b")
CANCEL, PAIR = "cancel_no_tool_start", "provider_history"


def trials(*each: dict[str, Any], scenario: str = "a") -> list[Any]:
    return [run(scenario, number, **given) for number, given in enumerate(each, 1)]


def a(**given: Any) -> list[Any]:
    return [run("a", **given)]


GONE = {
    "fails": ("expected_end",),
    "how": "other",
    "status": Status.FAILED,
    "reason": "error UNKNOWN: FileNotFoundError: [Errno 2] No such file or directory: 'prompt.local'",
}
NO_MODULE = {**GONE, "reason": "error UNKNOWN: ModuleNotFoundError: No module named 'x'"}
REPAIRED = {**GONE, "reason": "error UNKNOWN: ValueError: FIXME"}

ERRORED = trials({"errors": ("endpoint",)}, {"errors": ("recorder",)})
OTHERS = trials({"how": "other"}, {"how": "other"})

TABLE = [
    pytest.param(Rule.BEHAVIOUR, a(**GONE), a(), OPEN, id="behaviour-of-a-base-that-found-no-file"),
    pytest.param(Rule.BEHAVIOUR, a(**NO_MODULE), a(), OPEN, id="behaviour-of-a-base-that-found-no-module"),
    pytest.param(Rule.BEHAVIOUR, a(**REPAIRED), a(), PASS, id="behaviour-of-a-base-that-was-wrong-and-is-repaired"),
    pytest.param(Rule.BEHAVIOUR, a(errors=("endpoint",), how="other"), a(), OPEN, id="behaviour-of-a-base-that-errored"),
    pytest.param(Rule.BEHAVIOUR, trials({"errors": ("endpoint",)}, {}), trials({}, {}), PASS, id="behaviour-of-a-base-of-which-one-trial-errored"),
    pytest.param(Rule.BEHAVIOUR, ERRORED, OTHERS, OPEN, id="behaviour-of-a-base-that-errored-in-two-checks"),
    pytest.param(Rule.BEHAVIOUR, trials({"outcome": ERROR}, {"errors": ("endpoint",)}), OTHERS, OPEN, id="behaviour-of-a-base-that-errored-without-a-verdict"),
    pytest.param(Rule.BEHAVIOUR, trials({"errors": ("endpoint", "recorder")}, {}), OTHERS, PASS, id="behaviour-of-a-base-of-which-one-trial-errored-twice"),
    pytest.param(Rule.BEHAVIOUR, a(stale=True), a(), PASS, id="behaviour-of-a-recording-made-anew"),
    pytest.param(Rule.CHECKS, a(), a(), PASS, id="checks-nothing"),
    pytest.param(Rule.CHECKS, a(), a(fails=("answer",)), FAIL, id="checks-fails-now"),
    pytest.param(Rule.CHECKS, a(fails=("answer",)), a(fails=("answer",)), PASS, id="checks-failed-before"),
    pytest.param(Rule.CHECKS, a(fails=("answer",)), a(), PASS, id="checks-fails-no-more"),
    pytest.param(Rule.CHECKS, a(fails=("answer",)), a(fails=("answer", "tool_order")), FAIL, id="checks-one-more-beside-an-old-one"),
    pytest.param(Rule.CHECKS, a(), a(fails=(CANCEL,)), PASS, id="checks-leaves-cancel-to-its-rule"),
    pytest.param(Rule.CHECKS, a(), a(fails=(PAIR,)), PASS, id="checks-leaves-pairing-to-its-rule"),
    pytest.param(Rule.CHECKS, a(), a(stale=True), PASS, id="checks-leaves-recordings-to-their-rule"),
    pytest.param(Rule.CHECKS, a(), a(open=("answer",)), OPEN, id="checks-cannot-be-decided-now"),
    pytest.param(Rule.CHECKS, a(open=("answer",)), a(open=("answer",)), PASS, id="checks-could-not-be-decided-before"),
    pytest.param(Rule.CHECKS, a(), a(errors=("endpoint",)), ERROR, id="checks-errored"),
    pytest.param(Rule.CHECKS, a(errors=("endpoint",)), a(errors=("endpoint",)), ERROR, id="checks-errored-on-both-sides"),
    pytest.param(Rule.CHECKS, a(errors=("endpoint",)), a(), PASS, id="checks-errored-in-the-base-only"),
    pytest.param(Rule.CHECKS, a(), a(errors=("endpoint",), fails=("answer",)), FAIL, id="checks-failed-and-errored"),
    pytest.param(Rule.CHECKS, a(), a(outcome=INVALID), INVALID, id="checks-nothing-judged-now"),
    pytest.param(Rule.CHECKS, a(outcome=INVALID), a(outcome=INVALID), PASS, id="checks-nothing-judged-before-either"),
    pytest.param(Rule.CHECKS, trials({}, {}), trials({}, {"fails": ("answer",)}), FAIL, id="checks-in-a-trial-that-is-not-shown"),
    pytest.param(Rule.CHECKS, trials({}, {"fails": ("answer",)}), trials({"fails": ("answer",)}, {}), PASS, id="checks-in-another-trial"),
    pytest.param(Rule.CHECKS, trials({}, {"fails": ("answer",)}), a(fails=("answer",)), FAIL, id="checks-by-share-of-trials"),
    pytest.param(Rule.CHECKS, trials({"fails": ("x", "y")}, {}, {}), trials({"fails": ("x",)}, {"fails": ("y",)}, {}), FAIL, id="checks-fewer-trials-pass-though-no-check-fails-more"),
    pytest.param(Rule.CANCEL, a(), a(fails=(CANCEL,)), FAIL, id="cancel-works-on"),
    pytest.param(Rule.CANCEL, a(), a(fails=("quiescence",)), FAIL, id="cancel-something-is-left-running"),
    pytest.param(Rule.CANCEL, a(), a(open=(CANCEL,)), OPEN, id="cancel-not-observable-now"),
    pytest.param(Rule.CANCEL, a(fails=(CANCEL,)), a(fails=(CANCEL,)), PASS, id="cancel-worked-on-before"),
    pytest.param(Rule.CANCEL, a(), a(fails=("answer",)), PASS, id="cancel-leaves-checks-alone"),
    pytest.param(Rule.CANCEL, a(), a(errors=("endpoint",)), PASS, id="cancel-leaves-errors-to-checks"),
    pytest.param(Rule.PAIRING, a(), a(fails=("pairing",)), FAIL, id="pairing-broken"),
    pytest.param(Rule.PAIRING, a(), a(fails=(PAIR,)), FAIL, id="pairing-refused-by-a-provider"),
    pytest.param(Rule.PAIRING, a(), a(fails=("reused_ids",)), PASS, id="pairing-leaves-checks-alone"),
    pytest.param(Rule.STALE, a(), a(stale=True), FAIL, id="stale-now"),
    pytest.param(Rule.STALE, a(stale=True), a(stale=True), OPEN, id="stale-on-both-sides"),
    pytest.param(Rule.STALE, a(stale=True), a(), PASS, id="stale-no-more"),
    pytest.param(Rule.STALE, trials({}, {"stale": True}), trials({"stale": True}, {"stale": True}), FAIL, id="stale-in-more-trials"),
    pytest.param(Rule.MISSING, a(), [], FAIL, id="missing"),
    pytest.param(Rule.MISSING, trials({}, {}), a(), FAIL, id="missing-a-trial"),
    pytest.param(Rule.MISSING, a(), trials({}, {}), PASS, id="missing-none-with-more-trials"),
    pytest.param(Rule.MISSING, [], a(), PASS, id="missing-none-with-a-new-one"),
    pytest.param(Rule.NEW, [], a(), PASS, id="new-and-passes"),
    pytest.param(Rule.NEW, [], a(fails=("answer",)), FAIL, id="new-and-fails"),
    pytest.param(Rule.NEW, [], a(errors=("endpoint",)), ERROR, id="new-and-errored"),
    pytest.param(Rule.NEW, [], a(open=("answer",)), OPEN, id="new-and-not-decided"),
    pytest.param(Rule.NEW, [], a(outcome=INVALID), INVALID, id="new-and-nothing-judged"),
    pytest.param(Rule.NEW, [], trials({}, {"fails": ("answer",)}), FAIL, id="new-and-fails-once"),
    pytest.param(Rule.NEW, a(), a(fails=("answer",)), NONE, id="new-none"),
    pytest.param(Rule.BEHAVIOUR, a(), a(how="other"), FAIL, id="behaviour-another-call"),
    pytest.param(Rule.BEHAVIOUR, a(), a(how="other", fails=("answer",)), FAIL, id="behaviour-another-call-that-fails"),
    pytest.param(Rule.BEHAVIOUR, a(fails=("answer",)), a(how="other"), PASS, id="behaviour-that-got-better"),
    pytest.param(Rule.BEHAVIOUR, a(), a(how="details"), PASS, id="behaviour-is-no-detail"),
    pytest.param(Rule.BEHAVIOUR, a(), a(how="setup"), PASS, id="behaviour-is-no-setup"),
    pytest.param(Rule.BEHAVIOUR, a(), a(stale=True), PASS, id="behaviour-follows-from-a-recording"),
    pytest.param(Rule.BEHAVIOUR, a(), a(how="other", errors=("endpoint",)), ERROR, id="behaviour-follows-from-an-error"),
    pytest.param(Rule.BEHAVIOUR, a(errors=("mine",)), a(how="other", errors=("mine",)), FAIL, id="behaviour-of-runs-that-a-check-gave-up-on"),
    pytest.param(Rule.BEHAVIOUR, a(), a(how="other", errors=("mine",)), FAIL, id="behaviour-of-a-candidate-that-a-check-gave-up-on"),
    pytest.param(Rule.BEHAVIOUR, a(errors=("mine",)), a(how="other"), FAIL, id="behaviour-of-a-base-that-a-check-gave-up-on"),
    pytest.param(Rule.BEHAVIOUR, a(errors=("mine",)), a(), PASS, id="behaviour-of-a-base-that-a-check-gave-up-on-is-the-same"),
    pytest.param(Rule.CHECKS, a(errors=("mine",)), a(errors=("mine",)), ERROR, id="checks-gave-up-on-both-sides"),
    pytest.param(Rule.BEHAVIOUR, trials({}, {"how": "other"}), trials({"how": "other"}, {}), PASS, id="behaviour-in-another-order"),
    pytest.param(Rule.BEHAVIOUR, trials({}, {}), trials({"fails": ("answer",)}, {"how": "other"}), FAIL, id="behaviour-in-a-trial-that-is-not-shown"),
    pytest.param(Rule.DETAILS, a(), a(how="details"), FAIL, id="details-tokens"),
    pytest.param(Rule.DETAILS, a(), a(how="setup"), FAIL, id="details-setup"),
    pytest.param(Rule.DETAILS, a(), a(how="other"), PASS, id="details-are-no-behaviour"),
    pytest.param(Rule.DETAILS, a(), a(), PASS, id="details-none"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "base", "candidate", "outcome"), TABLE)
def test_a_rule_finds_what_is_its_own_and_nothing_else(
    rule: Rule, base: list[Any], candidate: list[Any], outcome: Outcome
) -> None:
    verdict = judged(compared([GOOD, *base], [GOOD, *candidate]), only(rule))
    found = result(verdict, rule)
    assert found.outcome is outcome
    assert found.scenarios == (("a",) if outcome not in (PASS, NONE) else ())
    assert verdict.outcome is (PASS if outcome is PASS else INVALID if outcome is NONE else outcome)
    assert verdict.rule is (rule if outcome not in (PASS, NONE) else None)


@pytest.mark.parametrize(("rule", "base", "candidate", "outcome"), TABLE)
def test_a_rule_that_only_warns_changes_no_verdict(
    rule: Rule, base: list[Any], candidate: list[Any], outcome: Outcome
) -> None:
    comparison = compared([GOOD, *base], [GOOD, *candidate])
    others = [one for one in (Rule.PAIRING, Rule.CANCEL, Rule.STALE) if one is not rule]
    beside = next(one for one in others if judged(comparison, only(one)).outcome is PASS)
    exact = {**dict.fromkeys(UNLESS_SAID, Severity.PASS), rule: Severity.WARN, beside: Severity.FAIL}
    verdict = judged(comparison, Gate(exact=tuple(exact.items())))
    assert result(verdict, rule).outcome is outcome
    assert verdict.outcome is PASS


def test_every_rule_has_a_case_that_breaks_it_and_one_that_does_not() -> None:
    outcomes = {rule: {row.values[3] for row in TABLE if row.values[0] is rule} for rule in UNLESS_SAID}
    assert {rule for rule, found in outcomes.items() if not {PASS, FAIL} <= found} == set()


def test_the_checks_of_each_rule_are_checks_that_there_are() -> None:
    assert set(CHECKS) >= CANCEL_CHECKS | PAIRING_CHECKS
    assert {name for name in CHECKS if name.startswith("cancel")} <= CANCEL_CHECKS
    assert not CANCEL_CHECKS & PAIRING_CHECKS


@pytest.mark.parametrize(
    ("base", "candidate", "outcome"),
    [
        pytest.param(0, 2, FAIL, id="the-candidate-ran-less"),
        pytest.param(2, 2, OPEN, id="neither-ran-all"),
        pytest.param(2, 0, OPEN, id="the-base-ran-less"),
    ],
)
def test_planned_runs_that_were_not_run_are_missing(base: int, candidate: int, outcome: Outcome) -> None:
    comparison = compared([GOOD], [GOOD], (About(0, base), About(0, candidate)))
    assert result(judged(comparison), Rule.MISSING).outcome is outcome
    assert judged(comparison).outcome is outcome


def test_what_the_base_planned_and_did_not_run_is_not_new() -> None:
    about = (About(0, 1, frozenset({"b@default#1"})), About())
    comparison = compared(a(), [*a(), run("b"), run("c")], about)
    verdict = judged(comparison)
    assert (verdict.outcome, without_gate(comparison).outcome) == (OPEN, OPEN)
    new = result(verdict, Rule.NEW)
    assert (new.outcome, new.why, new.scenarios) == (OPEN, "1 not decided (the base did not run it)", ("b",))
    assert "1 planned run of the base was not run" in without_gate(comparison).text
    fails = compared(a(), [*a(), run("b", fails=("answer",))], about)
    assert (judged(fails).outcome, without_gate(fails).outcome) == (FAIL, FAIL)


def test_nothing_got_better_than_a_run_of_the_base_that_broke_off() -> None:
    broke_off = a(fails=("event_grammar", "quiescence"), how="other", status=None)
    assert result(judged(compared(broke_off, a())), Rule.BEHAVIOUR).why == "1 not decided (the base's run broke off)"
    whole = a(fails=("event_grammar",), how="other", status=Status.COMPLETED)
    assert judged(compared(whole, a())).outcome is PASS


def test_scenarios_that_both_sides_skip_are_no_difference() -> None:
    assert judged(compared([GOOD], [GOOD], (About(2, 0), About(2, 0)))).outcome is PASS


def test_recordings_out_of_date_are_one_finding_grouped_by_cause_with_the_steps_still_followed() -> None:
    def why(*n_steps: int) -> str:
        runs = [run(f"s{n}", stale=True, n_steps=steps) for n, steps in enumerate(n_steps)]
        found = result(judged(compared([run(one.scenario) for one in runs], runs)), Rule.STALE)
        assert found.n_scenarios == len(n_steps)
        return found.why

    again = "; if that is meant: harness record --stale"
    several = "3 scenarios have recordings out of date (cause not known 3×)"
    assert why(1, 1, 1) == f"{several}, 1 leading step still agrees{again}"
    assert why(0, 2, 4) == f"{several}, 0 to 4 leading steps still agree{again}", "answered steps of all turns"


def test_every_scenario_that_breaks_a_rule_is_named_and_counted() -> None:
    runs = [run(f"s{i:03}") for i in range(120)]
    found = result(judged(compared(runs, [run(one.scenario, fails=("answer",)) for one in runs])), Rule.CHECKS)
    assert (len(found.scenarios), found.n_scenarios) == (120, 120)
    assert found.why == "120 scenarios fail a check more often than in the base (answer 120×)"


@pytest.mark.parametrize("rule", [rule for rule in Rule if not rule.exact])
def test_no_single_scenario_breaks_a_statistical_rule(rule: Rule) -> None:
    (row,) = compared([GOOD], [GOOD]).scenarios
    with pytest.raises(ValueError, match="statistical rule"):
        list(findings(rule, row))
