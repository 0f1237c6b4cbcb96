"""Where both sides of ``harness compare`` come from: folders, archives, or the merge base, run beside the work tree."""

from __future__ import annotations

import shlex
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from harness.cli.compare_options import gate_of
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.runner import GateText
    from harness.runner.bases.repository import Repository
    from harness.runner.bases.side_runs import Asked
    from harness.runner.review.goal_posts import Moved
    from harness.types.review import Revision, Severity

DEFAULT_FOLDER: Final = Path("reports/compare")

Against: TypeAlias = Annotated[
    str | None,
    typer.Option("--against", help="Run the scenarios of the merge base with this branch or commit as the base."),
]
BaseRef: TypeAlias = Annotated[
    str | None,
    typer.Option("--base-ref", help="Branch or commit whose merge base the gate is read from (else --against's)."),
]
RunsFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--runs", help="With --against: where both folders of runs are kept (default: reports/compare)."),
]
ReuseBase: TypeAlias = Annotated[
    bool,
    typer.Option("--reuse-base", help="With --against: take the base's runs of last time where nothing of it changed."),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for on the command line, about where the sides come from."""

    paths: tuple[Path, ...]
    against: str | None = None
    base_ref: str | None = None
    scenarios: tuple[Path, ...] = ()
    match: str = ""
    subject: str | None = None
    jobs: int = 1
    trials: int = 1
    runs: Path | None = None
    reuse: bool = False
    gate: Path | None = None
    inconclusive: Severity | None = None

    def check(self) -> None:
        """Raise UsageError for what does not go together."""
        if self.against is None:
            beside = self.match or self.subject or self.runs or self.reuse or self.jobs != 1 or self.trials != 1
            if beside:
                raise UsageError("-k, --subject, -j, --trials, --runs and --reuse-base say what --against runs")
            if len(self.paths) != 2:
                raise UsageError("name BASE and CANDIDATE, or --against BRANCH to run both")
        elif len(self.paths) > 1:
            raise UsageError("--against runs the base: name the candidate's folder only, or nothing to run it too")

    @property
    def sides(self) -> tuple[Path, ...]:
        """What both sides are read from, whether it is there already or will be."""
        if self.against is None:
            return self.paths
        from harness.runner.bases.side_runs import BASE, CANDIDATE

        runs = self.runs or DEFAULT_FOLDER
        return (runs / BASE, *(self.paths or (runs / CANDIDATE,)))

    @property
    def command(self) -> str:
        """What makes the comparison again."""
        words = ["harness", "compare", *map(str, self.paths)]
        words += [word for path in self.scenarios for word in ("--scenarios", str(path))]
        named = (
            ("--against", self.against), ("--base-ref", self.base_ref), ("-k", self.match),
            ("--subject", self.subject), ("--runs", self.runs), ("--gate", self.gate),
            ("--inconclusive", self.inconclusive and self.inconclusive.value),
        )  # fmt: skip
        words += [word for option, value in named if value for word in (option, str(value))]
        words += [
            word for option, n in (("-j", self.jobs), ("--trials", self.trials)) if n != 1 for word in (option, str(n))
        ]
        words += ["--reuse-base"] if self.reuse else []
        return shlex.join(words)


@dataclass(frozen=True, slots=True)
class Sides:
    """Two folders of runs (or files) that are there as long as they are needed, and what they are called.

    ``remarks`` are to be told with what they come to. ``base_is_bare``: the base ran without what is not committed.
    """

    base: Path
    candidate: Path
    names: tuple[str, str]
    base_revision: Revision | None = None
    moved: Moved | None = None
    gate: GateText | None = None
    empty_base: bool = False
    remarks: tuple[str, ...] = ()
    base_is_bare: bool = False

    def named(self, path: Path) -> Path:
        """A file of a side by the name that the side goes by: that of its archive, not of where it was unpacked."""
        for place, name in zip((self.base, self.candidate), self.names, strict=True):
            if path.is_relative_to(place):
                return Path(name, path.relative_to(place))
        return path


@contextmanager
def opened(wanted: Wanted) -> Iterator[Sides]:
    """Both sides, run or unpacked where that was asked for; what is temporary is gone when the block ends.

    Raises UsageError, NothingToRunError, ForeignFormatError and what running them raises.
    """
    wanted.check()
    if wanted.against is not None:
        with _alone(wanted.runs or DEFAULT_FOLDER):
            yield _run_both(wanted, wanted.against)
        return
    base, candidate = wanted.paths
    with ExitStack() as stack:
        one, other = (_place(path, stack) for path in wanted.paths)
        moved = _moved(wanted, one)
        gate = gate_of(wanted.gate, wanted.inconclusive, moved)
        yield Sides(one, other, (str(base), str(candidate)), moved=moved, gate=gate)


def _place(path: Path, stack: ExitStack) -> Path:
    from harness.runner.bases.archives import is_archive, unpacked

    return stack.enter_context(unpacked(path)) if path.is_file() and is_archive(path) else path


def _moved(wanted: Wanted, base: Path) -> Moved | None:
    """Goal posts moved since a merge base: of the branch that was named, else of the commit that the base ran with."""
    from harness.cli.output import complain, on_one_line
    from harness.runner.bases.repository import Repository, RepositoryError
    from harness.runner.bases.revisions import recorded_revision
    from harness.runner.review.against_baselines import baselines_at
    from harness.runner.review.goal_posts import moved_since

    if wanted.base_ref is not None:
        return moved_since(Repository.at(Path()), wanted.base_ref, wanted.gate, baselines_at(base))
    commit = recorded_revision(base).commit
    if commit is None:
        return None
    try:
        return moved_since(Repository.at(Path()), commit, wanted.gate)
    except RepositoryError as error:  # nobody named a base: the runs may come from elsewhere
        complain(f"goal posts are not looked at, and a gate is read as it lies here: {on_one_line(error)}")
        return None


# ---------------------------------------------------------------- --against


def _run_both(wanted: Wanted, against: str) -> Sides:
    from dataclasses import replace

    from harness.cli.output import complain
    from harness.cli.session import claim_folder
    from harness.runner.bases.repository import Repository, short
    from harness.runner.bases.revisions import recorded_revision
    from harness.runner.bases.side_runs import BASE, CANDIDATE, is_of, run_side
    from harness.runner.review.goal_posts import moved_since

    here = Repository.at(Path())
    commit = here.merge_base(against)
    moved = moved_since(here, wanted.base_ref or against, wanted.gate)
    gate = gate_of(wanted.gate, wanted.inconclusive, moved)
    runs = wanted.runs or DEFAULT_FOLDER
    base, candidate = runs / BASE, runs / CANDIDATE
    candidate = wanted.paths[0] if wanted.paths else candidate
    asked = _asked(wanted, here.inside)
    known = wanted.reuse and is_of(base, commit, asked)
    for folder in ([] if known else [base]) + ([] if wanted.paths else [candidate]):
        claim_folder(folder, "--runs")
    empty = False
    remarks = tuple(_remarks(here, commit, moved, wanted))
    with _terminated_as_interrupted():
        if not wanted.paths:
            _tell(run_side(CANDIDATE, here, here.top, asked, candidate).told)
        what = f"{short(commit)}, the merge base with {against}"
        complain(f"base: the runs of {what}, as they were made before" if known else f"base: running {what}")
        if not known:
            empty = not _run_base(here, commit, asked, base)
    revision = replace(recorded_revision(base), commit=commit, ref=against, dirty=False)
    names = (str(base), str(candidate))
    return Sides(base, candidate, names, revision, moved, gate, empty, remarks, base_is_bare=True)


@contextmanager
def _alone(runs: Path) -> Iterator[None]:
    """No other comparison has this folder for its runs as long as the block lasts. Raises UsageError."""
    from harness.errors import RecordingFailed
    from harness.store import check_folder, locked

    check_folder(runs, "--runs")
    try:
        runs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{runs}: no folder for runs ({error.strerror}); name another with --runs") from None
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(runs))
        except RecordingFailed:
            raise UsageError(
                f"{runs}: another comparison is writing its runs there; wait for its end, or name another folder with "
                "--runs"
            ) from None
        yield


def _remarks(here: Repository, commit: str, moved: Moved, wanted: Wanted) -> Iterator[str]:
    """What would make a comparison with the merge base say less than it seems to, before anything ran."""
    from harness.runner.bases.repository import short
    from harness.runner.bases.revisions import recorded_revision
    from harness.types.review import Revision

    head = here.commit_of("HEAD")
    ran = recorded_revision(wanted.paths[0]) if wanted.paths else Revision(head)
    if ran.commit is not None and ran.commit != head:
        said = f"the candidate's runs are of commit {short(ran.commit)}"
        yield f"{said}, and HEAD is {short(head)}: what changed since was not run"
    changed = moved.changed if moved.merge_base == commit else here.changed_since(commit)
    if ran == Revision(head, ran.ref) and head == commit and not changed:
        yield f"both sides are the same code: HEAD is the merge base with {wanted.against}, and nothing is changed here"


def _run_base(here: Repository, commit: str, asked: Asked, out: Path) -> bool:
    """False where the base has no scenario at all: there is nothing to run."""
    from harness.cli.options import DEFAULT_SCENARIOS
    from harness.cli.output import complain
    from harness.runner.bases.links import keep_links_inside
    from harness.runner.bases.repository import short
    from harness.runner.bases.side_runs import BASE, has_no_scenario, mark, reads_outside, run_side
    from harness.runner.bases.worktrees import worktree

    with worktree(here, commit) as tree:
        _tell(keep_links_inside(here, tree))
        if has_no_scenario(here, tree, asked, DEFAULT_SCENARIOS):
            complain(f"base: {short(commit)} has no scenario: the base is empty, and every scenario is new")
            return False
        _tell(run_side(BASE, here, tree, asked, out).told)
        if not reads_outside(here, tree, asked, DEFAULT_SCENARIOS):
            mark(out, commit, asked)
    return True


def _asked(wanted: Wanted, inside: str) -> Asked:
    from harness.runner.bases.side_runs import Asked

    scenarios = tuple(map(str, wanted.scenarios))
    return Asked(scenarios, wanted.match, wanted.subject, wanted.jobs, wanted.trials, inside)


def _tell(lines: tuple[str, ...]) -> None:
    from harness.cli.output import complain, hidden, on_one_line

    for line in lines:
        complain(on_one_line(hidden(line)))


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does, so that no work tree and no process is left: exit code 130."""
    from harness.cli.session import INTERRUPTED

    ours = threading.current_thread() is threading.main_thread()
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if ours and hasattr(signal, name)]
    before = {
        number: signal.signal(number, signal.default_int_handler)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup says that it is to go on
    }
    try:
        yield
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
