"""``harness run`` of one side of a comparison: in a process of its own, with the code of one work tree.

Both sides have this interpreter, the libraries that are installed for it, and this harness. What is imported of the
project itself comes from the work tree: see :func:`roots_of`.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.errors import (
    ConfigurationError,
    HarnessError,
    NothingToRunError,
    TrajectoryFormatError,
    UsageError,
)
from harness.gates import lacks_a_file
from harness.runner.bases.copies import copies_of
from harness.runner.bases.repository import Repository
from harness.runner.bases.side_path import path_of_side
from harness.runner.pool import die_with_parent
from harness.runner.review.comparing import not_run
from harness.runner.settings import settings
from harness.runner.version import VERSION
from harness.scenarios import holds_scenarios, scenarios_anywhere
from harness.store import find_runs, open_reader, read_info, replace_file
from harness.types.codes import Outcome
from harness.types.jsontext import canonical_json
from harness.types.records import RunSummary

_BEGIN: Final = "from harness.runner.bases.side_runs import begin; begin()"
BASE: Final = "base"
CANDIDATE: Final = "candidate"
_MARK: Final = "madeOf"
_GRACE_S: Final = 10
_MOST_LINES: Final = 5
COMMITTED: Final = (
    "The base has only what was committed: files that are untracked or ignored here are not in it, "
    "and submodules are empty."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What both sides run. ``scenarios`` are paths from the folder that one works in (none: those of the settings).

    ``inside`` is that folder, from the top of the repository.
    """

    scenarios: tuple[str, ...] = ()
    match: str = ""
    subject: str | None = None
    jobs: int = 1
    trials: int = 1
    inside: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """As ``harness run`` takes them, without scenarios."""
        found = ["-j", str(self.jobs), "--trials", str(self.trials)]
        found += ["-k", self.match] if self.match else []
        found += ["--subject", self.subject] if self.subject else []
        return tuple(found)


@dataclass(frozen=True, slots=True)
class SideRun:
    """A folder of runs that was made, and what is to be told of it beside its runs."""

    folder: Path
    told: tuple[str, ...] = ()


def roots_of(here: Repository, tree: Path) -> tuple[str, ...]:
    """Folders of a work tree that its code is imported from, the first one first.

    The folder that one works in and its ``src``, the top and its ``src``; then every other place inside the
    repository that this interpreter imports from (the path of an editable installation, PYTHONPATH), at the same place
    of that work tree. Folders that it has not are left out.
    """
    inside = [here.inside, f"{here.inside}/src", "", "src"]
    for entry in sys.path:
        place = here.path_of(Path(entry or os.curdir))
        inside += [] if place is None else [place]
    found = dict.fromkeys(os.path.normpath(tree / place.lstrip("/")) for place in inside)
    return tuple(root for root in found if os.path.isdir(root))


def run_side(name: str, here: Repository, tree: Path, asked: Asked, out: Path) -> SideRun:
    """Run the scenarios of a work tree into the folder ``out``, whose older runs go.

    ``name`` is what the side is called in messages. Runs that fail are no error; where no run came to be, this raises
    UsageError, NothingToRunError or HarnessError, by the exit code, with what was said. Interrupted, the process ends.
    """
    folder = tree / here.inside
    if not folder.is_dir():
        raise UsageError(f"the {name} has no folder {here.inside!r}: compare from a folder that both sides have")
    moved = _place(here, tree)
    scenarios = {path: moved(path) for path in asked.scenarios if os.path.lexists(folder / moved(path))}
    if asked.scenarios and not scenarios:
        asked_for = ", ".join(asked.scenarios)
        raise NothingToRunError(f"the {name} has none of the scenarios {asked_for}{_others(tree)}{_aside(name)}")
    roots = roots_of(here, tree)
    with path_of_side(here, tree, roots) as path, tempfile.TemporaryFile() as said:
        begin_there = [sys.executable, "-P", "-c", _BEGIN]
        arguments = [*begin_there, "run", *asked.arguments, "--out", str(out.absolute())]
        environ = {**os.environ, "PYTHONPATH": path}
        code = _ended(subprocess.Popen(
            [*arguments, "--", *scenarios.values()], cwd=folder, env=environ, stdin=subprocess.DEVNULL,
            stdout=said, stderr=subprocess.STDOUT,
        ))  # fmt: skip
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    told = [f"the {name} has no {path}" for path in sorted({*asked.scenarios} - {*scenarios})]
    told += copies_of(here.top, roots) if name == BASE else ()
    return _made(name, out, code, text, told)


def has_no_scenario(here: Repository, tree: Path, asked: Asked, default: tuple[str, ...]) -> bool:
    """True for a work tree from before the first scenario: nothing is where scenarios are asked for, nor where its own
    settings have them (``default``: else), and no document in all of it, hidden ones too, says that it is one.

    So scenarios that a change moves or renames are never taken for new ones. Scenarios in Python are asked for by
    file; whether another file held them cannot be seen, so that a tree without theirs is not taken for one.
    """
    moved, folder = _place(here, tree), tree / here.inside
    try:
        own = settings(folder).scenarios or default
    except ConfigurationError:
        return False  # its process tells what is wrong with them
    if any(path.endswith(".py") for path in (*asked.scenarios, *own)):
        return False
    if (tree / ".gitmodules").exists():
        return False  # scenarios may lie in a submodule, and those are empty here
    places = [folder / path for path in (*map(moved, asked.scenarios), *own)]
    return not any(map(holds_scenarios, places)) and not any(scenarios_anywhere(tree))


def begin() -> None:
    """Where the process of a side begins: ``harness run``, which does not outlive the comparison."""
    die_with_parent()
    runpy.run_module("harness", run_name="__main__", alter_sys=True)


def _place(here: Repository, tree: Path) -> Callable[[str], str]:
    """A path of the caller as that work tree has it: one inside the repository moves, another stays."""

    def moved(path: str) -> str:
        inside = here.path_of(Path(path))
        if inside is None:
            return os.path.abspath(here.folder / path)
        return os.path.relpath(tree / inside, tree / here.inside)

    return moved


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Its exit code; it does not outlive an interrupt."""
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise


def _made(name: str, out: Path, code: int, said: str, missing: Sequence[str]) -> SideRun:
    """A base that broke off is none: what it did not come to would be taken for new, or for better."""
    last = [line for line in said.splitlines() if line.strip()][-_MOST_LINES:]
    info = read_info(out) if (out / "run.json").is_file() else {}
    failed = not_run(info)
    why = f"(exit code {code}): {' / '.join(last) or 'it said nothing'}"
    if not any(run not in failed for run in _run_ids(out)):
        raise _error(code)(f"the {name} could not be run {why}{_aside(name)}")
    broke_off = info.get("finished") is not True
    if broke_off and name == BASE:
        raise _error(code)(f"the {name} broke off, so that nothing is known of what it had still to run {why}")
    told = [f"the {name} broke off, and what it had still to run is missing {why}"] if broke_off else []
    return SideRun(out, (*missing, *told, *_not_run(name, failed)))


def _run_ids(out: Path) -> Iterator[str]:
    for path in find_runs(out):
        with open_reader(path) as reader:
            yield reader.header.run_id


def reads_outside(here: Repository, tree: Path, asked: Asked, default: tuple[str, ...]) -> bool:
    """True where scenarios or recordings of a side lie outside of its work tree: its commit does not say what they are.

    ``default`` as in :func:`has_no_scenario`.
    """
    folder, moved = tree / here.inside, _place(here, tree)
    try:
        known = settings(folder)
    except ConfigurationError:
        return True
    wanted = [*map(moved, asked.scenarios)] or known.scenarios or default
    places = ((folder / path).resolve() for path in (*wanted, known.cassettes))
    return not all(place.is_relative_to(tree.resolve()) for place in places)


def mark(folder: Path, commit: str, asked: Asked) -> None:
    """Have the ``run.json`` of a base say what it was made of, for :func:`is_of`."""
    info = {**read_info(folder), _MARK: _made_of(commit, asked)}
    replace_file(folder / "run.json", [canonical_json(info).encode("utf-8"), b"\n"])


def is_of(folder: Path, commit: str, asked: Asked) -> bool:
    """True for the finished runs of this commit, asked for like this, by this interpreter and this harness."""
    if not (folder / "run.json").is_file():
        return False
    try:
        info = read_info(folder)
    except TrajectoryFormatError:
        return False  # it is made again
    return info.get(_MARK) == _made_of(commit, asked) and info.get("finished") is True and not info.get("notRun")


def _made_of(commit: str, asked: Asked) -> list[str]:
    return [commit, VERSION, sys.version, asked.inside, *asked.arguments, *asked.scenarios]


def what_a_bare_base_lacks(runs: Sequence[RunSummary]) -> Iterator[str]:
    """At most one line about a base whose runs may have failed only because files are not committed."""
    for run in runs:
        if lacks_a_file(run):
            yield f"the base's run {run.run_id} ended with {run.reason}. {COMMITTED}"
            return
    if runs and not any(run.outcome is Outcome.PASS for run in runs):
        yield f"no run of the base passed, so nothing could get worse. {COMMITTED}"


def _not_run(name: str, failed: Mapping[str, str]) -> Iterator[str]:
    lines = [f"{run}: {why}" for run, why in failed.items()]
    yield from (f"the {name} did not run {text}" for text in lines[:_MOST_LINES])
    if len(failed) > _MOST_LINES:
        yield f"and {len(failed) - _MOST_LINES} more"
    if failed and name == BASE:
        yield COMMITTED


def _others(tree: Path) -> str:
    file = next(scenarios_anywhere(tree), None)
    return "" if file is None else f", and has others, such as {os.path.relpath(file, tree)}"


def _aside(name: str) -> str:
    return f". {COMMITTED}" if name == BASE else ""


def _error(code: int) -> type[HarnessError]:
    return {UsageError.exit_code: UsageError, NothingToRunError.exit_code: NothingToRunError}.get(code, HarnessError)
