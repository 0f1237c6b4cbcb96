"""``harness check``: judge trajectories, ours or other people's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.cli.options import AsJson, Checks, ReadAs

if TYPE_CHECKING:
    from harness.errors import HarnessError
    from harness.report import CheckReport
    from harness.types.events import Trajectory
    from harness.types.records import ProviderRefusal, Verdict


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
    from harness.folds import EXIT_CODES
    from harness.report import CheckReport, Verbosity
    from harness.runner import judge

    let_names_resolve()
    names = tuple(checks) if checks else None
    report = CheckReport(verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL)
    counter = Counter(None, "trajectories")
    rows: list[dict[str, Any]] = []
    damaged: list[HarnessError] = []
    for trajectory in trajectories(files, form, damaged.append):
        verdicts = judge(trajectory, names)
        refusals = provider_refusals(trajectory)
        report.add(trajectory, verdicts, refusals=refusals)
        if as_json:
            rows.append(_row(trajectory, verdicts, refusals))
        counter.step()
    counter.erase()
    if not report.n_trajectories:
        raise damaged[0] if damaged else NothingToRunError(f"no trajectories in {', '.join(map(str, files))}")
    for error in damaged:
        report.add_unread(str(error))
    if as_json:
        unread = {"unread": [str(error) for error in damaged]} if damaged else {}
        say_json({"outcome": report.outcome.value, **_counts(report), **unread, "trajectories": rows})
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


def _row(
    trajectory: Trajectory, verdicts: tuple[Verdict, ...], refusals: tuple[ProviderRefusal, ...]
) -> dict[str, Any]:
    from harness.folds import to_plain
    from harness.report.checking import is_bare

    row = {"source": trajectory.source, "run": trajectory.header.run_id, "verdicts": to_plain(verdicts)}
    torn = {} if trajectory.torn is None else {"torn": to_plain(trajectory.torn)}
    return {**row, "refusedBy": to_plain(refusals), **torn, **({"nothingInIt": True} if is_bare(trajectory) else {})}


Damaged = Callable[["HarnessError"], object]
"""Takes what is wrong with a file that cannot be read, so that the next one is read."""


def trajectories(files: list[Path], form: str | None, damaged: Damaged | None = None) -> Iterator[Trajectory]:
    """All trajectories in files and folders, in order.

    Raises UsageError, and format errors where nobody takes them (``damaged``).
    """
    for path in files:
        yield from trajectories_in(path, form, damaged)


def trajectories_in(path: Path, form: str | None = None, damaged: Damaged | None = None) -> Iterator[Trajectory]:
    """The trajectories of a file, of a folder of runs, or of all files of known formats in another folder."""
    from harness.errors import UsageError
    from harness.formats import read_foreign
    from harness.store import find_runs, is_trajectory, read_trajectory

    if not path.exists():
        raise UsageError(f"{path}: there is no such file or folder")
    if path.is_dir() and (path / "trajectories").is_dir():
        for run in find_runs(path):
            yield from _whole(map(read_trajectory, (run,)), damaged)
    elif path.is_dir():
        yield from _in_folder(path, form, damaged)
    elif not path.is_file():
        raise UsageError(f"{path} is neither a file nor a folder: write what it gives to a file, and name that")
    elif form is None and is_trajectory(path):
        yield from _whole(map(read_trajectory, (path,)), damaged)
    else:
        yield from _whole(read_foreign(path, form), damaged)


def _whole(found: Iterable[Trajectory], damaged: Damaged | None) -> Iterator[Trajectory]:
    """What is read before damage is met; the damage goes to ``damaged``, and without one it is raised."""
    from harness.errors import ForeignFormatError, TrajectoryFormatError

    try:
        yield from found
    except (ForeignFormatError, TrajectoryFormatError) as error:
        if damaged is None:
            raise
        damaged(error)


def _in_folder(folder: Path, form: str | None, damaged: Damaged | None) -> Iterator[Trajectory]:
    from harness.cli.output import complain
    from harness.formats import SUFFIXES, read_foreign, read_if_known
    from harness.store import is_trajectory, read_trajectory

    n_passed_over = 0
    broken: list[HarnessError] = []
    for path in sorted(one for one in folder.rglob("*") if one.suffix in SUFFIXES and one.is_file()):
        n_found, n_broken = 0, len(broken)
        if form is None and is_trajectory(path):
            found: Iterable[Trajectory] = map(read_trajectory, (path,))
        else:
            found = read_foreign(path, form) if form else read_if_known(path)
        for n_found, trajectory in enumerate(_whole(found, damaged and broken.append), start=1):  # noqa: B007 - needed behind the loop
            yield trajectory
        n_passed_over += not n_found and len(broken) == n_broken
    if damaged is not None:
        for error in broken:
            damaged(error)
    if n_passed_over:
        files = "1 file" if n_passed_over == 1 else f"{n_passed_over} files"
        complain(f"passed over in {folder}: {files} in none of the formats that are read")
