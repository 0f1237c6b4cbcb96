"""``harness run``: plan, pool, summarise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from harness.cli.options import (
    Answers,
    Api,
    Approve,
    AsJson,
    At,
    Cassettes,
    Checks,
    EnvFile,
    Fork,
    Jobs,
    Match,
    ModelName,
    NextTask,
    OfSubject,
    Out,
    Paths,
    ProfileName,
    Resume,
    Streamed,
    Trials,
    Update,
    Verbose,
    Workspace,
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
    out: Out = None,
    model: ModelName = "auto",
    api: Api = None,
    stream: Streamed = None,
    profile: ProfileName = None,
    subject: OfSubject = None,
    trials: Trials = 1,
    checks: Checks = None,
    cassettes: Cassettes = None,
    approve: Approve = None,
    resume: Resume = None,
    answer: Answers = None,
    fork: Fork = None,
    at: At = None,
    task: NextTask = None,
    workspace: Workspace = None,
    env_file: EnvFile = None,
    update: Update = False,
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
        environ=environment(env_file, api=api, stream=stream, profile=profile),
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
