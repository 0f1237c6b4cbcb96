"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import AsJson

if TYPE_CHECKING:
    from harness.types.events import Trajectory
    from harness.types.records import Comparison, RunSummary


class CompareFormat(Enum):
    """How a comparison is shown."""

    TEXT = "text"
    MARKDOWN = "markdown"


def compare(
    base: Annotated[Path, typer.Argument(help="Folder of runs to compare with.")],
    candidate: Annotated[Path, typer.Argument(help="Folder of new runs.")],
    form: Annotated[CompareFormat, typer.Option("--format", help="How it is shown.")] = CompareFormat.TEXT,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="All runs that differ, not only the first.")] = False,
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the Markdown to this file too.")] = None,
) -> None:
    """Compare two sets of runs: where does each one part first?

    Any difference is exit code 1.
    """
    from harness.cli.output import say, say_json
    from harness.folds import EXIT_CODES, to_plain
    from harness.report import Verbosity, comparison_markdown, comparison_text
    from harness.report.text import as_bytes
    from harness.store import check_file, replace_file

    if out is not None:
        check_file(out, "--out")
    comparison = _compared(base, candidate)
    command = f"harness compare {shlex.quote(str(base))} {shlex.quote(str(candidate))}"
    markdown = comparison_markdown(comparison, command=command)
    if out is not None:
        replace_file(out, [as_bytes(markdown)])
    if as_json:
        say_json(to_plain(comparison))
    elif form is CompareFormat.MARKDOWN:
        say(markdown.rstrip("\n"))
    else:
        say(comparison_text(comparison, command=command, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))
    raise typer.Exit(EXIT_CODES[comparison.outcome])


def _compared(base: Path, candidate: Path) -> Comparison:
    from harness.compare import compare_runs
    from harness.store import read_trajectory

    folders = {"base": base, "candidate": candidate}

    def load(side: str, summary: RunSummary) -> Trajectory:
        return read_trajectory(folders[side] / summary.file)

    return compare_runs(
        _summaries(base), _summaries(candidate), load, base_name=str(base), candidate_name=str(candidate)
    )


def _summaries(folder: Path) -> tuple[RunSummary, ...]:
    from harness.errors import UsageError
    from harness.runner import summarise_folder

    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder of runs (harness run --out {folder} makes one)")
    return summarise_folder(folder)
