"""The verdict of a gate: which rule gives it, what comes before what, and gates that cannot fail."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import About
from harness.folds import EXIT_CODES
from harness.gates import without_gate
from harness.types.codes import Outcome
from harness.types.gates import UNLESS_SAID, Gate, GrowthRule, PassRateRule, Quarantine
from harness.types.records import Comparison
from harness.types.review import Rule, Severity
from tests.gates.lab import compared, judged, only, result, run, suite

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR
OPEN, INVALID = Outcome.INCONCLUSIVE, Outcome.INVALID
FOUR = suite(4)
ALL_PASS = Gate(exact=tuple((rule, Severity.PASS) for rule in UNLESS_SAID))
ALL_WARN = Gate(exact=tuple((rule, Severity.WARN) for rule in UNLESS_SAID))
EVERYTHING = Quarantine("*", "2026-12-31", "x", tuple(Rule))

STALE: dict[str, Any] = {"stale": True}
FAILS, ERRORS, OPENS, NOTHING = (
    {"fails": ("answer",)},
    {"errors": ("endpoint",)},
    {"open": ("answer",)},
    {"outcome": INVALID},
)


@pytest.mark.parametrize(
    ("broken", "outcome", "code"),
    [
        pytest.param([], PASS, 0, id="nothing"),
        pytest.param([OPENS], OPEN, 3, id="not-decided"),
        pytest.param([NOTHING, OPENS], INVALID, 4, id="nothing-judged-before-not-decided"),
        pytest.param([ERRORS, NOTHING, OPENS], ERROR, 5, id="error-before-those"),
        pytest.param([ERRORS, NOTHING, FAILS, OPENS], FAIL, 1, id="failure-before-all"),
    ],
)
def test_one_comes_before_five_before_four_before_three(
    broken: list[dict[str, Any]], outcome: Outcome, code: int
) -> None:
    candidate = [
        run(one.scenario, **broken[place]) if place < len(broken) else one for place, one in enumerate(suite(5))
    ]
    verdict = judged(compared(suite(5), candidate))
    assert verdict.outcome is outcome
    assert EXIT_CODES[verdict.outcome] == code
    assert (verdict.rule is Rule.CHECKS) is bool(broken)


def test_the_rule_that_is_named_is_the_first_that_gives_the_verdict() -> None:
    candidate = [run("s000", how="other", fails=("pairing",)), *FOUR[1:3]]
    verdict = judged(compared(FOUR, candidate))
    assert (verdict.outcome, verdict.rule) == (FAIL, Rule.PAIRING)
    assert verdict.text == "pairing: 1 scenario breaks the pairing of calls and results more often (pairing)"
    broken = [one.rule for one in verdict.results if one.outcome is FAIL]
    assert broken == [Rule.PAIRING, Rule.MISSING, Rule.BEHAVIOUR]


@pytest.mark.parametrize(
    "gate",
    [
        pytest.param(ALL_PASS, id="every-rule-passes"),
        pytest.param(ALL_WARN, id="every-rule-warns"),
        pytest.param(Gate(quarantine=(EVERYTHING,)), id="all-in-quarantine"),
        pytest.param(replace(ALL_PASS, pass_rate=PassRateRule(0.05)), id="too-few-for-its-only-rule"),
        pytest.param(replace(ALL_PASS, growth=(GrowthRule(Rule.COST, 0.1),)), id="nothing-known-for-its-only-rule"),
        pytest.param(
            replace(ALL_PASS, pass_rate=PassRateRule(0.05, severity=Severity.WARN)), id="statistics-that-warn"
        ),
        pytest.param(only(Rule.NEW), id="nothing-new-for-its-only-rule"),
    ],
)
@pytest.mark.parametrize("how", [{}, {"fails": ("answer",)}, {"how": "other"}], ids=["equal", "failing", "other"])
def test_a_gate_that_cannot_fail_is_invalid(gate: Gate, how: dict[str, Any]) -> None:
    verdict = judged(compared(FOUR, [run(one.scenario, **how) for one in FOUR]), gate)
    assert verdict.outcome is INVALID
    assert verdict.text.startswith("the gate cannot fail")
    assert EXIT_CODES[verdict.outcome] == 4


@pytest.mark.parametrize(
    ("gate", "why"),
    [
        pytest.param(ALL_PASS, ": every rule that it asks only warns or passes", id="nothing-asked"),
        pytest.param(
            replace(ALL_PASS, pass_rate=PassRateRule(0.05, severity=Severity.WARN)),
            ": every rule that it asks only warns or passes",
            id="only-warns",
        ),
        pytest.param(
            replace(ALL_PASS, pass_rate=PassRateRule(0.05)),
            " here: no rule that fails has anything to judge (pass-rate: 4 scenarios, and an interval takes 8)",
            id="too-few-scenarios",
        ),
        pytest.param(
            replace(ALL_PASS, growth=(GrowthRule(Rule.STEPS, 0.1), GrowthRule(Rule.COST, 0.1, severity=Severity.WARN))),
            " here: no rule that fails has anything to judge (steps: 4 scenarios with known steps, and an interval takes 8)",
            id="too-few-scenarios-for-a-growth",
        ),
        pytest.param(
            only(Rule.NEW), " here: no rule that fails has anything to judge (new: nothing to ask)", id="nothing-new"
        ),
        pytest.param(
            replace(only(Rule.CHECKS), quarantine=(EVERYTHING,)),
            " here: no rule that fails has anything to judge (checks: 4 in quarantine)",
            id="all-held-back",
        ),
    ],
)
def test_a_gate_that_cannot_fail_says_why(gate: Gate, why: str) -> None:
    assert judged(compared(FOUR, FOUR), gate).text.endswith(why)


RUNS_ONLY = replace(EVERYTHING, rules=())


@pytest.mark.parametrize("how", [{}, {"fails": ("answer",)}, {"how": "other"}], ids=["equal", "failing", "other"])
def test_that_all_scenarios_are_there_is_no_judgement_where_each_is_held_back_from_the_rest(how: dict[str, Any]) -> None:
    changed = [run(one.scenario, **how) for one in FOUR]
    verdict = judged(compared(FOUR, changed), Gate(quarantine=(RUNS_ONLY,)))
    assert verdict.outcome is INVALID
    assert verdict.text.startswith("nothing is judged: every scenario is held back from the rules that judge runs (checks, ")
    each = tuple(replace(RUNS_ONLY, scenario=one.scenario) for one in FOUR)
    assert judged(compared([*FOUR, run("z")], [*changed, run("z")]), Gate(quarantine=each)).outcome is PASS
    missing = judged(compared([*FOUR, run("z")], changed), Gate(quarantine=(RUNS_ONLY,)))
    assert missing.outcome is FAIL, "what is missing is no flake"


@pytest.mark.parametrize("rule", [rule for rule in UNLESS_SAID if rule is not Rule.NEW])
def test_one_rule_that_can_fail_is_enough_for_a_gate(rule: Rule) -> None:
    assert judged(compared(FOUR, FOUR), only(rule)).outcome is PASS


def test_a_statistical_rule_that_can_fail_is_enough_for_a_gate() -> None:
    runs = suite(100)
    assert judged(compared(runs, runs), replace(ALL_PASS, pass_rate=PassRateRule(0.05))).outcome is PASS


GATES = [
    pytest.param(Gate(), id="empty"),
    pytest.param(ALL_WARN, id="warns"),
    pytest.param(only(Rule.BEHAVIOUR), id="behaviour"),
    pytest.param(Gate(inconclusive_exact=Severity.PASS), id="lenient"),
    pytest.param(Gate(quarantine=(EVERYTHING,)), id="quarantine"),
]


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize(
    ("base", "candidate"),
    [
        pytest.param([], FOUR, id="only-new-ones"),
        pytest.param(FOUR, [run(one.scenario, errors=("endpoint",)) for one in FOUR], id="all-errored"),
        pytest.param([run(one.scenario, errors=("endpoint",)) for one in FOUR], [run(one.scenario, errors=("endpoint",)) for one in FOUR], id="all-errored-on-both-sides"),
        pytest.param([run(one.scenario, stale=True) for one in FOUR], [run(one.scenario, stale=True) for one in FOUR], id="all-out-of-date-on-both-sides"),
        pytest.param(FOUR[:2], FOUR[2:], id="nothing-on-both-sides"),
    ],
)  # fmt: skip
def test_where_nothing_is_known_no_gate_passes(gate: Gate, base: list[Any], candidate: list[Any]) -> None:
    """INVARIANTS 31: nothing ran, nothing matched, or everything skipped is not exit code 0."""
    verdict = judged(compared(base, candidate), gate, inconclusive=Severity.PASS)
    assert verdict.outcome is not PASS
    assert EXIT_CODES[verdict.outcome] != 0


@pytest.mark.parametrize(
    ("candidate", "about", "outcome"),
    [
        pytest.param(FOUR, 0, PASS, id="equal"),
        pytest.param([run(one.scenario, errors=("endpoint",)) for one in FOUR], 0, ERROR, id="all-errored"),
        pytest.param(FOUR, 3, FAIL, id="not-all-were-run"),
    ],
)
def test_without_a_gate_no_difference_is_nothing_where_nothing_ran(
    candidate: list[Any], about: int, outcome: Outcome
) -> None:
    base = candidate if outcome is ERROR else FOUR
    assert without_gate(compared(base, candidate, (About(), About(0, about)))).outcome is outcome


@pytest.mark.parametrize(
    ("candidate", "outcome"),
    [
        pytest.param([{"errors": ("endpoint",)}, {"errors": ("endpoint",)}], ERROR, id="in-one-check"),
        pytest.param([{"errors": ("endpoint",)}, {"errors": ("recorder",)}], ERROR, id="in-two-checks"),
        pytest.param([{"errors": ("endpoint",)}, {"outcome": ERROR}], ERROR, id="without-a-verdict"),
        pytest.param([{"errors": ("endpoint",)}, {"stale": True}], ERROR, id="and-a-recording-out-of-date"),
        pytest.param([{"errors": ("endpoint", "recorder")}, {}], FAIL, id="in-two-checks-of-one-trial"),
    ],
)
def test_a_candidate_errored_where_each_of_its_trials_did_in_whatever_check(
    candidate: list[dict[str, Any]], outcome: Outcome
) -> None:
    runs = [run("a", trial, **{"how": "other", **given}) for trial, given in enumerate(candidate, 1)]
    assert without_gate(compared([run("a", 1), run("a", 2)], runs)).outcome is outcome


@pytest.mark.parametrize(
    ("gate", "override", "outcome"),
    [
        pytest.param(Gate(), None, OPEN, id="fails-unless-said"),
        pytest.param(Gate(inconclusive_exact=Severity.WARN), None, PASS, id="the-gate-says-warn"),
        pytest.param(Gate(inconclusive_exact=Severity.WARN), Severity.FAIL, OPEN, id="the-option-says-fail"),
        pytest.param(Gate(), Severity.WARN, PASS, id="the-option-says-warn"),
        pytest.param(Gate(), Severity.PASS, PASS, id="the-option-says-pass"),
    ],
)
def test_what_becomes_of_an_exact_rule_that_is_not_decided(
    gate: Gate, override: Severity | None, outcome: Outcome
) -> None:
    candidate = [run("s000", open=("answer",)), *FOUR[1:]]
    verdict = judged(compared(FOUR, candidate), gate, inconclusive=override)
    assert verdict.outcome is outcome
    assert result(verdict, Rule.CHECKS).outcome is OPEN


# ---------------------------------------------------------------- laws

HOW = st.sampled_from(
    [{}, {"fails": ("answer",)}, {"fails": ("pairing",)}, {"fails": ("cancel_settled",)}, {"errors": ("endpoint",)},
     {"open": ("answer",)}, {"stale": True}, {"how": "other"}, {"how": "details"}, {"how": "setup"}, {"outcome": INVALID}]
)  # fmt: skip
SIDE = st.dictionaries(
    st.sampled_from([f"s{i:03}" for i in range(12)]), st.lists(HOW, min_size=1, max_size=3), min_size=8
)
SEVERITY = st.sampled_from(list(Severity))
RULES = st.builds(
    Gate,
    exact=st.tuples(*(st.tuples(st.just(rule), SEVERITY) for rule in UNLESS_SAID)),
    pass_rate=st.none() | st.builds(PassRateRule, st.sampled_from([0.05, 0.3, 0.9])),
    growth=st.just(()) | st.just((GrowthRule(Rule.STEPS, 0.1), GrowthRule(Rule.TOKENS, 0.5))),
    inconclusive_exact=SEVERITY,
    inconclusive_statistical=SEVERITY,
    quarantine=st.just(())
    | st.just((Quarantine("s00[0-2]", "2026-12-31", "x"), Quarantine("s003", "2026-01-01", "x"))),
)


def side(told: dict[str, list[dict[str, Any]]]) -> list[Any]:
    return [run(name, trial, **how) for name, trials in told.items() for trial, how in enumerate(trials, 1)]


@settings(max_examples=60)
@given(SIDE, SIDE, RULES, st.randoms(use_true_random=False))
def test_the_order_of_scenarios_plays_no_part(
    base: dict[str, Any], candidate: dict[str, Any], gate: Gate, chance: random.Random
) -> None:
    comparison = compared(side(base), side(candidate))
    rows = list(comparison.scenarios)
    chance.shuffle(rows)
    assert judged(replace(comparison, scenarios=tuple(rows)), gate) == judged(comparison, gate)


@given(SIDE, SIDE, RULES, st.sampled_from(["answer", "pairing", "cancel_settled"]), st.integers(0, 100))
def test_one_more_failure_never_makes_it_pass(
    base: dict[str, Any], candidate: dict[str, Any], gate: Gate, check: str, place: int
) -> None:
    names = sorted(candidate)
    name = names[place % len(names)]
    trial = place % len(candidate[name])
    worse = {**candidate, name: [
        {**how, "fails": (*how.get("fails", ()), check), "outcome": None} if at == trial and check not in how.get("fails", ()) else how
        for at, how in enumerate(candidate[name])
    ]}  # fmt: skip
    before, after = judged(compared(side(base), side(candidate)), gate), judged(compared(side(base), side(worse)), gate)
    if before.outcome is FAIL:
        assert after.outcome is not PASS


@settings(max_examples=50)
@given(SIDE, SIDE, RULES)
def test_a_gate_is_never_green_where_a_rule_that_fails_is_broken(
    base: dict[str, Any], candidate: dict[str, Any], gate: Gate
) -> None:
    verdict = judged(compared(side(base), side(candidate)), gate)
    broken = [one for one in verdict.results if one.severity is Severity.FAIL and one.outcome is FAIL]
    assert (verdict.outcome is FAIL) is bool(broken)
    if verdict.outcome is PASS:
        assert not [
            one
            for one in verdict.results
            if one.severity is Severity.FAIL and one.outcome not in (PASS, Outcome.NOT_APPLICABLE)
        ]


@settings(max_examples=60)
@given(SIDE, RULES)
def test_a_branch_without_a_change_never_fails(told: dict[str, Any], gate: Gate) -> None:
    comparison: Comparison = compared(side(told), side(told))
    assert judged(comparison, gate).outcome is not FAIL


@pytest.mark.parametrize(
    ("base", "candidate", "outcome", "why"),
    [
        pytest.param([ERRORS], [ERRORS], ERROR, "in 1 scenario the candidate came to an error", id="on-both-sides"),
        pytest.param([ERRORS], [{}], FAIL, "every difference fails", id="no-more"),
        pytest.param([{}], [ERRORS], FAIL, "every difference fails", id="now"),
        pytest.param([{}] * 4, [ERRORS] * 4, ERROR, "no run of the candidate came to anything but an error", id="all-now"),
        pytest.param([ERRORS] * 4, [ERRORS] * 4, ERROR, "no run of the candidate came to anything", id="all-as-before"),
        pytest.param([STALE], [STALE], OPEN, "1 recording is out of date on both sides", id="recordings"),
        pytest.param([STALE, ERRORS], [STALE, ERRORS], ERROR, "in 1 scenario", id="an-error-before-a-recording"),
        pytest.param([FAILS], [FAILS], PASS, "no difference", id="a-failure-as-before-is-no-error"),
    ],
)
def test_without_a_gate_nothing_passes_of_which_an_error_kept_all_from_knowing(
    base: list[dict[str, Any]], candidate: list[dict[str, Any]], outcome: Outcome, why: str
) -> None:
    sides = [[run(f"s{i:03}", **(how[i] if i < len(how) else {})) for i in range(4)] for how in (base, candidate)]
    verdict = without_gate(compared(*sides))
    assert verdict.outcome is outcome
    assert why in verdict.text
    missing = without_gate(compared([*sides[0], run("gone")], sides[1]))
    assert missing.outcome is FAIL
