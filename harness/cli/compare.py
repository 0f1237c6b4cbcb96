"""``harness compare``: two folders of runs, and what differs first."""

from __future__ import annotations

import shlex
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.against import Against, BaseRef, ReuseBase, RunsFolder, Sides, Wanted, opened
from harness.cli.compare_options import GateFile, GateSchema, Inconclusive
from harness.cli.compare_reports import CommentKey, Outs, Reports, ReportsFolder, ScenarioPaths
from harness.cli.options import READ_AS, AsJson, Jobs, Match, OfSubject, Trials

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
    scenarios: ScenarioPaths = None,
    match: Match = "",
    subject: OfSubject = None,
    jobs: Jobs = 1,
    trials: Trials = 1,
    runs: RunsFolder = None,
    reuse_base: ReuseBase = False,
    form: Annotated[CompareFormat, typer.Option("--format", help="How it is shown.")] = CompareFormat.TEXT,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="All scenarios that differ, with what their stretches took.")
    ] = False,
    as_json: AsJson = False,
    read_as: Annotated[
        str | None,
        typer.Option("--read-as", help=READ_AS),
    ] = None,
    out: Outs = None,
    reports: ReportsFolder = None,
    comment_key: CommentKey = "",
    gate: GateFile = None,
    inconclusive: Inconclusive = None,
    gate_schema: GateSchema = False,
) -> None:
    """Compare two sets of runs: where do they part, and why?

    With --against nothing has to be run before: the base is what the code of the merge base does. Without a gate any
    difference is exit code 1.
    """
    from harness.cli.output import complain
    from harness.errors import HarnessError
    from harness.folds import EXIT_CODES
    from harness.types.jsontext import described

    asked = Reports(tuple(out or ()), reports, comment_key)
    wanted = Wanted(
        tuple(path for path in (base, candidate) if path is not None), against, base_ref, tuple(scenarios or ()),
        match, subject, jobs, trials, runs, reuse_base, gate, inconclusive,
    )  # fmt: skip
    asked.begin(wanted.sides)
    with opened(wanted) as sides:  # what reports read of the sides may be gone behind this block
        reviewed = _reviewed(sides, wanted, read_as)
        asked.write(reviewed)
        try:
            _tell(reviewed, form, comment_key, verbose=verbose, as_json=as_json)
        except HarnessError:
            raise
        except Exception as error:  # as with a report in a file: what is wrong with it changes no verdict
            complain(f"the comparison cannot be shown: {described(error)}")
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


def _reviewed(sides: Sides, wanted: Wanted, read_as: str | None) -> Reviewed:
    from harness.cli.options import let_names_resolve
    from harness.cli.output import complain, on_one_line
    from harness.report.text import torn_text
    from harness.runner import ReviewOptions, review_paths

    let_names_resolve()
    options = ReviewOptions(
        read_as,
        wanted.command + (f" --read-as {shlex.quote(read_as)}" if read_as else ""),
        sides.gate,
        wanted.inconclusive,
        scenarios=wanted.scenarios,
        names=sides.names,
        base_revision=sides.base_revision,
        moved=sides.moved,
        empty_base=sides.empty_base,
        remarks=sides.remarks,
        base_is_bare=sides.base_is_bare,
    )
    found = review_paths(sides.base, sides.candidate, options)
    if found.passed_over:
        n = len(found.passed_over)
        files = "1 file" if n == 1 else f"{n} files"
        first = on_one_line(sides.named(found.passed_over[0]))
        complain(f"passed over: {files} in none of the formats that are read, {first} first")
    for path, torn in (*found.base.torn, *found.candidate.torn):
        complain(f"torn tail: {on_one_line(sides.named(path))}: {torn_text(torn)}")
    return found
