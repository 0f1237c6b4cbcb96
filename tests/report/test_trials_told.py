"""What fails in a trial that is not shown is told by every report: rules judge all trials, and so do reports."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from harness.compare import compare_runs
from harness.gates import judge, without_gate
from harness.report import comparison_markdown, comparison_text
from harness.report.annotations import annotation_commands
from harness.report.comparison_frame import comparison_frame
from harness.report.fates import Fate, rows_of
from harness.report.html.rows import row_plain
from harness.report.junit import junit_xml
from harness.report.text import Verbosity
from harness.types.codes import Change, Outcome
from harness.types.gates import Gate
from harness.types.records import Comparison, Finding, RunSummary, Verdict
from harness.types.review import GateVerdict, Review, Rule, Severity
from tests.compare.made import refund_run, summary
from tests.gates.lab import only

PASS, FAIL, ERROR, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE
WHY = "connection refused"
RUN = refund_run()
OTHER = refund_run(answers=(([("cancel_order", '{"order":7}')], None), ([], "Done.")))


def trial(n: int, *bad: tuple[str, Outcome], how: str = "same", scenario: str = "a") -> RunSummary:
    verdicts = tuple(Verdict(check, outcome, (Finding(check, WHY),)) for check, outcome in bad)
    outcome = min((one for _, one in bad), key=(FAIL, ERROR, OPEN).index, default=PASS)
    return summary(scenario, outcome, trial=n, run_id=f"{scenario}@default#{n}", verdicts=verdicts, file=how)


def compared(base: list[RunSummary], candidate: list[RunSummary]) -> Comparison:
    return compare_runs(base, candidate, lambda _, run: OTHER if run.file == "other" else RUN)


ENDPOINT = ("endpoint", ERROR)
SAME = [trial(1), trial(2, ENDPOINT)]
"""The shown pair is the first trial, which passes on both sides."""
TWICE = compared(SAME, SAME)


def judged(comparison: Comparison, gate: Gate | None) -> Review:
    verdict: GateVerdict = without_gate(comparison) if gate is None else judge(comparison, gate, today="2026-11-30")
    return Review(comparison, verdict, "harness compare a b")


BOTH_WAYS = pytest.mark.parametrize("gate", [None, Gate()], ids=["without-a-gate", "with-a-gate"])


@BOTH_WAYS
def test_a_trial_that_errored_and_is_not_shown_is_told_by_every_report(gate: Gate | None) -> None:
    review = judged(TWICE, gate)
    told = "ERROR endpoint in 1 of 2 trials"
    (row,) = rows_of(review)
    assert (review.outcome, row.scenario.change, row.scenario.candidate) == (ERROR, Change.SAME, SAME[0])
    assert row.fate is Fate.ERRORED
    assert f"same     a  (no difference; {told})" in comparison_text(review)
    assert f"no difference; {told}" in comparison_markdown(review)
    assert f"{told} (base: 1 of 2)" in comparison_text(review, verbosity=Verbosity.VERBOSE)
    assert told in annotation_commands(review)
    assert comparison_frame(review)["unpassed"].tolist() == [[told]]
    assert row_plain(row, 200)["failing"] == ["endpoint"]
    case = Xml.fromstring(junit_xml(review)).find(".//testcase")
    assert case is not None
    error = case.find("error")
    assert error is not None
    assert error.get("message", "").startswith(told)
    assert f"{told} (base: 1 of 2)" in (error.text or "")


@pytest.mark.parametrize(
    ("base", "candidate", "gate", "fate"),
    [
        pytest.param([trial(1), trial(2)], [trial(1, how="other"), trial(2, ENDPOINT)], None, Fate.FAILED, id="behaves-otherwise-too"),
        pytest.param([trial(1), trial(2)], [trial(1), trial(2, ENDPOINT)], None, Fate.ERRORED, id="worse-by-an-error"),
        pytest.param([trial(1), trial(2)], [trial(1, ("answer", FAIL)), trial(2, ENDPOINT)], None, Fate.FAILED, id="a-check-fails-too"),
        pytest.param(SAME, [trial(1, ("answer", FAIL)), trial(2, ENDPOINT)], Gate(), Fate.FAILED, id="gated-a-check-fails-too"),
        pytest.param([trial(1), trial(2)], [trial(1), trial(2, ENDPOINT)], Gate(), Fate.ERRORED, id="gated-worse-by-an-error"),
        pytest.param([trial(1), trial(2, ("x", OPEN))], [trial(1), trial(2, ("x", OPEN))], None, Fate.UNDECIDED, id="one-is-open"),
        pytest.param([trial(1, ("x", FAIL)), trial(2, ("x", OPEN))], [trial(1, ("x", FAIL)), trial(2, ("x", OPEN))], None, Fate.PASSED, id="one-fails-as-before"),
    ],
)  # fmt: skip
def test_the_fate_is_that_of_all_trials(base: list[RunSummary], candidate: list[RunSummary], gate: Gate | None, fate: Fate) -> None:
    (row,) = rows_of(judged(compared(base, candidate), gate))
    assert row.fate is fate


def test_one_scenario_fails_and_another_errors_by_the_same_rule() -> None:
    base = [trial(1), trial(1, scenario="b")]
    comparison = compared(base, [trial(1, ENDPOINT), trial(1, ("answer", FAIL), scenario="b")])
    review = judged(comparison, only(Rule.CHECKS, Severity.FAIL))
    assert review.outcome is FAIL
    assert [row.fate for row in rows_of(review)] == [Fate.ERRORED, Fate.FAILED]


@pytest.mark.parametrize(
    ("bad", "remark"),
    [
        pytest.param((), "no difference, PASS on both sides", id="passes"),
        pytest.param((ENDPOINT,), "no difference, ERROR on both sides (endpoint)", id="a-single-trial"),
    ],
)
def test_a_single_trial_is_told_by_its_outcome(bad: Any, remark: str) -> None:
    from harness.report.comparison import change_line

    runs = [trial(1, *bad)]
    assert change_line(compared(runs, runs).scenarios[0]).remark == remark
