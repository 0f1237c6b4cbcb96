"""The overview tells what it was given, and all of it: counts, who judged, what a row fails by, means over trials."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.report.html import page
from harness.report.html.document import Limits
from harness.report.html.plots import plots_block
from harness.runner.review.side_by_side import side_by_side
from harness.types.codes import Outcome
from harness.types.records import Comparison, ScenarioComparison
from harness.types.review import GateVerdict, GoalPost, PostKind, Quarantined, Review
from tests.browser.conftest import blocks_of
from tests.browser.report import FOCUSED_ROW, Report
from tests.browser.test_report_told import made_page
from tests.compare.made import refund_run, summary
from tests.report.html_sample import made_review
from tests.report.reviews import GATED, UNGATED, VERDICT

Open = Callable[..., Report]
NOTE = "the gate is new and does not judge this change"


@pytest.fixture
def shown(opened: Open, tmp_path: Path) -> Callable[..., Report]:
    def show(review: Review, route: str = "#/") -> Report:
        path = tmp_path / "report.html"
        path.write_bytes(page(review))
        return opened(path, route)

    return show


def judged(**changes: object) -> Review:
    return dataclasses.replace(GATED, verdict=dataclasses.replace(VERDICT, **changes))  # type: ignore[arg-type]


def test_a_gate_that_gave_no_results_is_not_said_to_have_judged_and_the_note_says_why(shown: Callable[..., Report]) -> None:
    head = shown(judged(results=(), note=NOTE)).text(".verdict")
    assert NOTE in head
    assert "judged by" not in head.lower()
    assert "the old one judged" not in head
    assert "Judged by the gate of the merge base (gate.yaml)" in shown(GATED).text(".verdict")


def test_goal_posts_are_counted_by_kind_though_the_list_is_cut_and_say_since_which_commit(shown: Callable[..., Report]) -> None:
    posts = [GoalPost(PostKind.CASSETTE, f"c{at}.json") for at in range(250)]
    report = shown(dataclasses.replace(GATED, goal_posts=(*posts, GoalPost(PostKind.LIMIT, "s.yaml"))))
    title = report.page.locator(".fold-title", has_text="Goal posts moved")
    assert title.inner_text().endswith("250 cassettes, 1 limit")
    title.click()
    assert "and 151 goal posts more" in report.text(".fold:has-text('Goal posts moved')")
    assert "1111111111" in report.text(".fold:has-text('Goal posts moved')")


def test_remarks_and_quarantine_that_are_cut_say_how_many_more_there_are(shown: Callable[..., Report]) -> None:
    entries = tuple(Quarantined(f"s/{at}", "2026-12-31", "flakes") for at in range(120))
    report = shown(dataclasses.replace(judged(quarantine=entries), remarks=tuple(f"note {at}" for at in range(130))))
    report.page.locator(".fold-title", has_text="Quarantine").click()
    assert report.texts(".more") == ["and 30 notes more", "and 20 entries more"]


def test_a_quarantine_without_effect_is_told_apart_with_its_reason(shown: Callable[..., Report]) -> None:
    works = Quarantined("shop/held", "2026-12-31", "the weather tool flakes", held=("behaviour",))
    gone = Quarantined("shop/none", "2026-12-31", "an old flake", remark="it names nothing here")
    late = Quarantined("shop/late", "2026-01-01", "older", expired=True, remark="it expired")
    report = shown(judged(quarantine=(works, gone, late)))
    fold = report.text(".fold:has-text('Quarantine')")
    assert "3 entries, 1 held something back, 2 without effect, 1 expired" in fold
    assert "it names nothing here" in fold
    assert fold.count("not held back") == 2


def test_a_row_says_by_which_rules_it_fails_and_is_found_by_them(shown: Callable[..., Report]) -> None:
    report = shown(GATED)
    told = dict(zip(report.names(), report.run("() => [...document.querySelectorAll('.run-rows .run-row')].map(row => row.querySelector('.fate')?.textContent ?? '')"), strict=True))
    assert told["shop/worse"] == "fails: checks"
    assert told["shop/changed"] == "warned of: behaviour"
    assert told["shop/held"] == "held back"
    assert told["shop/same"] == ""
    report.page.locator("fieldset:has(legend:text-is('Rule')) .chip", has_text="behaviour").click()
    report.settle()
    assert report.names() == ["shop/changed"]


def test_without_a_gate_a_row_whose_word_says_that_it_fails_says_it_once(shown: Callable[..., Report]) -> None:
    assert "fails" not in " ".join(shown(UNGATED).texts(".fate"))


def without_runs(place: Path, limits: Limits) -> Path:
    review, _, _ = made_review(10)
    place.write_bytes(page(review, lambda row: side_by_side(refund_run(), refund_run(), row), limits=limits))
    return place


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        pytest.param(Limits(n_details=3), "the runs of 3 scenarios in full, the most interesting first: this file tells no more than that", id="number"),
        pytest.param(Limits(detail_bytes=10), "the runs of 0 scenarios in full, the most interesting first: for more there was no room in this file", id="size"),
        pytest.param(Limits(), None, id="all"),
    ],
)
def test_the_list_says_how_many_are_in_full_and_why_not_more(opened: Open, tmp_path: Path, limits: Limits, told: str | None) -> None:
    report = opened(without_runs(tmp_path / "report.html", limits))
    assert report.texts(".in-full") == ([told] if told else [])
    report.go("#/run/9")
    assert (told or "Timeline") in report.text("main")
    assert "most interesting runs" not in report.text("main")


def test_what_is_counted_in_the_list_are_scenarios(opened: Open, made: Path) -> None:
    report = opened(made)
    assert report.text(".listed").startswith("60 of 60 scenarios")
    assert "runs" not in report.text("nav[aria-label=pages]").lower()


def repeated(place: Path) -> Path:
    """One scenario whose pair that is shown got faster, and whose trials on the whole got slower; cost known of some."""
    base = [summary(trial=trial, duration_ms=ms, cost_micro_usd=cost) for trial, ms, cost in ((1, 10, 5), (2, 20, 5), (3, 14, 6))]
    candidate = [summary(trial=trial, duration_ms=ms, cost_micro_usd=cost) for trial, ms, cost in ((1, 4, 9), (2, 60, None), (3, 61, 9))]
    place.write_bytes(made_page(base, candidate, (refund_run(), refund_run(results=('{"id":1}', "x", "y")))))
    return place


def test_a_row_has_the_means_that_the_plots_have_and_not_the_numbers_of_one_pair(opened: Open, tmp_path: Path) -> None:
    path = repeated(tmp_path / "report.html")
    (row,), (line,) = blocks_of(path)["overview"]["rows"], blocks_of(path)["plots"]["measures"]
    for amount in ("steps", "tokens", "latency", "cost"):
        assert [row[f"{amount}Base"], row[f"{amount}Candidate"]] == line[amount][:2], amount
    assert line["latency"][:2] == [14.667, 41.667]
    assert line["cost"][:2] == [5.333, None], "a trial that does not tell its cost leaves the mean unknown"
    report = opened(path)
    cell = report.page.locator(".run-rows .delta[data-name=time]")
    assert (cell.inner_text(), cell.get_attribute("title")) == ("+27 ms", "time: 15 ms → 42 ms (means of 3 and 3 trials)")
    assert report.text(".run-rows .delta[data-name=cost]") == "–"


def small_sums(place: Path) -> Path:
    base = [summary(trial=trial, duration_ms=ms) for trial, ms in ((1, 15), (2, 14), (3, 15))]
    candidate = [summary(trial=trial, duration_ms=ms) for trial, ms in ((1, 8), (2, 8), (3, 9))]
    place.write_bytes(made_page(base, candidate, (refund_run(), refund_run(results=('{"id":1}', "x", "y")))))
    return place


def test_the_head_and_the_plots_tell_the_same_change_of_the_same_sum(opened: Open, tmp_path: Path) -> None:
    report = opened(small_sums(tmp_path / "report.html"))
    head = report.text(".measure:has-text('latency')")
    assert "−43 %" in head
    report.go("#/plots")
    assert "(−43 %, " in report.text("#plots-latency .plot-lead")


def test_a_sum_over_some_scenarios_says_of_how_many_it_is_known(opened: Open, tmp_path: Path) -> None:
    base = [summary("a", cost_micro_usd=5), summary("b")]
    path = tmp_path / "report.html"
    path.write_bytes(made_page(base, base, (refund_run(), refund_run())))
    report = opened(path)
    assert "known of 1 of 2 scenarios" in report.text(".measure:has-text('cost')")
    assert "known of" not in report.text(".measure:has-text('latency')")
    report.go("#/plots")
    assert "over 1 of 2 scenarios" in report.text("#plots-cost .plot-lead")


# ---------------------------------------------------------------- keys and addresses


def test_the_order_is_chosen_by_arrow_keys_and_no_arrow_in_a_field_moves_the_list(opened: Open, made: Path) -> None:
    report = opened(made)
    order = report.page.locator(".sort select")
    order.focus()
    report.press("ArrowDown")
    assert order.input_value() == "name"
    assert report.run(FOCUSED_ROW) is None
    report.page.locator(".search").focus()
    report.press("ArrowDown")
    assert report.run(FOCUSED_ROW) is not None, "from the search box the arrow goes on to the list"


@pytest.mark.parametrize("route", ["#/run/0?at=1.5&view=seen", "#/run/0?at=1.5", "#/run/0?at=-3&view=seen", "#/run/0?at=x&view=seen", "#/run/0?view=seen"])
def test_an_address_made_by_hand_opens_a_page(opened: Open, made: Path, route: str) -> None:
    report = opened(made, route)
    report.press(*([] if "seen" in route else ["m"]))
    assert report.count("main") == 1
    assert report.count("main .message, main .seen-text") > 0, "what the model saw, of a step that asked it"


def test_the_list_that_a_run_was_opened_from_outlives_a_reload(opened: Open, made: Path) -> None:
    report = opened(made, "#/?change=changed&sort=name")
    n = report.listed()
    assert 0 < n < 60
    report.press("j", "j", "Enter")
    assert report.text(".walked") == f"2 of {n} listed"
    second = report.text("h2")
    report.page.reload()
    report.page.wait_for_selector("main.run")
    assert (report.text("h2"), report.text(".walked")) == (second, f"2 of {n} listed")
    report.press("]")
    assert report.text(".walked") == f"3 of {n} listed"
    report.page.locator(".back").click()
    report.settle()
    assert report.listed() == n
    assert report.page.locator(".sort select").input_value() == "name"


def test_a_run_that_is_opened_from_the_whole_list_has_a_short_address(opened: Open, made: Path) -> None:
    report = opened(made)
    report.press("j", "Enter")
    assert report.hash("#/run/0") == "#/run/0"


def test_numbers_beyond_what_a_script_counts_exactly_differ_in_plots_as_in_the_list(opened: Open, tmp_path: Path) -> None:
    large = 2**53 + 1
    base = [summary(f"s/{at}", cost_micro_usd=large) for at in range(3)]
    candidate = [summary(f"s/{at}", cost_micro_usd=large + at) for at in range(3)]
    rows = tuple(ScenarioComparison(one.run_id, "changed", base=one, candidate=other) for one, other in zip(base, candidate, strict=True))
    comparison = Comparison("base", "candidate", rows, Outcome.FAIL)
    path = tmp_path / "report.html"
    review = Review(comparison, GateVerdict(Outcome.FAIL, "made"))
    path.write_bytes(page(review, plots=lambda rows, contexts: plots_block(comparison, rows, base, candidate)))
    report = opened(path)
    deltas = report.texts(".run-rows .delta[data-name=cost]")
    assert deltas == ["=", "+$0.000001", "+$0.000002"]
    report.go("#/plots")
    assert "2 dearer, 0 cheaper, 1 the same" in report.text("#plots-cost .plot-lead")
