"""``harness run``: plan, pool, summarise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import (
    AsJson,
    Cassettes,
    Checks,
    Jobs,
    Match,
    OfSubject,
    Paths,
    Verbose,
    collected,
    environment,
    let_names_resolve,
)
from harness.errors import ConfigurationError

if TYPE_CHECKING:
    from harness.cli.session import Session

DEFAULT_FOLDER = Path("reports/latest")


def run(
    paths: Paths = None,
    match: Match = "",
    jobs: Jobs = 1,
    verbose: Verbose = False,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for trajectories and summaries (default: reports/latest).")
    ] = None,
    model: Annotated[
        str,
        typer.Option("--model", help="auto (script, else cassette), scripted, cassette, live, or your own's name."),
    ] = "auto",
    subject: OfSubject = None,
    trials: Annotated[int, typer.Option("--trials", help="Runs of each scenario.")] = 1,
    checks: Checks = None,
    cassettes: Cassettes = None,
    approve: Annotated[
        str | None, typer.Option("--approve", help="Who is asked about calls: terminal, or your own's name.")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", help="Go on where this trajectory ended, repaired where its run died.")
    ] = None,
    answer: Annotated[
        list[str] | None, typer.Option("--answer", help="With --resume: CALL=allow or CALL=reject, for a parked call.")
    ] = None,
    fork: Annotated[
        Path | None, typer.Option("--fork", help="Begin with this trajectory up to --at, then go another way.")
    ] = None,
    at: Annotated[int | None, typer.Option("--at", help="With --fork: the last event taken over.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="With --resume or --fork: what is to be done next.")
    ] = None,
    workspace: Annotated[
        Path | None, typer.Option("--workspace", help="Folder for file and memory tools (default: a fresh one).")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Where an expectation is not met, write down what was observed.")
    ] = False,
) -> None:
    """Run scenarios against a loop and judge what it did."""
    from harness.cli.going_on import Wanted
    from harness.cli.session import Session
    from harness.runner import RunOptions, source_of
    from harness.runner.settings import settings

    if update and os.environ.get("CI"):
        raise ConfigurationError("--update changes expectations; it is refused where CI is set")
    let_names_resolve()
    configured = settings()
    source, own = source_of(model)
    options = RunOptions(
        subject=subject or configured.subject,
        source=source,
        model=own,
        trials=trials,
        checks=tuple(checks) if checks else None,
        cassettes=cassettes or Path(configured.cassettes),
        approver=approve,
        folder=out or DEFAULT_FOLDER,
        workspace=workspace,
        environ=environment(),
    )
    scenarios = collected(paths, configured.scenarios, match)
    wanted = Wanted(resume, tuple(answer or ()), fork, at, task)
    wanted.check(update=update, trials=trials)
    session = Session(scenarios, options, out or DEFAULT_FOLDER, jobs=jobs, verbose=verbose, as_json=as_json)
    if wanted.parent is not None:
        session.go_on(wanted, out)
    else:
        session.run()
    more = _accepted(session) if update and not session.interrupted else {}
    raise typer.Exit(session.finish(**more))


def _accepted(session: Session) -> dict[str, Any]:
    """Bring expectations up to date, show what changed, judge again."""
    from harness.cli.accept import accept_all

    return accept_all(session)
