"""Every shipped scenario: what is on disk is what happened, and the files alone give the same summaries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.runner import RunOptions, RunResult, RunSpec, execute, judge, plan, summarise_folder
from harness.scenarios import collect
from harness.store import dump_trajectory, read_trajectory
from harness.types.codes import Outcome
from tests.conftest import REPO

SCENARIOS = collect([REPO / "scenarios"], configured=[str(REPO / "scenarios")])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("runs")
    return made


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, RunResult]:
    specs: tuple[RunSpec, ...] = plan(SCENARIOS, RunOptions(cassettes=REPO / "cassettes", folder=folder))
    return {spec.scenario.id: execute(spec) for spec in specs}


def test_every_shipped_scenario_passes(results: dict[str, RunResult]) -> None:
    assert len(results) >= 35
    assert {name: result.findings for name, result in results.items() if result.outcome is not Outcome.PASS} == {}


def test_what_is_read_back_is_what_happened(results: dict[str, RunResult]) -> None:
    for name, result in results.items():
        assert result.path is not None
        back = read_trajectory(result.path)
        assert back.header == result.trajectory.header, name
        assert back.events == result.trajectory.events, name
        assert back.torn is None


def test_the_bytes_on_disk_are_those_of_the_trajectory(results: dict[str, RunResult]) -> None:
    for name, result in results.items():
        assert result.path is not None
        assert result.path.read_bytes() == dump_trajectory(result.trajectory), name


def test_the_files_alone_give_the_same_verdicts_and_summaries(results: dict[str, RunResult], folder: Path) -> None:
    again = {summary.scenario: summary for summary in summarise_folder(folder)}
    assert again == {name: result.summary for name, result in results.items()}


def test_other_expectations_in_a_file_give_other_verdicts(results: dict[str, RunResult]) -> None:
    result = results["articles/answer-52"]
    header = replace(result.trajectory.header, expectations='{"steps":99}')
    verdicts = {verdict.check: verdict.outcome for verdict in judge(replace(result.trajectory, header=header))}
    assert verdicts["expected_counts"] is Outcome.FAIL
