"""``harness record``: ask a live endpoint, keep what it answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import (
    Api,
    AsJson,
    Cassettes,
    EnvFile,
    Match,
    OfSubject,
    Paths,
    ProfileName,
    Streamed,
    Verbose,
    collected,
    environment,
    let_names_resolve,
)
from harness.cli.recording import Chosen, Mode, out_of_date, unrecorded

if TYPE_CHECKING:
    from harness.cassettes import Exchange
    from harness.cli.session import Session
    from harness.runner import RunOptions
    from harness.types.records import Verdict
    from harness.types.scenario import Scenario

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
    mode: Annotated[
        Mode,
        typer.Option("--mode", help="all: ask about everything; once: what has no recording; refresh: keep what fits."),
    ] = Mode.ALL,
    stale: Annotated[
        bool, typer.Option("--stale", help="Only recordings that do not fit any more: replays them all to find out.")
    ] = False,
    trials: Annotated[int, typer.Option("--trials", help="Recordings of each scenario.")] = 1,
    subject: OfSubject = None,
    env_file: EnvFile = None,
    api: Api = None,
    stream: Streamed = None,
    profile: ProfileName = None,
) -> None:
    """Record a live model's answers to scenarios without a script.

    OPENAI_API_KEY is needed; OPENAI_BASE_URL names another endpoint. An older cassette is replaced
    only when the new recording is whole and holds no secret. With --stale and nothing out of date nobody is asked.
    """
    from harness.cli.output import say_json
    from harness.cli.session import Session
    from harness.errors import NothingToRunError
    from harness.runner import ModelSource, RunOptions
    from harness.runner.settings import settings

    environ = environment(env_file, api=api, stream=stream, profile=profile)
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
        keep_fitting=mode is Mode.REFRESH,
        folder=out,
        environ=environ,
    )
    chosen = _chosen(unscripted, options, mode, stale=stale, quiet=as_json)
    told: dict[str, Any] = {"notReplayed": list(chosen.broken)} if chosen.broken else {}
    if not chosen.scenarios:
        if as_json:
            say_json({"planned": 0, "runs": [], **told, "exitCode": chosen.exit_code})
        raise typer.Exit(chosen.exit_code)
    _check_places(chosen.scenarios, options)
    session = Session(chosen.scenarios, options, out, verbose=verbose, as_json=as_json)
    raise typer.Exit(_recorded(session, chosen, told))


def _recorded(session: Session, chosen: Chosen, told: dict[str, Any]) -> int:
    """Record what was chosen, say what came of it, give the exit code."""
    older = _answers_of(session) if session.options.keep_fitting else {}
    session.run()
    if not session.as_json:
        _tell_kept(session, older)
    code = session.exit_code or chosen.exit_code
    session.finish(cassettes=str(session.options.cassettes), **told, exitCode=code)
    return code


def _chosen(scenarios: tuple[Scenario, ...], options: RunOptions, mode: Mode, *, stale: bool, quiet: bool) -> Chosen:
    """The scenarios to ask about. Raises UsageError, NothingToRunError."""
    from harness.errors import UsageError

    if stale and mode is Mode.ONCE:
        raise UsageError("--stale is about recordings that are there, --mode once about those that are not: give one")
    if stale:
        return out_of_date(scenarios, options, quiet=quiet)
    return unrecorded(scenarios, options, quiet=quiet) if mode is Mode.ONCE else Chosen(scenarios)


def _check_places(scenarios: tuple[Scenario, ...], options: RunOptions) -> None:
    """What is asked costs money: the recordings must have a place. Raises ConfigurationError."""
    from harness.runner import cassettes_of, plan
    from harness.store import check_file

    for spec in plan(scenarios, options):
        for path in cassettes_of(spec):
            check_file(path, "--cassettes")


def _answers_of(session: Session) -> dict[Path, Counter[Exchange]]:
    """What each cassette that can be read holds before its scenario is asked about."""
    from harness.cassettes import older_recording
    from harness.runner import cassettes_of, plan

    found = {}
    for spec in plan(session.scenarios, session.options):
        for path in cassettes_of(spec):
            cassette = older_recording(path)
            if cassette is not None:
                found[path] = Counter(cassette.exchanges)
    return found


def _tell_kept(session: Session, older: Mapping[Path, Counter[Exchange]]) -> None:
    """Name the cassettes that hold what was just recorded, and those that answered all by themselves."""
    from harness.cassettes import read_cassette
    from harness.cli.output import say
    from harness.runner import cassettes_of

    good = {ran.run_id for ran in session.ended if ran.summary and not any(map(_is_lost, ran.summary.verdicts))}
    for spec in session.specs:
        if spec.run_id in good:
            for path in cassettes_of(spec):
                if path not in older:
                    say(f"recorded  {path}")
                    continue
                now = Counter(read_cassette(path).exchanges)
                n_asked = (now - older[path]).total()
                kept = f"{now.total() - n_asked} of {now.total()} answers kept"
                say(f"recorded  {path} ({kept})" if n_asked else f"kept      {path} (nobody was asked)")


def _is_lost(verdict: Verdict) -> bool:
    return verdict.check == "recording" and verdict.outcome.value != "PASS"
