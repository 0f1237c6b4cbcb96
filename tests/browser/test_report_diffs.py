"""How the page compares and writes texts: nothing of a text is lost, added or rounded by showing it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.types.jsontext import clean_text
from tests.browser.conftest import blocks_of
from tests.browser.report import Report
from tests.report.hostile import PAYLOADS

Open = Callable[..., Report]
TEXTS = [clean_text(one) for one in PAYLOADS]


@pytest.fixture(scope="module")
def page(browser: Any, made: Path) -> Iterator[Report]:
    report = Report(browser.new_context(), made)
    yield report
    assert list(report.close()) == []


def test_the_pieces_of_both_sides_of_a_difference_are_the_two_texts(page: Report) -> None:
    pairs = [[one, other] for one, other in zip(TEXTS, TEXTS[7:] + TEXTS[:7], strict=True)]
    pairs += [[f"{one}\nsame\n{other}", f"same\n{other}\n{one}"] for one, other in pairs[:60]]
    lost = """pairs => pairs.filter(([base, candidate]) => {
      const found = harnessApp.diffing.marks(base, candidate);
      return found.base.map(piece => piece[0]).join('') !== base || found.candidate.map(piece => piece[0]).join('') !== candidate;
    })"""
    assert page.run(lost, pairs) == []


def test_equal_texts_have_no_mark_and_different_ones_have_at_least_one(page: Report) -> None:
    wrong = """texts => texts.filter((text, k) => {
      const marked = (base, candidate) => { const found = harnessApp.diffing.marks(base, candidate); return [...found.base, ...found.candidate].some(piece => piece[1]); };
      return marked(text, text) || !marked(text, text + 'x');
    })"""
    assert page.run(wrong, TEXTS) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"n":12345678901234567890,"x":1.10}', id="long-number"),
        pytest.param('{"a":1,"a":2}', id="repeated-key"),
        pytest.param('{"s":"\\u003c \\/ \\ud800 {,}[:]\\"","e":1e400}', id="escapes-and-signs-in-a-string"),
        pytest.param('[[],{},[{}],""]', id="empty"),
        pytest.param(' { "a" : [ 1 , true , null ] } ', id="white-space"),
        pytest.param('"one"', id="text-alone"),
    ],
)
def test_json_is_laid_out_without_changing_what_was_sent(text: str, page: Report) -> None:
    laid_out = page.run("text => harnessApp.diffing.layOut(text)", text)
    strings = r'"(?:[^"\\]|\\.)*"'
    squeezed = re.sub(rf"({strings})|\s+", lambda found: found.group(1) or "", laid_out)
    assert squeezed == re.sub(rf"({strings})|\s+", lambda found: found.group(1) or "", text)


@pytest.mark.parametrize("text", ["", "{", "no json", "{'a':1}", "NaN", '{"a":1}}'])
def test_what_is_no_json_is_not_laid_out(text: str, page: Report) -> None:
    assert page.run("text => harnessApp.diffing.layOut(text)", text) is None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 9000 + "]" * 9000, id="lists"),
        pytest.param('{"a":' * 4000 + "1" + "}" * 4000, id="objects"),
        pytest.param("[" * 50 + ",".join("1" * 8000) + "]" * 50, id="wide-below-fifty"),
        pytest.param(",".join(["[" * 40 + "]" * 40] * 300).join("[]"), id="many-deep-ones"),
    ],
)
def test_deeply_nested_json_is_shown_without_growing_with_the_square_of_its_depth(text: str, page: Report) -> None:
    shown = page.run("""([text, other]) => {
      const room = document.createElement('div');
      harnessApp.render(harnessApp.h(harnessApp.Marked, {text, other, side: 'base', json: true}), room);
      return room.textContent;
    }""", [text, text[:1] + " " + text[1:]])  # fmt: skip
    assert len(shown) <= 4000 + 9 * len(text)
    assert "".join(shown.split()) == text


def test_json_of_twenty_levels_is_laid_out_still(page: Report) -> None:
    assert page.run("text => harnessApp.diffing.layOut(text)", '{"a":[' * 10 + "1" + "]}" * 10).count("\n") == 40


def test_both_sides_of_a_difference_are_laid_out_or_neither(page: Report) -> None:
    deep, flat = "[" * 100 + "]" * 100, '{"a":1}'
    both = "([one, other]) => harnessApp.diffing.bothLaidOut(one, other)"
    assert page.run(both, [deep, flat]) == [deep, flat]
    assert page.run(both, ["no json", flat]) == ["no json", '{\n  "a": 1\n}']


def test_json_in_another_order_is_said_to_be_the_same_value(page: Report) -> None:
    same = "([one, other]) => harnessApp.diffing.sameValue(one, other)"
    assert page.run(same, ['{"a":1,"b":[2]}', '{ "b": [2], "a": 1 }'])
    assert not page.run(same, ['{"a":[1,2]}', '{"a":[2,1]}'])


@pytest.mark.parametrize(
    ("character", "shown"),
    [
        pytest.param("\u202e", "U+202E", id="right-to-left-override"),
        pytest.param("\u200b", "U+200B", id="zero-width-space"),
        pytest.param("\U000e0041", "U+E0041", id="tag-character"),
        pytest.param("\x1b", "U+001B", id="escape"),
        pytest.param("\xa0", "U+00A0", id="space-that-does-not-break"),
        pytest.param("\u2002", "U+2002", id="wide-space"),
        pytest.param("\u2800", "U+2800", id="blank-braille"),
        pytest.param("\u3164", "U+3164", id="filler"),
        pytest.param("\u200d", "\u200d", id="joiner-of-emoji-stays"),
        pytest.param("文", "文", id="script-stays"),
    ],
)
def test_what_cannot_be_seen_is_drawn_as_its_code(character: str, shown: str, page: Report) -> None:
    drawn = """text => { const room = document.createElement('div'); harnessApp.render(harnessApp.h(harnessApp.Text, {value: text}), room); return room.textContent; }"""
    assert page.run(drawn, f"a{character}b") == f"a{shown}b"
    assert (character in page.run("text => harnessApp.label(text)", f"a{character}b")) == (character == shown)


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("count(1234567)", "1,234,567"), ("count('12345678901234567890')", "12345678901234567890"), ("count(null)", "–"),
        ("ms(0)", "0 ms"), ("ms(1500)", "1.5 s"), ("ms(90000)", "1.5 min"), ("money(0)", "$0"), ("money(7)", "$0.000007"),
        ("money(1234567)", "$1.23"), ("percent(100, 150)", "+50 %"), ("percent(0, 5)", ""), ("percent(100, 100)", "±0 %"),
        ("signed(5, 3)", "−2"), ("signed(null, 3)", ""), ("plural(1, 'step')", "1 step"), ("plural(0, 'step')", "0 steps"),
    ],
)  # fmt: skip
def test_numbers_are_written_for_people_and_unknown_is_not_nought(call: str, shown: str, page: Report) -> None:
    assert page.run(f"() => harnessApp.{call}") == shown


def with_blocks(path: Path, out: Path, change: Callable[[str, Any], None]) -> Path:
    """The same page about other data."""
    text = path.read_text("utf-8")
    for name, data in blocks_of(path).items():
        change(name, data)
        made = json.dumps(data).replace("<", "\\u003c")
        text = re.sub(rf'(<script type="application/json" id="{name}">).*?(</script>)', lambda found, made=made: found[1] + made + found[2], text, flags=re.DOTALL)
    out.write_text(text, "utf-8")
    return out


def one_sided(name: str, data: Any) -> None:
    """Takes the base out of the data, as in a report of one set of runs."""
    if name == "overview":
        data["review"]["comparison"]["base"] = ""
        data["review"]["comparison"].pop("baseSide", None)
        for row in data["rows"]:
            row.update({key: None for key in row if key.endswith("Base")} | {"base": None, "change": None, "nBase": 0})
    elif name.startswith("detail-"):
        data["base"] = None
        data["pairs"] = [{"kind": "only-candidate", "base": None, "candidate": pair["candidate"]} for pair in data["pairs"] if pair["candidate"] is not None]
        data["first"] = data["shown"] = None


def test_a_report_of_one_side_shows_no_base_at_all(opened: Open, made: Path, tmp_path: Path) -> None:
    report = opened(with_blocks(made, tmp_path / "one.html", one_sided))
    assert report.listed() == 60
    assert report.count("table.sides tbody tr") == 1
    assert report.count("aside .chip") > 0
    report.press("j", "Enter")
    assert report.count(".block.candidate") > 0
    assert report.count(".block.base, .side-facts.base, .map-side .base") == 0
    report.press("m")
    assert report.count(".seen-facts") == 1
    assert "nothing here" not in report.text("main")
