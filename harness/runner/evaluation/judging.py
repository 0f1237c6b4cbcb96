"""What an evaluation came to: its trials judged, its reports written, its exit code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from harness.clock import wall_clock_iso
from harness.evaluate.summary import summarise
from harness.folds import EXIT_CODES
from harness.runner.evaluation.earlier import keep_judgement
from harness.runner.evaluation.folder import Found, files_of, headers_of, trials_in
from harness.runner.evaluation.preparing import Prepared
from harness.runner.evaluation.reporting import write_report
from harness.runner.evaluation.running import Ran
from harness.runner.seats import DEFAULT_MODEL
from harness.runner.version import VERSION
from harness.store import replace_file
from harness.types.evaluation import Evaluation
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.trials import TrialsHeader

SUMMARY: Final = "summary.json"
INFO: Final = "run.json"
FAILED, UNDECIDED, INTERRUPTED = 1, 3, 130


@dataclass(frozen=True, slots=True)
class Judged:
    """The summary of an evaluation, what its files of trials held beside trials, and which reports are not there.

    ``before`` tells verdicts that were given before this one, at looks that nobody planned.
    """

    summary: EvaluationSummary
    found: Found
    folder: Path
    unwritten: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def judge_trials(prepared: Prepared, folders: Sequence[Path], *, into: Path) -> Judged:
    """Judge all trials of these folders and write summary and report into ``into``.

    The same trials give the same bytes of ``summary.json``, from whatever files they come. Raises NothingToRunError
    where there are none, ConfigurationError where they are of different evaluations, TrajectoryFormatError for damage.
    """
    paths = files_of(folders)
    found = Found()
    planned, summary = summary_of_files(prepared, paths, found)
    replace_file(into / SUMMARY, [summary.to_json().encode("utf-8"), b"\n"])
    before = keep_judgement(summary, folders, into)
    unwritten = write_report(
        into, planned, prepared.snapshot, summary, trials_in(paths), prepared.distractors, before=before
    )
    return Judged(summary, found, into, unwritten, before)


def summary_of_files(
    prepared: Prepared, paths: Sequence[Path], found: Found | None = None
) -> tuple[Evaluation, EvaluationSummary]:
    """The evaluation as it was asked in these files, and what their trials come to.

    The model is the one that was asked, which need not be that of the file (``--model``); nobody named the default.
    Raises as :func:`judge_trials`.
    """
    headers = headers_of(paths)
    planned = as_asked(prepared.evaluation, headers)
    summary = summarise(planned, prepared.snapshot, trials_in(paths, found), prepared.distractors)
    asked = headers[0].model
    return planned, summary if asked == DEFAULT_MODEL else replace(summary, model=asked)


def as_asked(evaluation: Evaluation, headers: Iterable[TrialsHeader]) -> Evaluation:
    """The evaluation with the arms and trials that were planned. Its gate stays, also where one of its arms is not
    there: what was declared and cannot be judged is INVALID, never a pass by another rule.
    """
    known = tuple(headers)
    names = {name for header in known for name in header.arms}
    arms = tuple(arm for arm in evaluation.arms if arm.name in names)
    trials = max((header.trials for header in known), default=evaluation.trials)
    return replace(evaluation, arms=arms, trials=trials)


def exit_code(judged: Judged, ran: Ran | None = None) -> int:
    """130 interrupted; 1 for a FAIL or a recording out of date; then what stopped it; then what is missing.

    What the summary came to decides, with a gate or without one (PB-040): an exit code that says less than the first
    line of the screen would be a green nobody can trust.
    """
    if ran is not None and ran.interrupted:
        return INTERRUPTED
    codes = {EXIT_CODES[judged.summary.outcome]}
    if ran is not None:
        codes |= {ran.exit_code} | ({FAILED} if ran.n_missed else set())
    return next((code for code in (2, 1, 5, 4, 3) if code in codes), 0)


def write_info(folder: Path, ran: Ran, *, exit_code: int, model: str, **more: Any) -> None:
    """Write ``run.json``: when it was run, how long that took and what it used; other bytes each time."""
    info = {
        "format": "harness-evaluation-run/1",
        "version": VERSION,
        "ended": wall_clock_iso(),
        "model": model,
        "trialsBefore": ran.n_before,
        "trialsNow": ran.n_now,
        "tookMs": ran.took_ms,
        "tokens": ran.n_tokens,
        "costMicroUsd": ran.micro_usd,
        "stopped": ran.stopped or ran.spent,
        "interrupted": ran.interrupted,
        "exitCode": exit_code,
        **ran.revision,
        **more,
    }
    replace_file(folder / INFO, [json.dumps(info, indent=1).encode("utf-8"), b"\n"])


def restate_info(folder: Path, *, exit_code: int) -> None:
    """Have ``run.json`` say what the answers come to now that they were judged by other expectations."""
    if (folder / INFO).is_file():
        info = json.loads((folder / INFO).read_bytes())
        info |= {"exitCode": exit_code, "regraded": wall_clock_iso()}
        replace_file(folder / INFO, [json.dumps(info, indent=1).encode("utf-8"), b"\n"])
