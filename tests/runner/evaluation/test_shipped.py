"""The shipped evaluations of the real local model: their reports follow from their recordings, byte for byte.

A report that is meant to change is taken over by replaying: ``harness evaluate FILE --out FOLDER``, and its
``summary.json`` and ``report.md`` copied to ``reports/baselines/evaluations/<id>``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cassettes import read_cassette
from harness.scenarios.evaluation_loading import load_evaluation
from harness.types.evaluation import Evaluation, Execute
from tests.cli.lab import in_a_process

REPO = Path(__file__).parents[3]
EVALUATIONS = REPO / "scenarios" / "evaluations"
BASELINES = REPO / "reports" / "baselines" / "evaluations"
RECORDINGS = REPO / "cassettes" / "evaluations"
SHIPPED = sorted(EVALUATIONS.glob("*.yaml"))
EXIT_CODES = {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}


def summary_of(path: Path) -> dict[str, Any]:
    """The committed summary of an evaluation."""
    found: dict[str, Any] = json.loads((BASELINES / path.stem / "summary.json").read_text("utf-8"))
    return found


def test_there_are_evaluations() -> None:
    assert [path.stem for path in SHIPPED] == ["descriptions", "expression-shape"]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_report_follows_from_the_recordings(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    said = in_a_process("evaluate", str(path), "--out", str(out), "--cassettes", str(REPO / "cassettes"), cwd=tmp_path)
    first_word = said.stdout.decode().partition(" ")[0]
    assert said.returncode == EXIT_CODES.get(first_word), (said.stdout + said.stderr).decode()
    for name in ("summary.json", "report.md"):
        assert (out / name).read_bytes() == (BASELINES / path.stem / name).read_bytes(), name


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_recording_names_the_model_and_server_that_answered(path: Path) -> None:
    files = sorted((RECORDINGS / path.stem).rglob("*.yaml"))
    assert files
    for file in files:
        about = read_cassette(file).about
        assert (about.model, bool(about.server), bool(about.info.recorded_at)) == ("local-model", True, True), file


@pytest.mark.article("E:description-experiment")
def test_a_vague_description_against_one_that_says_when_was_asked_of_the_real_model() -> None:
    made = load_evaluation(EVALUATIONS / "descriptions.yaml")
    vague, told = made.arms
    assert {text for _, text in vague.descriptions} == {"a function"}
    assert told.descriptions == ()
    assert made.execute is Execute.FIRST
    summary = summary_of(EVALUATIONS / "descriptions.yaml")
    assert summary["nCases"] >= 60
    assert summary["nTools"] >= 12
    assert (made.trials, summary["nTrials"]) == (5, 5)
    assert hot(made)


@pytest.mark.article("B:expression-shape")
def test_a_prompt_that_splits_arithmetic_was_tried_on_the_shape_of_whole_runs() -> None:
    made = load_evaluation(EVALUATIONS / "expression-shape.yaml")
    plain, hint = made.arms
    assert plain.system is None
    assert "one operation a call" in (hint.system or "")
    assert made.execute is Execute.TOOLS
    assert hot(made)


def hot(made: Evaluation) -> bool:
    """Whether answers of its model differ from trial to trial at all."""
    assert made.model is not None
    parameters: dict[str, float] = json.loads(made.model.parameters)
    return parameters["temperature"] > 0


@pytest.mark.parametrize(("name", "estimand"), [("descriptions", "prompts"), ("expression-shape", "cases")])
def test_the_page_tells_what_the_reports_say(name: str, estimand: str) -> None:
    page = (REPO / "docs" / "experiments.md").read_text("utf-8")
    interval = summary_of(EVALUATIONS / f"{name}.yaml")["comparison"][estimand]["interval"]
    assert f"[{100 * interval['low']:+.1f}, {100 * interval['high']:+.1f}]" in page
