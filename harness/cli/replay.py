"""``harness replay``: today's loop against what recorded runs were answered."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import AsJson, Checks, OfSubject, ReadAs, collected, environment, let_names_resolve
from harness.errors import ConfigurationError

if TYPE_CHECKING:
    from harness.report import ReplayLine
    from harness.runner import Replayed, RunOptions, ToolSource
    from harness.types.events import Trajectory
    from harness.types.scenario import Scenario

DEFAULT_FOLDER = Path("reports/replay")


def replay(
    runs: Annotated[
        list[Path], typer.Argument(help="Trajectories, folders of runs, or files of other products.", metavar="RUN")
    ],
    subject: OfSubject = None,
    scenario: Annotated[
        Path | None, typer.Option("--scenario", help="Run this scenario (default: the one that the run names).")
    ] = None,
    tools: Annotated[
        str, typer.Option("--tools", help="recorded: results are the recorded ones; real: the scenario's tools run.")
    ] = "recorded",
    ignore: Annotated[
        list[str] | None, typer.Option("--ignore", help="A place that does not count, such as messages[*].name.")
    ] = None,
    checks: Checks = None,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the trajectories of the replayed runs.")
    ] = DEFAULT_FOLDER,
    form: ReadAs = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show all checks and findings.")] = False,
    as_json: AsJson = False,
) -> None:
    """Replay recorded runs: how far does today's loop follow them?

    It gets the recorded answers, and stops where a request differs. Nothing of the recorded run is
    executed unless --tools real says so. Exit code 1 where a run left the recorded one, and both
    sides of the first difference are shown.
    """
    from harness.folds import EXIT_CODES, worst_outcome
    from harness.runner import RunOptions, find_subject
    from harness.runner.replay import checked_places
    from harness.runner.settings import settings

    let_names_resolve()
    source = _tool_source(tools)
    configured = settings()
    options = RunOptions(
        subject=subject or configured.subject,
        checks=tuple(checks) if checks else None,
        folder=out,
        environ=environment(),
    )
    places = checked_places(tuple(ignore or ()))
    find_subject(options.subject)  # before the folder of older replays is cleared
    recorded = _recorded(runs, form, out)
    known = _scenarios(scenario, configured.scenarios, needed=source.value == "real")
    lines, summaries, nowhere = [], [], set(places)
    for trajectory, trial in recorded:
        found = _scenario_of(trajectory, known, given=scenario is not None, tools=source)
        done = _replayed(trajectory, options, found, source, places, trial)
        nowhere -= set(places) - set(done.ignored_nothing)
        lines.append(_line(done, source))
        summaries += [done.result.summary] if done.result is not None else []
        _tell(lines[-1], verbose=verbose, as_json=as_json)
    outcome = worst_outcome(line.outcome for line in lines)
    _keep(out, summaries, options, EXIT_CODES[outcome])
    _tell_all(lines, out, sorted(nowhere), as_json=as_json)
    raise typer.Exit(EXIT_CODES[outcome])


def _tell(line: ReplayLine, *, verbose: bool, as_json: bool) -> None:
    from harness.cli.output import say
    from harness.report import Verbosity, replay_text

    if not as_json:
        say(replay_text(line, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))


def _tell_all(lines: list[ReplayLine], out: Path, nowhere: list[str], *, as_json: bool) -> None:
    from harness.cli.output import complain, say, say_json
    from harness.folds import worst_outcome
    from harness.report import replay_totals

    for place in nowhere:
        complain(f"--ignore {place!r}: no request that was compared has that place")
    if as_json:
        outcome = worst_outcome(line.outcome for line in lines)
        value = {"outcome": outcome.value, "runs": [_plain(line) for line in lines], "folder": str(out)}
        say_json({**value, **({"ignoredNothing": nowhere} if nowhere else {})})
    else:
        say(replay_totals(lines, folder=str(out)))


def _tool_source(name: str) -> ToolSource:
    from harness.runner import ToolSource

    if name not in tuple(ToolSource):
        raise ConfigurationError(f"--tools {name!r}: say recorded or real")
    return ToolSource(name)


def _recorded(runs: list[Path], form: str | None, out: Path) -> list[tuple[Trajectory, int]]:
    """All runs with a trial number each: no two of one scenario share a place in the folder of the replays.

    Raises NothingToRunError for none, ConfigurationError where the folder to write to is one to read.
    """
    from harness.cli.check import trajectories
    from harness.cli.session import claim_folder
    from harness.errors import NothingToRunError

    for path in runs:
        if out.resolve() in (path.resolve(), *path.resolve().parents):
            raise ConfigurationError(
                f"{path} lies in {out}, where the replayed runs go: name another folder with --out"
            )
    found = list(trajectories(runs, form))
    if not found:
        raise NothingToRunError(f"no trajectories in {', '.join(str(path) for path in runs)}")
    claim_folder(out)
    taken: Counter[str] = Counter()
    numbered = []
    for trajectory in found:
        name = _name(trajectory)
        taken[name] += 1
        numbered.append((trajectory, taken[name]))
    return numbered


def _name(trajectory: Trajectory) -> str:
    header = trajectory.header
    return header.scenario.id if header.scenario is not None else str(header.run_id).partition("@")[0]


def _scenarios(given: Path | None, configured: tuple[str, ...], *, needed: bool) -> dict[str, Scenario]:
    """The scenarios there are, by id; ``given`` alone where it is named. Raises UsageError kin."""
    from harness.errors import NothingToRunError, UsageError
    from harness.scenarios import collect

    if given is not None:
        found = collect([given], configured=configured)
        if len(found) != 1:
            raise UsageError(f"{given} holds {len(found)} scenarios; --scenario names one")
        return {found[0].id: found[0]}
    try:
        return {one.id: one for one in collected(None, configured, "")}
    except (ConfigurationError, NothingToRunError):
        if needed:
            raise
        return {}


def _scenario_of(
    trajectory: Trajectory, known: dict[str, Scenario], *, given: bool, tools: ToolSource
) -> Scenario | None:
    """The scenario to run: the one that was named, or the one that the run names; None: the recording's own."""
    from harness.errors import UsageError

    found = next(iter(known.values())) if given else known.get(_name(trajectory))
    if found is None and tools.value == "real":
        raise UsageError(f"--tools real needs the scenario of {trajectory.header.run_id!r}: name it with --scenario")
    return found


def _replayed(
    trajectory: Trajectory,
    options: RunOptions,
    scenario: Scenario | None,
    tools: ToolSource,
    ignore: tuple[str, ...],
    trial: int,
) -> Replayed:
    from harness.runner import replay_run

    return replay_run(trajectory, options, scenario=scenario, tools=tools, ignore=ignore, trial=trial)


def _line(done: Replayed, tools: ToolSource) -> ReplayLine:
    from harness.report import ReplayLine

    name = _shown_name(done.recorded)
    if done.result is None or done.scenario is None:
        return ReplayLine(done.outcome, name, why=done.why)
    by = "scenario made of the recording" if done.made else f"scenario {done.scenario.source or done.scenario.id}"
    how = f"{tools.value} tools, {by}" + ("" if done.compared else ", requests are not in the file and not compared")
    line = ReplayLine(done.outcome, name, done.n_followed, done.n_steps, how, verdicts=done.result.verdicts)
    if done.parting is None:
        return line
    return replace(line, place=done.parting.place, recorded=done.parting.recorded, now=done.parting.now)


def _shown_name(trajectory: Trajectory) -> str:
    """The run's id; with its file where another product gave the id, which may be the same in many files."""
    run_id = str(trajectory.header.run_id)
    return run_id if trajectory.header.scenario is not None else f"{run_id} of {Path(trajectory.source).as_posix()}"


def _plain(line: ReplayLine) -> dict[str, Any]:
    from harness.folds import to_plain

    written: dict[str, Any] = to_plain(line)
    return {**written, "nFollowed": line.n_followed, "nSteps": line.n_steps}


def _keep(out: Path, summaries: list[Any], options: RunOptions, code: int) -> None:
    from harness.runner import write_folder

    write_folder(
        out,
        summaries,
        planned=len(summaries),
        subject=options.subject,
        model="replay",
        finished=True,
        exitCode=code,
        **({} if options.checks is None else {"checks": list(options.checks)}),
    )
