"""``harness check``: judge trajectories, ours or other people's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.options import AsJson, Checks

if TYPE_CHECKING:
    from harness.types.events import Trajectory


def check(
    files: Annotated[list[Path], typer.Argument(help="Trajectories, folders of runs, or files of other products.")],
    form: Annotated[
        str | None, typer.Option("--format", help="Read as this format instead of looking: chat, article, dsh, ...")
    ] = None,
    checks: Checks = None,
    as_json: AsJson = False,
) -> None:
    """Judge trajectories by every check that can see what it needs."""
    from harness.cli.options import let_names_resolve
    from harness.folds import EXIT_CODES, to_plain, worst_outcome
    from harness.report import check_report, judged
    from harness.runner import judge
    from harness.types.jsontext import canonical_json

    let_names_resolve()
    names = tuple(checks) if checks else None
    results = [judged(trajectory, judge(trajectory, names)) for trajectory in _trajectories(files, form)]
    outcome = worst_outcome(result.outcome for result in results)
    if as_json:
        typer.echo(canonical_json({"outcome": outcome.value, "trajectories": to_plain(tuple(results))}))
    else:
        typer.echo(check_report(results))
    raise typer.Exit(EXIT_CODES[outcome])


def _trajectories(files: list[Path], form: str | None) -> Iterator[Trajectory]:
    from harness.errors import NothingToRunError

    found = False
    for path in files:
        for one in _in(path, form):
            found = True
            yield one
    if not found:
        raise NothingToRunError(f"no trajectories in {', '.join(str(path) for path in files)}")


def _in(path: Path, form: str | None) -> Iterator[Trajectory]:
    from harness.errors import UsageError
    from harness.formats import read_foreign
    from harness.store import find_runs, read_trajectory

    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    if path.is_dir() and (path / "trajectories").is_dir():
        yield from map(read_trajectory, find_runs(path))
    elif path.is_dir():
        for file in sorted(one for one in path.rglob("*") if one.suffix in (".json", ".jsonl") and one.is_file()):
            yield from _in(file, form)
    elif form is None and is_native(path):
        yield read_trajectory(path)
    else:
        yield from read_foreign(path, form)


def is_native(path: Path) -> bool:
    """True for a trajectory of ours: its first line says so. Raises UsageError where it cannot be read."""
    from harness.errors import UsageError

    try:
        with path.open("rb") as file:
            return file.read(64).startswith(b'{"type":"trajectory/header"')
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
