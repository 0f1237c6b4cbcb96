"""Runs accepted as variants of their scenarios: looked through first, then written, each file whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from harness.compare import explain
from harness.errors import RecordingFailed, SecretFoundError
from harness.redaction import find_secrets
from harness.runner.accepted import accepted
from harness.runner.accepted_failing import says, variant_bytes
from harness.runner.baselines import Baselines, by_scenario, variant_file
from harness.runner.review.comparing import RunSet
from harness.store import locked, replace_file
from harness.types.baselines import Acceptance, AcceptedRun, OldVariants, OnFailing, Taken
from harness.types.codes import PASSING, DivergenceKind
from harness.types.events import Trajectory
from harness.types.records import Explanation, RunSummary

_QUIET = (DivergenceKind.SETUP, DivergenceKind.DETAIL)


def parting(variant: Trajectory, run: Trajectory) -> Explanation | None:
    """Why a run leaves a variant; None where it behaves the same, whatever its tokens and its expectations are.

    ``run`` has the header of :func:`harness.runner.accepted.accepted_header`.
    """
    found = explain(variant, run)
    return None if found is None or found.first.kind in _QUIET else found


@dataclass(slots=True)
class _Kept:
    """A variant, old or new, with the runs that took it; a new one gets its number when all are known.

    ``data`` are the bytes to be written, of an old one where what its runs came to is not what it says.
    """

    trajectory: Trajectory
    number: int = 0
    data: bytes = b""
    runs: list[RunSummary] = field(default_factory=list)

    def settle(self, scenario: str) -> None:
        """Have the bytes that are to be written: of a new one, and where its runs come to what it does not say."""
        if not self.number or (self.runs and not says(self.trajectory, self.runs)):
            self.data = variant_bytes(self.trajectory, scenario, self.runs)


@dataclass(slots=True)
class _Plan:
    """What is to become of one scenario's variants."""

    scenario: str
    old: list[_Kept]
    new: list[_Kept] = field(default_factory=list)
    runs: list[tuple[RunSummary, Taken, _Kept | None]] = field(default_factory=list)
    dropped: list[int] = field(default_factory=list)
    rows: tuple[AcceptedRun, ...] = ()

    def consider(self, run: RunSummary, whole: Trajectory) -> None:
        """Accept a run: as one of the variants that there are, or as a new one."""
        kept = accepted(whole, self.scenario)
        known = next((one for one in (*self.old, *self.new) if parting(one.trajectory, kept) is None), None)
        variant = known or _Kept(kept)
        if known is None:
            self.new.append(variant)
        variant.runs.append(run)
        self.runs.append((run, Taken.ADDED if known is None else Taken.KNOWN, variant))

    def settle(self, old: OldVariants) -> None:
        """Say which variants go, and number the new ones: first by those, so that a difference shows what changed."""
        if old is OldVariants.DROP and any(one.runs for one in (*self.old, *self.new)):
            self.dropped = [one.number for one in self.old if not one.runs]
        for variant in (*self.old, *self.new):
            variant.settle(self.scenario)
        numbers = chain(self.dropped, count(1 + max((one.number for one in self.old), default=0)))
        for variant in self.new:
            variant.number = next(numbers)
        self.rows = tuple(self._rows())
        self.old, self.runs = [one for one in self.old if one.data], []  # only what is to be written is held

    def _rows(self) -> Iterator[AcceptedRun]:
        """What became of each run."""
        for run, taken, variant in self.runs:
            if variant is None:
                yield AcceptedRun(self.scenario, run.run_id, taken, why=f"{run.outcome}: {run.reason}")
            else:
                file = variant_file(self.scenario, variant.number)
                yield AcceptedRun(self.scenario, run.run_id, taken, variant.number, file)


def accept_runs(
    runs: Path,
    root: Path,
    *,
    failing: OnFailing = OnFailing.REFUSE,
    old: OldVariants = OldVariants.KEEP,
    secrets: Collection[str] = (),
) -> Acceptance:
    """Keep what runs did as accepted variants of their scenarios, where it is new.

    A variant says where some of the runs that took it last did not pass (``failing``).
    Nothing is written before all was read. With ``DROP`` a scenario with an accepted run keeps only the variants of
    these runs. Raises UsageError, NothingToRunError, TrajectoryFormatError (damage, a run that is there twice),
    SecretFoundError and RecordingFailed.
    """
    found = RunSet.read_to_accept(runs)
    there = next(place for place in (root.absolute(), *root.absolute().parents) if place.is_dir())
    with locked(there, "baselines are being accepted by another command. Wait for its end, and accept again."):
        return _accepted(found, root, failing, old, secrets)


def _accepted(found: RunSet, root: Path, failing: OnFailing, old: OldVariants, secrets: Collection[str]) -> Acceptance:
    baselines, plans = Baselines.read(root), []
    for scenario, summaries in by_scenario(found.runs).items():
        plan = _Plan(scenario, [_Kept(variant, number) for number, variant in baselines.load(scenario)])
        for run in summaries:
            if run.outcome not in PASSING and failing is OnFailing.REFUSE:
                plan.runs.append((run, Taken.REFUSED, None))
            else:
                plan.consider(run, found.load(run))
        plan.settle(old)
        plans.append(plan)
    _refuse_secrets(plans, secrets)
    gone = [file for plan in plans for file in _carry_out(plan, root)]
    return Acceptance(tuple(row for plan in plans for row in plan.rows), tuple(gone))


def _refuse_secrets(plans: Sequence[_Plan], secrets: Collection[str]) -> None:
    for variant in (variant for plan in plans for variant in plan.new):
        held = find_secrets(variant.data, secrets)
        if held:
            raise SecretFoundError(
                f"the run {variant.trajectory.header.run_id!r} holds a secret ({', '.join(held)}). Baselines are "
                "committed, so nothing was accepted: take it out of the scenario or its recording, and run again"
            )


def _carry_out(plan: _Plan, root: Path) -> list[str]:
    """Write what is new or says something else now, then remove what is dropped; gives the dropped files.

    Those written anew are among them.

    Broken off in between, both are there, each of them whole.
    """
    for variant in (*plan.old, *plan.new):
        replace_file(root / variant_file(plan.scenario, variant.number), [variant.data])
    written = {variant.number for variant in plan.new}
    for number in plan.dropped:
        path = root / variant_file(plan.scenario, number)
        if number not in written:
            try:
                path.unlink()
            except OSError as error:
                raise RecordingFailed(f"{path}: cannot be removed: {error.strerror}") from None
    return [variant_file(plan.scenario, number) for number in plan.dropped]
