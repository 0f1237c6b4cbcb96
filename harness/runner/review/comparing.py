"""Two sets of runs read and compared: folders of runs, single trajectories, files of other products.

Each file is read, judged and summarised once (by a project's own checks as the folder's summaries say it); of every run
its summary and a digest of all that is compared are kept, and equal parts of summaries are kept once. Trajectories are
read again only for pairs that differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, TypeVar

from harness.compare import About, compare_runs, digest_of
from harness.errors import ForeignFormatError, NothingToRunError, UsageError
from harness.folds import summarise
from harness.formats import SUFFIXES, read_foreign, read_if_known
from harness.runner.bases.revisions import said_revision
from harness.runner.folder import asked_for
from harness.runner.judging import judge
from harness.runner.review.own_verdicts import OwnVerdicts
from harness.store import find_runs, is_trajectory, read_info, read_trajectory
from harness.types.events import TornTail, Trajectory
from harness.types.records import Comparison, RunSummary
from harness.types.review import Revision

T = TypeVar("T")


def compare_paths(base: Path, candidate: Path, form: str | None = None) -> tuple[Comparison, tuple[Path, ...]]:
    """The comparison of two sets of runs, and the files in them that are in none of the formats that are read.

    A set is a folder of runs, a trajectory, a file of another product (``form`` None: look which), or a folder
    of such files. A run of ours goes by the id of its scenario, arm and trial; another product's by its file and the
    task or number in it, never by an id of its session, and its trial. The file's name, with its folder, is left out
    where both sides are one such file; two files with one run each are compared whatever they are called. Raises
    UsageError, NothingToRunError and format errors.
    """
    one, other = RunSet.read(base, form), RunSet.read(candidate, form)
    return compare_sets(one, other, (base, candidate)), (*one.passed_over, *other.passed_over)


def compare_sets(one: RunSet, other: RunSet, places: tuple[Path, Path]) -> Comparison:
    """The comparison of two sets that were read. ``places`` are what they were read from."""
    base, candidate = places
    sides = {"base": one, "candidate": other}
    files = not base.is_dir() and not candidate.is_dir()
    if one.one_file_of_others and other.one_file_of_others:
        files = True
        one.forget_file_names()
        other.forget_file_names()
    if len(one.runs) == len(other.runs) == 1 and files:
        only = one.runs[0]
        other.runs[0] = replace(other.runs[0], scenario=only.scenario, arm=only.arm, trial=only.trial)
    return compare_runs(
        one.runs,
        other.runs,
        lambda side, run: sides[side].load(run),
        base_name=str(base),
        candidate_name=str(candidate),
        digest=lambda side, run: sides[side].digests[_key(run)],
        about=(one.about, other.about),
    )


def _key(run: RunSummary) -> tuple[str, str]:
    return run.file, run.run_id


@dataclass(slots=True)
class RunSet:
    """The runs of one side: summaries, digests, and a way back to each trajectory.

    ``own_checks`` are names of the checks that are not the harness's own, as its runs were asked for them.
    """

    root: Path
    form: str | None = None
    runs: list[RunSummary] = field(default_factory=list)
    digests: dict[tuple[str, str], bytes] = field(default_factory=dict)
    about: About = field(default_factory=About)
    passed_over: list[Path] = field(default_factory=list)
    torn: list[tuple[Path, TornTail]] = field(default_factory=list)
    one_file_of_others: bool = False
    revision: Revision = field(default_factory=Revision)
    own_checks: set[str] = field(default_factory=set)
    _by_task: set[tuple[str, str]] = field(default_factory=set)
    _known: dict[Any, Any] = field(default_factory=dict)
    _held: tuple[Path, tuple[Trajectory, ...]] | None = None

    @classmethod
    def read(cls, path: Path, form: str | None = None) -> RunSet:
        """Read, judge and summarise all runs of a folder or file. Raises UsageError and NothingToRunError."""
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder of runs (harness run --out {path} makes one)")
        found = cls(path if path.is_dir() else path.parent, form)
        if path.is_dir() and (path / "trajectories").is_dir():
            found._read_ours()
        else:
            found._read_files(sorted(_files(path)) if path.is_dir() else [path], strict=not path.is_dir())
        if not found.runs:
            raise NothingToRunError(
                f"{path} holds no runs: no trajectory of ours, and no file of a format that is read"
            )
        return found

    @classmethod
    def read_to_accept(cls, path: Path) -> RunSet:
        """The same, with runs called as baselines keep them: without the name of a file that is the only one.

        What was accepted of one is what others are compared with, whatever they are called.
        """
        found = cls.read(path)
        if found.one_file_of_others:
            found.forget_file_names()
        return found

    def load(self, run: RunSummary) -> Trajectory:
        """The trajectory of a run; of a file with many runs all are held until another file is asked for."""
        path = self.root / run.file
        if self._held is None or self._held[0] != path:
            if is_trajectory(path):
                return read_trajectory(path)
            self._held = (path, tuple(read_foreign(path, self.form, by_file=True)))
        found = next((one for one in self._held[1] if one.header.run_id == run.run_id), None)
        if found is None:
            raise ForeignFormatError(
                f"{path}: the run {run.run_id!r} is gone: the file was changed while it was compared"
            )
        return found

    def forget_file_names(self) -> None:
        """Call runs by what is in their file alone: where both sides are one file, it may be called anyhow."""
        self.runs = [replace(run, scenario=_inside_its_file(run)) for run in self.runs]
        self.one_file_of_others = False

    def _read_ours(self) -> None:
        names = asked_for(self.root)
        info = read_info(self.root) if (self.root / "run.json").exists() else {}
        failed = not_run(info)
        own = OwnVerdicts(self.root, self.own_checks)
        for path in find_runs(self.root):
            trajectory = read_trajectory(path)
            if trajectory.header.run_id not in failed:
                self._add(trajectory, path, names, own=own)
        self.revision = said_revision(info)
        skipped, planned = info.get("skipped"), info.get("planned")
        n_skipped = len(skipped) if isinstance(skipped, list) else 0
        n_planned = planned if isinstance(planned, int) else 0
        ran = {run.run_id for run in self.runs}
        self.about = About(
            n_skipped, max(0, n_planned - n_skipped - len(ran)), frozenset({*failed, *pending(info)} - ran)
        )

    def _read_files(self, paths: list[Path], *, strict: bool) -> None:
        foreign = n_ours = 0
        for path in paths:
            n_before = len(self.runs)
            if self.form is None and is_trajectory(path):
                self._add(read_trajectory(path), path, None)
                n_ours += 1
                continue
            looked_at = not strict and not self.form
            read = read_if_known(path, by_file=True) if looked_at else read_foreign(path, self.form, by_file=True)
            for trajectory in read:
                self._add(trajectory, path, None, self._foreign_id(trajectory, path))
                if trajectory.header.subject == "inspect":
                    self._by_task.add(_key(self.runs[-1]))
            if len(self.runs) == n_before:
                self.passed_over.append(path)
            else:
                foreign += 1
        self.one_file_of_others = foreign == 1 and n_ours == 0
        self._tell_apart()

    def _tell_apart(self) -> None:
        """Runs that go by their task and not by their file, of one name in several files, go by both."""
        files: dict[str, set[str]] = {}
        for run in self.runs:
            files.setdefault(f"{run.scenario} {run.arm} {run.trial}", set()).add(run.file)
        for at, run in enumerate(self.runs):
            if _key(run) in self._by_task and len(files[f"{run.scenario} {run.arm} {run.trial}"]) > 1:
                self.runs[at] = replace(run, scenario=f"{PurePath(run.file).stem}/{run.scenario}")

    def _foreign_id(self, trajectory: Trajectory, path: Path) -> str:
        """``<file>/<task or number>``: the folder in the set, and the reader's own name without arm and trial."""
        header = trajectory.header
        name = header.run_id.removesuffix(f"@{header.arm}#{header.trial}")
        inside = path.relative_to(self.root).parent
        return str(PurePath(inside, name).as_posix()) if inside.parts else name

    def _add(
        self,
        trajectory: Trajectory,
        path: Path,
        names: tuple[str, ...] | None,
        scenario: str = "",
        own: OwnVerdicts | None = None,
    ) -> None:
        file = path.relative_to(self.root).as_posix()
        if trajectory.torn is not None:
            self.torn.append((path, trajectory.torn))
        told = {} if own is None else own.told(trajectory, file, names)
        run = summarise(trajectory, judge(trajectory, names, told), file)
        run = replace(
            run,
            scenario=scenario or run.scenario or run.run_id,
            verdicts=self._once(run.verdicts),
            calls=self._once(run.calls),
            answer=None if run.answer is None else self._once(run.answer),
        )
        self.runs.append(run)
        self.digests[_key(run)] = digest_of(trajectory)

    def _once(self, value: T) -> T:
        """The equal value that is held already, so that it is held once."""
        found: T = self._known.setdefault(value, value)
        return found


def _inside_its_file(run: RunSummary) -> str:
    """What a run of another product is called, without its folder and file."""
    folder = PurePath(run.file).parent.as_posix()
    name = run.scenario.removeprefix(f"{folder}/")
    return name.partition("/")[2] or name


def not_run(info: Mapping[str, Any]) -> Mapping[str, str]:
    """Runs that never came to be, and why, as a ``run.json`` says; what lies in a file of theirs is no run."""
    said = info.get("notRun")
    rows = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    return {str(one.get("run")): str(one.get("error", "")) for one in rows}


def pending(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Runs that were planned and of whose end an unfinished ``run.json`` does not know; some may have a file."""
    said = info.get("pending")
    return tuple(map(str, said)) if isinstance(said, list) else ()


def _files(folder: Path) -> Iterator[Path]:
    return (one for one in folder.rglob("*") if one.suffix in SUFFIXES and one.is_file())
