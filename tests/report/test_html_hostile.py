"""No text of a run is ever markup in the HTML report (RELIABILITY P6, INVARIANTS 34)."""

from __future__ import annotations

import dataclasses
from itertools import count

import pytest

from harness.errors import InvalidValueError
from harness.report.html import Asset, Limits, page
from harness.report.html.embed import json_block
from harness.report.html.plots import plots_block
from harness.types.jsontext import clean_text
from harness.types.messages import ChatUser
from tests.compare.made import refund_run, with_facts
from tests.report import filled
from tests.report.hostile import PAYLOADS
from tests.report.html_sample import PLACEHOLDER
from tests.report.parsed_page import Page, other_tags, read_page, shape_of, texts_of


def page_of(text: filled.Text) -> bytes:
    """A page in which every text of runs, summaries, comparison and review is that text."""
    rows = (filled.row(text), filled.row(text, "changed"), filled.row(text, "same"))
    review = filled.review(text, rows)
    runs = [run for row in rows for run in (row.base, row.candidate) if run]
    return page(
        review,
        lambda row: filled.aligned(text, row),
        plots=lambda shown, contexts: plots_block(
            review.comparison, shown, runs, runs, context=[one._asdict() for one in contexts]
        ),
        limits=Limits(n_details=1, detail_bytes=20_000_000),
        assets=PLACEHOLDER,
    )


@pytest.fixture(scope="module")
def plain() -> Page:
    """The same page about harmless texts, told apart only by being there."""
    return read_page(page_of(lambda: "word"))


def test_there_are_at_least_500_payloads_each_once() -> None:
    assert len(PAYLOADS) >= 500
    assert len(set(PAYLOADS)) == len(PAYLOADS)


@pytest.mark.parametrize("at", range(0, len(PAYLOADS), 25))
def test_a_page_has_the_same_elements_whatever_every_field_of_its_runs_says(at: int, plain: Page) -> None:
    for payload in PAYLOADS[at : at + 25]:
        data = page_of(lambda text=payload: text)  # type: ignore[misc]
        found = read_page(data)
        assert (found.tags, found.scripts, found.styles) == (plain.tags, plain.scripts, plain.styles), payload
        assert other_tags(data) == plain.tags, payload
        assert clean_text(payload) in texts_of(found.blocks["detail-0"]), payload


def test_no_element_or_attribute_of_a_page_runs_anything_or_names_a_place(plain: Page) -> None:
    allowed = {"html", "head", "meta", "title", "style", "body", "div", "noscript", "script"}
    assert {tag for tag, _ in plain.tags} == allowed
    attributes = [(name, value) for _, found in plain.tags for name, value in found]
    assert {name for name, _ in attributes} <= {"lang", "charset", "http-equiv", "content", "name", "id", "type"}
    assert not [value for _, value in attributes if "javascript:" in value or "://" in value]


@pytest.mark.parametrize("payload", ["</script><script>window.hostileRan=1</script>", "__proto__", "\ud800\u2028<!--"])
def test_the_keys_of_the_data_are_ours_whatever_a_run_says(payload: str, plain: Page) -> None:
    found = read_page(page_of(lambda: payload))
    assert shape_of(found.blocks) == shape_of(plain.blocks)


def test_every_text_of_every_fact_that_concerns_the_work_is_in_the_page() -> None:
    n = count()
    made = filled.trajectory(lambda: f"<i>{next(n)}</i>&amp;")
    told = filled.row(lambda: "word")
    data = page(
        filled.review(lambda: "word", (told,)), lambda row: filled.side_by_side(made, made, row), assets=PLACEHOLDER
    )
    texts = "\0".join(texts_of(read_page(data).blocks["detail-0"]))
    left_out = {
        type(event.fact).TYPE
        for event in made
        for text in texts_of(_plain(event.fact))
        if text.startswith("<i>") and text not in texts
    }
    # Chunks are pieces of the answer that is shown, a tool/end has a digest only, a tool/call repeats the answer,
    # and what is queued beside its text is shown once it is a user/message.
    assert left_out <= {"assistant/chunk", "tool/end", "tool/call", "inbox/queued"}


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@pytest.mark.public_case("PB-046")
def test_model_output_is_found_in_full_as_text_and_nowhere_as_markup(plain: Page) -> None:
    said = "<script>document.title='x'</script><img src=x onerror=alert(1)>"
    tool = 'a" onmouseover="alert(1)'
    scenario = '"><b>bold</b>'
    result = "</pre></td><h1>big</h1><!--"
    run = refund_run(task=said, answers=(([(tool, "{}")], said), ([], said)), results=(result,))
    told = dataclasses.replace(filled.row(lambda: scenario), explanation=None, divergence=None)
    data = page(
        filled.review(lambda: scenario, (told,)), lambda row: filled.side_by_side(run, run, row), assets=PLACEHOLDER
    )
    found = read_page(data)
    texts = texts_of(found.blocks)
    assert {said, tool, scenario, result} <= texts
    markup = [tag for tag in found.tags if tag not in plain.tags and tag[0] != "script"]
    assert (markup, data.count(b"</script"), data.count(b"<!--")) == ([], len(found.blocks) + len(found.scripts), 0)
    assert [tag for tag in found.tags if tag[0] == "title"] == [("title", ())]


def test_a_page_that_writes_a_text_into_its_markup_is_told_from_one_that_does_not(plain: Page) -> None:
    """What the tests above look for is found where it is: an escape that is forgotten."""
    data = page_of(lambda: "</script><img src=x>").replace(b"\\u003c", b"<").replace(b"\\u003e", b">")
    assert other_tags(data) != plain.tags


@pytest.mark.parametrize("text", ["a</script>b", "a</SCRIPT >", "a<!-- b", "x</style>", "nul\0", "line\r"])
def test_a_script_that_cannot_stand_inside_a_page_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match=r"evil\.js"):
        Asset("evil.js", text)


@pytest.mark.parametrize("name", ["a b", 'x"', "", "Detail", "detail--1", "detail-1\n"])
def test_a_block_has_a_name_of_ours(name: str) -> None:
    with pytest.raises(InvalidValueError, match="no name of a block"):
        json_block(name, 1)


def test_lone_surrogates_in_a_message_are_one_sign_everywhere() -> None:
    run = with_facts(refund_run(), lambda fact: fact)
    assert ChatUser("\ud800").content == "\ud800"
    data = json_block("overview", {"x": "\ud800", "y": "\ud83d\ude00"})
    assert data.decode() == '<script type="application/json" id="overview">{"x":"\ufffd","y":"\U0001f600"}</script>\n'
    assert run.events
