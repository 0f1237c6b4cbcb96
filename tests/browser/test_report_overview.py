"""The first page of the HTML report: verdict, filters, the list of all runs, by hand and by keyboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.report.html import page
from tests.browser.conftest import blocks_of
from tests.browser.report import FOCUSED_ROW, Report
from tests.report.reviews import GATED

Open = Callable[..., Report]
ROWS_AT_MOST = 120
"""Rows in the page, however many runs there are: a screen, and some around it."""


def rows_of(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = blocks_of(path)["overview"]["rows"]
    return rows


def test_the_first_page_says_the_verdict_its_rule_both_sides_and_the_command(opened: Open, made: Path) -> None:
    report = opened(made)
    review = blocks_of(made)["overview"]["review"]
    assert report.text(".verdict-word") == "FAIL"
    assert report.text(".verdict .rule") == review["verdict"]["text"]
    assert report.text(".command code") == review["command"]
    counted = dict(zip(report.texts("table.sides thead th")[1:], report.texts("table.sides tbody tr:last-child td"), strict=True))
    side = review["comparison"]["candidateSide"]
    assert counted["planned"] == str(side["planned"])
    assert counted["pass"] == str(side["passed"])
    assert counted["fail"] == str(side["failed"])


def test_notes_moved_goal_posts_quarantine_and_rules_stand_in_the_head(opened: Open, tmp_path: Path) -> None:
    place = tmp_path / "gated.html"
    place.write_bytes(page(GATED))
    report = opened(place)
    head = " ".join(report.texts(".banner"))
    assert GATED.remarks
    for said in (*GATED.remarks, "behaviour: fail → warn", "limits.steps: 10 → 40", "the weather tool flakes", "3 scenarios fail"):
        assert said in head, said
    assert "the old one judged" in head


def test_every_run_is_in_the_list_and_the_chips_count_them_by_change(opened: Open, made: Path) -> None:
    report = opened(made)
    rows = rows_of(made)
    assert report.listed() == len(rows) == 60
    chips = dict(text.replace("\n", " ").rsplit(" ", 1) for text in report.texts(".change-chips .chip"))
    assert {name: int(n) for name, n in chips.items()} == Counter(row["change"] for row in rows)


def test_free_text_keeps_the_runs_that_hold_every_word_of_it(opened: Open, made: Path) -> None:
    report = opened(made)
    report.press("/")
    report.page.keyboard.type("cancel_order 0000")
    report.settle()
    fits = [row["name"] for row in rows_of(made) if row["name"].startswith("shop/scenario-0000") and "cancel_order" in (row["line"] or "")]
    assert fits
    assert sorted(report.names()) == sorted(fits)


@pytest.mark.parametrize(
    ("facet", "field"),
    [pytest.param("Outcome", "outcomeCandidate", id="outcome"), pytest.param("Failing check", "failing", id="check")],
)
def test_a_filter_shows_as_many_runs_as_it_says_and_those_only(opened: Open, made: Path, facet: str, field: str) -> None:
    report = opened(made)
    chip = report.page.locator(f"fieldset:has(legend:text-is('{facet}')) .chip").last
    name, n = chip.inner_text().split("\n") if "\n" in chip.inner_text() else chip.inner_text().rsplit(" ", 1)
    chip.click()
    report.settle()
    fits = [row for row in rows_of(made) if name in (row[field] if isinstance(row[field], list) else [row[field]])]
    assert 0 < len(fits) < 60
    assert report.listed() == int(n) == len(fits)
    assert chip.get_attribute("aria-pressed") == "true"
    report.press("x")
    assert report.listed() == 60


def test_filters_of_two_kinds_are_met_both_and_counts_follow(opened: Open, made: Path) -> None:
    report = opened(made, "#/?change=changed")
    changed = [row for row in rows_of(made) if row["change"] == "changed"]
    assert report.listed() == len(changed)
    counts = {text.split("\n")[0]: int(text.split("\n")[-1]) for text in report.texts("fieldset:has(legend:text-is('Outcome')) .chip")}
    assert counts == Counter(row["outcomeCandidate"] for row in changed)


def test_a_filter_survives_reload_and_the_way_to_a_run_and_back(opened: Open, made: Path) -> None:
    report = opened(made)
    report.press("/")
    report.page.keyboard.type("scenario-0001")
    assert report.hash("q=") == "#/?q=scenario-0001"
    report.page.reload()
    report.page.wait_for_selector("main")
    assert report.listed() == 10
    report.press("/", "Enter", "j", "Enter")
    assert report.count("main.run") == 1
    report.press("Escape")
    assert (report.listed(), report.hash("q=")) == (10, "#/?q=scenario-0001")
    report.page.go_back()
    report.page.wait_for_selector("main.run")
    report.page.go_back()
    report.page.wait_for_selector("main.overview")
    assert report.listed() == 10


def test_the_list_is_walked_opened_and_left_by_keyboard_and_the_focus_is_kept(opened: Open, made: Path) -> None:
    report = opened(made)
    report.press("j")
    report.press("j")
    report.press("ArrowDown")
    third = report.run(FOCUSED_ROW)
    assert third == "2"
    report.press("Enter")
    assert report.text("h2") == rows_of(made)[2]["name"]
    report.press("Escape")
    report.settle()
    assert report.run(FOCUSED_ROW) == third
    report.press("k")
    assert report.run(FOCUSED_ROW) == "1"


def test_n_and_p_go_from_one_run_that_changed_to_the_next(opened: Open, made: Path) -> None:
    report = opened(made, "#/?sort=name")
    names = sorted(row["name"] for row in rows_of(made))
    changed = {row["name"]: str(index) for index, row in enumerate(rows_of(made)) if row["change"] != "same"}
    order = [changed[name] for name in names if name in changed]
    report.press("f")
    assert report.run(FOCUSED_ROW) == order[0]
    for _ in range(4):
        report.press("n")
    assert report.run(FOCUSED_ROW) == order[4]
    report.press("p")
    assert report.run(FOCUSED_ROW) == order[3]


def test_a_column_orders_the_runs_and_says_so(opened: Open, made: Path) -> None:
    report = opened(made)
    report.page.locator(".run-row.head button", has_text="scenario").click()
    report.settle()
    assert report.names() == sorted(row["name"] for row in rows_of(made))[: len(report.names())]
    assert report.page.locator("[role=columnheader][aria-sort=ascending]").count() == 1


def test_two_thousand_runs_are_listed_with_only_those_in_sight_in_the_page(opened: Open, many: Path) -> None:
    report = opened(many)
    assert report.listed() == 2000
    assert report.count(".run-rows .run-row") <= ROWS_AT_MOST
    report.press("End")
    report.settle()
    assert report.run(FOCUSED_ROW) == "1999"
    assert report.count(".run-rows .run-row") <= ROWS_AT_MOST


def test_a_filter_over_two_thousand_runs_touches_only_the_rows_in_sight(opened: Open, many: Path) -> None:
    report = opened(many)
    report.run(
        "() => { window.touched = 0; new MutationObserver(found => found.forEach(one => { window.touched += 1 + one.addedNodes.length + one.removedNodes.length }))"
        ".observe(document.body, {subtree: true, childList: true, characterData: true, attributes: true}) }"
    )
    report.page.locator(".search").fill("scenario-0012")
    report.settle()
    assert report.listed() == 10
    assert 0 < report.run("window.touched") < 1500, "work grows with the rows in sight, not with the runs"


def test_a_file_of_two_thousand_runs_is_far_below_25_megabytes(many: Path) -> None:
    assert many.stat().st_size < 25_000_000


def test_keys_are_told_by_a_help_that_takes_the_focus_and_gives_it_back(opened: Open, made: Path) -> None:
    report = opened(made)
    report.press("j", "?")
    assert report.run("document.activeElement.closest('[role=dialog]') !== null")
    assert "first divergence" in report.text("[role=dialog]")
    report.press("j")
    report.press("Escape")
    assert (report.count("[role=dialog]"), report.run(FOCUSED_ROW)) == (0, "0")
    assert report.count("main.overview") == 1


def test_a_letter_typed_into_the_filter_is_text_and_no_command(opened: Open, made: Path) -> None:
    report = opened(made)
    report.press("/")
    report.page.keyboard.type("tx?m")
    assert report.page.locator(".search").input_value() == "tx?m"
    assert report.count("[role=dialog]") == 0
