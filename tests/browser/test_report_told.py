"""What a page says must be so: equal is equal, a body that began did begin, and what is left out is named."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.compare import compare_runs
from harness.gates import without_gate
from harness.report.html import page
from harness.report.html.document import Limits
from harness.report.html.plots import plots_block
from harness.runner.review.side_by_side import side_by_side
from harness.types.aligned import AlignedRuns
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.exchange import ToolEnd
from harness.types.messages import JsonText
from harness.types.records import Finding, RunSummary, ScenarioComparison, Verdict
from harness.types.review import Review
from tests.browser.conftest import blocks_of
from tests.browser.report import FOCUSED_PAIR, Report
from tests.compare.made import TOOLS, refund_run, summary, with_facts
from tests.report.test_html_told import LONG, retried, tool

Open = Callable[..., Report]
LIMITS = Limits()


def made_page(
    base: Sequence[RunSummary],
    candidate: Sequence[RunSummary],
    runs: tuple[Trajectory, Trajectory],
    limits: Limits = LIMITS,
) -> bytes:
    """A page of these runs, of which each is that of its side."""
    comparison = compare_runs(base, candidate, lambda side, run: runs[side != "base"])
    review = Review(comparison, without_gate(comparison))

    def load(row: ScenarioComparison) -> AlignedRuns:
        return side_by_side(runs[0] if row.base else None, runs[1] if row.candidate else None, row)

    return page(
        review, load, plots=lambda rows, contexts: plots_block(comparison, rows, base, candidate), limits=limits
    )


@pytest.fixture
def shown(opened: Open, tmp_path: Path) -> Callable[..., Report]:
    def show(base: Trajectory, candidate: Trajectory, route: str = "#/run/0", **changes: object) -> Report:
        path = tmp_path / "report.html"
        path.write_bytes(made_page([summary()], [summary(**changes)], (base, candidate)))  # type: ignore[arg-type]
        return opened(path, route)

    return show


def test_a_body_that_began_and_has_no_end_is_said_not_to_have_ended(shown: Open) -> None:
    report = shown(refund_run(), with_facts(refund_run(), lambda fact: None if isinstance(fact, ToolEnd) else fact))
    assert "did not end" in report.text(".block.candidate .call")
    assert "never started" not in report.text("main")


SEEN = "#/run/0?at=1&view=seen"


@pytest.mark.parametrize(
    ("base", "candidate", "section"),
    [
        pytest.param({"system": LONG + "a"}, {"system": LONG + "b"}, "System prompt", id="system-beyond-the-cut"),
        pytest.param({"parameters": JsonText(f'{{"a":"{LONG}a"}}')}, {"parameters": JsonText(f'{{"a":"{LONG}b"}}')}, "Parameters", id="parameters-beyond-the-cut"),
        pytest.param({"tools": tool(note=LONG + "a")}, {"tools": tool(note=LONG + "b")}, "Tools", id="tool-beyond-the-cut"),
    ],
)  # fmt: skip
def test_what_differs_beyond_what_the_file_holds_is_not_said_to_be_equal(
    shown: Open, base: dict[str, object], candidate: dict[str, object], section: str
) -> None:
    report = shown(refund_run(**base), refund_run(**candidate), SEEN)  # type: ignore[arg-type]
    heads = {
        text.split("\n")[0].rsplit(" differs")[0].rsplit(" equal")[0]: "differs" in text
        for text in report.texts(".seen-section h3")
    }
    assert [name for name, differs in heads.items() if differs] == [section]
    text = next(text for text in report.texts(".seen-section") if text.startswith(section))
    assert "left out of this file" in text
    if section == "Tools":
        assert "only in what this file does not hold" in text
    else:
        assert "before what is shown" in text
        marked = report.texts(".seen-section del"), report.texts(".seen-section ins")
        assert ["a" in "".join(marked[0]), "b" in "".join(marked[1])] == [True, True]
    report.press("d")
    assert "the very same" not in report.text("main")


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        pytest.param(tool(strict=True), tool(strict=False), ("true", "false"), id="strict"),
        pytest.param(
            [{"type": "web_search"}, TOOLS[1]],
            [{"type": "file_search"}, TOOLS[1]],
            ("web_search", "file_search"),
            id="no-name",
        ),
    ],
)
def test_all_that_the_model_saw_of_a_tool_is_shown(
    shown: Open, left: list[object], right: list[object], said: tuple[str, str]
) -> None:
    report = shown(refund_run(tools=left), refund_run(tools=right), SEEN)  # type: ignore[arg-type]
    drawn = " ".join(report.texts(".tools"))
    assert all(word in drawn for word in said)
    assert "differs" in drawn


def test_every_attempt_of_a_step_is_shown_beside_the_same_attempt(shown: Open) -> None:
    report = shown(refund_run(), retried(refund_run()), SEEN)
    assert report.texts(".attempt-name") == ["Attempt 1 of 2", "Attempt 2 of 2"]
    first, second = report.texts(".attempt")
    assert "differs" not in first.replace("differences", "")
    assert "no such attempt" in second


def test_the_number_of_an_event_leads_to_its_own_agents_block(shown: Open) -> None:
    run = refund_run()
    last = len(run.events) - 5
    mixed = dataclasses.replace(
        run,
        events=tuple(
            dataclasses.replace(event, agent="child" if event.seq in (10, last) else "") for event in run.events
        ),
    )
    verdicts = (Verdict("rule", Outcome.FAIL, (Finding("rule", "here", (last,)),)),)
    report = shown(refund_run(), mixed, outcome=Outcome.FAIL, verdicts=verdicts)
    report.page.locator(".verdicts.candidate .event").first.click()
    report.settle()
    detail = blocks_of(report.path)["detail-0"]
    pair = detail["pairs"][int(report.run(FOCUSED_PAIR))]
    assert detail["candidate"]["blocks"][pair["candidate"]]["agent"] == "child"


def test_findings_and_verdicts_that_are_left_out_are_named(shown: Open) -> None:
    findings = tuple(Finding("rule", f"found {n}", (1,)) for n in range(30))
    verdicts = tuple(Verdict(f"check-{n}", Outcome.FAIL, findings, "why") for n in range(45))
    report = shown(refund_run(), refund_run(), outcome=Outcome.FAIL, verdicts=verdicts)
    said = report.text(".verdicts.candidate")
    assert "10 findings left out" in said
    assert "5 verdicts left out" in said


def test_a_long_run_says_where_blocks_are_left_out_and_holds_the_last(opened: Open, tmp_path: Path) -> None:
    answers = tuple(([("lookup_order", f'{{"id":{at}}}')], f"step {at}") for at in range(1_500))
    runs = (
        refund_run(answers=(*answers, ([], "One."))),
        refund_run(system="Be long.", answers=(*answers, ([], "Two."))),
    )
    path = tmp_path / "report.html"
    path.write_bytes(made_page([summary()], [summary()], runs, Limits(detail_bytes=900_000)))
    detail = blocks_of(path)["detail-0"]
    assert detail["gaps"]
    report = opened(path, "#/run/0")
    assert report.texts(".gap") == [f"{gap['n']:,} blocks of the runs left out here." for gap in detail["gaps"]]
    assert report.count(".flag.shown") == 1
    assert report.text(".pair.selected .block.candidate .block-name, .pair.is-first").startswith(("step 1501", "first"))


def test_numbers_that_javascript_cannot_hold_are_shown_as_they_are(opened: Open, tmp_path: Path) -> None:
    big = 2**53 + 1
    path = tmp_path / "report.html"
    runs = [summary(input_tokens=big, output_tokens=0, cost_micro_usd=big)]
    path.write_bytes(
        made_page(runs, [dataclasses.replace(runs[0], input_tokens=big + 2)], (refund_run(), refund_run()))
    )
    report = opened(path)
    assert "+2" in report.text(".run-rows")
    report.go("#/plots")
    report.page.locator("#plots-tokens button.plot-switch").first.click()
    assert str(big) in report.text("#plots-tokens table")


def test_rows_of_arms_and_of_one_side_are_drawn_as_what_they_are(opened: Open, tmp_path: Path) -> None:
    base = [summary("old/a", arm=arm, run_id=f"old/a@{arm}#1") for arm in ("now", "new")]
    path = tmp_path / "report.html"
    path.write_bytes(made_page(base, [], (refund_run(), refund_run())))
    report = opened(path, "#/plots")
    report.page.locator("#plots-latency").scroll_into_view_if_needed()
    assert report.texts("#plots-latency .plot-legend li") == ["only in the base"]
    report.page.locator("#plots-latency button.plot-switch").first.click()
    assert sorted(report.texts("#plots-latency tbody tr td:first-child, #plots-latency tbody tr th:first-child")) == [
        "old/a@new",
        "old/a@now",
    ]


def test_counts_over_all_scenarios_stand_above_the_list_where_it_holds_fewer(opened: Open, tmp_path: Path) -> None:
    runs = [summary(f"s/{at:02}") for at in range(30)]
    path = tmp_path / "report.html"
    path.write_bytes(made_page(runs, runs, (refund_run(), refund_run()), Limits(n_rows=12, n_listed=12)))
    report = opened(path)
    assert report.listed() == 12
    assert "of all 30 scenarios: same 30" in report.text(".listed")
