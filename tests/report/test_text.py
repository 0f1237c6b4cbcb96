"""Foreign text is shown on one line, whole or visibly cut, and written as UTF-8 whatever it is."""

import io
import json
import re
import sys
import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report import show, wants_colour
from harness.report.console import coloured
from harness.report.text import UNSEEN, as_bytes, block, counted, distinct, piece, visible
from harness.types.jsontext import canonical_json
from tests.report.nasty import NASTY

APP = files("harness.report.html") / "app"
any_text = st.text(st.characters()) | st.sampled_from(NASTY)
HIDDEN = {"Cc", "Cs", "Zl", "Zp"}


@given(any_text)
def test_what_is_visible_has_no_control_character_no_line_end_and_no_lone_surrogate(text: str) -> None:
    shown = visible(text)
    assert not {unicodedata.category(char) for char in shown} & HIDDEN
    assert not set(shown) & set("\u202e\u2066\u200b\ufeff\ufffe")
    assert visible(shown) == shown
    shown.encode("utf-8")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("a\nb\r\tc", "a\\nb\\r\\tc", id="line-ends"),
        pytest.param("\x1b[31mred\x00", "\\x1b[31mred\\x00", id="control"),
        pytest.param("\ud800x", "\\ud800x", id="surrogate"),
        pytest.param("\u202eabc", "\\u202eabc", id="direction"),
        pytest.param("\U000e0041", "\\U000e0041", id="tag"),
        pytest.param("模型 🚀 é 👩‍👩‍👧", "模型 🚀 é 👩‍👩‍👧", id="what-people-write-stays"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("code", [0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x200C, 0x2065, 0x3164, 0xFE00, 0xFFA0, 0xFFF0, 0x1BCA0, 0x1D173, 0xE0100], ids=hex)
def test_two_names_of_which_one_has_a_character_that_no_font_draws_are_told_apart(code: int) -> None:
    name = f"shop/ref{chr(code)}und"
    assert visible(name) == f"shop/ref\\u{code:04x}und" if code < 0x10000 else f"shop/ref\\U{code:08x}und"
    assert distinct(name) == visible(name)


def test_the_html_report_hides_and_shows_the_same_characters() -> None:
    """But for newline and tab, which stand in a text of several lines there."""
    (told,) = re.findall(r"const HIDDEN = /\[(.*)\]/u;", (APP / "text.js").read_text("utf-8"))
    of_page = re.compile("[" + re.sub(r"\\u\{([0-9a-f]+)\}", lambda found: f"\\U{int(found[1], 16):08x}", told) + "]")
    of_text = re.compile(f"[{UNSEEN}]")
    chars = [chr(code) for code in range(sys.maxunicode + 1)]
    differ = [char for char in chars if bool(of_page.match(char)) is not bool(of_text.match(char))]
    assert differ == ["\t", "\n"]
    assert [hex(ord(char)) for char in "\u200d\ufe0e\ufe0f" if of_text.match(char)] == []


@given(any_text, st.integers(2, 60))
def test_a_piece_is_never_longer_than_asked_and_says_where_it_was_cut(text: str, n_chars: int) -> None:
    shown = piece(text, n_chars)
    assert len(shown) <= n_chars
    assert shown == visible(text) or shown.endswith("…")


@given(any_text)
def test_a_block_has_a_line_for_each_line_feed_and_nothing_else_ends_a_line(text: str) -> None:
    lines = block(text)
    assert len(lines) == text.count("\n") + 1
    assert len("\n".join(lines).splitlines() or [""]) <= len(lines)


@given(any_text)
def test_any_text_can_be_written_with_line_feeds_only(text: str) -> None:
    data = as_bytes(text)
    assert b"\r" not in data
    data.decode("utf-8")


def test_pairs_of_surrogates_become_the_character_they_stand_for() -> None:
    assert as_bytes("\ud83d\ude80").decode("utf-8") == "🚀"
    assert as_bytes("\ud83d!").decode("utf-8") == "\ufffd!"


@pytest.mark.parametrize(("n", "text"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps")])
def test_things_are_counted_in_english(n: int, text: str) -> None:
    assert counted(n, "step") == text


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def terminal(encoding: str = "utf-8") -> Terminal:
    return Terminal(io.BytesIO(), encoding=encoding)


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        pytest.param({}, True, id="terminal"),
        pytest.param({"NO_COLOR": "1"}, False, id="no-color"),
        pytest.param({"NO_COLOR": ""}, True, id="empty-no-color-is-unset"),
        pytest.param({"TERM": "dumb"}, False, id="dumb"),
    ],
)
def test_colour_is_for_terminals_that_want_it(environ: dict[str, str], wanted: bool) -> None:
    assert wants_colour(terminal(), environ) is wanted
    assert not wants_colour(io.StringIO(), environ)


def test_only_an_outcome_at_the_beginning_of_a_line_is_coloured() -> None:
    assert coloured("PASS  x PASS \nthe FAIL \n  FAIL a") == "\x1b[32mPASS\x1b[0m  x PASS \nthe FAIL \n  \x1b[31mFAIL\x1b[0m a"


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_the_console_writes_utf8_whatever_the_locale(encoding: str) -> None:
    stream = terminal(encoding)
    stream.write("before ")
    show("PASS  模型 é 🚀 \ud800", stream, {"NO_COLOR": "1"})
    assert stream.buffer.getvalue() == "before PASS  模型 é 🚀 \ufffd\n".encode()  # type: ignore[attr-defined]


def test_a_stream_without_bytes_gets_text() -> None:
    stream = io.StringIO()
    show("PASS  é", stream, {})
    assert stream.getvalue() == "PASS  é\n"


@given(st.text(st.characters(min_codepoint=0, max_codepoint=0x2FF) | st.sampled_from("\x1b\x9b\r\x85\x7f\t\n")))
def test_nothing_that_is_said_moves_the_cursor_and_json_stays_its_value(text: str) -> None:
    for said in (text, canonical_json({"text": text})):
        stream = io.StringIO()
        show(said, stream, {})
        assert not set(stream.getvalue()) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}
    assert json.loads(stream.getvalue()) == {"text": text}


NAMES = st.text(st.sampled_from("ab/\\nrtxuU01\n\r\t\x00\x1b\u202e\U000e0001"), max_size=8)


@given(NAMES, NAMES)
def test_no_two_names_are_shown_alike(one: str, other: str) -> None:
    assert (distinct(one) == distinct(other)) is (one == other)


@pytest.mark.parametrize(
    ("name", "shown"),
    [("x\n", "x\\n"), ("x\\n", "x\\\\n"), ("x\\\n", "x\\\\\\n"), ("shop\\late", "shop\\late"), ("a\\", "a\\"), ("模型", "模型")],
    ids=["line-end", "backslash-n", "both", "a-backslash-that-begins-nothing", "at-the-end", "text"],
)
def test_a_name_is_shown_as_it_is_unless_it_could_be_another(name: str, shown: str) -> None:
    assert distinct(name) == shown
    assert visible(distinct(name)) == shown
