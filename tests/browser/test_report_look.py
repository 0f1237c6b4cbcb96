"""How the page looks: two colour schemes that can be read, narrow windows, paper."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import blocks_of
from tests.browser.report import Report
from tests.browser.test_report_diffs import with_blocks

Open = Callable[..., Report]
ROUTES = ("#/", "#/run/{changed}", "#/run/{changed}?at=1&view=seen", "#/plots")
NARROW = {"width": 390, "height": 844}

LEAST_READABLE = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
  const over = (top, below) => top.slice(0, 3).map((value, k) => value * top[3] + below[k] * (1 - top[3]));
  const light = rgb => { const [r, g, b] = rgb.map(value => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = element => { const layers = []; for (let one = element; one; one = one.parentElement) { layers.push(rgba(getComputedStyle(one).backgroundColor)); } return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]); };
  const opacity = element => { let all = 1; for (let one = element; one; one = one.parentElement) all *= Number(getComputedStyle(one).opacity); return all; };
  const found = [];
  for (const element of document.querySelectorAll('#app *')) {
    const text = [...element.childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join('');
    if (!text || element.closest('button:disabled, svg') || !element.checkVisibility()) continue;
    const below = ground(element), colour = rgba(getComputedStyle(element).color);
    colour[3] *= opacity(element);
    const [a, b] = [light(over(colour, below)), light(below)];
    found.push([(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), `${element.tagName} ${element.className}: ${text.slice(0, 40)}`]);
  }
  return found;
}"""


def routes(path: Path) -> list[str]:
    rows = blocks_of(path)["overview"]["rows"]
    changed = next(index for index, row in enumerate(rows) if row["name"] == "articles/login-bug")
    return [route.format(changed=changed) for route in ROUTES]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_every_page_has_a_contrast_of_at_least_4_5(opened: Open, real: Path, scheme: str) -> None:
    report = opened(real, color_scheme=scheme)
    for route in routes(real):
        report.go(route)
        report.settle()
        found = report.run(LEAST_READABLE)
        assert len(found) > 20
        assert [text for ratio, text in found if ratio < 4.5] == [], route


def test_the_measure_of_contrast_finds_a_text_that_is_too_faint(opened: Open, real: Path) -> None:
    report = opened(real)
    report.run("() => { document.querySelector('.verdict .rule').style.color = '#d99'; }")
    assert [text for ratio, text in report.run(LEAST_READABLE) if ratio < 4.5]


def test_the_two_schemes_differ_and_follow_what_the_system_prefers(opened: Open, real: Path) -> None:
    grounds, pictures = [], []
    for scheme in ("light", "dark"):
        report = opened(real, color_scheme=scheme)
        assert report.run("document.documentElement.dataset.theme") == scheme
        grounds.append(report.run("getComputedStyle(document.body).backgroundColor"))
        pictures.append(report.page.screenshot())
    assert grounds[0] != grounds[1]
    assert pictures[0] != pictures[1]


def test_t_switches_the_scheme_and_a_reload_keeps_it(opened: Open, real: Path) -> None:
    report = opened(real, color_scheme="light")
    report.press("t")
    assert report.run("document.documentElement.dataset.theme") == "dark"
    report.page.reload()
    report.page.wait_for_selector("main")
    assert report.run("document.documentElement.dataset.theme") == "dark"
    report.page.locator(".bar button", has_text="◐").click()
    assert report.run("document.documentElement.dataset.theme") == "light"


@pytest.mark.parametrize("size", [pytest.param(NARROW, id="390"), pytest.param({"width": 1280, "height": 800}, id="1280")])
def test_no_page_scrolls_sideways(opened: Open, real: Path, size: dict[str, int]) -> None:
    report = opened(real, viewport=size)
    for route in routes(real):
        report.go(route)
        report.settle()
        wide, window = report.run("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        assert wide <= window, route


def test_no_text_of_the_head_lies_over_another(opened: Open, real: Path) -> None:
    overlaps = """() => {
      const boxes = [...document.querySelectorAll('.banner td, .banner th, .banner .rule, .measure > span')].map(one => one.getBoundingClientRect()).filter(box => box.width && box.height);
      return boxes.some((one, k) => boxes.slice(k + 1).some(other => one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 1 && other.top < one.bottom - 1))
        || [...document.querySelectorAll('.banner td')].some(one => one.scrollWidth > one.clientWidth + 1);
    }"""
    for size in (NARROW, {"width": 1280, "height": 800}):
        assert not opened(real, viewport=size).run(overlaps), size


def test_a_narrow_window_keeps_the_filters_and_both_sides(opened: Open, real: Path) -> None:
    report = opened(real, viewport=NARROW)
    assert not report.page.locator("aside").is_visible()
    report.page.locator(".facets-button").click()
    assert report.page.locator("aside").is_visible()
    report.go(routes(real)[1])
    report.press("f")
    blocks = report.page.locator(".pair.changed .sides > .block")
    boxes = [blocks.nth(k).bounding_box() for k in range(2)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] + 1, "the candidate stands below the base"


CUT = """() => [...document.querySelectorAll('.run-rows .run-row .name a')].map(link => {
  const cut = [...link.querySelectorAll('.folder, .leaf')].some(one => one.scrollWidth > one.clientWidth + 1);
  const where = link.parentElement.querySelector('.where');
  const beside = where && where.getBoundingClientRect().top < link.getBoundingClientRect().bottom - 4;
  return [link.textContent, cut, beside ? where.clientWidth : 0];
})"""


@pytest.mark.parametrize("wide", [390, 600, 1000, 1280])
def test_a_name_is_cut_last_of_all_in_its_row(wide: int, opened: Open, real: Path, tmp_path: Path) -> None:
    def told_at_length(name: str, data: Any) -> None:
        for at, row in enumerate(data["rows"] if name == "overview" else ()):
            row["arm"] = ("new", "a-rather-long-name-of-an-arm")[at % 2]
            row["where"] = "step 1 call 1 get_weather arguments.city, told at some length"

    report = opened(with_blocks(real, tmp_path / "long.html", told_at_length), viewport={"width": wide, "height": 900})
    found = report.run(CUT)
    assert len(found) == len(blocks_of(real)["overview"]["rows"])
    assert [(name, left) for name, cut, left in found if cut and left > 16] == []
    over = "() => [...document.querySelectorAll('.run-rows .run-row')].filter(row => { const [arm, badge] = ['.arm', '.cell.change .badge'].map(one => row.querySelector(one).getBoundingClientRect()); return arm.left < badge.right && badge.left < arm.right && arm.top < badge.bottom && badge.top < arm.bottom; }).length"
    assert report.run(over) == 0
    heights = report.run("() => [...document.querySelectorAll('.run-rows .run-row')].map(row => [row.scrollHeight - row.clientHeight, row.getBoundingClientRect().height])")
    room = float(report.run("() => parseFloat(getComputedStyle(document.querySelector('.run-rows')).getPropertyValue('--row-height'))"))
    assert {height for _, height in heights} == {room}
    assert all(over <= 1 for over, _ in heights)


def test_on_paper_every_run_is_listed_and_no_control_is_printed(opened: Open, made: Path) -> None:
    report = opened(made)
    report.run("() => window.dispatchEvent(new Event('beforeprint'))")
    report.page.emulate_media(media="print")
    report.settle()
    assert report.count(".run-rows .run-row") == 60
    assert not any(report.page.locator(one).first.is_visible() for one in (".bar", ".toolbar", "aside"))


BARS = "() => [...document.querySelectorAll('.run-map .bar')].map(bar => bar.getBoundingClientRect()).map(box => box.width * box.height > 0)"
SHUT = "() => [...document.querySelectorAll('main [aria-expanded=false], main .clamped, main .folded')].filter(one => !one.closest('.labelled') || one.scrollHeight > one.clientHeight + 1).map(one => one.outerHTML.slice(0, 120))"


def on_paper(report: Report) -> None:
    report.run("() => window.dispatchEvent(new Event('beforeprint'))")
    report.page.emulate_media(media="print")
    report.settle()


def test_on_paper_a_run_keeps_the_bars_of_its_time(opened: Open, real: Path) -> None:
    report = opened(real, routes(real)[1])
    before = report.run(BARS)
    on_paper(report)
    assert report.run(BARS) == before
    assert before
    assert all(before)


def test_on_paper_everything_of_a_run_is_open_and_afterwards_shut_again(opened: Open, real: Path) -> None:
    rows = blocks_of(real)["overview"]["rows"]
    index = next(at for at, row in enumerate(rows) if row["name"] == "children/two-in-parallel")
    detail = blocks_of(real)[f"detail-{rows[index]['detail']}"]
    report = opened(real, f"#/run/{index}")
    shut = report.run(SHUT)
    assert shut
    on_paper(report)
    assert report.run(SHUT) == []
    assert report.count("[data-pair]") == len(detail["pairs"])
    assert report.count(".context-plot svg") == 1
    report.page.emulate_media(media="screen")
    report.run("() => window.dispatchEvent(new Event('afterprint'))")
    report.settle()
    assert report.run(SHUT) == shut


def test_what_the_keyboard_is_on_can_be_seen(opened: Open, made: Path) -> None:
    report = opened(made)
    for key in ("Tab", "Tab", "Tab", "j", "Enter", "Tab", "f"):
        report.press(key)
        if key == "Enter":
            continue  # the heading of the run has the focus then: it is no control
        style: dict[str, Any] = report.run("() => { const s = getComputedStyle(document.activeElement); return {width: s.outlineWidth, style: s.outlineStyle, shadow: s.boxShadow} }")
        assert style["style"] != "none" or style["shadow"] != "none", key


def test_nothing_moves_where_less_motion_is_wanted(opened: Open, made: Path) -> None:
    report = opened(made, reduced_motion="reduce")
    moving = "() => [...document.querySelectorAll('*')].filter(one => { const s = getComputedStyle(one); return s.animationName !== 'none' || s.transitionDuration !== '0s' }).length"
    assert report.run(moving) == 0


def test_every_control_has_a_name(opened: Open, real: Path) -> None:
    nameless = "() => [...document.querySelectorAll('button, a, input, select, [role=img], [role=dialog], [role=table]')].filter(one => !(one.innerText || one.getAttribute('aria-label') || one.closest('label'))).map(one => one.outerHTML.slice(0, 120))"
    report = opened(real)
    for route in routes(real):
        report.go(route)
        assert report.run(nameless) == [], route
