"""``harness scenario from``: a recorded run as a scenario."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import ReadAs

if TYPE_CHECKING:
    from harness.runner import LiftedRun
    from harness.types.events import Trajectory


def from_run(
    run: Annotated[
        Path,
        typer.Argument(help="A trajectory, or what `harness check` reads.", metavar="RUN"),
    ],
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="File to write (default: standard output); a folder where RUN holds several."),
    ] = None,
    only: Annotated[str | None, typer.Option("--run", help="Of several runs, the one with this id.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    form: ReadAs = None,
) -> None:
    """Make a scenario of a recorded run.

    Its answers become a script, its results stubs, its end expectations. It is run at once, by the
    built-in loop and with nothing but its own script and stubs. Exit code 1 where that run does not
    pass: the file is written all the same, and says why.
    """
    found = _chosen(run, only, form)
    if len(found) == 1 and not (out is not None and out.is_dir()):
        raise typer.Exit(_written(found[0], run, out, force=force))
    raise typer.Exit(_all_written(found, run, out, force=force))


def _chosen(run: Path, only: str | None, form: str | None) -> list[Trajectory]:
    from harness.cli.check import trajectories_in
    from harness.errors import NothingToRunError, UsageError

    found = list(trajectories_in(run, form))
    chosen = [one for one in found if only is None or one.header.run_id == only]
    if not found:
        raise NothingToRunError(f"no trajectories in {run}")
    if not chosen:
        there = ", ".join(repr(str(one.header.run_id)) for one in found[:5]) + (", ..." if len(found) > 5 else "")
        raise UsageError(f"{run} holds no run {only!r}; there are {there}")
    return chosen


def _written(trajectory: Trajectory, run: Path, out: Path | None, *, force: bool) -> int:
    """Write one scenario; 0, or 1 where it does not pass."""
    from harness.cli.output import say
    from harness.errors import ConfigurationError
    from harness.runner import lift_run
    from harness.store import check_file, replace_file

    if out is not None:
        check_file(out, "-o")
    if out is not None and out.exists() and not force:
        raise ConfigurationError(f"{out} is there already: name another file with -o, or say --force")
    lifted = lift_run(trajectory, source=run.name)
    if out is None:
        say(lifted.text.rstrip("\n"))
    else:
        replace_file(out, [lifted.text.encode("utf-8")])
    _tell(lifted, out)
    return 0 if lifted.passes else 1


def _tell(lifted: LiftedRun, out: Path | None) -> None:
    from harness.cli.output import complain

    place = f"wrote {out}: " if out is not None else ""
    if lifted.passes:
        how = "runs as recorded" if not lifted.differs else "passes, but leaves the recorded run"
        complain(f"{place}{how}" + (f" at {lifted.differs}" if lifted.differs else ""))
    else:
        complain(f"{place}does not pass: {lifted.problem}")
    for text in lifted.lost:
        complain(f"  not carried over: {text}")


def _all_written(found: list[Trajectory], run: Path, out: Path | None, *, force: bool) -> int:
    """Write a scenario a run into a folder; runs that hold nothing to make one of are named and left out."""
    from harness.cli.output import complain, on_one_line, say
    from harness.errors import NothingToRunError, UsageError
    from harness.types.names import portable_path

    if out is None or (out.exists() and not out.is_dir()):
        first = found[0].header.run_id
        raise UsageError(
            f"{run} holds {len(found)} runs: name one with --run (the first is {first!r}), or a folder for all with -o"
        )
    codes = []
    taken: Counter[str] = Counter()
    for trajectory in found:
        name = portable_path(str(trajectory.header.run_id))
        taken[name] += 1
        path = out / f"{name}{'' if taken[name] == 1 else f'-{taken[name]}'}.yaml"
        try:
            codes.append(_written(trajectory, run, path, force=force))
        except NothingToRunError as error:
            complain(f"left out: {on_one_line(trajectory.header.run_id)}: {on_one_line(error)}")
    if not codes:
        raise NothingToRunError(f"{run}: no run holds anything to make a scenario of")
    n_left = len(found) - len(codes)
    say(f"{len(codes)} scenarios in {out}: {codes.count(0)} pass, {codes.count(1)} do not, {n_left} runs left out")
    return max(codes)
