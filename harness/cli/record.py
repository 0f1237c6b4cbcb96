"""``harness record``: ask a live endpoint, keep what it answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import DEFAULT_SCENARIOS, Cassettes, Match, Paths, Verbose, environment, let_names_resolve

DEFAULT_FOLDER = Path("reports/recording")


def record(
    paths: Paths = None,
    match: Match = "",
    verbose: Verbose = False,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the trajectories of the recorded runs.")
    ] = DEFAULT_FOLDER,
    cassettes: Cassettes = None,
    trials: Annotated[int, typer.Option("--trials", help="Recordings of each scenario.")] = 1,
) -> None:
    """Run scenarios without a script against OPENAI_BASE_URL and keep each answer in a cassette.

    An older cassette is replaced only when the new recording is whole and holds no secret.
    """
    from harness.cli.progress import Progress
    from harness.cli.run import fresh_folder
    from harness.errors import NothingToRunError
    from harness.report import run_totals
    from harness.runner import ModelSource, RunOptions, exit_code_of, plan, run_specs, write_folder
    from harness.runner.settings import settings
    from harness.scenarios import collect

    let_names_resolve()
    configured = settings()
    found = collect(
        paths or [Path(path) for path in configured.scenarios or DEFAULT_SCENARIOS],
        match=match or None,
        configured=configured.scenarios,
    )
    unscripted = [scenario for scenario in found if scenario.script is None]
    if not unscripted:
        raise NothingToRunError(f"nothing to record: all {len(found)} scenarios have a script")
    options = RunOptions(
        subject=configured.subject,
        source=ModelSource.RECORD,
        trials=trials,
        cassettes=cassettes or Path(configured.cassettes),
        folder=out,
        environ=environment(),
    )
    specs = plan(unscripted, options)
    fresh_folder(out)
    with Progress(len(specs), verbose=verbose, quiet=False, folder=out) as progress:
        results = run_specs(specs, jobs=1, tell=progress.tell)
    summaries = [ran.summary for ran in results if ran.summary is not None]
    code = exit_code_of(results)
    write_folder(out, summaries, model=ModelSource.RECORD.value, subject=options.subject, exitCode=code)
    typer.echo(run_totals(summaries, n_not_run=len(results) - len(summaries), n_skipped=0, folder=str(out)))
    raise typer.Exit(code)
