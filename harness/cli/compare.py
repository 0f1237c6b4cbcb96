"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.types.events import Trajectory
    from harness.types.records import RunSummary


def compare(
    base: Annotated[Path, typer.Argument(help="Folder of runs to compare with.")],
    candidate: Annotated[Path, typer.Argument(help="Folder of new runs.")],
    form: Annotated[str, typer.Option("--format", help="text, markdown or json.")] = "text",
    out: Annotated[Path | None, typer.Option("--out", help="Write the Markdown here too.")] = None,
) -> None:
    """Name the first divergence of each scenario; without a gate any difference fails."""
    from harness.compare import compare_runs
    from harness.errors import ConfigurationError
    from harness.folds import EXIT_CODES, to_plain
    from harness.report import comparison_markdown, comparison_text
    from harness.store import read_trajectory, replace_file
    from harness.types.jsontext import canonical_json

    if form not in ("text", "markdown", "json"):
        raise ConfigurationError(f"--format {form!r} is not one of text, markdown, json")

    def load(summary: RunSummary, folder: Path) -> Trajectory:
        return read_trajectory(folder / summary.file)

    comparison = compare_runs(
        _summaries(base),
        _summaries(candidate),
        load_base=lambda summary: load(summary, base),
        load_candidate=lambda summary: load(summary, candidate),
        base_name=str(base),
        candidate_name=str(candidate),
    )
    markdown = comparison_markdown(comparison, command=f"harness compare {base} {candidate}")
    if out is not None:
        replace_file(out, [markdown.encode("utf-8")])
    if form == "json":
        typer.echo(canonical_json(to_plain(comparison)))
    else:
        typer.echo(markdown if form == "markdown" else comparison_text(comparison))
    raise typer.Exit(EXIT_CODES[comparison.outcome])


def _summaries(folder: Path) -> tuple[RunSummary, ...]:
    from harness.errors import UsageError
    from harness.runner import summarise_folder

    if not folder.is_dir():
        raise UsageError(f"{folder}: no such folder of runs (harness run --out {folder} makes one)")
    return summarise_folder(folder)
