"""``harness run``: plan, pool, summarise."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import (
    DEFAULT_SCENARIOS,
    AsJson,
    Cassettes,
    Checks,
    Jobs,
    Match,
    Paths,
    Verbose,
    environment,
    let_names_resolve,
)
from harness.errors import ConfigurationError, HarnessError

if TYPE_CHECKING:
    from harness.runner import ModelSource, Ran, RunOptions, RunSpec
    from harness.types.scenario import Scenario

DEFAULT_FOLDER = Path("reports/latest")


def run(
    paths: Paths = None,
    match: Match = "",
    jobs: Jobs = 1,
    verbose: Verbose = False,
    as_json: AsJson = False,
    out: Annotated[Path, typer.Option("--out", help="Folder for trajectories and summaries.")] = DEFAULT_FOLDER,
    model: Annotated[str, typer.Option("--model", help="auto, scripted, cassette or live.")] = "auto",
    subject: Annotated[
        str | None, typer.Option("--subject", help="Loop under test: built-in, an entry point, or package.module:name.")
    ] = None,
    trials: Annotated[int, typer.Option("--trials", help="Runs of each scenario.")] = 1,
    checks: Checks = None,
    cassettes: Cassettes = None,
    update: Annotated[bool, typer.Option("--update", help="Accept what was observed as what is expected.")] = False,
) -> None:
    """Run scenarios against a loop and judge the trajectories."""
    from harness.cli.progress import Progress
    from harness.runner import RunOptions, plan, run_specs
    from harness.runner.settings import settings

    if update and os.environ.get("CI"):
        raise ConfigurationError("--update changes expectations; it is refused where CI is set")
    let_names_resolve()
    configured = settings()
    scenarios = _collected(paths, configured.scenarios, match)
    options = RunOptions(
        subject=subject or configured.subject,
        source=_source(model),
        trials=trials,
        checks=tuple(checks) if checks else None,
        cassettes=cassettes or Path(configured.cassettes),
        folder=out,
        environ=environment(),
    )
    specs = plan(scenarios, options)
    fresh_folder(out)
    with Progress(len(specs), verbose=verbose, quiet=as_json, folder=out) as progress:
        results = run_specs(specs, jobs=jobs, tell=progress.tell)
    code = _finish(scenarios, results, options, as_json=as_json)
    if update:
        _update(specs, results)
    raise typer.Exit(code)


def _collected(paths: list[Path] | None, configured: tuple[str, ...], match: str) -> tuple[Scenario, ...]:
    from harness.scenarios import collect

    return collect(
        paths or [Path(path) for path in configured or DEFAULT_SCENARIOS], match=match or None, configured=configured
    )


def _source(name: str) -> ModelSource:
    from harness.runner import ModelSource

    offered = [source.value for source in ModelSource if source is not ModelSource.RECORD]
    if name not in offered:
        raise ConfigurationError(f"--model {name!r} is not one of {', '.join(offered)}")
    return ModelSource(name)


def fresh_folder(out: Path) -> None:
    """Make room for a new set of runs: an older one of ours goes, anything else stays and is refused."""
    from harness.store import read_info

    trajectories = out / "trajectories"
    if not out.exists() or not any(out.iterdir()):
        return
    try:
        ours = str(read_info(out).get("format", "")).startswith("harness-run/")
    except HarnessError:
        ours = False
    if not ours and trajectories.exists():
        raise ConfigurationError(
            f"{out} holds trajectories but no run.json of ours: name another folder with --out, or remove it"
        )
    if trajectories.exists():
        shutil.rmtree(trajectories)


def _finish(scenarios: tuple[Scenario, ...], results: tuple[Ran, ...], options: RunOptions, *, as_json: bool) -> int:
    from harness.folds import to_plain
    from harness.report import run_totals
    from harness.runner import exit_code_of, write_folder
    from harness.types.jsontext import canonical_json

    assert options.folder is not None
    skipped = [(one.id, one.skip) for one in scenarios if one.skip is not None]
    not_run = [{"run": ran.run_id, "error": ran.error} for ran in results if ran.error]
    summaries = [ran.summary for ran in results if ran.summary is not None]
    code = exit_code_of(results)
    info = {
        "planned": len(results) + len(skipped),
        "skipped": [{"scenario": name, "why": why} for name, why in skipped],
        "notRun": not_run,
        "subject": options.subject,
        "model": options.source.value,
        "exitCode": code,
    }
    write_folder(options.folder, summaries, **info)
    if as_json:
        typer.echo(canonical_json({**info, "runs": to_plain(tuple(summaries))}))
    else:
        typer.echo(run_totals(summaries, n_not_run=len(not_run), n_skipped=len(skipped), folder=str(options.folder)))
    return code


def _update(specs: tuple[RunSpec, ...], results: tuple[Ran, ...]) -> None:
    from harness.cli.accept import accept

    summaries = {ran.scenario: ran.summary for ran in results if ran.summary is not None}
    for scenario in {spec.scenario.id: spec.scenario for spec in specs}.values():
        summary = summaries.get(scenario.id)
        if summary is not None and (difference := accept(scenario, summary)):
            typer.echo(difference)
