"""Committed baselines as the base of a comparison: each run beside the accepted variant that it took or is nearest to.

A run that took a variant has the digest of that variant, so they compare as the same whatever a baseline does not
keep; another is compared as ``harness baseline diff`` does it (INVARIANTS 33). What was accepted passed, unless it
says otherwise: a run that fails got worse, however it behaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import NothingToRunError, TrajectoryFormatError
from harness.folds import summarise
from harness.runner.accepted import accepted_header
from harness.runner.accepted_failing import came_to
from harness.runner.baseline_diff import nearest_variant
from harness.runner.baselines import EVALUATIONS, SUFFIX, Baselines, by_scenario, variant_file, variants_folder
from harness.runner.review.comparing import RunSet
from harness.store import open_reader
from harness.types.events import Trajectory
from harness.types.records import RunSummary


def baselines_at(path: Path) -> Path | None:
    """The folder of baselines that a folder is, or that it or an accepted variant is inside of; None: it is no such.

    A folder of runs is none; what is called ``trajectories`` in a folder of baselines is a family of scenarios.
    """
    if path.is_dir() and (path / "trajectories").is_dir() and (path / "run.json").is_file():
        return None
    for file in sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]:
        if not file.is_file() or file.suffix != SUFFIX or not file.stem.isdecimal() or _is_of_evaluations(file, path):
            continue
        try:
            with open_reader(file) as reader:
                header = reader.header
        except TrajectoryFormatError:
            return None  # no trajectory of ours: whatever else it is, it is read as that
        parts = Path(variant_file(header.scenario.id, int(file.stem))).parts if header.scenario else ()
        place = file.resolve()
        if parts and place.parts[-len(parts) :] == parts:
            return place.parents[len(parts) - 1]
    return None


def _is_of_evaluations(file: Path, folder: Path) -> bool:
    return file != folder and file.relative_to(folder).parts[0] == EVALUATIONS


@dataclass(frozen=True, slots=True)
class _Part:
    """What was named of a folder of baselines: all of it, a folder in it, or one variant."""

    baselines: Baselines
    named: Path

    def holds(self, scenario: str) -> bool:
        """True for a scenario whose variants are, or would be, in what was named."""
        folder = self.baselines.root / variants_folder(scenario)
        return folder == self.named.parent if self.named.is_file() else folder.is_relative_to(self.named)

    def variants(self, scenario: str) -> Iterator[tuple[int, Trajectory]]:
        """Its variants, of one that was named only that."""
        for number, variant in self.baselines.load(scenario):
            if not self.named.is_file() or self.baselines.path(scenario, number) == self.named:
                yield number, variant


@dataclass(slots=True)
class AcceptedRuns(RunSet):
    """One side, whose trajectories have headers as accepted variants have them."""

    def add(self, run: RunSummary, digest: bytes) -> None:
        """One more run."""
        self.runs.append(run)
        self.digests[_key(run)] = digest

    def load(self, run: RunSummary) -> Trajectory:
        """The trajectory of a run, under the header of an accepted variant."""
        whole = RunSet.load(self, run)
        return replace(whole, header=accepted_header(whole.header, run.scenario))


def accepted_sides(base: Path, root: Path, candidate: RunSet, *, whole: bool) -> tuple[RunSet, RunSet]:
    """Base and candidate to compare: for each run of the candidate the variant that it took, else the nearest.

    A scenario has as many trials in the base as in the candidate. ``base`` is the folder of baselines ``root``, one
    inside of it, or one variant: only scenarios in it count, on either side. ``whole``: the candidate is a set of runs,
    so that scenarios that have variants and no run are in the base, and missing in the candidate. Raises
    NothingToRunError and TrajectoryFormatError.
    """
    part = _Part(Baselines.read(root), base.resolve())
    asked = [run for run in candidate.runs if part.holds(run.scenario)]
    one, scenarios = AcceptedRuns(root), by_scenario(asked)
    for scenario in filter(part.holds, part.baselines.headers):
        runs = scenarios.get(scenario, ())
        variants = tuple(part.variants(scenario)) if runs else ()
        for run in runs:
            number, why = nearest_variant(candidate.load(run), scenario, variants)
            variant = next(found for at, found in variants if at == number)
            beside = _as_run(run, variant, variant_file(scenario, number))
            one.add(beside, candidate.digests[_key(run)] if why is None else b"")
        if whole and not runs:
            number, variant = next(part.variants(scenario))
            one.add(_accepted(variant, variant_file(scenario, number)), b"")
    if not one.runs:
        raise NothingToRunError(f"{base}: no run has an accepted variant to compare with")
    return one, AcceptedRuns(candidate.root, candidate.form, asked, candidate.digests, candidate.about)


def _as_run(run: RunSummary, variant: Trajectory, file: str) -> RunSummary:
    """A variant as the base's run beside a run. It has the run's id, since two runs may be nearest to one variant."""
    found = _accepted(variant, file)
    return replace(found, run_id=run.run_id, scenario=run.scenario, arm=run.arm, trial=run.trial)


def _accepted(variant: Trajectory, file: str) -> RunSummary:
    """A variant as a run: it came to what it was accepted for, whatever a run of today that behaves the same does."""
    outcome, verdicts = came_to(variant)
    return replace(summarise(variant, (), file), outcome=outcome, verdicts=verdicts)


def _key(run: RunSummary) -> tuple[str, str]:
    return run.file, run.run_id
