"""``harness check`` on many trajectories: totals, a table of checks, what was found."""

import dataclasses
from typing import Any

import pytest

from harness.report import CheckReport, Verbosity, check_report
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.messages import CallId
from harness.types.records import Finding, Verdict
from tests.compare.made import refund_run, with_facts
from tests.report.nasty import NASTY

PASS, FAIL, NOT_APPLICABLE = Outcome.PASS, Outcome.FAIL, Outcome.NOT_APPLICABLE
GOOD = (Verdict("pairing", PASS), Verdict("cancel_requests", NOT_APPLICABLE, why="no cancel"))


def first_line(*runs: Trajectory) -> str:
    return check_report([(run, GOOD) for run in runs]).split("\n")[0]


def without_first_result(run: Trajectory) -> Trajectory:
    seen: list[Any] = []

    def drop(fact: Any) -> Any:
        if isinstance(fact, ToolResult) and not seen:
            return seen.append(fact)
        return fact

    return with_facts(run, drop)


def doubled_result(run: Trajectory) -> Trajectory:
    last = next(event for event in reversed(run.events) if isinstance(event.fact, ToolResult))
    return dataclasses.replace(run, events=(*run.events, dataclasses.replace(last, seq=len(run))))


def one_wire_id(run: Trajectory) -> Trajectory:
    def same(fact: Any) -> Any:
        if not isinstance(fact, AssistantMessage):
            return fact
        calls = tuple(dataclasses.replace(call, wire_id="call_0") for call in fact.tool_calls)
        return dataclasses.replace(fact, tool_calls=calls)

    return with_facts(run, same)


@pytest.mark.parametrize(
    ("runs", "line"),
    [
        pytest.param([refund_run()], "1 trajectory, 3 calls, 3 results, 0 unpaired, 0 reused ids (information)", id="good"),
        pytest.param(
            [refund_run(), without_first_result(refund_run())],
            "2 trajectories, 6 calls, 5 results, 1 unpaired, 0 reused ids (information)",
            id="call-without-result",
        ),
        pytest.param(
            [doubled_result(refund_run())], "1 trajectory, 3 calls, 4 results, 1 unpaired, 0 reused ids (information)", id="result-twice"
        ),
        pytest.param(
            [one_wire_id(refund_run()), one_wire_id(refund_run())],
            "2 trajectories, 6 calls, 6 results, 0 unpaired, 4 reused ids (information)",
            id="one-id-for-all-counts-in-each-run",
        ),
        pytest.param(
            [refund_run(ids=lambda step, n: "")], "1 trajectory, 3 calls, 3 results, 0 unpaired, 0 reused ids (information)", id="empty-ids"
        ),
        pytest.param([], "0 trajectories, 0 calls, 0 results, 0 unpaired, 0 reused ids (information)", id="none"),
    ],
)
def test_calls_results_unpaired_and_reused_ids_are_counted(runs: list[Trajectory], line: str) -> None:
    assert first_line(*runs) == line


def test_the_table_counts_verdicts_by_check_and_leaves_out_what_never_came() -> None:
    bad = (Verdict("pairing", FAIL, (Finding("pairing", "no result", (8,)),)), GOOD[1])
    text = check_report([(refund_run(), GOOD), (refund_run(), bad)])
    assert text.split("\n") == [
        "2 trajectories, 6 calls, 6 results, 0 unpaired, 0 reused ids (information)",
        "",
        "check            pass  fail  not applicable",
        "cancel_requests     0     0               2",
        "pairing             1     1               0",
        "",
        "FAIL  pairing  made",
        "    no result (event 8)",
        "",
        "FAIL  1 of 2 passed",
    ]


def test_nothing_checked_is_never_green() -> None:
    report = CheckReport()
    assert report.outcome is Outcome.INVALID
    assert report.text().endswith("INVALID  nothing was checked: no trajectory was found")


def test_what_was_found_is_cut_and_counted_unless_all_is_asked_for() -> None:
    bad = (Verdict("pairing", FAIL, (Finding("pairing", "no result"),)),)
    short, whole = CheckReport(), CheckReport(verbosity=Verbosity.VERBOSE)
    for n in range(25):
        for report in (short, whole):
            report.add(refund_run(), bad, source=f"file {n}")
    assert "and 5 verdicts more (-v shows all)" in short.text()
    assert "file 24" not in short.text()
    assert "file 24" in whole.text()
    assert short.outcome is FAIL


def test_information_beside_a_pass_is_shown_when_verbose() -> None:
    told = (Verdict("reused_ids", PASS, (Finding("reused_ids", "id 'call_0' twice", (8, 20)),)),)
    assert "twice" not in check_report([(refund_run(), told)])
    assert "    id 'call_0' twice (events 8, 20)" in check_report([(refund_run(), told)], verbosity=Verbosity.VERBOSE)


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_no_text_adds_a_line_to_the_report(nasty: str) -> None:
    verdicts = (Verdict(nasty, FAIL, (Finding(nasty, nasty),), nasty),)
    run = refund_run(ids=lambda step, n: CallId(f"{nasty}{step}{n}"))
    report = CheckReport()
    report.add(run, verdicts, source=nasty)
    assert len(report.text().splitlines()) == 9
