"""An evaluation that was run, read from its folder."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from harness.runner.evaluation.folder import files_of, trials_in
from harness.runner.evaluation.judging import summary_of_files
from harness.runner.evaluation.preparing import thawed
from harness.types.evaluation import Evaluation, ToolSnapshot
from harness.types.evaluation_summary import EvaluationSummary

if TYPE_CHECKING:
    from harness.evaluate.frame import Frames


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """An evaluation that was run, read from its folder: as it was asked, the tools, and what it says."""

    folder: Path
    evaluation: Evaluation
    snapshot: ToolSnapshot
    summary: EvaluationSummary
    distractors: ToolSnapshot | None = None

    def frames(self) -> Frames:
        """Its trials, cases, confusion matrix and arguments as pandas frames with stated types.

        Ids stay text, whole numbers stay whole. Raises ConfigurationError without pandas.
        """
        from harness.evaluate.frame import frames

        return frames(self.evaluation, self.snapshot, trials_in(files_of([self.folder])), self.distractors)


def read_evaluation(folder: str | PathLike[str]) -> EvaluationResult:
    """What an evaluation's folder says, judged anew from its trials; nothing is asked of any model.

    Raises ConfigurationError where it is no such folder, NothingToRunError where it has no trials,
    TrajectoryFormatError for damage.
    """
    path = Path(folder)
    prepared = thawed(path)
    evaluation, summary = summary_of_files(prepared, files_of([path]))
    return EvaluationResult(path, evaluation, prepared.snapshot, summary, prepared.distractors)
