"""What a reader could take for something else: sides, names, models, commits, lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unicodedata import bidirectional

import pytest

from harness.compare.sides import Counted
from harness.report import Verbosity, comparison_markdown, comparison_text
from harness.report.annotations import annotation_commands
from harness.report.counts import side_text
from harness.report.junit import junit_xml
from harness.report.markdown_text import Page
from harness.report.markdown_text import n_bytes as counted_bytes
from harness.report.step_summary import step_summary
from harness.types.codes import Outcome
from harness.types.records import Divergence, Explanation, ScenarioComparison, Side
from harness.types.review import Review, Revision, SourceLine
from tests.compare.made import summary
from tests.report.reviews import COMPARISON, GATED, UNGATED, n_bytes, row

REPORTS: dict[str, Callable[[Review], str]] = {
    "screen": comparison_text,
    "verbose": lambda review: comparison_text(review, verbosity=Verbosity.VERBOSE),
    "comment": comparison_markdown,
    "summary": step_summary,
    "annotations": annotation_commands,
    "junit": lambda review: junit_xml(review).decode(),
}
every_report = pytest.mark.parametrize("make", REPORTS.values(), ids=REPORTS)


def of_rows(*rows: ScenarioComparison, review: Review = UNGATED, **given: Any) -> Review:
    return replace(review, comparison=replace(COMPARISON, scenarios=rows), **{"sources": (), "remarks": (), **given})


def saying(base: str, candidate: str, path: str = "answer") -> ScenarioComparison:
    made = row("shop/worse", "worse")
    found = Divergence("model", path, base, candidate, 2, 3, 20, 21)
    explained = made.explanation
    assert isinstance(explained, Explanation)
    return replace(
        made, divergence=found, explanation=replace(explained, effect=found, first=found, inputs=(found, found), n_inputs=2)
    )


# ------------------------------------------------ which side is which


def turned(line: str) -> list[str]:
    """The arrows and colons that stand between two texts written right to left, which a reader sees trade places."""
    found = []
    for match in re.finditer(r" → |: ", line):
        before = next(
            (kind for char in reversed(line[: match.start()]) if (kind := bidirectional(char)) in STRONG), "L"
        )
        behind = next((kind for char in line[match.end() :] if (kind := bidirectional(char)) in STRONG), "L")
        found += [line] if before != "L" and behind != "L" else []
    return found


STRONG = ("L", "R", "AL", "AN")
TWO = [
    pytest.param("מאושר", "נדחה", id="hebrew"),
    pytest.param("مقبول", "مرفوض", id="arabic"),
    pytest.param("١٢", "٣٤", id="arabic-digits"),
    pytest.param("מאושר 3 (ok) א", "א", id="mixed"),
]


@every_report
@pytest.mark.parametrize(("base", "candidate"), TWO)
def test_the_base_stands_left_of_the_candidate_whatever_both_are_written_in(
    make: Callable[[Review], str], base: str, candidate: str
) -> None:
    said = make(of_rows(saying(base, candidate, "arguments.סכום")))
    lines = [line for line in said.split("\n") if base in line and candidate in line]
    assert lines
    assert [line for line in lines if turned(line)] == []


@every_report
def test_what_is_written_left_to_right_gets_no_mark(make: Callable[[Review], str]) -> None:
    assert "\u200e" not in make(of_rows(saying("ça va → 模", "naïve: 😀")))


@every_report
def test_a_mark_of_somebody_else_is_still_drawn(make: Callable[[Review], str]) -> None:
    said = make(of_rows(saying("a\u200eb", "c\u200ed")))
    assert "\u200e" not in said
    assert r"a\u200eb" in said


# ------------------------------------------------ which scenario is which


@every_report
def test_two_names_that_differ_in_an_escape_only_are_two(make: Callable[[Review], str]) -> None:
    said = make(of_rows(row("x\n", "worse"), row("x\\n", "worse")))
    lines = [line for line in said.split("\n") if "worse" in line]
    told = [len(found[1]) for line in lines if (found := re.search(r"x(\\+)n", line))]
    assert told.count(1) == told.count(2) > 0
    assert len(told) == told.count(1) + told.count(2)


# ------------------------------------------------ models


def test_a_model_that_plays_several_roles_is_named_once() -> None:
    runs = [
        summary("a", model="local-model, scripted, scripted"),
        summary("b", model="scripted"),
        summary("c", model=""),
    ]
    assert Counted.of(runs).side().models == ("local-model", "scripted")


@pytest.mark.parametrize(
    ("models", "shown"),
    [
        pytest.param(("a", "b"), "model a, b", id="all"),
        pytest.param(
            ("a" * 30, "b" * 25, "c", "d"), f"model {'a' * 30}, {'b' * 25}, c and 1 more", id="as-many-as-fit"
        ),
        pytest.param(("a" * 90, "b"), f"model {'a' * 59}… and 1 more", id="the-first-is-cut"),
    ],
)
def test_models_are_named_whole_and_those_left_out_are_counted(models: tuple[str, ...], shown: str) -> None:
    assert side_text(Side(1, 1, models=models)).endswith(f"  {shown}")


# ------------------------------------------------ commits and lines


@every_report
def test_each_side_is_told_with_its_own_commit(make: Callable[[Review], str]) -> None:
    review = replace(GATED, base_revision=Revision("a1" * 20), candidate_revision=Revision("c2" * 20))
    lines = make(review).split("\n")
    base = [line for line in lines if "a1a1a1a1a1" in line]
    candidate = [line for line in lines if "c2c2c2c2c2" in line]
    if make is annotation_commands:
        assert base == candidate == []
    else:
        assert [re.findall(r"base|candidate", line)[0] for line in base] == ["base"]
        assert [re.findall(r"base|candidate", line)[0] for line in candidate] == ["candidate"]


def test_an_annotation_stands_at_the_line_of_its_scenario() -> None:
    review = of_rows(row("shop/worse", "worse"), sources=(SourceLine("shop/worse", "scenarios/shop.yaml", 41),))
    assert annotation_commands(review).startswith("::error file=scenarios/shop.yaml,line=41,title=")


@pytest.mark.public_case("PB-047")
@pytest.mark.parametrize(("text", "n"), [("abc", 3), ("é", 2), ("模型", 6), ("😀", 4)])
def test_a_page_is_measured_in_bytes_and_not_in_characters(text: str, n: int) -> None:
    assert counted_bytes(text) == n_bytes(text) == n
    assert Page(n + 1).add(text)
    assert not Page(n).add(text)


# ------------------------------------------------ twelve lines


@pytest.mark.parametrize("n_changed", [1, 2, 5, 6, 40])
@pytest.mark.parametrize("n_remarks", [0, 1, 30])
@pytest.mark.parametrize("review", [GATED, UNGATED], ids=["gated", "ungated"])
def test_the_first_screen_is_twelve_lines_at_most(review: Review, n_remarks: int, n_changed: int) -> None:
    rows = [row(f"shop/{n}", "worse") for n in range(n_changed)]
    remarks = tuple(f"remark {n} {'x' * 400}" for n in range(n_remarks))
    full = of_rows(*rows, review=review, remarks=remarks)
    lines = comparison_text(full).split("\n")
    assert len(lines) <= 12
    assert sum(line.startswith("worse ") for line in lines) >= min(2, n_changed)
    left = re.search(r"^and (\d+) scenarios? more", "\n".join(lines), re.MULTILINE)
    assert sum(line.startswith("worse ") for line in lines) + int(left[1] if left else 0) == n_changed
    assert sum(line.startswith("note: ") for line in lines) == min(n_remarks, 1)
    assert ("and 28 more (-v)" in lines[4 if review is GATED else 3]) is (n_remarks == 30)
    whole = comparison_text(full, verbosity=Verbosity.VERBOSE)
    assert whole.count("\nnote: remark ") == n_remarks
    assert full.outcome is Outcome.FAIL
