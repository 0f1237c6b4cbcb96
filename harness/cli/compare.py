"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.compare_reports import CommentKey, Outs, ReportsFolder, ScenarioPaths, Wanted
from harness.cli.options import AsJson

if TYPE_CHECKING:
    from harness.runner import Reviewed


class CompareFormat(Enum):
    """How a comparison is shown."""

    TEXT = "text"
    MARKDOWN = "markdown"


def compare(
    base: Annotated[Path, typer.Argument(help="Runs to compare with: a folder of runs, or files of other products.")],
    candidate: Annotated[Path, typer.Argument(help="The new runs: the same.")],
    form: Annotated[CompareFormat, typer.Option("--format", help="How it is shown.")] = CompareFormat.TEXT,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="All scenarios that differ, with what their stretches took.")
    ] = False,
    as_json: AsJson = False,
    read_as: Annotated[
        str | None,
        typer.Option("--read-as", help="Read files as this format instead of looking: chat, article or dsh."),
    ] = None,
    out: Outs = None,
    reports: ReportsFolder = None,
    comment_key: CommentKey = "",
    scenarios: ScenarioPaths = None,
) -> None:
    """Compare two sets of runs: where do they part, and why?

    Any difference is exit code 1.
    """
    from harness.cli.output import say
    from harness.folds import EXIT_CODES
    from harness.report import Verbosity, comparison_json, comparison_markdown, comparison_text
    from harness.runner.reporting import trace_of

    wanted = Wanted(tuple(out or ()), reports, comment_key)
    wanted.check()
    command = f"harness compare {shlex.quote(str(base))} {shlex.quote(str(candidate))}"
    command += f" --read-as {shlex.quote(read_as)}" if read_as else ""
    reviewed = _reviewed(base, candidate, read_as, command, tuple(scenarios or ()))
    review = reviewed.review
    wanted.write(reviewed)
    if as_json:
        say(comparison_json(review))
    elif form is CompareFormat.MARKDOWN:
        say(comparison_markdown(review, key=comment_key, trace=trace_of(reviewed)).rstrip("\n"))
    else:
        say(comparison_text(review, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))
    raise typer.Exit(EXIT_CODES[review.outcome])


def _reviewed(base: Path, candidate: Path, read_as: str | None, command: str, scenarios: tuple[Path, ...]) -> Reviewed:
    from harness.cli.options import let_names_resolve
    from harness.cli.output import complain
    from harness.runner import ReviewOptions, review_paths

    let_names_resolve()
    found = review_paths(base, candidate, ReviewOptions(form=read_as, command=command, scenarios=scenarios))
    if found.passed_over:
        n = len(found.passed_over)
        files = "1 file" if n == 1 else f"{n} files"
        complain(f"passed over: {files} in none of the formats that are read, {found.passed_over[0]} first")
    return found
