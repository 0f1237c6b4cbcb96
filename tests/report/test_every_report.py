"""Whatever is said in any field, each report is what its format says it is, and built the same way (INVARIANTS 34)."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml
from xml.parsers import expat
from xml.sax import handler, make_parser

import jsonschema_rs
import junitparser
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from harness.report import comparison_json, comparison_markdown, comparison_text
from harness.report.annotations import annotation_commands
from harness.report.comparison_frame import COLUMNS, comparison_frame, comparison_parquet
from harness.report.fates import beside_rows, rows_of
from harness.report.junit import junit_xml
from harness.report.markdown import LIMIT_BYTES, n_bytes
from harness.report.step_summary import SUMMARY_BYTES, step_summary
from harness.report.text import as_bytes, visible
from harness.types.jsontext import clean_text
from harness.types.review import Review
from tests.golden.write import SHIPPED_COMPARISON_SCHEMA
from tests.report.nasty import NASTY
from tests.report.reviews import GATED, UNGATED, large, spoken
from tests.report.test_markdown import PARSER, structure

XSD = etree.XMLSchema(etree.parse(str(Path(__file__).with_name("junit.xsd"))))
STRICT = etree.XMLParser(recover=False, resolve_entities=False, huge_tree=False)
SCHEMA = jsonschema_rs.validator_for(json.loads(SHIPPED_COMPARISON_SCHEMA.read_bytes()))
EVERYWHERE = [pytest.param(text, alone, id=f"{ascii(text)[:40]}-{'alone' if alone else 'behind'}") for text in NASTY for alone in (False, True)]
everywhere = pytest.mark.parametrize(("nasty", "alone"), EVERYWHERE)


# ------------------------------------------------ JUnit


def elements(xml: bytes) -> list[str]:
    """The document as three strict readers of XML see it, which must be the same."""
    root = etree.fromstring(xml, STRICT)
    of_lxml = [str(element.tag) for element in root.iter()]
    seen: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda name, _: seen.append(name)
    parser.Parse(xml, True)
    sax: list[str] = []

    class Collect(handler.ContentHandler):
        def startElement(self, name: str, attrs: Any) -> None:  # noqa: N802  # the library's name
            sax.append(name)

    reader = make_parser()
    reader.setContentHandler(Collect())
    reader.parse(io.BytesIO(xml))
    assert of_lxml == seen == sax
    XSD.assertValid(root)
    return seen


@pytest.mark.public_case("PB-045")
@everywhere
def test_junit_is_valid_for_strict_readers_and_built_the_same_whatever_was_said(nasty: str, alone: bool) -> None:
    for review in (GATED, UNGATED):
        seen = elements(junit_xml(spoken(nasty, alone=alone, review=review)))
        assert nasty == "" or seen == elements(junit_xml(spoken("x", alone=alone, review=review)))


@given(st.text(st.characters(), max_size=30))
def test_junit_takes_any_text_of_unicode(text: str) -> None:
    assert elements(junit_xml(spoken(text))) == elements(junit_xml(GATED))


@pytest.mark.public_case("PB-045")
def test_the_readers_refuse_what_is_written_without_making_text_visible() -> None:
    root = Xml.fromstring(junit_xml(GATED))
    next(root.iter("failure")).text = "nul:\x00 esc:\x1b"
    with pytest.raises(etree.XMLSyntaxError):
        elements(Xml.tostring(root))
    with pytest.raises(expat.ExpatError):
        expat.ParserCreate("utf-8").Parse(Xml.tostring(root), True)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        pytest.param(b'tests="10"', b'tests="ten"', id="no-number"),
        pytest.param(b'classname="shop"', b'classname=""', id="no-class"),
        pytest.param(b"<system-out>", b"<output>", id="another-element"),
        pytest.param(b'time="1.234"', b'time="1,234"', id="a-comma-of-some-locale"),
        pytest.param(b' message="', b' text="', id="no-message"),
    ],
)
def test_the_schema_of_junit_refuses_another_dialect(was: bytes, becomes: bytes) -> None:
    broken = junit_xml(GATED).replace(was, becomes).replace(b"</system-out>", b"</output>" if becomes == b"<output>" else b"</system-out>")
    with pytest.raises(etree.DocumentInvalid):
        elements(broken)


@pytest.mark.public_case("PB-045")
def test_forbidden_characters_come_back_as_visible_escapes_at_the_right_case() -> None:
    said = '\x1b[31mred\x1b[0m nul:\x00 bell:\x07 nonchar:\ufffe lone:\ud800 ok: é 😀 <tag> & "q" ]]>'
    suite = next(iter(junitparser.JUnitXml.fromstring(junit_xml(spoken(said)))))
    case = next(case for case in suite if case.name.startswith("shop/worse"))
    assert case.name.endswith(r'\x1b[31mred\x1b[0m nul:\x00 bell:\x07 nonchar:\ufffe lone:\ud800 ok: é 😀 <tag> & "q" ]]>')
    assert case.is_failure
    assert r"call 7 has no result\x1b[31mred" in case.result[0].text
    assert '<tag> & "q" ]]>' in case.result[0].text


@pytest.mark.parametrize("review", [GATED, UNGATED], ids=["gated", "ungated"])
def test_junit_counts_are_those_of_its_cases_and_of_the_gate(review: Review) -> None:
    (suite,) = junitparser.JUnitXml.fromstring(junit_xml(review))
    cases = list(suite)
    fates = [row.fate for row in rows_of(review)]
    assert suite.tests == len(cases) == len(review.comparison.scenarios)
    assert suite.failures == sum(case.is_failure for case in cases) == fates.count("failed")
    assert suite.errors == sum(case.is_error for case in cases) == fates.count("errored") == 1
    assert suite.skipped == sum(case.is_skipped for case in cases) == fates.count("held") + fates.count("undecided")
    assert suite.time == pytest.approx(sum(case.time for case in cases)) == pytest.approx(9 * 1.234)


# ------------------------------------------------ Markdown


@pytest.mark.public_case("PB-046")
@everywhere
@pytest.mark.parametrize("make", [comparison_markdown, step_summary], ids=["comment", "summary"])
def test_markdown_is_built_the_same_whatever_was_said(make: Callable[[Review], str], nasty: str, alone: bool) -> None:
    for review in (GATED, UNGATED):
        # Where a text stands alone two fields may become one, so the page is that of a plain word in its place.
        page, plain = make(spoken(nasty, alone=alone, review=review)), make(spoken("x", alone=alone, review=review))
        page.encode("utf-8")
        assert len(page.splitlines()) == page.count("\n")
        if nasty:
            assert structure(before_details(page)) == structure(before_details(plain))
            assert set(structure(page)) <= set(structure(plain))


def before_details(page: str) -> str:
    """How many details follow depends on how much room the texts leave."""
    return page.split("\n#### Details\n")[0].split("\nDetails of ")[0]


def test_only_our_own_marker_and_diagram_are_html() -> None:
    page = comparison_markdown(spoken("<b>"), key="job-1", trace="sequenceDiagram\n    Note over A: x")
    html = [token.content for token in PARSER.parse(page) if token.type.startswith("html")]
    assert html == ["<!-- harness-comparison job-1 -->\n", "<details><summary>Where the first one parts</summary>\n", "</details>\n"]
    (fence,) = [token for token in PARSER.parse(page) if token.type == "fence"]
    assert (fence.info, fence.content) == ("mermaid", "sequenceDiagram\n    Note over A: x\n")


# ------------------------------------------------ annotations

COMMAND = re.compile(r"::(error|notice) (?:file=[^:,]*,line=\d+,)?title=[^:,]*::.*")


def runner_reads(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """As the runner of a service reads its log: by line, the command up to the next ``::``, properties by commas."""
    for line in re.split("\r\n|\r|\n", text)[:-1]:
        assert line.startswith("::")
        head, _, data = line[2:].partition("::")
        name, _, properties = head.partition(" ")
        pairs = dict(pair.partition("=")[::2] for pair in properties.split(","))
        back = {key: unescaped(value.replace("%3A", ":").replace("%2C", ",")) for key, value in pairs.items()}
        yield name, back, unescaped(data)


def unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


@everywhere
def test_no_text_starts_another_command_or_ends_a_property(nasty: str, alone: bool) -> None:
    said, plain = annotation_commands(spoken(nasty, alone=alone)), annotation_commands(spoken("x", alone=alone))
    assert [line for line in said.split("\n")[:-1] if not COMMAND.fullmatch(line)] == []
    assert len(said.splitlines()) == len(plain.splitlines())
    assert "##[" not in said
    for (name, properties, data), (of, their, _) in zip(runner_reads(said), runner_reads(plain), strict=True):
        assert (name, set(properties)) == (of, set(their) if nasty else {*properties})
        assert "\r" not in data


@given(st.lists(st.sampled_from([*":,%\r\n#[]=;A0 ", "::error ", "%0A"]), max_size=20).map("".join))
def test_what_a_runner_reads_of_an_annotation_is_what_was_said(text: str) -> None:
    (source,) = GATED.sources
    review = spoken(text, review=UNGATED)
    told = list(runner_reads(annotation_commands(review)))
    assert [name for name, _, _ in told] == ["error"] * 7
    assert {key for _, properties, _ in told for key in properties} <= {"file", "line", "title"}
    assert told[0][1]["file"] == visible(f"{source.file}{text}").replace("##[", r"#\x23[")
    assert visible(f"call 7 has no result{text}").replace("##[", r"#\x23[") in told[0][2].split("\n")[-2]


# ------------------------------------------------ JSON


@everywhere
def test_the_json_is_strict_and_keeps_to_its_schema(nasty: str, alone: bool) -> None:
    text = comparison_json(spoken(nasty, alone=alone))
    value = json.loads(text.encode("utf-8"), parse_constant=lambda word: pytest.fail(word))
    assert text.startswith('{"format":"harness-comparison/1",')
    assert list(SCHEMA.iter_errors(value)) == []
    assert "\n" not in text
    assert value["comparison"]["base"] == clean_text(nasty if alone else f"runs/main{nasty}")


# ------------------------------------------------ tables


@everywhere
def test_a_cell_of_the_table_holds_the_text_and_nothing_else(nasty: str, alone: bool) -> None:
    review = spoken(nasty, alone=alone)
    table = pq.read_table(io.BytesIO(comparison_parquet(review)))
    assert table.column_names == list(COLUMNS)
    assert table.num_rows == len(review.comparison.scenarios)
    names = [clean_text(row.candidate.scenario if row.candidate else "shop/x") for row in review.comparison.scenarios[:3]]
    assert table["scenario"].to_pylist()[:3] == names
    assert table["base_n_steps"].to_pylist()[0] == 3


@pytest.mark.parametrize("text", ["001", "NA", "=1+1", "1e5", "true", "", "2026-01-01", "null"])
def test_text_stays_text_in_frame_and_file(text: str) -> None:
    review = spoken(text, alone=True)
    frame = comparison_frame(review)
    assert frame["scenario"].tolist() == [text] * len(frame)
    assert str(frame["scenario"].dtype) == "string"
    assert pq.read_table(io.BytesIO(comparison_parquet(review)))["scenario"].to_pylist() == [text] * len(frame)


# ------------------------------------------------ text, and all of them


@everywhere
def test_the_text_has_as_many_lines_whatever_was_said(nasty: str, alone: bool) -> None:
    said, plain = comparison_text(spoken(nasty, alone=alone)), comparison_text(spoken("x", alone=alone))
    if nasty or not alone:
        assert len(said.splitlines()) == len(plain.splitlines())
    as_bytes(said).decode("utf-8")


MAKERS: dict[str, Callable[[Review], bytes]] = {
    "comment": lambda review: as_bytes(comparison_markdown(review)),
    "summary": lambda review: as_bytes(step_summary(review)),
    "annotations": lambda review: as_bytes(annotation_commands(review)),
    "junit": junit_xml,
    "json": lambda review: as_bytes(comparison_json(review)),
    "text": lambda review: as_bytes(comparison_text(review)),
    "parquet": comparison_parquet,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_same_review_is_the_same_bytes_and_is_valid_text(make: Callable[[Review], bytes]) -> None:
    assert make(GATED) == make(GATED)
    assert make(spoken("\ud800é")) == make(spoken("\ud800é"))


# ------------------------------------------------ sizes


@pytest.mark.public_case("PB-047")
@pytest.mark.parametrize("text", ["", "模" * 2_000, "`" * 700, "<&\x00" * 300], ids=["plain", "three-bytes", "backticks", "escapes"])
def test_three_thousand_changed_scenarios_fit_where_services_take_them(text: str) -> None:
    review = large(3_000, text)
    page, summary = comparison_markdown(review), step_summary(review)
    assert len(page) <= n_bytes(page) < LIMIT_BYTES
    assert n_bytes(summary) < SUMMARY_BYTES
    assert n_bytes(summary) > SUMMARY_BYTES * 0.9
    assert set(structure(step_summary(review, limit_bytes=60_000))) == set(structure(step_summary(large(40), limit_bytes=60_000)))
    rows = [line for line in summary.split("\n") if line.startswith("| failed |")]
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 14 for line in rows)
    failing = summary.split("#### Failing")[1].split("#### All scenarios")[0]
    n_missing = re.search(r"and (\d+) scenarios more, for which", failing)
    assert len(re.findall(r"\n- `+shop/", failing)) + (int(n_missing[1]) if n_missing else 0) == 3_000
    assert "#### All scenarios" in summary
    bodies = [case.findtext("failure") or "" for case in Xml.fromstring(junit_xml(large(30, text))).iter("testcase")]
    assert len(bodies) == 30
    assert all(0 < len(body) < 6_100 for body in bodies)
    assert len(annotation_commands(review).splitlines()) == 11
    assert "and 2990 more that fail" in annotation_commands(review)


@pytest.mark.public_case("PB-047")
def test_what_a_summary_held_before_counts() -> None:
    held = 1_000_000
    assert n_bytes(step_summary(large(2_000, "模" * 100), limit_bytes=SUMMARY_BYTES - held)) + held < SUMMARY_BYTES


@given(st.integers(20_000, 100_000), st.integers(1, 60), st.sampled_from(["", "模" * 300]))
def test_a_summary_keeps_any_limit_and_counts_what_it_leaves_out(limit: int, n: int, text: str) -> None:
    summary = step_summary(large(n, text), limit_bytes=limit)
    assert n_bytes(summary) < limit
    table = summary.split("#### All scenarios")[1].split("#### Details")[0]
    left = re.search(r"and (\d+) scenarios? more, for which", table)
    assert table.count("\n| failed |") + (int(left[1]) if left else 0) == n


@pytest.mark.parametrize("review", [GATED, UNGATED], ids=["gated", "ungated"])
def test_something_fails_in_every_list_where_the_verdict_does(review: Review) -> None:
    rows = rows_of(review)
    assert any(row.fails for row in rows) or list(beside_rows(review, rows))
