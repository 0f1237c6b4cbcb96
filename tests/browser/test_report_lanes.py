"""Time as it is drawn: what overlaps, what was waited for, what did not end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.report import Report
from tests.browser.test_report_run import found

Open = Callable[..., Report]
BOXES = "() => [...document.querySelectorAll('.run-map .bar.tool')].map(bar => { const {left, right, top} = bar.getBoundingClientRect(); return [left, right, top] })"
DRAW = """calls => {
  const end = Math.max(...calls.map(call => call.endMs ?? 0));
  const block = {kind: 'step', step: 1, seq: 0, startMs: 0, endMs: end, calls, asked: [{attempt: 1, startSeq: 0, startMs: 0, endSeq: 1, endMs: 0, outcome: 'answered'}]};
  const main = document.createElement('main');
  document.getElementById('app').replaceChildren(main);
  harnessApp.render(harnessApp.h(harnessApp.RunMap, {base: null, candidate: {blocks: [block]}, onBlock: () => {}}), main);
}"""


@pytest.fixture(scope="module")
def page(browser: Any, made: Path) -> Iterator[Report]:
    report = Report(browser.new_context(viewport={"width": 1280, "height": 900}), made)
    yield report
    assert list(report.close()) == []


def body(name: str, start: int, end: int | None, from_ms: int = 5, to_ms: int | None = 5) -> dict[str, Any]:
    ends = {} if end is None else {"endSeq": end, "endMs": to_ms, "outcome": "ok"}
    return {"name": name, "startSeq": start, "startMs": from_ms, **ends}


@pytest.mark.parametrize(
    ("calls", "n_lanes", "overlapping"),
    [
        pytest.param([body("f", 2, 3), body("g", 4, 5), body("late", 6, 7, 100, 200)], 1, 0, id="one-after-the-other-in-one-ms"),
        pytest.param([body("f", 2, 4), body("g", 3, 5), body("late", 6, 7, 100, 200)], 2, 2, id="overlapping-in-one-ms"),
        pytest.param([body("f", 2, 4), body("g", 3, 5)], 2, 2, id="overlapping-where-no-time-passes"),
        pytest.param([body("f", 2, None), body("g", 3, None)], 2, 2, id="two-without-an-end-where-no-time-passes"),
        pytest.param([body("f", 2, None), body("g", 3, 4, 5, 90), body("h", 5, 6, 91, 99)], 2, 3, id="one-without-an-end"),
        pytest.param([body("f", 2, 9, 0, 90), body("g", 3, 4, 5, 10), body("h", 5, 6, 20, 30)], 2, 3, id="two-within-one"),
        pytest.param([body(f"f{at}", 2 * at, 2 * at + 1, 99, 100) for at in range(1, 41)], 1, 0, id="forty-in-the-last-ms"),
    ],
)
def test_bodies_lie_on_lanes_by_the_numbers_of_their_events(calls: list[dict[str, Any]], n_lanes: int, overlapping: int, page: Report) -> None:
    page.run(DRAW, calls)
    boxes = page.run(BOXES)
    assert len(boxes) == len(calls)
    assert len({top for _, _, top in boxes}) == n_lanes
    for at, (left, right, top) in enumerate(boxes):
        for other_left, other_right, other_top in boxes[at + 1 :]:
            assert top != other_top or right <= other_left + 1 or other_right <= left + 1, "two bodies are drawn over each other"
    room = page.run("() => { const {left, right} = document.querySelector('.run-map .lane-room').getBoundingClientRect(); return [left, right]; }")
    assert room[0] - 1 <= min(box[0] for box in boxes)
    assert max(box[1] for box in boxes) <= room[1] + 1
    assert f"{len(calls)} tool bod" in (label := str(page.page.locator(".run-map .track").get_attribute("aria-label")))
    assert f", {overlapping} overlapping" in label


def test_the_legend_names_what_did_not_end_where_there_is_such_a_bar(page: Report) -> None:
    page.run(DRAW, [body("f", 2, None)])
    assert "did not end" in page.text(".legend")
    page.run(DRAW, [body("f", 2, 3)])
    assert "did not end" not in page.text(".legend")


def test_a_run_without_times_is_drawn_in_the_order_of_its_events(page: Report) -> None:
    page.run(DRAW.replace("startMs: 0, endMs: end", "startMs: null, endMs: null"), [{"name": "f", "startSeq": 2, "endSeq": 4, "outcome": "ok"}, {"name": "g", "startSeq": 5, "endSeq": 9, "outcome": "ok"}])
    assert "Times are not known" in page.text(".run-map figcaption")
    (_, right, top), (left, _, other_top) = page.run(BOXES)
    assert (top, right <= left) == (other_top, True)


def test_waits_are_no_time_of_the_model(opened: Open, real: Path) -> None:
    index, detail = found(real, "failures/retry-after-a-rate-limit")
    report = opened(real, f"#/run/{index}")
    assert [len(block.get("delays", [])) for block in detail["base"]["blocks"] if block["kind"] == "step"] == [1, 2]
    label = str(report.page.locator(".run-map .track.base").get_attribute("aria-label"))
    assert "5 model requests, 3 waits, 1 tool body" in label
    share = "kind => [...document.querySelectorAll(`.run-map .track.base .bar.${kind}`)].reduce((sum, bar) => sum + bar.getBoundingClientRect().width, 0) / document.querySelector('.run-map .track.base .lane-room').clientWidth"
    assert report.run(share, "model") < 0.1
    assert report.run(share, "wait") > 0.9
    assert report.count(".run-map .track.base .bar.model.error") == 3


def test_waiting_for_an_approval_is_drawn_as_waiting(opened: Open, real: Path) -> None:
    index, _ = found(real, "approval/rejected")
    report = opened(real, f"#/run/{index}")
    titles = report.run("() => [...document.querySelectorAll('.run-map .track.base .bar.wait')].map(bar => bar.title)")
    assert len(titles) == 2
    assert all("waits for approval of call_1_" in title and title.endswith("20 ms") for title in titles)
    assert "waiting" in report.text(".legend")
