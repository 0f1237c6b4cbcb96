"""The scripts of the HTML report as files: small, never markup from data, libraries as they were published."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.report.html.assets import LIBRARIES, own_scripts
from tests.house.source import REPO

HOME = REPO / "harness" / "report" / "html"
OWN = sorted((HOME / "app").iterdir())
VENDORED = sorted(path for path in (HOME / "vendor").iterdir() if path.suffix == ".js")
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|createContextualFragment|DOMParser|srcdoc"
    r"|\beval\b|new Function|setTimeout\(\s*[\"'`]|javascript:|setAttribute\(\s*[\"'](?:style|on)|https?://|\bfetch\(|XMLHttpRequest|WebSocket|import\("
)
CODE_FROM_TEXT = re.compile(r"\beval\s*\(|new Function\b|[^\w.]Function\s*\(")


def unsafe(text: str) -> list[str]:
    """What of a script of ours could turn text into markup or code, or ask the network."""
    without_comments = re.sub(r"^\s*(?://|\*|/\*).*$", "", text, flags=re.MULTILINE)
    return MARKUP.findall(without_comments)


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_a_file_of_ours_is_at_most_300_lines_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 300
    assert text.startswith(("// ", "/* "))


@pytest.mark.parametrize("path", [path for path in OWN if path.suffix == ".js"], ids=lambda path: path.name)
def test_no_script_of_ours_makes_markup_or_code_of_text_or_asks_the_network(path: Path) -> None:
    assert unsafe(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "text",
    ["one.innerHTML = text", "html`<i dangerouslySetInnerHTML=${x} />`", "eval(text)", "fetch(url)", "setTimeout('x()', 1)", "a.href = 'javascript:x'", "el.setAttribute('style', x)"],
)
def test_a_script_that_does_so_is_noticed(text: str) -> None:
    assert unsafe(text) != []


def test_every_library_of_the_page_lies_there_with_its_licence_and_nothing_else_does() -> None:
    assert sorted(path.name for path in VENDORED) == sorted(LIBRARIES)
    for path in VENDORED:
        licence = path.with_name(re.sub(r"(\.umd)?(\.min)?(\.umd)?\.js$", "", path.name) + ".LICENSE")
        stem = path.name.split(".")[0]
        texts = [one.read_text("utf-8") for one in (licence, path.with_name(stem.split("-")[0] + ".LICENSE")) if one.exists()]
        assert any(re.search("copyright|license", text, re.IGNORECASE) for text in texts), path.name


@pytest.mark.parametrize("path", VENDORED, ids=lambda path: path.name)
def test_no_library_makes_code_of_text(path: Path) -> None:
    text = path.read_text("utf-8")
    # d3's reader of separated values compiles a row's reader; the page reads no such files, and its policy refuses it.
    found = [one for one in CODE_FROM_TEXT.findall(text) if not (path.name == "d3.min.js" and one.startswith("new Function"))]
    assert found == []


def test_scripts_stand_in_a_fixed_order_that_begins_with_the_base_and_ends_with_the_start() -> None:
    names = [path.name for path in OWN if path.suffix == ".js"]
    order = own_scripts(names)
    assert (order[0], order[-1], sorted(order)) == ("base.js", "main.js", sorted(names))
    assert own_scripts(list(reversed(names))) == order
