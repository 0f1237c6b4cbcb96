"""What an evaluation says, written into its folder: text, tables, plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from harness.errors import ConfigurationError, RecordingFailed
from harness.report.evaluation_markdown import evaluation_markdown
from harness.runner.evaluation.folder import files_of, trials_in
from harness.store import replace_file
from harness.types.evaluation import Evaluation, ToolSnapshot
from harness.types.evaluation_summary import EvaluationSummary
from harness.types.trials import Trial

REPORT: Final = "report.md"
PLOTS: Final = "plots"
_OURS: Final = ("rates.svg", "differences.svg", "confusion-*.svg", "curve-*.svg")


def write_report(
    folder: Path,
    evaluation: Evaluation,
    snapshot: ToolSnapshot,
    summary: EvaluationSummary,
    trials: Iterable[Trial] | None = None,
    distractors: ToolSnapshot | None = None,
    *,
    before: Sequence[str] = (),
) -> tuple[str, ...]:
    """Write ``report.md``, the tables as Parquet and the plots of a summary into a folder.

    ``evaluation`` is as it was asked (its arms and trials); ``trials`` None: those of the folder; ``before`` tells
    earlier verdicts of the same folder. What cannot be written, for want of a library or of room, is given back in
    words and nothing is raised for it: what an evaluation comes to does not depend on its report (INVARIANTS 31).
    Raises like ``summarise`` for trials that do not belong.
    """
    from harness.evaluate.frame import arms_ignoring_tools, write_parquet
    from harness.report.plots import plots

    said: list[str] = []
    with _told(said, REPORT):
        replace_file(folder / REPORT, [evaluation_markdown(summary, before=before).encode("utf-8")])
    with _told(said, "tables"):
        given = trials_in(files_of([folder])) if trials is None else trials
        write_parquet(folder, evaluation, snapshot, given, distractors, ignoring=arms_ignoring_tools(summary))
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
