"""``harness check``: judge trajectories, ours or other people's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import AsJson, Checks, ReadAs

if TYPE_CHECKING:
    from harness.report import CheckReport
    from harness.types.events import Trajectory


def check(
    files: Annotated[list[Path], typer.Argument(help="Trajectories, folders of runs, or files of other products.")],
    form: ReadAs = None,
    checks: Checks = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show all findings, not only the first.")] = False,
    as_json: AsJson = False,
) -> None:
    """Judge recorded runs, your own or other products'."""
    from harness.checks import provider_refusals
    from harness.cli.options import let_names_resolve
    from harness.cli.output import say, say_json
    from harness.cli.progress import Counter
    from harness.errors import NothingToRunError
    from harness.folds import EXIT_CODES, to_plain
    from harness.report import CheckReport, Verbosity
    from harness.runner import judge

    let_names_resolve()
    names = tuple(checks) if checks else None
    report = CheckReport(verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL)
    counter = Counter(None, "trajectories")
    rows = []
    for trajectory in trajectories(files, form):
        verdicts = judge(trajectory, names)
        refusals = provider_refusals(trajectory)
        report.add(trajectory, verdicts, refusals=refusals)
        if as_json:
            row = {"source": trajectory.source, "run": trajectory.header.run_id, "verdicts": to_plain(verdicts)}
            rows.append({**row, "refusedBy": to_plain(refusals)})
        counter.step()
    counter.erase()
    if not report.n_trajectories:
        raise NothingToRunError(f"no trajectories in {', '.join(str(path) for path in files)}")
    if as_json:
        say_json({"outcome": report.outcome.value, **_counts(report), "trajectories": rows})
    else:
        say(report.text())
    raise typer.Exit(EXIT_CODES[report.outcome])


def _counts(report: CheckReport) -> dict[str, int]:
    return {
        "nTrajectories": report.n_trajectories,
        "nCalls": report.n_calls,
        "nResults": report.n_results,
        "nUnpaired": report.n_unpaired,
        "nReusedIds": report.n_reused_ids,
    }


def trajectories(files: list[Path], form: str | None) -> Iterator[Trajectory]:
    """All trajectories in files and folders, in order. Raises UsageError and format errors."""
    for path in files:
        yield from trajectories_in(path, form)


def trajectories_in(path: Path, form: str | None = None) -> Iterator[Trajectory]:
    """The trajectories of a file, of a folder of runs, or of all files of known formats in another folder."""
    from harness.errors import UsageError
    from harness.formats import read_foreign
    from harness.store import find_runs, is_trajectory, read_trajectory

    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if path.is_dir() and (path / "trajectories").is_dir():
        yield from map(read_trajectory, find_runs(path))
    elif path.is_dir():
        yield from _in_folder(path, form)
    elif not path.is_file():
        raise UsageError(f"{path} is neither a file nor a folder: write what it gives to a file, and name that")
    elif form is None and is_trajectory(path):
        yield read_trajectory(path)
    else:
        yield from read_foreign(path, form)


def _in_folder(folder: Path, form: str | None) -> Iterator[Trajectory]:
    from harness.cli.output import complain
    from harness.formats import SUFFIXES, read_foreign, read_if_known
    from harness.store import is_trajectory, read_trajectory

    n_passed_over = 0
    for path in sorted(one for one in folder.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
        n_found = 0
        if form is None and is_trajectory(path):
            found = iter([read_trajectory(path)])
        else:
            found = read_foreign(path, form) if form else read_if_known(path)
        for n_found, trajectory in enumerate(found, start=1):  # noqa: B007 - counted, and needed behind the loop
            yield trajectory
        n_passed_over += not n_found
    if n_passed_over:
        files = "1 file" if n_passed_over == 1 else f"{n_passed_over} files"
        complain(f"passed over in {folder}: {files} in none of the formats that are read")
