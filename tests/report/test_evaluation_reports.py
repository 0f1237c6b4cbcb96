"""Reports of an evaluation: the first screen, Markdown and plots, whatever the names in it say."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache

import pytest
from markdown_it import MarkdownIt

from harness.evaluate.summary import summarise
from harness.report.confusing import matrix_of
from harness.report.evaluation_markdown import evaluation_markdown
from harness.report.evaluation_text import evaluation_text, first_screen
from harness.report.markdown import LIMIT_BYTES
from harness.report.plots import plots
from harness.types.evaluation import Arm, Case, GateSpec
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.reasons import Usage
from harness.types.trials import AnswerOrigin, Provenance
from tests.evaluate.made_evaluation import ANSWERS, case, evaluation, expects, gate, snapshot, trials
from tests.report.nasty import NASTY
from tests.report.reviews import n_bytes

PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
FOREIGN = {"html_inline", "html_block", "link_open", "image", "em_open", "strong_open", "s_open", "blockquote_open", "fence"}
LETTERS = ("+++", "++t", "vnn")


def shop(n: int = 15, **more) -> EvaluationSummary:
    """Fifteen cases under two arms: one in three passes always, one at times, one never."""
    made = evaluation([case(f"c{i:02}", tags=("all",)) for i in range(n)], gate=gate(), **more)
    table = {arm: {f"c{i:02}": LETTERS[(i + side) % 3] for i in range(n)} for side, arm in enumerate(("now", "new"))}
    return summarise(made, snapshot(), trials(table, usage=Usage(10, 2, cost_micro_usd=3)))


@cache
def hostile(text: str) -> EvaluationSummary:
    """An evaluation in which everything that somebody may choose holds ``text``."""
    tools = (f"t{text}", f"u{text}", f"refund{text}")
    arms = (Arm(f"now{text}"), Arm(f"new{text}", distractors=3, system=text), Arm(f"far{text}", distractors=3))
    right = expects(tools[0], **{f"a{text}": text})
    made = evaluation(
        [Case(f"c{i:02}{text}", f"ask{text}", (right,), never=(tools[2],), tags=(f"tag{text}",)) for i in range(10)],
        arms, trials=1, title=text, gate=GateSpec(arms[0].name, arms[1].name, 0.1),
    )  # fmt: skip
    made = replace(made, id=f"shop{text}", model=None, model_from=f"m{text}")
    wrong = replace(ANSWERS["t"], calls=(replace(ANSWERS["t"].calls[0], name=tools[1], arguments=json.dumps({text: text})),))
    by = Provenance(AnswerOrigin.RECORDED, f"b{text}", f"f{text}", f"s{text}", "2026-01-02T03:04:05Z")
    table = {arm.name: {one.id: "t" for one in made.cases} for arm in arms}
    given = [replace(one, answer=wrong, by=by) for one in trials(table)]
    return summarise(made, snapshot(*tools), given, snapshot(*(f"d{n}" for n in range(3))))


def structure(markdown: str) -> list[str]:
    kinds = []
    for token in PARSER.parse(markdown):
        kinds.append(token.type)
        kinds += [child.type for child in token.children or ()]
    return kinds


# ---------------------------------------------------------------- the terminal


def test_cases_that_always_fail_are_told_with_how_most_of_them_did() -> None:
    made = evaluation([case(f"c{n}") for n in range(3)], [Arm("now"), Arm("new")])
    letters = {"c0": "nnn", "c1": "nnn", "c2": "ttt"}
    summary = summarise(made, snapshot(), trials({"now": letters, "new": letters}))
    (kind,) = summary.suspects[0].kinds
    assert f"3 cases failed always in every arm (mostly {kind.value}): is what they expect right?" in first_screen(summary)


def test_a_model_that_the_file_does_not_name_is_told_as_that() -> None:
    made = replace(evaluation([case("a")], [Arm("now")]), model=None)
    summary = summarise(made, snapshot(), trials({"now": {"a": "+"}}))
    assert first_screen(summary).splitlines()[0].endswith("3 trials a case, a model that the file does not name")
    assert "3 trials a case, a model that the file does not name\n" in evaluation_markdown(summary)
    assert evaluation_markdown(shop()).count("3 trials a case, model `m`\n") == 1


def test_the_first_screen_says_verdict_rule_counts_rates_and_both_estimands() -> None:
    lines = first_screen(shop()).splitlines()
    assert len(lines) <= 12
    assert lines[0] == "INCONCLUSIVE  shop: 15 cases, 3 tools, 2 arms, 3 trials a case, m"
    assert lines[1].startswith("rule    new minus now in the case pass rate, prompts like these, interval at 95 %: PASS above -10 points")
    assert "now     planned 45 = 25 passed + 20 failed + 0 errored + 0 skipped: 55.6 % of planned (55.6 % of scored)" in lines
    assert any(line.startswith("        per case 55.6 % [") and "pass^3 33.3 %, 5 flaky" in line for line in lines)
    assert any(line.startswith("        decides: prompts like these: +0.0 points [") for line in lines)
    assert any(line.startswith("        beside: these cases: +0.0 points [") and "5 better, 0 same" in line for line in lines)
    assert any(line.startswith("A/A     halves of now gave FAIL in ") for line in lines)


def test_few_units_are_told_as_counts() -> None:
    made = evaluation([case(f"c{i}") for i in range(3)], [Arm("now")], trials=2)
    said = first_screen(summarise(made, snapshot(), trials({"now": {"c0": "++", "c1": "+t", "c2": "tt"}})))
    assert "        per case 1.5 of 3 units, too few for an interval, 1 of 3 units pass always, 1 flaky" in said
    assert "pass^" not in said


def test_what_errors_hid_is_one_line_where_it_cannot_matter_and_all_of_it_where_it_does() -> None:
    names = [f"c{i:02}" for i in range(40)]
    made = evaluation([case(name) for name in names], gate=gate(), trials=3)
    table = {"now": dict.fromkeys(names, "+++"), "new": dict.fromkeys(names, "ttt") | {"c00": "ttp"}}
    assert "errors  fail by more than the margin, whether trials without an answer all passed or all failed, in either arm\n" in first_screen(
        summarise(made, snapshot(), trials(table))
    )
    table["new"] = {name: "ppp" if i % 2 else "+++" for i, name in enumerate(names)}
    assert "errors  what trials without an answer hid decides: base all passed, candidate all passed: pass; " in first_screen(
        summarise(made, snapshot(), trials(table))
    )


def test_the_whole_text_goes_on_with_the_confusion_matrix_and_the_worst_cases() -> None:
    text = evaluation_text(shop())
    assert text.startswith(first_screen(shop()))
    for said in ("expected (rows) and chosen (columns), now", "went wrong in", "cases that fail most", "against now (description, not a verdict)"):
        assert said in text


def test_more_arms_than_fit_the_first_screen_are_counted() -> None:
    arms = [Arm(f"arm-{i}") for i in range(7)]
    summary = summarise(evaluation([case("a")], arms, trials=1), snapshot(), trials({arm.name: {"a": "+"} for arm in arms}))
    assert "and 3 arms more, in the report" in first_screen(summary)


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_the_number_of_lines_on_the_terminal_does_not_depend_on_names(nasty: str) -> None:
    text = evaluation_text(hostile(nasty))
    assert len(text.split("\n")) == len(evaluation_text(hostile("x")).split("\n"))
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]", text) is None
    text.encode("utf-8")


# ---------------------------------------------------------------- Markdown


@pytest.mark.parametrize("nasty", NASTY, ids=ascii)
def test_foreign_text_in_the_report_is_text_and_nothing_else(nasty: str) -> None:
    page = evaluation_markdown(hostile(nasty))
    assert structure(page) == structure(evaluation_markdown(hostile("x")))
    assert not FOREIGN & set(structure(page))
    page.encode("utf-8")


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    for nasty in ("|", "a|b\\|c", "`|`", "\\"):
        page = evaluation_markdown(hostile(nasty))
        tables = re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE)
        assert tables
        for table in tables:
            rows = [token for token in PARSER.parse(table) if token.type in ("th_open", "td_open", "tr_open")]
            n_rows = sum(token.type == "tr_open" for token in rows)
            assert (len(rows) - n_rows) % n_rows == 0
            assert "table_open" in structure(table)


def test_the_page_ends_below_its_limit_and_names_what_was_left_out() -> None:
    long = "x" * 3000
    arms = [Arm(f"{i}{long}") for i in range(30)]
    cases = [case(f"{i}{long}", ask=long, tags=(f"{i}{long}",)) for i in range(60)]
    made = evaluation(cases, arms, trials=1)
    table = {arm.name: {one.id: "t" for one in cases} for arm in arms}
    page = evaluation_markdown(summarise(made, snapshot(), trials(table)))
    assert n_bytes(page) <= LIMIT_BYTES
    small = evaluation_markdown(shop(), limit_bytes=4_000)
    assert n_bytes(small) <= 4_000
    assert small.endswith("Left out for want of room, all of it in `summary.json`: tags, cases that fail most (description)\n")
    assert "#### Tags" in evaluation_markdown(shop())


def test_the_report_says_that_no_model_judges_anything() -> None:
    assert "No model judges anything: each answer is compared with what its case says is right." in evaluation_markdown(shop())


# ---------------------------------------------------------------- plots


def test_the_same_summary_gives_the_same_plots_without_a_date() -> None:
    first, second = plots(shop()), plots(shop())
    assert first == second
    assert sorted(first) == ["confusion-01.svg", "confusion-02.svg", "differences.svg", "rates.svg"]
    for data in first.values():
        assert b"<dc:date>" not in data
        assert b"Matplotlib v" not in data


def tags_of(svg: bytes) -> set[str]:
    """The elements of a plot. Raises ParseError where it is no XML."""
    return {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg.decode("utf-8")).iter()}


ALLOWED = {"svg", "metadata", "RDF", "Work", "type", "format", "Agent", "title", "creator", "defs", "style", "g", "path", "use",
           "text", "tspan", "clipPath", "rect", "image"}  # fmt: skip


@pytest.mark.parametrize("batch", [NASTY[:11], NASTY[11:22], NASTY[22:]], ids=["first", "second", "third"])
def test_every_plot_is_well_formed_and_holds_names_as_text(batch: tuple[str, ...]) -> None:
    names = [f"{i}{text}" for i, text in enumerate(batch)]
    cases = [case(name, expects(name, id=1)) for name in names]
    made = evaluation(cases, [Arm(f"now{name}") for name in names[:2]], trials=1)
    drawn = plots(summarise(made, snapshot(*names), trials({arm.name: {one.id: "t" for one in cases} for arm in made.arms})))
    assert {"rates.svg", "confusion-01.svg", "confusion-02.svg"} == set(drawn)
    for data in drawn.values():
        assert tags_of(data) <= ALLOWED
    texts = [element.text or "" for element in ElementTree.fromstring(drawn["confusion-01.svg"].decode()).iter() if element.tag.endswith("text")]
    assert sum(text[:1].isdigit() for text in texts) >= len(names)


def test_a_formula_in_a_name_stays_what_it_is() -> None:
    drawn = plots(hostile("$x^2$"))
    assert "now$x^2$" in drawn["rates.svg"].decode()
    assert "curve-distractors.svg" in drawn


def test_a_large_matrix_is_cut_to_its_most_frequent_names_and_says_so() -> None:
    names = [f"t{i:02}" for i in range(40)]
    cases = [case(f"c{i}", expects(name)) for i, name in enumerate(names)]
    made = evaluation(cases, [Arm("now")], trials=1)
    summary = summarise(made, snapshot(*names), trials({"now": {one.id: "n" for one in cases}}))
    matrix = matrix_of(summary, "now", 24)
    assert (len(matrix.rows), matrix.columns, matrix.n_left_out) == (24, ("(none)",), 16)
    assert "and 20 names more, in `confusion.parquet`" in evaluation_markdown(summary)
    assert b"16 names more in confusion.parquet" in plots(summary)["confusion-01.svg"]


def test_the_terminal_needs_no_library_of_plots_or_tables() -> None:
    code = (
        "import sys\n"
        "import harness.evaluate.summary, harness.report.evaluation_text, harness.report.evaluation_markdown\n"
        "import harness.report.plots, harness.evaluate.frame\n"
        "print([name for name in ('matplotlib', 'pandas', 'pyarrow', 'scipy', 'numpy') if name in sys.modules])\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
