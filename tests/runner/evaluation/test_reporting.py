"""An evaluation's folder: what is written beside its trials, and what is read back from it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from harness import ConfigurationError, EvaluationResult, EvaluationSummary, read_evaluation
from harness.runner.evaluation.folder import trials_path
from harness.runner.evaluation.judging import exit_code, judge_trials
from harness.runner.evaluation.order import WHOLE
from harness.runner.evaluation.preparing import Prepared, prepare, write_frozen
from harness.runner.evaluation.reporting import write_report
from harness.store import open_trials
from harness.types.trials import TrialsHeader
from tests.evaluate.made_evaluation import trials

SHOP = """\
format: harness-evaluation/1
tools: {schemas: tools.yaml}
model: m
trials: 2
arms: {now: {}, new: {descriptions: {get_order: Says where an order is.}}}
cases:
- {id: "001", ask: Where is order 1?, expect: {get_order: {id: 1}}}
- {id: "002", ask: Where is it?, expect: {get_order: {id: 1}}, tags: [vague]}
"""
TOOLS = """\
- {name: get_order, description: Finds an order., parameters: {type: object, properties: {id: {type: integer}}}}
- {name: lookup, description: Looks up., parameters: {type: object}}
"""
TABLE = {"now": {"001": "++", "002": "+t"}, "new": {"001": "+p", "002": "vn"}}


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """The evaluation of a shop with its tools."""
    (tmp_path / "shop.yaml").write_text(SHOP)
    (tmp_path / "tools.yaml").write_text(TOOLS)
    return prepare(tmp_path / "shop.yaml", {})


@pytest.fixture
def folder(tmp_path: Path, prepared: Prepared) -> Path:
    """The folder of that evaluation, run."""
    made, folder = prepared.evaluation, tmp_path / "out"
    write_frozen(prepared, folder)
    header = TrialsHeader(made.id, made.digest, prepared.snapshot.digest, "m", ("now", "new"), 2, 2)
    with open_trials(trials_path(folder, WHOLE), header) as writer:
        for trial in trials(TABLE):
            writer.append(trial)
    return folder


def test_what_is_read_from_a_folder_is_what_its_summary_says_byte_for_byte(folder: Path, prepared: Prepared) -> None:
    judge_trials(prepared, [folder], into=folder)
    result = read_evaluation(folder)
    assert isinstance(result, EvaluationResult)
    assert isinstance(result.summary, EvaluationSummary)
    assert (folder / "summary.json").read_bytes() == result.summary.to_json().encode() + b"\n"
    assert [arm.counts.passed for arm in result.summary.arms] == [3, 1]


@pytest.mark.public_case("PB-040")
def test_failures_and_errors_without_a_gate_are_exit_code_1_and_errors_alone_5(folder: Path, prepared: Prepared, tmp_path: Path) -> None:
    assert exit_code(judge_trials(prepared, [folder], into=folder)) == 1
    made = prepared.evaluation
    for name, letters, code in (("all", "++", 0), ("errors", "+p", 5), ("skipped", "+.", 3)):
        write_frozen(prepared, tmp_path / name)
        header = TrialsHeader(made.id, made.digest, prepared.snapshot.digest, "m", ("now", "new"), 2, 2)
        with open_trials(trials_path(tmp_path / name, WHOLE), header) as writer:
            for trial in trials({arm: dict.fromkeys(("001", "002"), letters) for arm in ("now", "new")}):
                writer.append(trial)
        assert exit_code(judge_trials(prepared, [tmp_path / name], into=tmp_path / name)) == code


def test_the_frames_of_a_folder_hold_its_trials(folder: Path) -> None:
    frames = read_evaluation(str(folder)).frames()
    assert list(frames.trials["case"].unique()) == ["001", "002"]
    assert frames.trials.groupby("arm")["passed"].mean().to_dict() == {"new": 0.25, "now": 0.75}


def test_a_report_is_text_tables_and_plots(folder: Path) -> None:
    result = read_evaluation(folder)
    (folder / "plots").mkdir()
    (folder / "plots" / "confusion-09.svg").write_text("of an arm that is gone")
    (folder / "plots" / "mine.svg").write_text("somebody's own")
    assert write_report(folder, result.evaluation, result.snapshot, result.summary) == ()
    assert (folder / "report.md").read_text().startswith("### FAIL: `shop`")
    assert sorted(path.name for path in (folder / "plots").iterdir()) == ["confusion-01.svg", "confusion-02.svg", "mine.svg", "rates.svg"]
    assert pyarrow.parquet.read_table(folder / "trials.parquet").num_rows == 8
    assert sorted(path.name for path in folder.glob("*.parquet")) == ["arguments.parquet", "cases.parquet", "confusion.parquet", "trials.parquet"]


def test_a_report_that_cannot_be_written_is_told_and_changes_nothing_else(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = read_evaluation(folder)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (folder / "report.md").mkdir()
    said = write_report(folder, result.evaluation, result.snapshot, result.summary)
    assert len(said) == 2
    assert said[0].startswith("report.md not written: ")
    assert said[1] == "plots not written: plots need 'matplotlib', which is not installed: pip install 'agent-loop-harness[evaluate]'"
    assert (folder / "trials.parquet").exists()


def test_a_folder_that_holds_no_evaluation_is_refused_with_what_to_name(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"holds no evaluation.json: name the folder of an evaluation"):
        read_evaluation(tmp_path)
    shutil.copytree(folder, tmp_path / "copy")
    assert read_evaluation(tmp_path / "copy").summary == read_evaluation(folder).summary
