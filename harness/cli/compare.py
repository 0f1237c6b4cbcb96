"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.against import Against, BaseRef, RunsFolder, Scenarios, Sides, Wanted, opened
from harness.cli.options import AsJson, Jobs, Match, OfSubject, Trials

if TYPE_CHECKING:
    from harness.runner import Reviewed


class CompareFormat(Enum):
    """How a comparison is shown."""

    TEXT = "text"
    MARKDOWN = "markdown"


def compare(
    base: Annotated[
        Path | None,
        typer.Argument(help="Runs to compare with: a folder or archive of runs, baselines, files of other products."),
    ] = None,
    candidate: Annotated[Path | None, typer.Argument(help="The new runs: the same.")] = None,
    against: Against = None,
    base_ref: BaseRef = None,
    scenarios: Scenarios = None,
    match: Match = "",
    subject: OfSubject = None,
    jobs: Jobs = 1,
    trials: Trials = 1,
    runs: RunsFolder = None,
    form: Annotated[CompareFormat, typer.Option("--format", help="How it is shown.")] = CompareFormat.TEXT,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="All scenarios that differ, with what their stretches took.")
    ] = False,
    as_json: AsJson = False,
    read_as: Annotated[
        str | None,
        typer.Option("--read-as", help="Read files as this format instead of looking: chat, article or dsh."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the Markdown to this file too.")] = None,
) -> None:
    """Compare two sets of runs: where do they part, and why?

    With --against nothing has to be run before: the base is what the code of the merge base does. Any difference is
    exit code 1.
    """
    from harness.cli.output import say, say_json
    from harness.folds import EXIT_CODES, to_plain
    from harness.report import Verbosity, comparison_markdown, comparison_text
    from harness.report.text import as_bytes
    from harness.store import check_file, replace_file

    if out is not None:
        check_file(out, "--out")
    wanted = Wanted(
        tuple(path for path in (base, candidate) if path is not None),
        against, base_ref, tuple(scenarios or ()), match, subject, jobs, trials, runs,
    )  # fmt: skip
    with opened(wanted) as sides:  # what a report reads of the sides may be gone behind this block
        review = _reviewed(sides, read_as, wanted.command).review
        markdown = comparison_markdown(review)
        if out is not None:
            replace_file(out, [as_bytes(markdown)])
        if as_json:
            say_json(to_plain(review))
        elif form is CompareFormat.MARKDOWN:
            say(markdown.rstrip("\n"))
        else:
            say(comparison_text(review, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))
    raise typer.Exit(EXIT_CODES[review.outcome])


def _reviewed(sides: Sides, read_as: str | None, command: str) -> Reviewed:
    from harness.cli.options import let_names_resolve
    from harness.cli.output import complain
    from harness.runner import ReviewOptions, review_paths

    let_names_resolve()
    command += f" --read-as {shlex.quote(read_as)}" if read_as else ""
    options = ReviewOptions(read_as, command, sides.names, sides.base_revision, sides.moved)
    found = review_paths(sides.base, sides.candidate, options)
    if found.passed_over:
        n = len(found.passed_over)
        files = "1 file" if n == 1 else f"{n} files"
        complain(f"passed over: {files} in none of the formats that are read, {found.passed_over[0]} first")
    return found
