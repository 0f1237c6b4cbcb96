"""The pull request's Markdown: foreign text stays text, and its size is counted in bytes and kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.report import comparison_markdown
from harness.report.markdown import AIM_BYTES, LIMIT_BYTES, code, n_bytes
from harness.report.text import visible
from harness.types.codes import Outcome
from harness.types.records import Comparison, Divergence, Finding, RunSummary, ScenarioComparison, Verdict
from tests.compare.made import summary
from tests.report.nasty import NASTY
from tests.report.test_comparison import COMMAND, compared, explained, many, reviewed

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FAIL = Outcome.FAIL


def tokens(markdown: str) -> Iterator[Token]:
    for token in PARSER.parse(markdown):
        yield token
        yield from token.children or ()


def structure(markdown: str) -> list[str]:
    """What the page is made of, without the words in it."""
    return [token.type for token in tokens(markdown)]


def spans(markdown: str) -> list[str]:
    return [token.content for token in tokens(markdown) if token.type == "code_inline"]


def one_changed(text: str) -> Comparison:
    found = Divergence("tool", f"p{text}", f"b{text}", f"c{text}", step=1)
    verdict = Verdict(f"k{text}", FAIL, (Finding("k", f"m{text}"),))
    run = summary(f"s{text}", FAIL, reason=f"r{text}", model=f"x{text}", file=f"f{text}", verdicts=(verdict,))
    return Comparison(f"base{text}", f"cand{text}", (ScenarioComparison(f"s{text}", "changed", found, run, run),), FAIL)


@given(st.text(st.characters(), max_size=40) | st.sampled_from(NASTY))
def test_a_code_span_holds_any_text_and_nothing_but_text(text: str) -> None:
    (inline,) = [token for token in PARSER.parse(f"- before {code(text)} after") if token.type == "inline"]
    children = inline.children or []
    assert [child.type for child in children] == ["text", "code_inline", "text"]
    assert children[1].content == (visible(text) or "(empty)")


@pytest.mark.public_case("PB-046")
@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_the_structure_of_the_page_does_not_depend_on_what_was_said(nasty: str) -> None:
    page = comparison_markdown(reviewed(one_changed(nasty), command=nasty or "x"))
    assert structure(page) == structure(comparison_markdown(reviewed(one_changed("x"), command="x")))
    assert structure(page)[0] == "html_block"
    assert page.startswith("<!-- harness-comparison -->\n")
    assert not {"html_inline", "html_block", "link_open", "image", "table_open"} & set(structure(page)[1:])
    page.encode("utf-8")


@pytest.mark.public_case("PB-046")
@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_the_structure_of_the_page_does_not_depend_on_what_explains_it(nasty: str) -> None:
    page = comparison_markdown(reviewed(explained(nasty), command="x"))
    assert structure(page) == structure(comparison_markdown(reviewed(explained("x"), command="x")))
    assert structure(page)[0] == "html_block"
    assert page.startswith("<!-- harness-comparison -->\n")
    assert not {"html_inline", "html_block", "link_open", "image", "table_open"} & set(structure(page)[1:])
    page.encode("utf-8")


@pytest.mark.public_case("PB-045")
def test_control_characters_come_back_as_visible_escapes() -> None:
    page = comparison_markdown(reviewed(one_changed("\x1b[31mred\x1b[0m nul:\x00 bell:\x07 nonchar:\ufffe lone:\ud800 ok: é 😀 <tag> ]]>")))
    assert r"b\x1b[31mred\x1b[0m nul:\x00 bell:\x07 nonchar:\ufffe lone:\ud800 ok: é 😀 <tag> ]]>" in spans(page)


def test_nothing_changed_is_one_line() -> None:
    runs = [summary("a"), summary("b")]
    assert comparison_markdown(reviewed(compared(runs, runs), command=COMMAND)) == "<!-- harness-comparison -->\nPASS  2 scenarios, no difference (`runs/main`, `runs/branch`)\n"


def test_the_first_screen_names_verdict_rule_sides_changes_and_command() -> None:
    base = [summary("other/refund"), summary("gone")]
    page = comparison_markdown(reviewed(compared(base, [summary("other/refund", FAIL)]), command=COMMAND))
    assert page.split("\n")[:10] == [
        "<!-- harness-comparison -->",
        "### FAIL: `without a gate every difference fails`",
        "",
        "- 0 same, 1 worse, 1 missing, 0 changed, 0 better, 0 new",
        "- base `runs/main`: `2 planned = 2 passed + 0 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date  model scripted  subject built-in`",
        "- candidate `runs/branch`: `1 planned = 0 passed + 1 failed + 0 errored + 0 inconclusive + 0 skipped; 0 out of date  model scripted  subject built-in`",
        '- **worse** `other/refund` `step 2`: `refund(order=7, why="late")` → `cancel_order(7)` cause: `the model chose differently on the same input` `PASS → FAIL`',
        "- **missing** `gone` `in the base only: a regression`",
        "- tokens 66 → 66 (+0.0 %, noise unknown: one trial each)   latency 12 → 12 ms (+0.0 %, noise unknown: one trial each)",
        f"- again: `{COMMAND}`",
    ]


def test_a_long_page_names_all_that_changed_then_cuts_details_between_runs() -> None:
    page = comparison_markdown(reviewed(many(60), command=COMMAND), full_report="reports/compare.html")
    assert all(f"- changed `other/{n}`\n" in page for n in range(60))
    assert n_bytes(page) < AIM_BYTES + 600
    details = page.split("#### Details\n")[1].split("\n\nDetails of ")[0]
    n_shown = details.count("- **changed**")
    assert 0 < n_shown < 60
    assert all(len(item.strip().split("\n")) == 7 for item in details.split("\n\n"))
    assert f"Details of {60 - n_shown} scenarios left out here; all of them: `reports/compare.html`" in page


def test_ids_that_do_not_fit_are_counted() -> None:
    page = comparison_markdown(reviewed(many(3_000), command=COMMAND))
    assert n_bytes(page) < LIMIT_BYTES
    n_named = page.count("\n- changed `")
    assert f"- and {3_000 - n_named} scenarios more, for which there is no room here" in page


def failing(n: int, text: str) -> ScenarioComparison:
    verdict = Verdict("answer", FAIL, (Finding("answer", text),))
    found = Divergence("model", "answer", "a", "b", step=1)
    runs: list[RunSummary] = [summary(f"family/{n:04}", FAIL, verdicts=(verdict,)) for _ in range(2)]
    return ScenarioComparison(runs[0].run_id, "changed", found, *runs)


@pytest.mark.public_case("PB-047")
def test_a_comment_of_thousands_of_long_failures_names_all_below_its_limit_in_bytes() -> None:
    comparison = Comparison("b", "c", tuple(failing(n, "模" * 2_000) for n in range(2_000)), FAIL)
    page = comparison_markdown(reviewed(comparison, command=COMMAND))
    assert LIMIT_BYTES // 2 < n_bytes(page) < LIMIT_BYTES
    assert all(f"- changed `family/{n:04}`\n" in page for n in range(2_000))
    assert page.index("- 0 same, 0 worse, 0 missing, 2000 changed") < page.index("family/0000")
    assert set(structure(page)) <= set(structure(comparison_markdown(reviewed(many(60), command=COMMAND))))
    assert page.endswith(f"scenarios left out here; all of them: `{COMMAND}`\n")


@given(st.integers(6_000, 20_000), st.integers(1, 200))
def test_the_hard_limit_holds_whatever_is_asked(limit: int, n: int) -> None:
    page = comparison_markdown(reviewed(many(n) if n < 20 else BIG, command=COMMAND), limit_bytes=limit)
    assert n_bytes(page) < limit


BIG = Comparison("b", "c", tuple(failing(n, "é" * 500) for n in range(200)), FAIL)
