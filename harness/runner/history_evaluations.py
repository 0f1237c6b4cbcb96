"""An evaluation's folder as part of a history: its trials judged anew, and a few numbers kept of each case."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from harness.evaluate.arm_lines import arm_line
from harness.evaluate.summary import graded, settle
from harness.evaluate.tally import Tally, summed
from harness.runner.evaluation.folder import files_of, headers_of, trials_files, trials_in
from harness.runner.evaluation.judging import as_asked
from harness.runner.evaluation.preparing import DOCUMENT, thawed
from harness.runner.history_points import NO_RUNS, ArmKey, CaseKey, ReadFolder
from harness.scenarios.evaluation_document import case_document
from harness.types.evaluation import Case
from harness.types.grades import Grade, Score
from harness.types.history import ArmPoint, HistoryFolder, HistoryPoint
from harness.types.jsontext import canonical_json
from harness.types.trials import AnswerOrigin, Trial

EVALUATION_FORMAT: Final = "harness-evaluation-run/1"
_RIGHT: Final = ("expect", "never", "answer", "bfcl")
"""The fields of a case that say what counts as right."""


def is_evaluation(folder: Path) -> bool:
    """Whether it holds an evaluation's document, whatever its ``run.json`` says, or where its run never ended."""
    return (folder / DOCUMENT).is_file()


def has_trials(folder: Path) -> bool:
    """Whether any file of trials in it has begun."""
    return bool(trials_files(folder))


def read_evaluation_folder(folder: Path, info: dict[str, Any]) -> ReadFolder:
    """Its row, and points for each case and each arm.

    Trials that were skipped (never asked, or their recording is out of date) count in the row and in the arm, not in a
    case. Raises as :func:`harness.runner.evaluation.reading.read_evaluation` does.
    """
    prepared = thawed(folder)
    files = files_of([folder])
    headers = headers_of(files)
    evaluation = as_asked(prepared.evaluation, headers)
    tally = Tally(evaluation, prepared.distractors)
    read = ReadFolder(HistoryFolder(str(folder), None, 0, 0, 0, 0, evaluation=evaluation.id, model=headers[0].model))
    began: list[str] = []
    for place, trial, grade in graded(tally, prepared.snapshot, trials_in(files)):
        if trial.by is not None and trial.by.origin is AnswerOrigin.LIVE and trial.by.at is not None:
            began.append(trial.by.at)
        if grade.score is not Score.SKIPPED:
            key = CaseKey(evaluation.id, place.case.id, trial.arm)
            read.units[key] = place.case.unit
            read.cases[key] = _with(read.cases.get(key), place.case, trial, grade)
    settle(tally)
    for number, arm in enumerate(evaluation.arms):
        read.arms[ArmKey(evaluation.id, arm.name)] = _arm_point(tally, number, arm.name, read)
    ended = info.get("ended")
    started = min(began, default=ended if isinstance(ended, str) else None)
    read.row = _counted(read.row, tally, started, info)
    return read


def _with(point: HistoryPoint | None, case: Case, trial: Trial, grade: Grade) -> HistoryPoint:
    if point is None:
        point = replace(NO_RUNS, digest=_digest(case, trial))
    cost = None if trial.usage is None else trial.usage.cost_micro_usd
    return replace(
        point,
        runs=point.runs + 1,
        passed=point.passed + (grade.score is Score.PASSED),
        failed=point.failed + (grade.score is Score.FAILED),
        n_steps=point.n_steps + _n_steps(trial),
        cost_micro_usd=point.cost_micro_usd + (cost or 0),
        n_priced=point.n_priced + (cost is not None),
    )


def _n_steps(trial: Trial) -> int:
    """Of a whole loop what it took; one answer is one step, and none is none."""
    if trial.answer is None:
        return 0
    return 1 if trial.answer.n_steps is None else trial.answer.n_steps


def _digest(case: Case, trial: Trial) -> str:
    document = case_document(case)
    right = {name: document[name] for name in _RIGHT if name in document}
    return hashlib.sha256(canonical_json([trial.request, right]).encode("utf-8")).hexdigest()


def _arm_point(tally: Tally, number: int, name: str, read: ReadFolder) -> ArmPoint:
    line = arm_line(tally, number)
    points = [point for key, point in read.cases.items() if key.arm == name]
    return ArmPoint(
        folder=0,
        planned=line.counts.planned,
        passed=line.counts.passed,
        n_asked=sum(point.runs for point in points),
        n_units=line.n_units,
        unit_rate=line.unit_rate,
        interval=line.interval,
        n_flaky=line.n_flaky,
        cost_micro_usd=sum(point.cost_micro_usd for point in points),
        n_priced=sum(point.n_priced for point in points),
    )


def _counted(row: HistoryFolder, tally: Tally, started: str | None, info: dict[str, Any]) -> HistoryFolder:
    total = summed(tally.arm_counts(number) for number in range(len(tally.arms)))
    return replace(
        row,
        started_at=started,
        planned=total.planned,
        passed=total.passed,
        failed=total.failed,
        other=total.errored,
        skipped=total.skipped,
        finished=not info.get("stopped") and info.get("interrupted") is not True,
    )
