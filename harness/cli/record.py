"""``harness record``: ask a live endpoint, keep what it answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import AsJson, Cassettes, Match, Paths, Verbose, collected, environment, let_names_resolve

DEFAULT_FOLDER = Path("reports/recording")


def record(
    paths: Paths = None,
    match: Match = "",
    verbose: Verbose = False,
    as_json: AsJson = False,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the trajectories of the recorded runs.")
    ] = DEFAULT_FOLDER,
    cassettes: Cassettes = None,
    trials: Annotated[int, typer.Option("--trials", help="Recordings of each scenario.")] = 1,
) -> None:
    """Record a live model's answers to scenarios without a script.

    OPENAI_API_KEY is needed; OPENAI_BASE_URL names another endpoint. An older cassette is replaced
    only when the new recording is whole and holds no secret.
    """
    from harness.cli.session import Session
    from harness.errors import NothingToRunError
    from harness.runner import ModelSource, RunOptions
    from harness.runner.settings import settings

    let_names_resolve()
    configured = settings()
    found = collected(paths, configured.scenarios, match)
    unscripted = tuple(scenario for scenario in found if scenario.script is None)
    if not unscripted:
        raise NothingToRunError(f"nothing to record: no scenarios of {len(found)} are without a script")
    options = RunOptions(
        subject=configured.subject,
        source=ModelSource.RECORD,
        trials=trials,
        cassettes=cassettes or Path(configured.cassettes),
        folder=out,
        environ=environment(),
    )
    session = Session(unscripted, options, out, verbose=verbose, as_json=as_json)
    session.run()
    raise typer.Exit(session.finish(cassettes=str(options.cassettes)))
