"""From a file to an evaluation that can be run, and from a folder to one that can be judged again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.clock import run_in_loop
from harness.errors import ConfigurationError, UsageError
from harness.evaluate.arms import request_of
from harness.evaluate.dataset_problems import problems_of
from harness.runner.evaluation.folder import DEFAULT_FOLDER, trials_files
from harness.scenarios.evaluation_document import case_line, evaluation_document
from harness.scenarios.evaluation_loading import load_evaluation
from harness.store import replace_file
from harness.store.snapshots import read_snapshot, write_snapshot
from harness.tools.snapshot import differs, take_snapshot
from harness.types.codes import ClockKind
from harness.types.doors import ModelCall
from harness.types.evaluation import Arm, Case, Evaluation, ToolSnapshot, ToolSource
from harness.types.names import portable_path

DOCUMENT: Final = "evaluation.json"
CASES: Final = "cases.jsonl"
TOOLS: Final = "tools.json"
DISTRACTORS: Final = "distractor-tools.json"
_MOST_TOLD: Final = 10
_NO_TOOLS: Final = ToolSnapshot((), "")


@dataclass(frozen=True, slots=True)
class Prepared:
    """An evaluation with the tools that its sources offer now, or offered when it was run."""

    evaluation: Evaluation
    snapshot: ToolSnapshot
    distractors: ToolSnapshot = _NO_TOOLS

    def request_of(self, evaluation: Evaluation, arm: Arm, case: Case, snapshot: ToolSnapshot) -> ModelCall:
        """What is asked of a case under an arm. Raises ConfigurationError for what the tools do not have."""
        return request_of(evaluation, arm, case, snapshot, self.distractors)

    def check(self) -> tuple[int, str]:
        """Look at every case and make the first request of each arm, so that what does not fit is seen before
        anything is asked. Gives how many expectations no call can meet, and the first of them. Raises UsageError for
        what cannot be asked or judged at all.
        """
        evaluation = self.evaluation
        fatal: list[str] = []
        n_unmet, first = 0, ""
        for problem in problems_of(evaluation, self.snapshot, self.distractors):
            if problem.is_fatal:
                fatal.append(str(problem))
            else:
                n_unmet, first = n_unmet + 1, first or str(problem)
            if len(fatal) == _MOST_TOLD:
                break
        if fatal:
            told = "\n".join(fatal)
            raise UsageError(f"{evaluation.source or evaluation.id} does not fit its tools:\n{told}")
        for arm in evaluation.arms:
            self.request_of(evaluation, arm, evaluation.cases[0], self.snapshot)
        return n_unmet, first


def prepare(path: Path, environ: Mapping[str, str]) -> Prepared:
    """Load an evaluation and list its tools; no tool is called. Raises ScenarioError and other UsageError kin,
    ToolSourceError where a server of tools failed.
    """
    evaluation = load_evaluation(path)
    snapshot = _listed(evaluation.sources, path.parent, environ)
    distractors = _listed(evaluation.distractor_tools, path.parent, environ)
    return Prepared(evaluation, snapshot, distractors)


def _listed(sources: Sequence[ToolSource], base: Path, environ: Mapping[str, str]) -> ToolSnapshot:
    if not sources:
        return _NO_TOOLS
    return run_in_loop(ClockKind.SYSTEM, lambda _: take_snapshot(sources, base=base, environ=environ))


def default_folder(evaluation: Evaluation) -> Path:
    """Where an evaluation is kept unless somebody names another folder."""
    return DEFAULT_FOLDER / portable_path(evaluation.id)


# ---------------------------------------------------------------- the folder


def freeze(prepared: Prepared, folder: Path) -> None:
    """Put into the folder what its trials are of: document, cases, tools. Where there are trials it stays as it is.

    Raises UsageError where the tools have changed since, saying how; RecordingFailed.
    """
    if (folder / TOOLS).exists() and trials_files(folder):
        _same_tools(Prepared(prepared.evaluation, *_kept_tools(folder)), prepared, folder)
        return
    write_frozen(prepared, folder)


def write_frozen(prepared: Prepared, folder: Path) -> None:
    """Write document, cases and tools of an evaluation, replacing what is there. Raises RecordingFailed."""
    evaluation = prepared.evaluation
    document = json.dumps(evaluation_document(evaluation, cases_from=CASES), indent=1, ensure_ascii=False) + "\n"
    replace_file(folder / CASES, map(case_line, evaluation.cases))
    replace_file(folder / DOCUMENT, [document.encode("utf-8", "replace")])
    if prepared.distractors.tools:
        write_snapshot(folder / DISTRACTORS, prepared.distractors)
    write_snapshot(folder / TOOLS, prepared.snapshot)


def thawed(folder: Path) -> Prepared:
    """The evaluation of a folder, as it was run. Raises ConfigurationError where it is no such folder."""
    document = folder / DOCUMENT
    if not document.is_file():
        raise ConfigurationError(f"{folder} holds no {DOCUMENT}: name the folder of an evaluation that was run")
    evaluation = load_evaluation(document)
    return Prepared(replace(evaluation, source=str(document)), *_kept_tools(folder))


def _kept_tools(folder: Path) -> tuple[ToolSnapshot, ToolSnapshot]:
    """Tools and distractors as they were when the folder's trials began."""
    distractors = read_snapshot(folder / DISTRACTORS) if (folder / DISTRACTORS).exists() else _NO_TOOLS
    return read_snapshot(folder / TOOLS), distractors


def _same_tools(before: Prepared, now: Prepared, folder: Path) -> None:
    words = changes(before, now)
    if words:
        raise UsageError(
            f"the tools have changed since the trials in {folder} began: {'; '.join(words)}. What was answered before "
            "is of other tools: keep it and name another folder (--out), or remove that folder"
        )


def changes(before: Prepared, now: Prepared) -> list[str]:
    """What a model would see otherwise of the tools now, in words; distractors are told as such."""
    others = differs(before.distractors, now.distractors)
    return [*differs(before.snapshot, now.snapshot), *(f"of the distractors: {what}" for what in others)]
