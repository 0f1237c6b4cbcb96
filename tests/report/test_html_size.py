"""How large a page may become: below 25 MB whatever lies beside the runs, and no more is read than there is room for."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from harness.errors import InvalidValueError
from harness.report.html import page
from harness.report.html.beside import SWEEPS_BYTES as BESIDE_BYTES
from harness.report.html.beside import evaluation_lines, sweep_lines
from harness.report.html.document import Limits
from harness.report.html.embed import json_bytes
from harness.report.html.sweeps import MOST_CELLS, SWEEPS_BYTES, Told, fitting, sweep_entry, sweeps_page
from harness.runner.review.side_by_side import side_by_side
from harness.types.aligned import AlignedRuns
from harness.types.codes import Outcome
from harness.types.records import Finding, ScenarioComparison
from harness.types.sweeps import CellOutcome, Sweep, SweepCell
from tests.compare.made import refund_run
from tests.report.html_sample import PLACEHOLDER, made_review
from tests.report.parsed_page import read_page

MOST_BYTES = 25_000_000
LONG = "<" * 2_000


def red(name: str, n_cells: int = 25, n_findings: int = 25) -> Sweep:
    findings = tuple(Finding(LONG, LONG, (1, 2)) for _ in range(n_findings))
    cell = SweepCell(None, CellOutcome.RED, limit=("steps", 1), why=LONG, findings=findings)
    return Sweep(name, LONG, cell, (cell,) * n_cells, why=LONG, n_runs=1)


def on_disk(n: int) -> dict[str, Any]:
    cell = {"outcome": "red", "injection": LONG, "why": LONG, "findings": [{"check": LONG, "message": LONG}] * 25}
    rows = [
        {
            "scenario": f"{at}", "subject": LONG, "outcome": "FAIL", "nCells": 25, "nJudged": 25, "nRuns": 1, "why": LONG,
            "reproduction": LONG, "strip": ["cancel inside  X25"], "cells": [cell] * 25,
        }
        for at in range(n)
    ]  # fmt: skip
    return {"format": "harness-sweeps/1", "sweeps": rows}


def test_a_page_of_sweeps_stays_below_its_limit_and_keeps_every_scenario_it_can() -> None:
    told = [Told(red(f"s{at:03}"), LONG) for at in range(60)]
    data = sweeps_page(told, text="", outcome=Outcome.FAIL, text_of=lambda one: LONG)
    plots = read_page(data).blocks["plots"]
    assert len(data) < MOST_BYTES
    assert len(plots["sweeps"]) == 60
    assert "sweepsLeftOut" not in plots or plots["sweepsLeftOut"] == 0
    assert plots["sweeps"][0]["cells"]
    assert not plots["sweeps"][-1]["cells"]
    assert all(len(one["cells"]) + one["cellsLeftOut"] == 26 for one in plots["sweeps"])


def test_findings_of_a_cell_that_are_left_out_are_counted() -> None:
    entry = sweep_entry(red("a"), "", lambda one: "")
    beside = sweep_lines({"candidate": on_disk(1)})["sweeps"][0]
    for made in (entry, beside):
        assert len(made["cells"][0]["findings"]) == MOST_CELLS
        assert made["cells"][0]["findingsLeftOut"] == 5


def test_sweeps_without_room_for_even_their_strips_are_left_out_and_counted() -> None:
    entries = [
        {"scenario": f"s{at}", "rows": [{"name": "x", "signs": "." * 1_000}], "cells": [], "cellsLeftOut": 0}
        for at in range(10)
    ]
    kept, n_left_out = fitting(entries, 5_500)
    assert [one["scenario"] for one in kept] == [f"s{at}" for at in range(5)]
    assert n_left_out == 5


def test_sweeps_beside_runs_have_a_room_of_their_own() -> None:
    found = sweep_lines({"base": on_disk(60), "candidate": on_disk(60)})
    assert len(json_bytes(found)) < BESIDE_BYTES + 100_000
    assert BESIDE_BYTES < SWEEPS_BYTES
    assert len(found["sweeps"]) + found.get("sweepsLeftOut", 0) == 120


def test_many_arms_beside_runs_are_bounded_and_counted() -> None:
    arm = {"unitRate": 0.5, "counts": {"passed": 1, "planned": 2}, "nUnits": 2, "k": 1}
    summary = {
        "arms": [{**arm, "name": f"arm {at}"} for at in range(100)],
        "confusion": [{"arm": f"arm {at}", "expected": "a", "chosen": "b", "n": 1} for at in range(100)],
    }
    found = evaluation_lines({"base": summary, "candidate": summary})
    assert (len(found["rates"]), len(found["confusion"])) == (40, 80)
    assert found["armsLeftOut"] == 60


def test_a_page_that_cannot_keep_its_limit_is_not_made() -> None:
    review, _, _ = made_review(1)
    with pytest.raises(InvalidValueError, match="plots"):
        page(
            review, plots=lambda rows, contexts: {"x": "y" * 90_000}, limits=Limits(n_bytes=80_000), assets=PLACEHOLDER
        )


def test_rows_behind_the_last_that_has_room_are_not_read() -> None:
    review, _, _ = made_review(300)
    run = refund_run(task="</script>" * 500)
    asked: list[str] = []

    def load(row: ScenarioComparison) -> AlignedRuns:
        asked.append(row.run_id)
        return side_by_side(run, run, row)

    data = page(review, load, limits=Limits(n_bytes=400_000), assets=PLACEHOLDER)
    overview = read_page(data).blocks["overview"]
    assert overview["nDetails"] > 0
    assert len(asked) <= overview["nDetails"] + 20
    assert overview["detailsLeftOut"] == {"n": 300 - overview["nDetails"], "why": "size"}


def test_a_row_too_large_for_what_is_left_does_not_keep_a_small_one_out() -> None:
    review, _, _ = made_review(40)
    large, small = refund_run(task="<" * 60_000), refund_run()
    asked: list[str] = []

    def load(row: ScenarioComparison) -> AlignedRuns:
        asked.append(row.run_id)
        run = large if len(asked) == 2 else small
        return side_by_side(run, run, row)

    data = page(review, load, limits=Limits(detail_bytes=25_000), assets=PLACEHOLDER)
    assert read_page(data).blocks["overview"]["nDetails"] >= 39
    assert dataclasses.asdict(Limits())["n_bytes"] < MOST_BYTES
    assert json.dumps(asked)
