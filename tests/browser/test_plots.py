"""Plots in the page: drawn in both schemes, each with its numbers as a table, and names are text whatever they hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.evaluate.stories import stories
from harness.report.html import page
from harness.report.html.evaluation import evaluation_page
from harness.report.html.plots import plots_block
from harness.report.html.sweeps import Told, sweeps_page
from harness.runner.review.reviewing import without_gate
from harness.types.codes import Outcome
from harness.types.records import Comparison, RunSummary, ScenarioComparison
from harness.types.review import Review
from harness.types.sweeps import CellOutcome
from tests.browser.conftest import blocks_of
from tests.browser.report import Report
from tests.compare.made import summary
from tests.evaluate.made_evaluation import case, evaluation, snapshot, trials
from tests.report.nasty import NASTY
from tests.report.test_evaluation_reports import hostile, shop
from tests.report.test_html_evaluation import sweep

Open = Callable[..., Report]
PASS, FAIL = Outcome.PASS, Outcome.FAIL
CLEAN, RED, VOID = CellOutcome.CLEAN, CellOutcome.RED, CellOutcome.VOID
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
SEEN = """() => {
  const seen = (text) => { const box = text.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
  return [...document.querySelectorAll('.plot-drawing svg')].map((svg) => [...svg.querySelectorAll('text')].filter(seen).length);
}"""
OVERLAPS = """() => [...document.querySelectorAll('.plot-drawing svg')].flatMap((svg) =>
  [...svg.querySelectorAll('[aria-label="y-axis tick label"], [aria-label="x-axis tick label"]')].flatMap((axis) => {
    const boxes = [...axis.querySelectorAll('text')].map((text) => ({ box: text.getBoundingClientRect(), said: text.textContent })).filter((one) => one.said);
    const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
    if (axis.querySelector('text[transform*="rotate"]')) return [];
    return boxes.flatMap((one, at) => boxes.slice(at + 1).filter((other) => meet(one.box, other.box)).map((other) => `${one.said} and ${other.said}`));
  }))"""


def written(place: Path, html: bytes) -> Path:
    path = place / "report.html"
    path.write_bytes(html)
    return path


def compared_page(base: list[RunSummary], candidate: list[RunSummary], *, change: str = "changed") -> bytes:
    """A page without details: a row for each first trial."""
    others = {run.scenario: run for run in reversed(candidate)}
    firsts = {run.scenario: run for run in reversed(base)}
    rows = tuple(
        ScenarioComparison(run.run_id, change, base=run, candidate=others.get(name))
        for name, run in sorted(firsts.items())
    )
    comparison = Comparison("base", "candidate", rows, FAIL)
    made = Review(comparison, without_gate(comparison))
    return page(made, plots=lambda shown, contexts: plots_block(comparison, shown, base, candidate))


def runs(n: int, *, factor: Callable[[int], float] = lambda at: 1, n_trials: int = 1, name: str = "family/scenario-{}") -> list[RunSummary]:
    return [
        summary(name.format(at), FAIL if at % 7 == 0 and factor(at) != 1 else PASS, trial=trial, cost_micro_usd=int((3 + at * at) * factor(at)),
                duration_ms=int((20 + 13 * at) * factor(at)) + 3 * trial, input_tokens=int((60 + at) * factor(at)), n_steps=1 + at % 5)
        for at in range(n) for trial in range(1, n_trials + 1)
    ]  # fmt: skip


def slower(at: int) -> float:
    return 1.8 if at % 3 == 0 else 0.7 if at % 5 == 0 else 1


def show_tables(report: Report) -> None:
    report.run("document.querySelectorAll('.plot-switch[aria-pressed=false]').forEach((button) => button.click())")
    report.settle()


def table(report: Report, section: str, at: int = 0) -> list[list[str]]:
    """The cells of a table that stands in place of a drawing."""
    rows = report.page.locator(f"#plots-{section} .plot-table").nth(at).locator("tbody tr")
    return [row.locator("td").all_inner_texts() for row in rows.all()]


def every_drawing(report: Report) -> None:
    """Drawings are made when they come near the screen, and all of them before the page is printed."""
    report.run("window.dispatchEvent(new Event('beforeprint'))")
    report.settle()


# ---------------------------------------------------------------- a comparison


def test_a_drawing_is_made_when_it_comes_near_the_screen(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, compared_page(runs(40), runs(40, factor=slower))), "#/plots")
    report.page.wait_for_selector("#plots-latency svg")
    assert report.count("#plots-rates svg") == 0
    report.page.locator("#plots-rates .plot-figure").first.scroll_into_view_if_needed()
    report.page.wait_for_selector("#plots-rates svg")


@pytest.mark.article("22")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_plot_is_drawn_with_its_labels_in_both_schemes(opened: Open, real: Path, scheme: str) -> None:
    report = opened(real, "#/plots", color_scheme=scheme)
    every_drawing(report)
    titles = report.texts(".plot-section h2")
    assert {"Latency", "Steps", "Context size", "Pass rates"} <= set(titles)
    seen = report.run(SEEN)
    assert len(seen) >= 4
    assert min(seen) > 0
    ink, paper = report.run("[getComputedStyle(document.querySelector('.plot-drawing svg')).color, getComputedStyle(document.querySelector('.plot-figure')).backgroundColor]")
    bright = [sum(map(int, colour.strip("rgba()").split(",")[:3])) for colour in (ink, paper)]
    assert bright[0] < bright[1] if scheme == "light" else bright[0] > bright[1]


@pytest.mark.parametrize("n", [1, 5, 40, 2000])
def test_labels_of_axes_do_not_overlap_however_many_scenarios_there_are(opened: Open, tmp_path: Path, n: int) -> None:
    html = compared_page(runs(n, n_trials=2 if n < 100 else 1), runs(n, factor=slower, n_trials=2 if n < 100 else 1))
    report = opened(written(tmp_path, html), "#/plots")
    every_drawing(report)
    assert report.count(".plot-drawing svg") >= 4
    assert report.run(OVERLAPS) == []


def test_axes_that_do_not_go_by_equal_amounts_say_how_they_go(opened: Open, tmp_path: Path) -> None:
    def gone(at: int) -> float:
        return 0 if at == 1 else slower(at)

    report = opened(written(tmp_path, compared_page(runs(100), runs(100, factor=gone))), "#/plots")
    clouds = "section => [...document.querySelectorAll(`#plots-${section} figure`)].filter(one => one.innerText.includes('a point')).map(one => one.querySelector('.plot-note')?.innerText ?? '')"
    assert report.run(clouds, "cost") == ["Axes go by square roots, since some values are 0 and others lie far apart."]
    assert report.run(clouds, "steps") == []
    report = opened(written(tmp_path, compared_page(runs(100), runs(100, factor=slower))), "#/plots")
    assert report.run(clouds, "cost") == ["Axes go by powers of ten."]
    assert report.run(clouds, "tokens") == [""]


def test_a_table_has_the_numbers_that_are_drawn(opened: Open, tmp_path: Path) -> None:
    base, candidate = runs(8, n_trials=3), runs(8, factor=slower, n_trials=3)
    path = written(tmp_path, compared_page(base, candidate))
    measures = blocks_of(path)["plots"]["measures"]
    report = opened(path, "#/plots")
    show_tables(report)
    rows = table(report, "latency")
    assert len(rows) == len(measures) == 8
    for line, (name, was, now, difference, n_trials) in zip(measures, rows, strict=True):
        assert name == f"family/scenario-{line['row']}"
        assert [float(text.removesuffix(" ms")) for text in (was, now)] == [round(value) for value in line["latency"][:2]]
        assert n_trials == "3, 3"
        assert difference.startswith("+" if line["latency"][1] > line["latency"][0] else "−" if line["latency"][1] < line["latency"][0] else "0")
    rates = table(report, "rates")
    whole = blocks_of(path)["plots"]["rates"][0]
    assert rates[0][2] == f"{whole['base']['n']} of {whole['base']['of']}"
    assert rates[0][3] == f"{whole['candidate']['rate'] * 100:.1f} %"


def test_what_got_slower_stands_first_and_leads_to_its_run(opened: Open, tmp_path: Path) -> None:
    base = runs(30)
    candidate = [replace(run, duration_ms=9_000) if run.scenario == "family/scenario-17" else run for run in base]
    report = opened(written(tmp_path, compared_page(base, candidate)), "#/plots")
    figure = report.page.locator("#plots-latency .plot-figure").first
    assert "family/scenario-17" in figure.inner_text()
    assert "1 slower, 0 faster, 29 the same" in report.text("#plots-latency .plot-lead")
    point = figure.locator("[aria-label='dot'] circle").last
    box = point.bounding_box()
    assert box is not None
    report.page.mouse.move(box["x"] + 2, box["y"] + 2)
    report.settle()
    report.page.mouse.click(box["x"] + 2, box["y"] + 2)
    row = next(at for at, one in enumerate(blocks_of(report.path)["overview"]["rows"]) if one["name"] == "family/scenario-17")
    assert report.hash(f"#/run/{row}").startswith(f"#/run/{row}")


def test_the_numbers_of_a_plot_are_reached_by_keyboard(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, compared_page(runs(5), runs(5, factor=slower))), "#/plots")
    report.page.locator("#plots-latency .plot-switch").first.focus()
    report.press("Enter")
    assert report.page.locator("#plots-latency .plot-switch").first.get_attribute("aria-pressed") == "true"
    report.press("Tab", "Tab", "Enter")
    assert report.hash("#/run/0").startswith("#/run/0")


def test_a_drawing_says_what_it_is_to_those_who_do_not_see_it(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, compared_page(runs(8), runs(8, factor=slower))), "#/plots")
    every_drawing(report)
    labels = report.run("[...document.querySelectorAll('.plot-drawing > svg')].map((svg) => [svg.getAttribute('role'), svg.getAttribute('aria-label')])")
    assert all(role == "img" and label for role, label in labels)
    assert ["img", "The 4 scenarios whose latency moved most"] in labels


def test_nothing_that_moved_is_said_in_words(opened: Open, tmp_path: Path) -> None:
    same = runs(9)
    report = opened(written(tmp_path, compared_page(same, same, change="same")), "#/plots")
    assert "each scenario takes what it took" in report.text("#plots-latency")
    assert report.count("#plots-latency svg") == 0


def test_a_plot_is_drawn_anew_where_the_window_narrows(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, compared_page(runs(12), runs(12, factor=slower))), "#/plots")
    report.page.set_viewport_size({"width": 420, "height": 800})
    every_drawing(report)
    report.page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth + 1")
    report.settle()
    assert report.run(OVERLAPS) == []


FOREIGN = "document.querySelectorAll('.plots a:not([href^=\"#/run/\"]), .plots img, .plots script, .plots iframe').length"


def test_hostile_names_are_text_in_every_plot_and_table(opened: Open, tmp_path: Path) -> None:
    base = [
        summary(f"{text}/{at}", trial=trial, arm=text, cost_micro_usd=5 + at, duration_ms=10 + at + trial)
        for at, text in enumerate(NASTY) for trial in (1, 2)
    ]  # fmt: skip
    candidate = [replace(run, duration_ms=(run.duration_ms or 0) * 3) for run in base]
    report = opened(written(tmp_path, compared_page(base, candidate)), "#/plots")
    every_drawing(report)
    before = report.run(FOREIGN)
    show_tables(report)
    assert (before, report.run(FOREIGN)) == (0, 0)
    assert len(table(report, "latency")) == len(NASTY)


@pytest.mark.article("22")
def test_the_page_of_a_run_shows_its_context_size(opened: Open, real: Path) -> None:
    entry = next(one for one in blocks_of(real)["plots"]["context"] if one["base"] and one["candidate"])
    row = next(at for at, one in enumerate(blocks_of(real)["overview"]["rows"]) if one["detail"] == entry["detail"])
    report = opened(real, "#/plots")
    choice = report.page.locator("#plots-context select")
    name = blocks_of(real)["overview"]["rows"][row]["name"]
    option = choice.locator("option", has_text=name).first
    choice.select_option(value=option.get_attribute("value"))
    show_tables(report)
    found = table(report, "context")
    for at, side in enumerate(("base", "candidate"), 1):
        said = [cells[at] for cells in found][: entry[side]["n"]]
        assert said == [f"{tokens:,}" for tokens in entry[side]["tokens"]]
    report.page.locator("#plots-context .plot-open a").click()
    assert report.hash(f"#/run/{row}").startswith(f"#/run/{row}")


# ---------------------------------------------------------------- evaluations and sweeps


def evaluated(text: str = "") -> bytes:
    table = {"now": {"a": "tv+", "b": "+++"}, "new": {"a": "nnn", "b": "+++"}}
    made = evaluation([case("a", ask=f"ask {text}", tags=(f"t{text}",)), case("b")])
    told = stories(made, snapshot(), lambda: trials(table))
    return evaluation_page(hostile(text) if text else shop(), told, command=f"harness evaluate {text or 'shop.yaml'}")


def test_an_evaluation_opens_at_its_plots_and_the_matrix_is_that_of_the_summary(opened: Open, tmp_path: Path) -> None:
    path = written(tmp_path, evaluated())
    report = opened(path, "")
    every_drawing(report)
    assert report.texts(".plot-section h2") == ["Evaluation", "The comparison", "Pass rates", "Confusion matrix", "Mismatches", "Cases that fail"]
    assert min(report.run(SEEN)) > 0
    assert report.count("nav[aria-label='pages'] a") == 1  # no list of runs
    assert "harness evaluate shop.yaml" in report.text(".plot-head")
    show_tables(report)
    matrix = blocks_of(path)["plots"]["confusion"][0]
    drawn = table(report, "confusion")
    assert [row[0] for row in drawn] == matrix["rows"]
    assert [[int(n or 0) for n in row[1:]] for row in drawn] == matrix["cells"]


def test_cases_are_filtered_and_opened(opened: Open, tmp_path: Path) -> None:
    report = opened(written(tmp_path, evaluated()), "")
    assert report.count(".plot-one-case") == 1
    report.page.locator(".plot-one-case summary").click()
    assert 'lookup({"id": 1})' in report.text(".plot-one-case .plot-table")
    assert 'get_order({"id":1})' in report.text(".plot-case")
    report.page.locator("#plots-cases input").fill("nobody asked this")
    report.settle()
    assert (report.count(".plot-one-case"), report.text("#plots-cases [role=status]").strip()) == (0, "0 of 1 case")


def test_a_strip_is_drawn_cell_by_cell_and_its_red_cells_are_told(opened: Open, tmp_path: Path) -> None:
    swept = sweep("refund", CLEAN, CLEAN, RED, VOID, RED)
    html = sweeps_page([Told(swept, "refund-red.yaml"), Told(sweep("good", CLEAN), "")], text="1 of 2", outcome=FAIL, text_of=lambda one: one.row)
    report = opened(written(tmp_path, html), "")
    every_drawing(report)
    assert report.count("#plots-sweeps details:first-of-type [aria-label='rect'] rect") == 5
    assert report.text("#plots-sweeps details summary").startswith("FAIL refund")
    assert "shown again by refund-red.yaml" in report.text(".plot-wrong")
    assert "a_check found" in report.text(".plot-wrong")
    show_tables(report)
    assert [row[-1] for row in table(report, "sweeps")] == [("." "1 X2"), ".1 -1"]


@pytest.mark.parametrize("text", ["".join(one for one in NASTY if len(one) < 300), HOSTILE], ids=["all-at-once", "markup"])
def test_hostile_texts_of_evaluations_and_sweeps_run_nothing(opened: Open, tmp_path: Path, text: str) -> None:
    swept = sweep(text, CLEAN, RED, text=text)
    pages = {
        "evaluation": evaluated(text),
        "sweep": sweeps_page([Told(swept, text)], text=text, outcome=FAIL, text_of=lambda one: text, command=text),
    }
    for name, html in pages.items():
        (tmp_path / name).mkdir()
        report = opened(written(tmp_path / name, html), "")
        every_drawing(report)
        show_tables(report)
        for each in report.page.locator(".plot-one-case summary").all():
            each.click()
        assert report.run(FOREIGN) == 0
