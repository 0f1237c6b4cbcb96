"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import READ_AS, AsJson

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
        typer.Option("--read-as", help=READ_AS),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the Markdown to this file too.")] = None,
) -> None:
    """Compare two sets of runs: where do they part, and why?

    Any difference is exit code 1.
    """
    from harness.cli.output import say, say_json
    from harness.folds import EXIT_CODES, to_plain
    from harness.report import Verbosity, comparison_markdown, comparison_text
    from harness.report.text import as_bytes
    from harness.store import check_file, replace_file

    if out is not None:
        check_file(out, "--out")
    command = f"harness compare {shlex.quote(str(base))} {shlex.quote(str(candidate))}"
    command += f" --read-as {shlex.quote(read_as)}" if read_as else ""
    review = _reviewed(base, candidate, read_as, command).review
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


def _reviewed(base: Path, candidate: Path, read_as: str | None, command: str) -> Reviewed:
    from harness.cli.options import let_names_resolve
    from harness.cli.output import complain
    from harness.runner import ReviewOptions, review_paths

    let_names_resolve()
    found = review_paths(base, candidate, ReviewOptions(form=read_as, command=command))
    if found.passed_over:
        n = len(found.passed_over)
        files = "1 file" if n == 1 else f"{n} files"
        complain(f"passed over: {files} in none of the formats that are read, {found.passed_over[0]} first")
    return found
