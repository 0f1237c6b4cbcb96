"""An evaluation and sweeps as pages: the numbers of their records, whatever the names say, bounded."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from harness.errors import InvalidValueError
from harness.evaluate.stories import stories
from harness.report.html import evaluation as evaluation_pages
from harness.report.html.beside import evaluation_lines, sweep_lines
from harness.report.html.embed import json_bytes
from harness.report.html.evaluation import evaluation_block, evaluation_page
from harness.report.html.sweeps import MOST_CELLS, Told, sweep_entry, sweeps_block, sweeps_page
from harness.runner.review.beside import lines_beside
from harness.runner.review.comparing import RunSet
from harness.types.codes import Outcome
from harness.types.evaluation_stories import CaseStories
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.records import Finding
from harness.types.sweeps import CellOutcome, Sweep, SweepCell
from tests.evaluate.made_evaluation import case, evaluation, snapshot, trials
from tests.report.nasty import NASTY
from tests.report.test_evaluation_reports import hostile, shop

LIMITS = ("steps", "tokens")


def blocks_of(html: bytes) -> dict[str, Any]:
    found = re.findall(r'<script type="application/json" id="([a-z0-9-]+)">(.*?)</script>', html.decode("utf-8"))
    return {name: json.loads(text) for name, text in found}


def told() -> CaseStories:
    table = {"now": {"a": "tv+", "b": "+++"}, "new": {"a": "nnn", "b": "+++"}}
    return stories(evaluation([case("a"), case("b")]), snapshot(), lambda: trials(table))


# ---------------------------------------------------------------- evaluation


def test_each_cell_of_each_matrix_is_that_of_the_summary() -> None:
    summary = shop()
    found = evaluation_block(summary, CaseStories(()))["confusion"]
    cells = {
        (matrix["arm"], row, column): matrix["cells"][i][j]
        for matrix in found
        for i, row in enumerate(matrix["rows"])
        for j, column in enumerate(matrix["columns"])
        if matrix["cells"][i][j]
    }
    assert cells == {(cell.arm, cell.expected, cell.chosen): cell.n for cell in summary.confusion}
    for matrix in found:
        right = {(matrix["rows"][i], matrix["columns"][j]) for i, j in matrix["right"]}
        assert right == {(name, name) for name in matrix["rows"] if name in matrix["columns"]}


def test_rates_and_the_comparison_are_those_of_the_summary() -> None:
    summary = shop()
    found = evaluation_block(summary, CaseStories(()))
    for line in found["rates"]:
        arm = summary.arm(line["name"])
        side = line["candidate"]
        assert (side["rate"], side["n"], side["of"], side["passHat"]) == (arm.unit_rate, arm.counts.passed, arm.counts.planned, arm.pass_hat_k)
        assert arm.interval is not None
        assert (side["low"], side["high"]) == (arm.interval.low, arm.interval.high)
    comparison = summary.comparison
    assert comparison is not None
    assert found["changes"]["mean"] == comparison.prompts.difference
    assert found["changes"]["spread"] == [list(one) for one in comparison.spread]
    assert (found["changes"]["nWorse"], found["changes"]["nBetter"]) == (comparison.cases.n_worse, comparison.cases.n_better)


def test_the_page_says_verdict_rule_and_the_single_cases() -> None:
    found = blocks_of(evaluation_page(shop(), told(), command="harness evaluate shop.yaml", before=("earlier: PASS",)))
    review, plots = found["overview"]["review"], found["plots"]
    assert found["overview"]["rows"] == []
    assert review["command"] == "harness evaluate shop.yaml"
    assert review["verdict"]["outcome"] == plots["evaluation"]["outcome"]
    assert ["before", "earlier: PASS"] in plots["evaluation"]["lines"]
    (only,) = plots["cases"]["cases"]
    assert (only["case"], only["expected"]) == ("a", 'get_order({"id":1})')
    assert [[one["chosen"], one["misfits"][0][0]] for one in only["arms"][0]["trials"][:2]] == [
        ['lookup({"id": 1})', "wrong tool"],
        ['get_order({"id": 2})', "wrong value"],
    ]


def test_the_same_summary_gives_the_same_bytes() -> None:
    assert evaluation_page(shop(), told()) == evaluation_page(shop(), told())


def test_cases_that_have_no_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation_pages, "CASES_BYTES", 10)
    assert evaluation_block(shop(), told())["cases"] == {"cases": [], "leftOut": 1}


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_no_name_of_an_evaluation_leaves_its_block(text: str) -> None:
    html = evaluation_page(hostile(text), told(), command=text, before=(text,)).decode("utf-8")
    plain = evaluation_page(hostile("x"), told(), command="x", before=("x",)).decode("utf-8")
    assert html.count("<script") == plain.count("<script")
    assert html.count("</") == plain.count("</")
    assert set(blocks_of(html.encode())) == {"overview", "plots"}


# ---------------------------------------------------------------- sweeps


def cell(outcome: CellOutcome, limit: str = "steps", **more: Any) -> SweepCell:
    return SweepCell(None, outcome, limit=(limit, 1), **more)


def sweep(name: str, *outcomes: CellOutcome, text: str = "") -> Sweep:
    cells = tuple(
        cell(outcome, LIMITS[at % 2], findings=(Finding("a_check", f"found {text}", (3, 4)),) if outcome is CellOutcome.RED else ())
        for at, outcome in enumerate(outcomes)
    )
    return Sweep(name, f"loop {text}", cell(CellOutcome.CLEAN), cells, n_runs=len(cells))


CLEAN, RED, VOID, FLAKY = CellOutcome.CLEAN, CellOutcome.RED, CellOutcome.VOID, CellOutcome.FLAKY


def run_lengths(signs: str) -> str:
    return " ".join(f"{sign}{len(list(run))}" for sign, run in groupby(signs))


def test_a_strip_in_the_page_is_the_strip_of_the_sweep() -> None:
    swept = sweep("a", CLEAN, CLEAN, RED, CLEAN, RED, VOID, RED, FLAKY)
    entry = sweep_entry(swept, "a-red.yaml", lambda one: one.row)
    width = max(len(row["name"]) for row in entry["rows"])
    lines = [f"{row['name']:<{width}}  {run_lengths(row['signs'])}" for row in entry["rows"]]
    assert "\n".join(lines) == swept.strip
    assert (entry["nCells"], entry["nJudged"], entry["outcome"]) == (8, swept.n_judged, "FAIL")


def test_cells_that_are_not_clean_are_told_worst_first_and_bounded() -> None:
    entry = sweep_entry(sweep("a", *[FLAKY, RED] * 30), "", lambda one: one.row)
    assert [one["outcome"] for one in entry["cells"]] == ["red"] * MOST_CELLS
    assert entry["cellsLeftOut"] == 60 - MOST_CELLS
    assert entry["cells"][0]["findings"] == [{"check": "a_check", "message": "found ", "events": [3, 4]}]


def test_scenarios_that_fail_come_first() -> None:
    entries = [sweep_entry(one, "", lambda cell: cell.row) for one in (sweep("b", CLEAN), sweep("a", CLEAN), sweep("z", RED), sweep("e"))]
    assert [one["scenario"] for one in sweeps_block(entries)["sweeps"]] == ["z", "a", "b", "e"]


@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_no_text_of_a_sweep_leaves_its_block(text: str) -> None:
    def made(text: str) -> str:
        told = [Told(sweep(f"s{text}", CLEAN, RED, text=text), f"file {text}")]
        return sweeps_page(told, text=text, outcome=Outcome.FAIL, text_of=lambda one: text, command=text).decode("utf-8")

    html = made(text)
    assert html.count("</") == made("x").count("</")
    assert len(blocks_of(html.encode())["plots"]["sweeps"]) == 1


# ---------------------------------------------------------------- beside runs


def sweeps_json(*sweeps: Sweep) -> dict[str, Any]:
    rows = [
        {
            "scenario": one.scenario, "subject": one.subject, "outcome": str(one.outcome), "nCells": len(one.cells),
            "nJudged": one.n_judged, "nRuns": one.n_runs, "strip": one.strip.split("\n") if one.strip else [], "why": "",
            "reproduction": "", "cells": [{"outcome": "red", "injection": "x", "why": "", "findings": [{"check": "c", "message": "m"}]}],
        }
        for one in sweeps
    ]  # fmt: skip
    return {"format": "harness-sweeps/1", "sweeps": rows}


def test_sweeps_beside_runs_keep_their_strips_and_stand_side_by_side() -> None:
    base, candidate = sweep("b", CLEAN, CLEAN), sweep("b", CLEAN, RED)
    found = sweep_lines({"base": sweeps_json(sweep("a", CLEAN), base), "candidate": sweeps_json(candidate)})["sweeps"]
    assert [(one["scenario"], one["side"], one["outcome"]) for one in found] == [
        ("b", "base", "PASS"), ("b", "candidate", "FAIL"), ("a", "base", "PASS"),
    ]  # fmt: skip
    assert found[1]["rows"] == sweep_entry(candidate, "", lambda one: "")["rows"]
    assert found[1]["cells"][0]["findings"] == [{"events": [], "check": "c", "message": "m"}]


def test_matrices_and_rates_beside_runs_are_those_of_the_summary() -> None:
    summary = shop()
    data = json.loads(summary.to_json())
    found = evaluation_lines({"base": data, "candidate": data})
    whole = evaluation_block(summary, CaseStories(()))
    assert [matrix["side"] for matrix in found["confusion"]] == ["base", "base", "candidate", "candidate"]
    assert {matrix["arm"]: matrix["cells"] for matrix in found["confusion"]} == {matrix["arm"]: matrix["cells"] for matrix in whole["confusion"]}
    for line in found["rates"]:
        assert line["base"] == line["candidate"]
        assert line["candidate"] == next(one for one in whole["rates"] if one["name"] == line["name"])["candidate"]


@pytest.fixture
def sets(tmp_path: Any) -> tuple[RunSet, RunSet]:
    for side in ("base", "candidate"):
        (tmp_path / side / "trajectories").mkdir(parents=True)
    return RunSet(tmp_path / "base"), RunSet(tmp_path / "candidate")


def written(sets: tuple[RunSet, RunSet], summary: EvaluationSummary) -> None:
    (sets[0].root / "summary.json").write_text(summary.to_json(), "utf-8")
    (sets[1].root / "sweep.json").write_bytes(json_bytes(sweeps_json(sweep("a", RED))))


def test_what_lies_in_the_folders_of_runs_is_found(sets: tuple[RunSet, RunSet]) -> None:
    written(sets, shop())
    found = lines_beside(*sets)
    assert {one["side"] for one in found["confusion"]} == {"base"}
    assert [one["side"] for one in found["sweeps"]] == ["candidate"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("{", id="no-json"),
        pytest.param("[]", id="another-shape"),
        pytest.param('{"format":"of-somebody-else/1"}', id="another-format"),
        pytest.param("\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), id="no-utf-8"),
    ],
)
def test_a_file_of_another_format_is_left_alone(sets: tuple[RunSet, RunSet], text: str) -> None:
    (sets[0].root / "sweep.json").write_text(text, "utf-8")
    assert lines_beside(*sets) == {"sweeps": [], "confusion": [], "rates": []}


def test_a_file_that_lacks_what_its_format_has_is_named(sets: tuple[RunSet, RunSet]) -> None:
    (sets[0].root / "sweep.json").write_text('{"format":"harness-sweeps/1"}', "utf-8")
    with pytest.raises(InvalidValueError, match="lacks what its format has"):
        lines_beside(*sets)


def test_files_beside_a_single_trajectory_are_not_of_it(tmp_path: Any) -> None:
    (tmp_path / "sweep.json").write_bytes(json_bytes(sweeps_json(sweep("a", RED))))
    assert lines_beside(RunSet(tmp_path), RunSet(tmp_path))["sweeps"] == []


def test_an_arm_without_a_score_has_no_rate() -> None:
    summary = shop()
    unscored = replace(summary, arms=tuple(replace(arm, unit_rate=None, interval=None) for arm in summary.arms))
    assert evaluation_block(unscored, CaseStories(()))["rates"] == []
