"""What an evaluation says, written into its folder; and read back from there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from harness.errors import ConfigurationError, RecordingFailed
from harness.evaluate.summary import summarise
from harness.report.evaluation_markdown import evaluation_markdown
from harness.runner.evaluation.folder import files_of, headers_of, trials_in
from harness.runner.evaluation.judging import as_asked
from harness.runner.evaluation.preparing import thawed
from harness.store import replace_file
from harness.types.evaluation import Evaluation, ToolSnapshot
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.trials import Trial

if TYPE_CHECKING:
    from harness.evaluate.frame import Frames

REPORT: Final = "report.md"
PLOTS: Final = "plots"
_OURS: Final = ("rates.svg", "differences.svg", "confusion-*.svg", "curve-*.svg")


def write_report(
    folder: Path,
    evaluation: Evaluation,
    snapshot: ToolSnapshot,
    summary: EvaluationSummary,
    trials: Iterable[Trial] | None = None,
) -> tuple[str, ...]:
    """Write ``report.md``, the tables as Parquet and the plots of a summary into a folder.

    ``evaluation`` is as it was asked (its arms and trials); ``trials`` None: those of the folder. What cannot be
    written, for want of a library or of room, is given back in words and nothing is raised for it: what an
    evaluation comes to does not depend on its report (INVARIANTS 31). Raises like ``summarise`` for trials that do
    not belong.
    """
    from harness.evaluate.frame import write_parquet
    from harness.report.plots import plots

    said: list[str] = []
    with _told(said, REPORT):
        replace_file(folder / REPORT, [evaluation_markdown(summary).encode("utf-8")])
    with _told(said, "tables"):
        write_parquet(folder, evaluation, snapshot, trials_in(files_of([folder])) if trials is None else trials)
    with _told(said, PLOTS):
        drawn = plots(summary)
        _clear(folder / PLOTS, keep=drawn)
        for name, data in drawn.items():
            replace_file(folder / PLOTS / name, [data])
    return tuple(said)


@contextmanager
def _told(said: list[str], what: str) -> Iterator[None]:
    try:
        yield
    except (ConfigurationError, RecordingFailed, OSError) as error:
        said.append(f"{what} not written: {error}")


def _clear(folder: Path, *, keep: Iterable[str]) -> None:
    """Remove plots of an earlier report that this one does not have."""
    for pattern in _OURS:
        for path in folder.glob(pattern):
            if path.name not in keep:
                path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """An evaluation that was run, read from its folder: as it was asked, the tools, and what it says."""

    folder: Path
    evaluation: Evaluation
    snapshot: ToolSnapshot
    summary: EvaluationSummary

    def frames(self) -> Frames:
        """Its trials, cases, confusion matrix and arguments as pandas frames with stated types.

        Ids stay text, whole numbers stay whole. Raises ConfigurationError without pandas.
        """
        from harness.evaluate.frame import frames

        return frames(self.evaluation, self.snapshot, trials_in(files_of([self.folder])))


def read_evaluation(folder: str | PathLike[str]) -> EvaluationResult:
    """What an evaluation's folder says, judged anew from its trials; nothing is asked of any model.

    Raises ConfigurationError where it is no such folder, NothingToRunError where it has no trials,
    TrajectoryFormatError for damage.
    """
    path = Path(folder)
    prepared = thawed(path)
    files = files_of([path])
    evaluation = as_asked(prepared.evaluation, headers_of(files))
    summary = summarise(evaluation, prepared.snapshot, trials_in(files))
    return EvaluationResult(path, evaluation, prepared.snapshot, summary)
