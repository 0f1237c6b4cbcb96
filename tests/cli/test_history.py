"""``harness history``: scenarios over many folders of runs, in the order of time."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import Verbosity, history_text
from harness.runner.history import history_of
from harness.store import trajectory_file, write_summaries, write_trajectory
from harness.types.codes import Outcome
from harness.types.events import ScenarioRef, Volatile
from harness.types.records import RunSummary
from tests.cli.lab import BAD, GOOD, Cli
from tests.compare.made import refund_run, summary
from tests.report.nasty import NASTY

RESULTS = {"P": Outcome.PASS, "F": Outcome.FAIL, "E": Outcome.ERROR, "I": Outcome.INCONCLUSIVE}


def write_folder(
    folder: Path, scenarios: Mapping[str, str], *, day: int = 1, digest: str = "d1", headers: bool = True, **changes: Any
) -> Path:
    """A folder in which each scenario's trials came to these results (``"PF"``: the first passed, the second failed)."""
    runs: list[RunSummary] = []
    for scenario, results in scenarios.items():
        for trial, result in enumerate(results, 1):
            file = trajectory_file(scenario, "default", trial)
            fields = {"trial": trial, "file": file, "run_id": f"{scenario}@default#{trial}", **changes}
            runs.append(summary(scenario, RESULTS[result], **fields))
            if headers:
                run = refund_run()
                started = Volatile(f"2026-01-{day:02}T08:00:00Z")
                header = replace(run.header, scenario=ScenarioRef(scenario, digest), volatile=started, trial=trial)
                write_trajectory(folder / file, replace(run, header=header))
    write_summaries(folder, runs, {"format": "harness-run/1", "planned": len(runs), "skipped": [], "finished": True})
    return folder


def lines_of(text: str) -> list[str]:
    return text.split("\n")


def test_runs_of_several_days_are_shown_in_the_order_of_time_whatever_order_they_are_named_in(cli: Cli) -> None:
    write_folder(Path("b"), {"refund": "F", "order": "P"}, day=1)
    write_folder(Path("c"), {"refund": "P", "order": "P", "new": "P"}, day=2, n_steps=5)
    write_folder(Path("a"), {"refund": "F"}, day=3)
    said = cli("history", "a", "b", "c")
    assert said.code == 0
    assert said.out.splitlines() == [
        "  1  2026-01-01T08:00:00Z  b  2 planned = 1 passed + 1 failed + 0 other + 0 skipped",
        "  2  2026-01-02T08:00:00Z  c  3 planned = 3 passed + 0 failed + 0 other + 0 skipped",
        "  3  2026-01-03T08:00:00Z  a  1 planned = 0 passed + 1 failed + 0 other + 0 skipped",
        "by folder: P all passed, F none did, ~ some did, . no run; | the scenario changed",
        "FPF  refund  1/3 passed (33 %)  3 steps a run (3 to 5)  FLAKY",
        "PP.  order  2/2 passed (100 %)  3 → 5 steps a run",
        ".P.  new  1/1 passed (100 %)  5 steps a run",
        "3 folders, 3 scenarios: 2 always passed, 1 passed and failed unchanged",
    ]
    assert cli("history", "c", "a", "b").out == said.out


@pytest.mark.parametrize(
    ("folders", "told"),
    [
        pytest.param(["P", "P"], (False, None, None), id="always-passed"),
        pytest.param(["F", "F"], (False, None, None), id="always-failed"),
        pytest.param(["P", "E"], (False, None, None), id="an-error-is-no-failure"),
        pytest.param(["P", "F"], (True, 2, None), id="broke"),
        pytest.param(["F", "P", "P"], (True, None, 2), id="fixed"),
        pytest.param(["P", "E", "F"], (True, 3, None), id="broke-behind-an-error"),
        pytest.param(["P", "F", "P"], (True, None, None), id="there-and-back"),
        pytest.param(["PF"], (True, None, None), id="trials-of-one-folder"),
        pytest.param(["PP", "PF", "FF"], (True, None, None), id="no-clean-change"),
    ],
)
def test_flaky_is_what_passed_and_failed_while_nothing_of_it_changed(
    tmp_path: Path, folders: list[str], told: tuple[bool, int | None, int | None]
) -> None:
    paths = [write_folder(tmp_path / str(day), {"refund": run}, day=day) for day, run in enumerate(folders, 1)]
    (one,) = history_of(paths).scenarios
    assert (one.flaky, one.broke_at, one.fixed_at) == told


def test_a_scenario_that_was_changed_in_between_is_not_flaky(tmp_path: Path) -> None:
    paths = [
        write_folder(tmp_path / "1", {"refund": "F"}, day=1, digest="d1"),
        write_folder(tmp_path / "2", {"refund": "P"}, day=2, digest="d2"),
    ]
    found = history_of(paths)
    assert not found.scenarios[0].flaky
    assert "F|P  refund" in history_text(found)


def test_folders_without_trajectories_come_last_and_are_not_set_against_others(tmp_path: Path) -> None:
    paths = [
        write_folder(tmp_path / "2", {"refund": "F"}, headers=False),
        write_folder(tmp_path / "1", {"refund": "P"}, headers=False),
        write_folder(tmp_path / "3", {"refund": "P"}),
    ]
    found = history_of(paths)
    assert [Path(row.folder).name for row in found.folders] == ["3", "2", "1"]
    assert [row.started_at is None for row in found.folders] == [False, True, True]
    assert not found.scenarios[0].flaky
    own = write_folder(tmp_path / "4", {"refund": "PF"}, headers=False)
    assert history_of([own]).scenarios[0].flaky


def test_cost_is_told_over_the_runs_whose_cost_is_known(tmp_path: Path) -> None:
    paths = [
        write_folder(tmp_path / "1", {"refund": "P"}, day=1, cost_micro_usd=1_200),
        write_folder(tmp_path / "2", {"refund": "PP"}, day=2, cost_micro_usd=2_000),
        write_folder(tmp_path / "3", {"refund": "P"}, day=3),
    ]
    found = history_of(paths)
    assert [(point.cost_micro_usd, point.n_priced) for point in found.scenarios[0].points] == [(1_200, 1), (4_000, 2), (0, 0)]
    assert "3 steps a run  0.001200 → 0.002000 USD a run" in history_text(found)


def test_every_arm_has_a_line_of_its_own(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "1", {"refund": "P"})
    runs = [summary(), summary(arm="other", outcome=Outcome.FAIL)]
    write_summaries(folder, runs, {"format": "harness-run/1", "planned": 4, "skipped": [{"scenario": "x", "why": ""}]})
    found = history_of([folder])
    assert [(one.arm, one.passed, one.flaky) for one in found.scenarios] == [("default", 1, False), ("other", 0, False)]
    assert "F  shop/refund (other)  0/1 passed (0 %)" in history_text(found)
    row = found.folders[0]
    assert (row.planned, row.passed, row.failed, row.skipped, row.not_run) == (4, 1, 1, 1, 1)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.text("PFEI", min_size=1, max_size=3), min_size=1), min_size=1, max_size=4))
def test_every_number_is_that_of_an_independent_count(
    tmp_path_factory: pytest.TempPathFactory, days: list[dict[str, str]]
) -> None:
    root = tmp_path_factory.mktemp("history")
    paths = [write_folder(root / str(day), runs, day=day) for day, runs in enumerate(days, 1)]
    found = history_of(paths[::-1])
    for row, runs in zip(found.folders, days, strict=True):
        text = "".join(runs.values())
        assert (row.planned, row.passed, row.failed) == (len(text), text.count("P"), text.count("F"))
        assert row.planned == row.passed + row.failed + row.other + row.skipped + row.not_run
    assert [one.scenario for one in found.scenarios] == sorted({name for runs in days for name in runs})
    for one in found.scenarios:
        text = "".join(runs.get(one.scenario, "") for runs in days)
        assert (one.runs, one.passed, one.flaky) == (len(text), text.count("P"), {"P", "F"} <= set(text))
    shutil.rmtree(root)


@pytest.mark.parametrize("text", NASTY)
def test_a_scenario_of_any_name_is_one_line(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "runs"
    runs = [summary("plain"), summary(text or "x", file="none")]
    write_summaries(folder, runs, {"format": "harness-run/1", "planned": 2, "skipped": []})
    shown = history_text(history_of([folder]), verbosity=Verbosity.VERBOSE)
    assert len(shown.splitlines()) == 5
    assert not [char for char in shown if char != "\n" and not char.isprintable() and char not in "\u200d\xa0\u3000"]


def test_only_the_first_twenty_scenarios_are_shown_flaky_ones_first(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "1", {**{f"s{n:02}": "P" for n in range(24)}, "z": "PF"})
    lines = lines_of(history_text(history_of([folder])))
    assert lines[2].startswith("~  z ")
    assert lines[-2] == "and 5 scenarios more (-v lists all)"
    assert len(lines_of(history_text(history_of([folder]), verbosity=Verbosity.VERBOSE))) == 2 + 25 + 1


def test_real_folders_of_runs_are_read_and_others_are_told_and_left_out(cli: Cli) -> None:
    for out, text in (("one", GOOD), ("two", BAD)):
        cli.write("refund.yaml", text)
        cli("run", "refund.yaml", "--out", out)
    cli.write("notes/x.txt", "")
    cli.write("evaluation/run.json", '{"format":"harness-evaluation-run/1"}\n')
    said = cli("history", "one", "notes", "two", "evaluation")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[2] == "left out  notes: it holds no run.json, so it is no folder of runs"
    assert lines[3] == "left out  evaluation: it holds no trials of an evaluation"
    assert lines[5] == "P|F  refund  1/2 passed (50 %)  2 steps a run"
    found = cli("history", "one", "notes", "two", "--json").json
    assert [row["folder"] for row in found["folders"]] == ["one", "two"]
    assert [one["folder"] for one in found["leftOut"]] == ["notes"]
    assert [point["passed"] for point in found["scenarios"][0]["points"]] == [1, 0]


def test_runs_without_a_scenario_go_by_their_own_name(cli: Cli) -> None:
    for folder in ("a", "b"):
        runs = [summary("", run_id=name, file=f"{name}.jsonl") for name in ("one", "two")]
        write_summaries(folder, runs, {"format": "harness-run/1"})
    found = cli("history", "a", "b", "--json").json
    assert [one["scenario"] for one in found["scenarios"]] == ["one", "two"]


def test_what_cannot_be_told_is_an_error_that_says_why(cli: Cli) -> None:
    write_folder(Path("one"), {"refund": "P"})
    assert cli("history", "one", "nowhere").code == 2
    twice = cli("history", "one", "./one/../one")
    assert (twice.code, "is named twice" in twice.err) == (2, True)
    cli.write("empty/x", "")
    none = cli("history", "empty")
    assert (none.code, "it holds no run.json" in none.err) == (4, True)
    write_summaries("double", [summary(), summary()], {"format": "harness-run/1"})
    double = cli("history", "double")
    assert (double.code, "two runs of scenario 'shop/refund'" in double.err) == (4, True)
    write_folder(Path("torn"), {"refund": "P"})
    path = Path("torn/summary.jsonl")
    path.write_bytes(path.read_bytes()[:-3])
    torn = cli("history", "one", "torn")
    assert (torn.code, "the last line is not finished" in torn.err) == (4, True)
    assert "torn" in torn.err
