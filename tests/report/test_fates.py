"""What a verdict makes of each scenario is one thing for every report, and adds up to the verdict."""

from __future__ import annotations

import dataclasses
import re
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.compare import About
from harness.folds import row_name
from harness.report import Verbosity, comparison_markdown, comparison_text
from harness.report.annotations import annotation_commands
from harness.report.fates import Fate, beside_rows, is_told, rows_of, shown_name, worst_first
from harness.report.html.rows import by_interest
from harness.report.junit import junit_xml
from harness.types.codes import Change, Outcome
from harness.types.gates import Gate, Quarantine
from harness.types.records import Unpassed
from harness.types.review import GateSource, GateVerdict, Held, Quarantined, Review, Rule, RuleResult, Severity
from tests.gates.lab import compared, only, run
from tests.gates.lab import judged as by_gate
from tests.report.reviews import COMPARISON, FAIL, GATED, PASS, ROWS, UNGATED, row

FATES = {
    "shop/worse": Fate.FAILED, "shop/changed": Fate.WARNED, "shop/held": Fate.HELD, "gone": Fate.PASSED,
    "a/b/fresh": Fate.FAILED, "fresh": Fate.PASSED, "shop/better": Fate.PASSED, "shop/broken": Fate.ERRORED,
    "shop/same": Fate.PASSED, "shop/undecided": Fate.UNDECIDED,
}  # fmt: skip


def fates(review: Review) -> dict[str, Fate]:
    return {shown_name(found.scenario): found.fate for found in rows_of(review)}


def judged(*results: RuleResult, outcome: Outcome = FAIL, quarantine: tuple[Quarantined, ...] = ()) -> Review:
    verdict = GateVerdict(outcome, "told", results=results, quarantine=quarantine, source=GateSource.FILE)
    return dataclasses.replace(GATED, verdict=verdict)


def test_a_gate_says_which_fail_which_are_warned_of_and_which_are_held() -> None:
    assert fates(GATED) == FATES


def test_without_a_gate_every_difference_fails_and_new_ones_where_they_do_not_pass() -> None:
    failing = [name for name, fate in fates(UNGATED).items() if fate in (Fate.FAILED, Fate.ERRORED)]
    assert failing == ["shop/worse", "shop/changed", "shop/held", "gone", "a/b/fresh", "shop/better", "shop/broken"]


@pytest.mark.parametrize(
    ("found", "fate"),
    [
        pytest.param(Unpassed("endpoint", Outcome.ERROR, 1, 1), Fate.ERRORED, id="an-error-on-both-sides"),
        pytest.param(Unpassed("endpoint", Outcome.ERROR, 1, 0), Fate.PASSED, id="an-error-of-the-base"),
        pytest.param(Unpassed("cassette", FAIL, 1, 1, stale=True), Fate.UNDECIDED, id="out-of-date-on-both-sides"),
        pytest.param(Unpassed("answer", FAIL, 1, 1), Fate.PASSED, id="a-failure-as-before"),
    ],
)
def test_without_a_gate_the_same_outcome_on_both_sides_passes_where_it_says_something(found: Unpassed, fate: Fate) -> None:
    same = dataclasses.replace(row("a", Change.SAME, candidate=PASS), unpassed=(found,))
    review = dataclasses.replace(UNGATED, comparison=dataclasses.replace(COMPARISON, scenarios=(same,)))
    assert fates(review) == {"a": fate}


def test_a_new_gate_that_does_not_judge_leaves_every_difference_to_fail() -> None:
    review = dataclasses.replace(UNGATED, verdict=dataclasses.replace(UNGATED.verdict, source=GateSource.MERGE_BASE))
    assert fates(review) == fates(UNGATED)


HELD_IN = (Held("shop/held", (Rule.BEHAVIOUR,)),)


@pytest.mark.parametrize(
    ("entry", "fate"),
    [
        pytest.param(Quarantined("shop/h*", "2026-12-31", "flaky", held_scenarios=HELD_IN), Fate.HELD, id="held-it"),
        pytest.param(Quarantined("shop/held", "2026-12-31", "flaky", held=("behaviour",)), Fate.PASSED, id="named-and-not-held"),
        pytest.param(Quarantined("shop/*", "2026-12-31", "flaky", held_scenarios=(Held("shop/worse", (Rule.CHECKS,)),)), Fate.PASSED, id="held-another"),
    ],
)
def test_a_scenario_is_held_where_an_entry_kept_it_from_failing(entry: Quarantined, fate: Fate) -> None:
    assert fates(judged(RuleResult(Rule.NEW, PASS, Severity.FAIL), quarantine=(entry,)))["shop/held"] is fate


def test_a_row_is_held_by_the_rules_that_it_would_have_broken_and_by_no_others() -> None:
    """A pattern names all four; one would have failed by its checks, one by its behaviour, and two by nothing."""
    base = [run(f"shop/{name}") for name in ("changed", "fine", "flake", "other")]
    candidate = [base[0], base[1], run("shop/flake", fails=("answer",)), run("shop/other", how="other")]
    gate = Gate(quarantine=(Quarantine("shop/*", "2026-12-31", "weather"),))
    comparison = compared([run("steady"), *base], [run("steady"), *candidate])
    found = {row_name(row.scenario): (row.fate, row.held) for row in rows_of(Review(comparison, by_gate(comparison, gate)))}
    assert found == {
        "shop/changed": (Fate.PASSED, ()),
        "shop/fine": (Fate.PASSED, ()),
        "shop/flake": (Fate.HELD, (Rule.CHECKS,)),
        "shop/other": (Fate.HELD, (Rule.BEHAVIOUR,)),
        "steady": (Fate.PASSED, ()),
    }


def test_what_changed_under_a_rule_that_nobody_asks_is_not_held() -> None:
    base = [run("shop/changed"), run("shop/flake"), run("steady")]
    candidate = [run("shop/changed", how="other"), run("shop/flake", fails=("answer",)), run("steady")]
    comparison = compared(base, candidate)
    review = Review(comparison, by_gate(comparison, only(Rule.CHECKS, quarantine=(Quarantine("shop/*", "2026-12-31", "weather"),))))
    assert fates(review) == {"shop/changed": Fate.PASSED, "shop/flake": Fate.HELD, "steady": Fate.PASSED}


def test_planned_runs_that_were_not_run_are_told_beside_the_scenarios_that_break_the_same_rule() -> None:
    comparison = compared([run("gone"), run("a")], [run("a")], about=(About(), About(n_not_run=3)))
    review = Review(comparison, by_gate(comparison, Gate()))
    told = "3 planned runs of the candidate were not run"
    assert list(beside_rows(review, rows_of(review))) == [("missing", FAIL, told)]
    assert f"::error title=harness compare%3A missing::{told}" in annotation_commands(review)
    cases = Xml.fromstring(junit_xml(review)).iter("testcase")
    assert [case.get("name") for case in cases if case.find("failure") is not None] == ["gone", "missing"]


def test_what_the_base_did_not_run_either_is_no_failure_beside_those_that_are() -> None:
    comparison = compared([run("gone"), run("a")], [run("a")], about=(About(n_not_run=3), About(n_not_run=3)))
    review = Review(comparison, by_gate(comparison, Gate()))
    assert review.outcome is FAIL
    assert list(beside_rows(review, rows_of(review))) == []


def test_what_breaks_a_rule_fails_although_another_rule_only_warns_of_it() -> None:
    both = judged(
        RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, "", ("shop/worse",), 1),
        RuleResult(Rule.BEHAVIOUR, FAIL, Severity.WARN, "", ("shop/worse",), 1),
    )
    (found,) = [found for found in rows_of(both) if found.scenario is ROWS[0]]
    assert (found.fate, found.broken, found.warned) == (Fate.FAILED, (Rule.CHECKS,), (Rule.BEHAVIOUR,))


@pytest.mark.parametrize("outcome", [FAIL, Outcome.INCONCLUSIVE, Outcome.INVALID, Outcome.ERROR])
def test_a_rule_over_all_scenarios_is_told_beside_them(outcome: Outcome) -> None:
    review = judged(RuleResult(Rule.COST, outcome, Severity.FAIL, "cost + 10 %"), outcome=outcome)
    assert list(beside_rows(review, rows_of(review))) == [("cost", outcome, "cost + 10 %")]


def test_a_rule_whose_scenarios_are_not_all_here_is_told_beside_them() -> None:
    review = judged(RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, "200 fail", ("shop/worse",), 200))
    assert list(beside_rows(review, rows_of(review))) == [("checks", FAIL, "200 fail")]


def test_a_verdict_that_no_rule_gave_is_told_as_itself() -> None:
    same = dataclasses.replace(COMPARISON, scenarios=(row("a", "same", candidate=PASS),))
    review = Review(same, GateVerdict(Outcome.INVALID, "the gate cannot fail"))
    assert list(beside_rows(review, rows_of(review))) == [("verdict", Outcome.INVALID, "the gate cannot fail")]


RESULTS = st.builds(
    RuleResult,
    st.sampled_from(Rule),
    st.sampled_from([PASS, FAIL, Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.ERROR, Outcome.INVALID]),
    st.sampled_from(Severity),
    scenarios=st.lists(st.sampled_from([*FATES, "elsewhere"]), max_size=3, unique=True).map(tuple),
    n_scenarios=st.integers(0, 4),
)


@given(st.lists(RESULTS, max_size=5))
def test_every_list_of_what_fails_holds_something_exactly_where_a_rule_fails(results: list[RuleResult]) -> None:
    failing = [one for one in results if one.severity is Severity.FAIL and one.outcome not in (PASS, Outcome.NOT_APPLICABLE)]
    review = judged(RuleResult(Rule.NEW, PASS, Severity.FAIL), *results, outcome=failing[0].outcome if failing else PASS)
    rows = rows_of(review)
    assert bool(failing) == (any(found.fails for found in rows) or bool([*beside_rows(review, rows)]))


def test_what_fails_comes_first_and_of_that_the_worst_change() -> None:
    names = [shown_name(found.scenario) for found in worst_first(rows_of(GATED))]
    assert names[:4] == ["shop/worse", "shop/broken", "a/b/fresh", "gone"]
    assert names[-4:] == ["shop/better", "shop/undecided", "fresh", "shop/same"]


def test_the_terminal_the_comment_and_the_page_name_the_same_rows_in_one_order() -> None:
    """Of which one is the same on both sides, and fails: it errored."""
    errored = row("shop/erred", "same", base=Outcome.ERROR, candidate=Outcome.ERROR)
    errored = dataclasses.replace(errored, unpassed=(Unpassed("endpoint", Outcome.ERROR, 1, 1),))
    rows = tuple(sorted((*ROWS, errored), key=row_name))
    review = dataclasses.replace(UNGATED, comparison=dataclasses.replace(COMPARISON, scenarios=rows))
    wanted = [shown_name(found.scenario) for found in worst_first(rows_of(review)) if is_told(found)]
    assert "shop/erred" in wanted[:8]
    text = comparison_text(review, verbosity=Verbosity.VERBOSE)
    assert re.findall(r"^(?:worse|missing|changed|better|new|same) +(\S+)", text, re.MULTILINE) == wanted
    page = comparison_markdown(review)
    assert re.findall(r"^- (?:worse|missing|changed|better|new|same) `(\S+)`", page, re.MULTILINE) == wanted
    assert "more that changed or fail" in page
    assert "#### All that changed or fail" in page
    assert [one.get("title") for one in errors_of(review)] == [f"{name}: {change}" for name, change in titles(review)]
    html = [shown_name(found.scenario) for found in by_interest(review) if is_told(found)]
    assert html == wanted


def errors_of(review: Review) -> list[dict[str, str]]:
    return [{"title": re.sub(r".*title=([^:,]*)::.*", r"\1", line).replace("%3A", ":")} for line in annotation_commands(review).splitlines()]


def titles(review: Review) -> list[tuple[str, str]]:
    rows = [found.scenario for found in worst_first(rows_of(review)) if found.fails]
    return [(shown_name(found), found.change) for found in rows]
