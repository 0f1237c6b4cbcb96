"""The first screen with a gate: the rule, both revisions, what moved, what only warns, what is held back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from harness.report import Verbosity, comparison_markdown, comparison_text
from harness.report.junit import junit_xml
from harness.report.verdict_words import (
    aside_text,
    gate_text,
    goal_posts_text,
    quarantine_lines,
    revision_text,
    rule_lines,
    verdict_text,
    warning_lines,
)
from harness.runner.review.reviewing import NEW_GATE, GateText, ReviewOptions, verdict_on
from harness.types.codes import Outcome
from harness.types.gates import UNLESS_SAID, Gate, PassRateRule, Quarantine
from harness.types.records import Measure
from harness.types.review import (
    GateSource,
    GateVerdict,
    GoalPost,
    PostKind,
    Quarantined,
    Review,
    Revision,
    Rule,
    RuleResult,
    Severity,
)
from tests.gates.lab import compared, judged, run
from tests.report.nasty import NASTY

FAIL, PASS, OPEN = Outcome.FAIL, Outcome.PASS, Outcome.INCONCLUSIVE
COMMAND = "harness compare runs/main runs/branch --gate gate.yaml"
WARN = Gate(exact=tuple({**UNLESS_SAID, Rule.BEHAVIOUR: Severity.WARN}.items()), pass_rate=PassRateRule(0.05))
MOVED = (
    *(GoalPost(PostKind.BASELINE, f"b{n}") for n in range(3)),
    *(GoalPost(PostKind.CASSETTE, f"c{n}") for n in range(12)),
    GoalPost(PostKind.LIMIT, "s.yaml", "limits.max_steps: 10 → 40"),
)


def reviewed(gate: Gate = WARN, *, n_worse: int = 1, n_other: int = 2, **given: Any) -> Review:
    base = [run(f"s{n:02}") for n in range(20)]
    worse = [run(one.scenario, how="other", fails=("answer",)) for one in base[20 - n_worse :]]
    other = [run(one.scenario, how="other") for one in base[:n_other]]
    comparison = replace(
        compared(base, [*other, *base[n_other : 20 - n_worse], *worse]), base="runs/main", candidate="runs/branch"
    )
    verdict = replace(judged(comparison, gate), source=GateSource.FILE, file="gate.yaml")
    return Review(comparison, verdict, COMMAND, **given)


def test_the_whole_screen() -> None:
    gate = replace(
        WARN, quarantine=(Quarantine("s00", "2026-12-31", "issue 12"), Quarantine("s01", "2026-01-01", "old"))
    )
    review = reviewed(
        gate,
        n_other=3,
        base_revision=Revision("1f2e3d4c5b6a7f", "main"),
        candidate_revision=Revision("9a8b7c6d5e4f3a", "branch", dirty=True),
        goal_posts=MOVED,
    )
    review = replace(review, comparison=replace(review.comparison, cost=Measure(4_210, 4_180, 20, 90)))
    assert comparison_text(review).split("\n") == [
        "FAIL  checks: 1 scenario fails a check more often than in the base (answer); 1 in quarantine: 16 same, 1 worse, 0 missing, 3 changed, 0 better, 0 new",
        "base       runs/main  1f2e3d4c5b (main)  20 planned = 20 passed + 0 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date  model scripted  subject built-in",
        "candidate  runs/branch  9a8b7c6d5e (branch) with uncommitted changes  20 planned = 19 passed + 1 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date  model scripted  subject built-in",
        "moved: this change edits 3 baselines, 12 cassettes, 1 limit",
        'worse    s19  step 2: refund(order=7, why="late") → cancel_order(7)  cause: the model chose differently on the same input  (PASS → FAIL)',
        'changed  s00  step 2: refund(order=7, why="late") → cancel_order(7)  cause: the model chose differently on the same input',
        'changed  s01  step 2: refund(order=7, why="late") → cancel_order(7)  cause: the model chose differently on the same input',
        'changed  s02  step 2: refund(order=7, why="late") → cancel_order(7)  cause: the model chose differently on the same input',
        "warning: behaviour: 3 scenarios behave differently (the model chose differently on the same input 3×); 1 in quarantine | pass-rate (not decided): pass rate 100.0 % → 94.7 %, -5.3 points (95 % interval -24.6 to +12.4) over 19 scenarios; at most 5 points are allowed; even without a difference that takes 73 scenarios; 1 in quarantine",
        "quarantine: s00 held back from behaviour, pass-rate until 2026-12-31: issue 12 | s01 is not held back: its last day was 2026-01-01",
        "cost 4210 → 4180 µ$ (-0.7 %, noise ± 2.1 %)   tokens 1320 → 1320 (+0.0 %, noise unknown: one trial each)   latency 240 → 240 ms (+0.0 %, noise unknown: one trial each)",
        f"again: {COMMAND}",
    ]


def test_those_that_break_the_rule_stand_before_those_that_only_changed() -> None:
    only = Gate(exact=tuple((rule, Severity.FAIL if rule is Rule.DETAILS else Severity.PASS) for rule in UNLESS_SAID))
    base = [run(f"s{n}") for n in range(9)]
    candidate = [
        *(run(one.scenario, how="other", fails=("answer",)) for one in base[:7]),
        run("s7"),
        run("s8", how="details"),
    ]
    comparison = compared(base, candidate)
    review = Review(comparison, judged(comparison, only))
    lines = comparison_text(review).split("\n")
    assert lines[3].startswith("changed  s8")
    assert lines[4].startswith("worse    s0")
    assert "and 3 scenarios more that changed (-v lists all)" in lines


def test_a_scenario_that_breaks_a_rule_without_a_difference_is_shown() -> None:
    runs = [run("a", errors=("world",)), run("b")]
    comparison = compared(runs, runs)
    lines = comparison_text(Review(comparison, judged(comparison))).split("\n")
    assert lines[0].startswith("ERROR  checks: 1 errored (world): 2 same")
    assert lines[3] == "same     a  (no difference, ERROR on both sides (world))"


def test_the_first_screen_stays_a_screen_whatever_there_is_to_tell() -> None:
    quarantine = tuple(Quarantine(f"s{n:02}", "2026-12-31", "x" * 500) for n in range(20))
    review = reviewed(
        replace(WARN, quarantine=quarantine[:10]), n_other=10, n_worse=10, goal_posts=MOVED,
        base_revision=Revision("1f2e"), candidate_revision=Revision("9a8b"),
    )  # fmt: skip
    lines = comparison_text(review).split("\n")
    assert len(lines) <= 14
    assert max(map(len, lines)) < 700
    assert lines[-1] == f"again: {COMMAND}"


def test_verbose_lists_all_rules_and_all_of_the_quarantine() -> None:
    review = reviewed(replace(WARN, quarantine=tuple(Quarantine(f"x{n}", "2026-12-31", "y") for n in range(9))))
    lines = comparison_text(review, verbosity=Verbosity.VERBOSE).split("\n")
    assert [line for line in rule_lines(review.verdict) if f"           {line}" not in lines] == []
    assert len(rule_lines(review.verdict)) == 9
    assert sum("is not held back: no scenario here has that name" in line for line in lines) == 9


@pytest.mark.parametrize(
    ("change", "one"),
    [
        pytest.param({}, True, id="nothing"),
        pytest.param({"goal_posts": MOVED}, False, id="goal-posts-moved"),
        pytest.param({"edited": True}, False, id="the-gate-edited"),
    ],
)
def test_it_is_one_line_only_where_nothing_moved_either(change: dict[str, Any], one: bool) -> None:
    review = reviewed(n_worse=0, n_other=0, goal_posts=change.get("goal_posts", ()))
    review = replace(review, verdict=replace(review.verdict, edited=change.get("edited", False)))
    lines = comparison_text(review).split("\n")
    assert (len(lines) == 1) is one
    if one:
        assert lines == ["PASS  20 scenarios, no difference; pass-rate not decided  (runs/main, runs/branch)"]
    else:
        assert lines[0] == "PASS  no rule is broken: 20 same, 0 worse, 0 missing, 0 changed, 0 better, 0 new"
        assert lines[3].startswith("moved: this change edits")


@pytest.mark.parametrize(
    ("posts", "verdict", "text"),
    [
        pytest.param((), {}, "", id="nothing"),
        pytest.param(MOVED[:1], {}, "this change edits 1 baseline", id="one"),
        pytest.param((), {"edited": True}, "this change edits the gate; judged by the gate of the merge base", id="the-gate"),
        pytest.param(
            (*MOVED, GoalPost(PostKind.GATE, "g.yaml")), {"edited": True},
            "this change edits the gate, 3 baselines, 12 cassettes, 1 limit; judged by the gate of the merge base", id="all",
        ),
        pytest.param((), {"edited": True, "note": "the gate is new"}, "this change edits the gate; the gate is new", id="a-new-gate"),
    ],
)  # fmt: skip
def test_what_moved_is_one_line(posts: tuple[GoalPost, ...], verdict: dict[str, Any], text: str) -> None:
    review = reviewed(goal_posts=posts)
    assert goal_posts_text(replace(review, verdict=replace(review.verdict, **verdict))) == text


def test_a_new_gate_did_not_judge_and_no_report_says_that_it_did() -> None:
    """Neither the gate that the change brings nor one of the merge base, where there was none."""
    given = GateText(None, "gate.yaml", GateSource.MERGE_BASE, edited=True)
    comparison = compared([run("a")], [run("a", fails=("answer",))])
    options = ReviewOptions(gate=given)
    review = Review(comparison, verdict_on(comparison, None, options), goal_posts=(GoalPost(PostKind.GATE, "gate.yaml", "new"),))
    assert review.verdict.source is GateSource.NONE
    properties = dict(re.findall(r'<property name="([^"]*)" value="([^"]*)"', junit_xml(review).decode()))
    assert properties["gate"] == "none"
    assert properties["gate.note"] == NEW_GATE
    for said in (comparison_text(review, verbosity=Verbosity.VERBOSE), comparison_markdown(review)):
        assert NEW_GATE.split(";")[0].split(":")[0] in said
        assert "judged by" not in said
        assert "gate of the merge base" not in said


@pytest.mark.parametrize("source", GateSource)
def test_where_no_rule_judged_no_gate_is_named(source: GateSource) -> None:
    assert gate_text(GateVerdict(FAIL, "x", source=source, file="gate.yaml")) == ""


@pytest.mark.parametrize(
    ("revision", "text"),
    [
        pytest.param(Revision(), "", id="nothing-known"),
        pytest.param(Revision(None, "main", dirty=True), "", id="no-commit"),
        pytest.param(Revision("1f2e3d4c5b6a"), "1f2e3d4c5b", id="a-commit"),
        pytest.param(Revision("1f2e", "main", dirty=True), "1f2e (main) with uncommitted changes", id="all"),
    ],
)
def test_a_revision_in_words(revision: Revision, text: str) -> None:
    assert revision_text(revision) == text


def test_the_other_rules_that_would_have_given_the_verdict_are_named() -> None:
    results = (
        RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, "x"),
        RuleResult(Rule.CANCEL, FAIL, Severity.WARN, "x"),
        RuleResult(Rule.STALE, PASS, Severity.FAIL),
        RuleResult(Rule.COST, OPEN, Severity.FAIL, "y"),
    )
    assert verdict_text(GateVerdict(FAIL, "checks: x", Rule.CHECKS, results)) == "checks: x (also: cost)"
    assert warning_lines(GateVerdict(FAIL, "", None, results)) == ["cancel: x"]
    assert aside_text(GateVerdict(FAIL, "", None, results)) == "; cancel broken"


@pytest.mark.public_case("PB-046")
@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
@pytest.mark.parametrize("verbosity", [Verbosity.NORMAL, Verbosity.VERBOSE])
def test_no_text_of_a_gate_adds_a_line(nasty: str, verbosity: Verbosity) -> None:
    clean, dirty = (
        replace(
            reviewed(n_worse=0, n_other=0),
            verdict=GateVerdict(
                FAIL, f"checks: {text}", Rule.CHECKS,
                (RuleResult(Rule.CHECKS, FAIL, Severity.FAIL, text), RuleResult(Rule.COST, OPEN, Severity.WARN, text)),
                (Quarantined(text, "2026-12-31", text, held=("checks",)), Quarantined(text, "2026-12-31", text, remark=text or "x")),
                GateSource.MERGE_BASE, text, True, text,
            ),
            base_revision=Revision(text or "x", text), candidate_revision=Revision(text or "x", text),
        )
        for text in ("plain", nasty)
    )  # fmt: skip
    assert len(comparison_text(dirty, verbosity=verbosity).splitlines()) == len(
        comparison_text(clean, verbosity=verbosity).splitlines()
    )
    for line in (gate_text(dirty.verdict), *rule_lines(dirty.verdict), *quarantine_lines(dirty.verdict)):
        assert len(line.splitlines()) == 1
