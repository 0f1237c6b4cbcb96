"""Known flakes: held back until a day, for the rules that may flake, and told."""

from __future__ import annotations

import pytest

from harness.report.verdict_words import quarantine_lines
from harness.types.codes import Outcome
from harness.types.gates import NEVER_A_FLAKE, Gate, GrowthRule, PassRateRule, Quarantine
from harness.types.review import Held, Quarantined, Rule, Severity
from tests.gates.lab import compared, failing, judged, only, result, run, suite

PASS, FAIL = Outcome.PASS, Outcome.FAIL
BASE = [run("shop/refund"), run("shop/cancel"), run("steady")]
FLAKY = [run("shop/refund", fails=("answer",)), *BASE[1:]]


def held(*entries: Quarantine) -> Gate:
    return Gate(quarantine=entries)


def flake(scenario: str = "shop/refund", until: str = "2026-12-31", *rules: Rule) -> Quarantine:
    return Quarantine(scenario, until, "issue 12", rules)


@pytest.mark.parametrize(
    ("until", "today", "outcome"),
    [
        pytest.param("2026-12-31", "2026-12-30", PASS, id="the-day-before"),
        pytest.param("2026-12-31", "2026-12-31", PASS, id="the-last-day"),
        pytest.param("2026-12-31", "2027-01-01", FAIL, id="the-day-after"),
        pytest.param("2027-12-01", "2026-11-30", PASS, id="a-year-and-a-day-ahead"),
        pytest.param("2027-12-02", "2026-11-30", FAIL, id="further-than-any-expiry"),
        pytest.param("2999-12-31", "2026-11-30", FAIL, id="for-ever"),
    ],
)
def test_a_flake_is_held_back_until_its_last_day(until: str, today: str, outcome: Outcome) -> None:
    verdict = judged(compared(BASE, FLAKY), held(flake(until=until)), today=today)
    assert verdict.outcome is outcome
    (told,) = verdict.quarantine
    assert (told.held == ("checks",)) is (outcome is PASS)
    assert bool(told.remark) is (outcome is FAIL)
    assert told.expired is (until < today)


@pytest.mark.parametrize(
    ("pattern", "outcome"),
    [
        pytest.param("shop/refund", PASS, id="by-its-id"),
        pytest.param("shop/*", PASS, id="by-a-pattern"),
        pytest.param("*/ref?nd", PASS, id="by-another-pattern"),
        pytest.param("shop/refund@default", PASS, id="by-id-and-arm"),
        pytest.param("shop/refun", FAIL, id="not-by-a-beginning"),
        pytest.param("SHOP/*", FAIL, id="not-in-other-case"),
        pytest.param("shop/cancel", FAIL, id="not-by-another"),
    ],
)
def test_a_flake_goes_by_id_or_pattern(pattern: str, outcome: Outcome) -> None:
    assert judged(compared(BASE, FLAKY), held(flake(pattern))).outcome is outcome


def test_an_id_that_looks_like_a_pattern_names_itself() -> None:
    base, candidate = [run("case[1]"), run("b")], [run("case[1]", fails=("answer",)), run("b")]
    assert judged(compared(base, candidate), held(flake("case[1]"))).outcome is PASS


@pytest.mark.parametrize("rule", [rule for rule in Rule if rule.exact and rule is not Rule.DETAILS])
def test_only_what_may_flake_is_held_back_unless_a_rule_is_named(rule: Rule) -> None:
    broken = {
        Rule.CHECKS: [run("shop/refund", fails=("answer",))],
        Rule.CANCEL: [run("shop/refund", fails=("cancel_settled",))],
        Rule.PAIRING: [run("shop/refund", fails=("pairing",))],
        Rule.STALE: [run("shop/refund", stale=True)],
        Rule.MISSING: [],
        Rule.NEW: [run("shop/refund"), run("shop/new", fails=("answer",))],
        Rule.BEHAVIOUR: [run("shop/refund", how="other")],
    }[rule]
    comparison = compared(BASE, [*broken, *BASE[1:]])
    plain = judged(comparison, held(flake("shop/*")))
    assert (plain.outcome is FAIL) is (rule in NEVER_A_FLAKE)
    assert judged(comparison, held(flake("shop/*", "2026-12-31", rule))).outcome is PASS
    other = Rule.CANCEL if rule is not Rule.CANCEL else Rule.CHECKS
    assert judged(comparison, held(flake("shop/*", "2026-12-31", other))).outcome is FAIL


def test_what_is_held_back_is_told_with_the_rules_that_it_kept_from_failing() -> None:
    candidate = [run("shop/refund", how="other", fails=("answer",)), *BASE[1:]]
    verdict = judged(compared(BASE, candidate), held(flake("shop/*"), flake("steady"), flake("gone")))
    refund = (Held("shop/refund", (Rule.CHECKS, Rule.BEHAVIOUR)),)
    assert verdict.quarantine == (
        Quarantined("shop/*", "2026-12-31", "issue 12", held=("checks", "behaviour"), n_scenarios=2, held_scenarios=refund),
        Quarantined("steady", "2026-12-31", "issue 12", n_scenarios=1),
        Quarantined("gone", "2026-12-31", "issue 12", remark="no scenario here has that name"),
    )
    assert result(verdict, Rule.CHECKS).why == "3 in quarantine"


@pytest.mark.parametrize("severity", list(Severity))
@pytest.mark.parametrize("names", [pytest.param("s0[0-3]*", id="a-pattern"), pytest.param("s000", id="a-name")])
def test_what_statistical_rules_are_judged_without_is_told_too(names: str, severity: Severity) -> None:
    gate = only(
        Rule.MISSING,
        pass_rate=PassRateRule(0.05, severity=severity),
        growth=(GrowthRule(Rule.TOKENS, 0.1, severity=severity),),
        quarantine=(flake(names), flake("s09*", "2026-12-31", Rule.CHECKS)),
    )
    runs = suite(100)
    verdict = judged(compared(runs, failing(runs, 40)), gate)
    told = () if severity is Severity.PASS else ("pass-rate", "tokens")
    assert [one.held for one in verdict.quarantine] == [told, ()]
    lines = quarantine_lines(verdict)
    assert len(lines) == bool(told)
    assert all("held back from pass-rate, tokens until" in line for line in lines)


def test_a_flake_takes_no_part_in_a_rate() -> None:
    runs = suite(100)
    gate = Gate(pass_rate=PassRateRule(0.05), quarantine=(flake("s0[0-3]*"),))
    verdict = judged(compared(runs, failing(runs, 40)), gate)
    assert "over 60 scenarios" in result(verdict, Rule.PASS_RATE).why
    assert result(verdict, Rule.PASS_RATE).why.endswith("; 40 in quarantine")
    assert judged(compared(runs, failing(runs, 40)), Gate(pass_rate=PassRateRule(0.05))).outcome is FAIL


def test_a_scenario_that_a_rate_was_judged_without_is_not_held_from_anything_that_it_would_have_broken() -> None:
    runs = suite(100)
    verdict = judged(compared(runs, runs), Gate(pass_rate=PassRateRule(0.05), quarantine=(flake("s0[0-3]*"),)))
    (told,) = verdict.quarantine
    assert (told.held, told.held_scenarios) == (("pass-rate",), ())
