"""The folder of baselines: accepted variants by scenario, one small file each, ``<scenario>/<number>.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.errors import TrajectoryFormatError
from harness.folds import n_steps
from harness.store import dump_trajectory, open_reader, read_trajectory
from harness.types.baselines import Variant
from harness.types.events import Header, Trajectory
from harness.types.jsontext import text_digest
from harness.types.names import portable_path
from harness.types.records import RunSummary

BASELINES: Final = Path("reports", "baselines")
EVALUATIONS: Final = "evaluations"
"""A folder beside them that belongs to evaluations; no scenario's variants are kept there."""
SUFFIX: Final = ".jsonl"
_NAME: Final = re.compile(r"[1-9][0-9]{0,8}")


def variants_folder(scenario: str) -> str:
    """Where the variants of a scenario lie below the folder of baselines: another path for every id.

    No path is inside the evaluations' folder, and no folder has a name that a variant of another scenario could have.
    """
    family, *rest = portable_path(scenario).split("/")
    if family.lower() == EVALUATIONS:
        family = f"%{ord(family[0]):02X}{family[1:]}"
    return "/".join(part[:-1] + "%6C" if part.endswith(SUFFIX) else part for part in (family, *rest))


def variant_file(scenario: str, number: int) -> str:
    """The path of a variant below the folder of baselines."""
    return f"{variants_folder(scenario)}/{number}{SUFFIX}"


@dataclass(frozen=True, slots=True)
class Baselines:
    """What is in a folder of baselines: the headers of variants by scenario and number."""

    root: Path
    headers: Mapping[str, Mapping[int, Header]]

    @classmethod
    def read(cls, root: Path) -> Baselines:
        """Read the headers; none where there is no such folder. Raises TrajectoryFormatError for what is no variant."""
        found: dict[str, dict[int, Header]] = {}
        for path in _files(root):
            with open_reader(path) as reader:
                header = reader.header
            scenario, number = _place(root, path, header)
            found.setdefault(scenario, {})[number] = header
        return cls(root, {name: dict(sorted(found[name].items())) for name in sorted(found)})

    def load(self, scenario: str) -> Iterator[tuple[int, Trajectory]]:
        """The variants of a scenario by number. Raises TrajectoryFormatError for a damaged or unfinished one."""
        for number in self.headers.get(scenario, ()):
            path = self.path(scenario, number)
            trajectory = read_trajectory(path)
            if trajectory.torn is not None:
                raise TrajectoryFormatError(
                    "the last line is not finished: bring the file back from version control, or accept the run again",
                    file=str(path),
                    line=trajectory.torn.line,
                )
            yield number, trajectory

    def path(self, scenario: str, number: int) -> Path:
        """The file of a variant."""
        return self.root / variant_file(scenario, number)

    def variants(self, digests: Mapping[str, str] | None = None) -> Iterator[Variant]:
        """Every variant, by scenario and number; ``digests`` are those of the present scenarios (None: unknown)."""
        for scenario in self.headers:
            for number, trajectory in self.load(scenario):
                yield replace(_variant(scenario, number, trajectory), stale=_stale(trajectory.header, digests))


def by_scenario(runs: Iterable[RunSummary]) -> dict[str, Sequence[RunSummary]]:
    """Runs by scenario, arms and trials in order. Raises TrajectoryFormatError for a run that is there twice."""
    found: dict[str, dict[tuple[str, int], RunSummary]] = {}
    for run in runs:
        first = found.setdefault(run.scenario, {}).setdefault((run.arm, run.trial), run)
        if first is not run:
            raise TrajectoryFormatError(
                f"there are two runs of scenario {run.scenario!r}, arm {run.arm!r}, trial {run.trial}: "
                f"{first.file!r} and {run.file!r}. Remove one."
            )
    return {name: [found[name][key] for key in sorted(found[name])] for name in sorted(found)}


def _files(root: Path) -> list[Path]:
    below = (path for path in root.rglob(f"*{SUFFIX}") if path.is_file())
    return sorted(path for path in below if path.relative_to(root).parts[0] != EVALUATIONS)


def _place(root: Path, path: Path, header: Header) -> tuple[str, int]:
    file = path.relative_to(root).as_posix()
    if header.scenario is None or not _NAME.fullmatch(path.stem):
        raise TrajectoryFormatError(
            "this is no accepted variant: only what 'harness baseline accept' writes belongs here", file=str(path)
        )
    scenario, number = header.scenario.id, int(path.stem)
    if variant_file(scenario, number) != file:
        raise TrajectoryFormatError(
            f"it says that it is of scenario {scenario!r}, which is kept in {variants_folder(scenario)!r}: "
            "move or remove it",
            file=str(path),
            line=1,
        )
    return scenario, number


def _variant(scenario: str, number: int, trajectory: Trajectory) -> Variant:
    header = trajectory.header
    events = dump_trajectory(trajectory).partition(b"\n")[2]
    return Variant(
        scenario,
        number,
        variant_file(scenario, number),
        header.run_id,
        header.subject,
        ", ".join(name for _, name in header.models),
        header.arm,
        header.trial,
        n_steps(trajectory),
        text_digest(events.decode("utf-8")),
    )


def _stale(header: Header, digests: Mapping[str, str] | None) -> str:
    assert header.scenario is not None  # a header without one was refused when the folder was read
    now = None if digests is None else digests.get(header.scenario.id)
    if digests is None or now == header.scenario.digest:
        return ""
    return "the scenario is gone" if now is None else "the scenario has changed since"
