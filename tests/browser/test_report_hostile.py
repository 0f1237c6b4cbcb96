"""Whatever runs say, in whatever field: nothing of it runs, nothing is fetched, nothing becomes an element.

Two ways. Files as the command writes them are opened, every payload in them. And in one open page every payload is put
into every text of the data, and every view is drawn of it: that is 500 payloads times every field in seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

from harness.report.html import Limits, page
from harness.report.html.plots import plots_block
from harness.types.jsontext import clean_text
from tests.browser.report import Report
from tests.report import filled
from tests.report.hostile import MARK, PAYLOADS

Open = Callable[..., Report]
ROUTES = ("#/", "#/run/0", "#/run/0?at=2&view=seen", "#/plots")
N_FILES = 2
TOGETHER = 32
"""Payloads that share a field, one a line."""

SHAPE = """() => {
  const found = new Set();
  for (const element of document.querySelectorAll('#app, #app *')) {
    for (const {name, value} of element.attributes) {
      const told = name === 'href' ? (/^#\\/(run\\/\\d+|plots)?(\\?[\\w=&.%]*)?$/.test(value) ? 'href' : `href: ${value}`) : name;
      found.add(`${element.localName} ${told}`);
    }
    found.add(element.localName);
  }
  return [...found].sort();
}"""

PUT_EACH = """async ([payloads, together, routes, mark]) => {
  const app = window.harnessApp;
  const blocks = [...document.querySelectorAll('script[type="application/json"]')].map(block => [block.firstChild, block.firstChild.data]);
  const drawn = () => new Promise(done => setTimeout(done, 0));
  const found = {};
  for (let at = 0; at < payloads.length; at += together) {
    const group = payloads.slice(at, at + together).map(payload => JSON.stringify(payload).slice(1, -1));
    // All of a group stand in every field; each is the first in some of them, where a title is cut.
    const turned = group.map((_, k) => [...group.slice(k), ...group.slice(0, k)].join('\\n'));
    for (const [text, asMade] of blocks) text.data = asMade.replace(/word-(\\d+)/g, (_, n) => turned[n % group.length]);
    for (const route of routes) {
      history.replaceState(null, '', route);
      window.dispatchEvent(new Event('hashchange'));
      app.start();
      document.querySelectorAll('[aria-expanded="false"]').forEach(button => button.click());
      await drawn();
      for (const one of (SHAPE)()) found[one] ??= at;
      if (window[mark] !== undefined) found['it ran'] ??= at;
    }
  }
  return found;
}""".replace("SHAPE", SHAPE)


def review_page(text: filled.Text) -> bytes:
    """A page with that text in every field, of runs, summaries, comparison, review and plots."""
    rows = (filled.row(text), filled.row(text, "changed"), filled.row(text, "same"))
    review = filled.review(text, rows)
    runs = [run for row in rows for run in (row.base, row.candidate) if run]
    return page(
        review,
        lambda row: filled.aligned(text, row),
        plots=lambda shown, contexts: plots_block(review.comparison, shown, runs, runs, context=[one._asdict() for one in contexts]),
        limits=Limits(n_details=1),
    )


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page with a harmless text in every field: each its own, one of them with a hidden character."""
    n = count()
    path = tmp_path_factory.mktemp("harmless") / "report.html"
    path.write_bytes(review_page(lambda: f"word-{next(n)}\u202e"))
    return path


def shapes(report: Report) -> Iterator[str]:
    """Elements and attributes of every view, each once."""
    for route in ROUTES:
        report.go(route)
        report.settle()
        yield from report.run(SHAPE)


@pytest.fixture(scope="module")
def allowed(browser: Any, harmless: Path) -> set[str]:
    alike = harmless.with_name("alike.html")
    alike.write_bytes(review_page(lambda: "word\u202e"))
    found: set[str] = set()
    for path in (harmless, alike):
        report = Report(browser.new_context(), path)
        found |= set(shapes(report))
        assert list(report.close()) == []
    return found


@pytest.mark.parametrize("nth", range(N_FILES))
def test_a_file_full_of_hostile_texts_runs_and_fetches_nothing_and_has_no_element_of_theirs(
    nth: int, opened: Open, allowed: set[str], tmp_path: Path
) -> None:
    texts = cycle(PAYLOADS[nth::N_FILES])
    path = tmp_path / "report.html"
    path.write_bytes(review_page(lambda: next(texts)))
    report = opened(path)
    assert set(shapes(report)) <= allowed
    assert report.run(f"window.{MARK}") is None
    assert report.page.title() == "Comparison report"
    assert path.stat().st_size < 25_000_000


def test_each_payload_in_every_field_of_every_view_is_text_and_nothing_else(opened: Open, harmless: Path, allowed: set[str]) -> None:
    report = opened(harmless)
    assert len(PAYLOADS) >= 500
    allowed = allowed | set(report.run(PUT_EACH, [["word\u202e", "other"], 1, ROUTES[:3], MARK]))
    found = report.run(PUT_EACH, [[clean_text(one) for one in PAYLOADS], TOGETHER, ROUTES[:3], MARK])
    assert {what: PAYLOADS[at : at + TOGETHER] for what, at in found.items() if what not in allowed} == {}


def test_an_element_that_a_text_becomes_would_be_seen(opened: Open, harmless: Path, allowed: set[str]) -> None:
    report = opened(harmless)
    report.run("() => { const made = document.createElement('b'); made.setAttribute('lang', ''); document.querySelector('main').append(made); }")
    assert {"b", "b lang"} <= set(report.run(SHAPE)) - allowed


@pytest.mark.parametrize(
    ("script", "word"),
    [
        pytest.param("() => fetch('http://hostile.invalid/x').catch(() => 0)", "Content Security Policy", id="fetch"),
        pytest.param("() => { const made = new Image(); made.src = 'http://hostile.invalid/x'; document.body.append(made) }", "Content Security Policy", id="image"),
        pytest.param("() => { try { document.body.innerHTML = '<b>x</b>' } catch { console.error('refused') } }", "refused", id="markup"),
        pytest.param("() => { setTimeout(() => alert(1), 0) }", "dialog", id="dialog"),
        pytest.param("() => { setTimeout(() => { throw Error('x') }, 0) }", "error: x", id="error"),
    ],
)
def test_what_a_page_must_not_do_is_refused_or_seen(script: str, word: str, browser: Any, harmless: Path) -> None:
    report = Report(browser.new_context(), harmless)
    report.run(script)
    assert report.complained(word)
    assert any(word in problem for problem in report.close())
