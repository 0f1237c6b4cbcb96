"""Every measure of the independent table, recomputed from what the readers give."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness.formats import FORMATS, read_foreign, sniff
from harness.types.codes import Origin
from harness.types.events import Trajectory
from tests.formats.counting import total

TABLE: dict[str, Any] = tomllib.loads((Path(__file__).parents[1] / "data" / "format-counts.toml").read_text("utf-8"))
FOUND: dict[str, dict[str, int]] = TABLE["found"]
READERS = {
    "tau-bench": {"chat"},
    "swe-agent": {"swe"},
    "mini-swe-agent": {"mini", "chat"},
    "agentdojo": {"agentdojo"},
    "atif": {"atif"},
    "nemo-gym": {"nemo"},
    "deepseek-harness": {"dsh"},
}
MEASURES = sorted({measure for measures in FOUND.values() for measure in measures} | {"orphan_results", "dup_results", "missing_id", "ooo_batches", "bad_json", "nonobj_args"})


def trajectories(shared: Path, folder: str) -> list[Trajectory]:
    files = [path for path in sorted((shared / "data" / folder).rglob("*")) if path.is_file() and path.suffix != ".md"]
    return [one for path in files if sniff(path) in READERS[folder] for one in read_foreign(path)]


def expected(folder: str) -> dict[str, int]:
    counts = {measure: FOUND[folder].get(measure, 0) for measure in MEASURES}
    for row in TABLE["differs"]:
        if row["format"] == folder:
            assert counts[row["measure"]] != row["ours"], "a difference that is none any more"
            assert row["why"]
            counts[row["measure"]] = row["ours"]
    return counts


@pytest.mark.parametrize("folder", sorted(FOUND))
def test_the_counts_of_a_real_folder_are_those_of_the_independent_table(shared: Path, folder: str) -> None:
    found = total(trajectories(shared, folder))
    assert {measure: found[measure] for measure in MEASURES} == expected(folder)


@pytest.mark.parametrize("folder", sorted(FOUND))
def test_all_that_is_read_from_a_real_folder_is_of_import(shared: Path, folder: str) -> None:
    for one in trajectories(shared, folder):
        assert {event.origin for event in one} == {Origin.IMPORT}
        assert {origin for _, origin in one.header.observed} == {Origin.IMPORT}


def test_every_format_of_the_table_has_its_reader() -> None:
    assert set().union(*READERS.values()) <= set(FORMATS)
    assert set(READERS) == set(FOUND)


@pytest.mark.parametrize("folder", sorted(set(FOUND) - {"deepseek-harness"}))
def test_no_two_runs_of_a_folder_have_one_id(shared: Path, folder: str) -> None:
    ids = [one.header.run_id for one in trajectories(shared, folder)]
    assert len(set(ids)) == len(ids)
