"""``harness record``: ask a live endpoint, keep what it answered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import (
    AsJson,
    Cassettes,
    EnvFile,
    Match,
    OfSubject,
    Paths,
    Verbose,
    collected,
    environment,
    let_names_resolve,
)

if TYPE_CHECKING:
    from harness.cli.session import Session
    from harness.types.records import Verdict

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
    subject: OfSubject = None,
    env_file: EnvFile = None,
) -> None:
    """Record a live model's answers to scenarios without a script.

    OPENAI_API_KEY is needed; OPENAI_BASE_URL names another endpoint. An older cassette is replaced
    only when the new recording is whole and holds no secret.
    """
    from harness.cli.session import Session
    from harness.errors import NothingToRunError
    from harness.runner import ModelSource, RunOptions
    from harness.runner.settings import settings

    environ = environment(env_file)
    let_names_resolve()
    configured = settings()
    found = collected(paths, configured.scenarios, match)
    unscripted = tuple(scenario for scenario in found if scenario.script is None)
    if not unscripted:
        raise NothingToRunError(f"nothing to record: no scenarios of {len(found)} are without a script")
    options = RunOptions(
        subject=subject or configured.subject,
        source=ModelSource.RECORD,
        trials=trials,
        cassettes=cassettes or Path(configured.cassettes),
        folder=out,
        environ=environ,
    )
    session = Session(unscripted, options, out, verbose=verbose, as_json=as_json)
    session.run()
    if not as_json:
        _tell_kept(session)
    raise typer.Exit(session.finish(cassettes=str(options.cassettes)))


def _tell_kept(session: Session) -> None:
    """Name the cassettes that hold what was just recorded."""
    from harness.cassettes import cassette_path
    from harness.cli.output import say
    from harness.runner import recorded_as

    good = {ran.run_id for ran in session.ended if ran.summary and not any(map(_is_lost, ran.summary.verdicts))}
    for spec in session.specs:
        if spec.run_id in good:
            for name in recorded_as(spec):
                say(f"recorded  {cassette_path(session.options.cassettes, spec.scenario.id, name, spec.trial)}")


def _is_lost(verdict: Verdict) -> bool:
    return verdict.check == "recording" and verdict.outcome.value != "PASS"
