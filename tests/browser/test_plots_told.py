"""The pages of plots say what is so: each scenario once, no more places than are known, all of it on paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.evaluate.stories import stories
from harness.gates import without_gate
from harness.report.html import page
from harness.report.html.beside import sweep_lines
from harness.report.html.evaluation import evaluation_page
from harness.report.html.plots import plots_block
from harness.report.html.sweeps import Told, sweeps_page
from harness.types.codes import Outcome
from harness.types.records import Comparison, ScenarioComparison
from harness.types.review import Review
from harness.types.sweeps import CellOutcome
from tests.browser.report import Report
from tests.compare.made import summary
from tests.evaluate.made_evaluation import case, evaluation, snapshot, trials
from tests.report.test_evaluation_reports import shop
from tests.report.test_html_evaluation import sweep

Open = Callable[..., Report]
PAPER = "rgb(255, 255, 255)"
N_CASES = 60
"""More than the page lists at once."""


def written(place: Path, html: bytes) -> Path:
    path = place / "report.html"
    path.write_bytes(html)
    return path


def swept_twice() -> bytes:
    """A comparison beside whose runs lie sweeps of both sides: two scenarios, one of them red in the candidate."""
    swept = {
        "subject": "built-in", "nCells": 3, "nJudged": 3, "nRuns": 6, "why": "", "cells": [], "reproduction": "",
    }  # fmt: skip
    one, two = ({**swept, "scenario": name, "outcome": "PASS", "strip": ["cancel inside  .3"]} for name in ("a/one", "a/two"))
    red = {**one, "outcome": "FAIL", "strip": ["cancel inside  .2 X1"]}
    more = sweep_lines({"base": {"sweeps": [one, two]}, "candidate": {"sweeps": [red, two]}})
    run = summary()
    comparison = Comparison("base", "candidate", (ScenarioComparison(run.run_id, "same", base=run, candidate=run),), Outcome.PASS)
    review = Review(comparison, without_gate(comparison))
    return page(review, plots=lambda rows, contexts: plots_block(comparison, rows, [run], [run], more=more))


def test_a_scenario_that_both_sides_swept_is_counted_once_and_red_cells_by_side(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, swept_twice()), "#/plots")
    assert report.text("#plots-sweeps .plot-lead") == "2 scenarios, base: 0 with a red cell, candidate: 1 with a red cell."


def evaluated(n: int = 2) -> bytes:
    cases = [case(f"c{at:02}") for at in range(n)]
    table = {"now": {one.id: "tv+" for one in cases}, "new": {one.id: "nnn" for one in cases}}
    told = stories(evaluation(cases), snapshot(), lambda: trials(table))
    return evaluation_page(shop(), told, command="harness evaluate shop.yaml")


def show_tables(report: Report) -> None:
    report.run("document.querySelectorAll('.plot-switch[aria-pressed=false]').forEach((button) => button.click())")
    report.settle()


def test_how_far_units_moved_is_told_to_no_more_places_than_are_known(opened: Open, tmp_path: Path) -> None:
    made = shop()
    assert made.comparison is not None
    made = replace(made, comparison=replace(made.comparison, spread=((-0.07, 1), (0.0, 13), (0.29, 1))))
    told = stories(evaluation([case("a")]), snapshot(), lambda: trials({"now": {"a": "+++"}, "new": {"a": "+++"}}))
    report = opened(written(tmp_path, evaluation_page(made, told)), "")
    show_tables(report)
    rows = report.page.locator("#plots-changes .plot-table").first.locator("tbody tr")
    assert [row.locator("td").all_inner_texts() for row in rows.all()] == [["−7", "1"], ["±0", "13"], ["+29", "1"]]
    assert "rounded" in report.text("#plots-changes .plot-table th")


BROKEN = """() => [...document.querySelectorAll('.plot-table th, .plot-table td:not(.long)')].flatMap(cell => {
  const found = [];
  const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) for (const match of walk.currentNode.data.matchAll(/[\\w]+/gu)) {
    const range = document.createRange();
    range.setStart(walk.currentNode, match.index);
    range.setEnd(walk.currentNode, match.index + match[0].length);
    if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1) found.push(match[0]);
  }
  return found;
})"""


@pytest.mark.parametrize("wide", [1400, 700])
def test_no_word_of_a_table_is_broken_and_no_page_scrolls_sideways_for_it(opened: Open, tmp_path: Path, wide: int) -> None:
    report = opened(written(tmp_path, evaluated()), "", viewport={"width": wide, "height": 900})
    show_tables(report)
    assert report.count(".plot-table td") > 20
    assert report.run(BROKEN) == []
    assert report.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_long_text_of_a_table_is_broken_rather_than_the_table_widened(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, evaluated()), "")
    report.run("() => { for (const cell of document.querySelectorAll('.plot-table td')) { cell.className = 'long'; cell.textContent = 'x'.repeat(2000); } }")
    report.page.locator(".plot-one-case summary").first.click()
    report.run("() => { const cell = document.querySelector('.plot-one-case td code'); cell.textContent = 'x'.repeat(2000); cell.parentElement.className = 'long'; }")
    assert report.run("(() => { const box = document.querySelector('.plot-one-case .plot-table'); return box.scrollWidth <= box.clientWidth + 1; })()")


# ---------------------------------------------------------------- paper


def to_paper(report: Report) -> None:
    report.run("window.dispatchEvent(new Event('beforeprint'))")
    report.page.emulate_media(media="print")
    report.settle()


def back(report: Report) -> None:
    report.page.emulate_media(media="screen")
    report.run("window.dispatchEvent(new Event('afterprint'))")
    report.settle()


GROUNDS = "[getComputedStyle(document.body).backgroundColor, ...[...document.querySelectorAll('.plot-figure')].map(one => getComputedStyle(one).backgroundColor)]"


@pytest.mark.parametrize("chosen", [False, True], ids=["by-the-system", "by-t"])
def test_plots_are_printed_on_white_whatever_the_screen_shows(opened: Open, tmp_path: Path, chosen: bool) -> None:
    report = opened(written(tmp_path, evaluated()), "", color_scheme="light" if chosen else "dark")
    if chosen:
        report.press("t")
    assert PAPER not in report.run(GROUNDS)
    to_paper(report)
    assert set(report.run(GROUNDS)) == {PAPER}


SHUT = "[...document.querySelectorAll('details')].filter(one => !one.open).length"


def test_on_paper_every_case_of_an_evaluation_is_open_and_afterwards_shut_again(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, evaluated(N_CASES)), "")
    assert report.count(".plot-one-case") == 50
    shut = report.run(SHUT)
    assert shut >= 50
    to_paper(report)
    assert report.run(SHUT) == 0
    assert report.count(".plot-one-case .plot-table") == N_CASES
    assert report.page.locator(".plot-one-case .plot-table").last.is_visible()
    back(report)
    assert (report.run(SHUT), report.count(".plot-one-case")) == (shut, 50)


def test_on_paper_every_strip_of_a_sweep_is_drawn(opened: Open, tmp_path: Path) -> None:
    clean = [Told(sweep(f"s{at:02}", CellOutcome.CLEAN, CellOutcome.CLEAN), "") for at in range(20)]
    report = opened(written(tmp_path, sweeps_page(clean, text="20 of 20", outcome=Outcome.PASS, text_of=lambda one: one.row)), "")
    assert report.run(SHUT) == 20
    to_paper(report)
    assert (report.run(SHUT), report.count(".plot-sweep svg")) == (0, 20)
    assert all(report.run("[...document.querySelectorAll('.plot-sweep svg')].map(one => one.getBoundingClientRect().width > 100)"))
    back(report)
    assert report.run(SHUT) == 20
