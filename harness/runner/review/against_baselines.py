"""Committed baselines as the base of a comparison: each run beside the accepted variant that it took or is nearest to.

A run that took a variant has the digest of that variant, so they compare as the same whatever a baseline does not
keep; another is compared as ``harness baseline diff`` does it (INVARIANTS 33).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import NothingToRunError, TrajectoryFormatError
from harness.folds import summarise
from harness.runner.accepted import accepted_header
from harness.runner.baseline_diff import nearest_variant
from harness.runner.baselines import EVALUATIONS, SUFFIX, Baselines, by_scenario, variant_file, variants_folder
from harness.runner.review.comparing import RunSet
from harness.store import open_reader
from harness.types.codes import Outcome
from harness.types.events import Trajectory
from harness.types.records import RunSummary


def baselines_at(path: Path) -> Path | None:
    """The folder of baselines that a folder is, or is inside of; None where it holds no accepted variants."""
    if not path.is_dir() or (path / "trajectories").is_dir():
        return None
    for file in sorted(path.rglob(f"*{SUFFIX}")):
        if not file.is_file() or file.relative_to(path).parts[0] == EVALUATIONS or not file.stem.isdecimal():
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

    A scenario has as many trials in the base as in the candidate. ``base`` is the folder of baselines ``root`` or one
    inside of it: only scenarios in it count. ``whole``: the candidate is a set of runs, so that scenarios that have
    variants and no run are in the base, and missing in the candidate. Raises NothingToRunError and
    TrajectoryFormatError.
    """
    wanted = Baselines.read(root)
    inside = base.resolve()
    names = [name for name in wanted.headers if (root / variants_folder(name)).is_relative_to(inside)]
    one, scenarios = AcceptedRuns(root), by_scenario(candidate.runs)
    for scenario in names:
        runs = scenarios.get(scenario, ())
        variants = tuple(wanted.load(scenario)) if runs else ()
        for run in runs:
            number, why = nearest_variant(candidate.load(run), scenario, variants)
            variant = next(found for at, found in variants if at == number)
            beside = _as_run(run, variant, variant_file(scenario, number), same=why is None)
            one.add(beside, candidate.digests[_key(run)] if why is None else b"")
        if whole and not runs:
            number, variant = next(wanted.load(scenario))
            one.add(summarise(variant, (), variant_file(scenario, number)), b"")
    if not one.runs:
        raise NothingToRunError(f"{base}: no run has an accepted variant to compare with")
    return one, AcceptedRuns(candidate.root, candidate.form, candidate.runs, candidate.digests, candidate.about)


def _as_run(run: RunSummary, variant: Trajectory, file: str, *, same: bool) -> RunSummary:
    """A variant as the base's run beside a run. What was accepted counts as passed, unless a run of today is the same.

    It has the run's id, since two runs may be nearest to one variant.
    """
    found = summarise(variant, (), file)
    outcome, verdicts = (run.outcome, run.verdicts) if same else (Outcome.PASS, ())
    return replace(
        found,
        run_id=run.run_id,
        scenario=run.scenario,
        arm=run.arm,
        trial=run.trial,
        outcome=outcome,
        verdicts=verdicts,
    )


def _key(run: RunSummary) -> tuple[str, str]:
    return run.file, run.run_id
