"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.compare_options import GateFile, GateSchema, Inconclusive, gate_of
from harness.cli.compare_reports import CommentKey, Outs, Reports, ReportsFolder, ScenarioPaths
from harness.cli.options import AsJson

if TYPE_CHECKING:
    from harness.runner import Reviewed, ReviewOptions


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
    gate: GateFile = None,
    inconclusive: Inconclusive = None,
    gate_schema: GateSchema = False,
) -> None:
    """Compare two sets of runs: where do they part, and why?

    Without a gate any difference is exit code 1.
    """
    from harness.folds import EXIT_CODES
    from harness.runner import ReviewOptions

    asked = Reports(tuple(out or ()), reports, comment_key)
    asked.check()
    command = f"harness compare {shlex.quote(str(base))} {shlex.quote(str(candidate))}"
    command += f" --read-as {shlex.quote(read_as)}" if read_as else ""
    command += f" --gate {shlex.quote(str(gate))}" if gate else ""
    command += f" --inconclusive {inconclusive.value}" if inconclusive else ""
    options = ReviewOptions(
        read_as, command, gate_of(gate, inconclusive), inconclusive, scenarios=tuple(scenarios or ())
    )
    reviewed = _reviewed(base, candidate, options)
    asked.write(reviewed)
    _tell(reviewed, form, comment_key, verbose=verbose, as_json=as_json)
    raise typer.Exit(EXIT_CODES[reviewed.review.outcome])


def _tell(reviewed: Reviewed, form: CompareFormat, key: str, *, verbose: bool, as_json: bool) -> None:
    from harness.cli.output import say
    from harness.report import Verbosity, comparison_json, comparison_text
    from harness.runner import markdown_of

    if as_json:
        say(comparison_json(reviewed.review))
    elif form is CompareFormat.MARKDOWN:
        say(markdown_of(reviewed, key).rstrip("\n"))
    else:
        say(comparison_text(reviewed.review, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))


def _reviewed(base: Path, candidate: Path, options: ReviewOptions) -> Reviewed:
    from harness.cli.options import let_names_resolve
    from harness.cli.output import complain
    from harness.runner import review_paths

    let_names_resolve()
    found = review_paths(base, candidate, options)
    if found.passed_over:
        n = len(found.passed_over)
        files = "1 file" if n == 1 else f"{n} files"
        complain(f"passed over: {files} in none of the formats that are read, {found.passed_over[0]} first")
    return found
