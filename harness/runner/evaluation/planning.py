"""How large an evaluation has to be: its gate, what an earlier evaluation or assumptions tell, and the plan of both."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.errors import NothingToRunError, UsageError
from harness.evaluate.grading import grade
from harness.evaluate.pilot import CHANGING, Pilot, PilotTrial, pilot_of
from harness.runner.evaluation.folder import files_of, trials_in
from harness.runner.evaluation.preparing import thawed
from harness.scenarios.evaluation_loading import load_evaluation
from harness.statistics.planning import Plan, Price, plan
from harness.statistics.rules import Sample
from harness.statistics.spread import Spread, spread_assumed
from harness.types.evaluation import Evaluation, GateSpec

PASS_RATE: Final = 0.8
CORRELATION: Final = 0.6


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What a caller chose. ``pilot`` is the folder of an earlier evaluation; None where the target is one, or nothing
    is known. ``pass_rate``, ``correlation`` and ``changing`` are assumptions; None: those of this module. ``margin``
    and ``looks`` replace the gate's. ``cases`` and ``trials`` are the sizes of the table. Money in micro-dollars.
    """

    pilot: Path | None = None
    pass_rate: float | None = None
    correlation: float | None = None
    changing: float | None = None
    margin: float | None = None
    looks: int | None = None
    power: float = 0.8
    difference: float = 0.0
    cases: tuple[int, ...] = ()
    trials: tuple[int, ...] = ()
    tokens: float | None = None
    cost_micro_usd: float | None = None


@dataclass(frozen=True, slots=True)
class SizePlan:
    """A plan, what it is of, and in words what was believed of spread and prices."""

    plan: Plan
    title: str
    believed: tuple[str, ...]


def plan_size(target: Path, options: PlanOptions) -> SizePlan:
    """Plan the evaluation in a file, or the one that a folder holds, whose trials then are the pilot.

    Raises ScenarioError kin for a file that is none, UsageError for one without a gate and for assumptions beside a
    pilot that knows better, NothingToRunError where no case is in the gate's split.
    """
    folder = target if target.is_dir() else options.pilot
    evaluation = thawed(target).evaluation if target.is_dir() else load_evaluation(target)
    gate = _gate(evaluation, options)
    sample = _sample(evaluation, gate)
    pilot = None if folder is None else _pilot(options.pilot or folder, gate)
    spread, told = _spread(pilot, options, options.pilot or folder)
    price, priced = _price(pilot, options)
    found = plan(
        gate,
        sample,
        spread,
        price,
        wanted=options.power,
        difference=options.difference,
        cases=options.cases,
        trials=options.trials,
    )
    units = "" if sample.n_units == sample.n_cases else f" in {sample.n_units} units"
    split = "" if gate.split is None else f" of the split {gate.split.value!r}"
    title = f"{evaluation.id}: {gate.candidate} against {gate.base}, {gate.metric}, {gate.estimand}"
    return SizePlan(found, title, (f"{sample.n_cases} cases{units}{split}", told, priced))


def _gate(evaluation: Evaluation, options: PlanOptions) -> GateSpec:
    gate = evaluation.gate
    if gate is None:
        names = [arm.name for arm in evaluation.arms]
        if options.margin is None or len(names) != 2:
            raise UsageError(
                f"{evaluation.source or evaluation.id}: there is no gate to plan for; add 'gate: {{margin: 0.10}}'"
                + (", or say --margin" if len(names) == 2 else " with 'base' and 'candidate', the names of two arms")
            )
        gate = GateSpec(names[0], names[1], options.margin)
    looks = gate.looks if options.looks is None else options.looks
    return replace(gate, margin=gate.margin if options.margin is None else options.margin, looks=looks)


def _sample(evaluation: Evaluation, gate: GateSpec) -> Sample:
    counted = [case.unit for case in evaluation.cases if gate.split is None or case.split is gate.split]
    if not counted:
        what = "no cases" if gate.split is None else f"no case in the split {gate.split.value!r}"
        raise NothingToRunError(f"{evaluation.source or evaluation.id} has {what}: there is nothing to plan")
    return Sample(len(counted), len(set(counted)), evaluation.trials)


# ---------------------------------------------------------------- what is known


def _pilot(folder: Path, gate: GateSpec) -> Pilot:
    kept = thawed(folder)
    evaluation = kept.evaluation
    arms = {arm.name: arm for arm in evaluation.arms}
    cases = {case.id: case for case in evaluation.cases}

    def trials() -> Iterator[PilotTrial]:
        for trial in trials_in(files_of((folder,))):
            case, arm = cases.get(trial.case), arms.get(trial.arm)
            if case is None or arm is None:
                raise UsageError(f"{folder}: the trial {trial.key} is of no case or arm of its own evaluation")
            graded = grade(case, arm, trial, tools=kept.snapshot, evaluation=evaluation, distractors=kept.distractors)
            yield PilotTrial(trial.key, graded.score, trial.usage)

    return pilot_of(trials(), evaluation.cases, gate.base, gate.candidate, split=gate.split)


def _spread(pilot: Pilot | None, options: PlanOptions, folder: Path | None) -> tuple[Spread, str]:
    changing = CHANGING if options.changing is None else options.changing
    if pilot is None:
        rate = PASS_RATE if options.pass_rate is None else options.pass_rate
        correlation = CORRELATION if options.correlation is None else options.correlation
        told = (
            f"assumed: pass rate {rate:.3g} (--pass-rate), correlation of the trials of a case {correlation:.3g} "
            f"(--correlation), {changing:.3g} of the cases change (--changing); a pilot knows better (--pilot)"
        )
        return spread_assumed(rate, correlation, changing), told
    if options.pass_rate is not None or options.correlation is not None:
        raise UsageError("--pass-rate and --correlation are for want of a pilot; the pilot tells them")
    if pilot.candidate is not None and options.changing is not None:
        raise UsageError("--changing is for want of a second arm; the pilot has both")
    spread = pilot.spread(changing)
    told = (
        f"pilot {folder}: {pilot.n_trials:,} trials of {spread.n_units} units, pass rate {spread.pass_rate:.2f}; "
        f"variance of differences between units {spread.between:.3f}, of one trial within a unit "
        f"{spread.within_base:.3f} and {spread.within_candidate:.3f}"
    )
    if pilot.candidate is None:
        told += f"; it has one arm, and {changing:.3g} of the cases are taken to change (--changing)"
    return spread, told


def _price(pilot: Pilot | None, options: PlanOptions) -> tuple[Price, str]:
    known = Price() if pilot is None else pilot.price
    tokens = known.tokens if options.tokens is None else options.tokens
    cost = known.cost_micro_usd if options.cost_micro_usd is None else options.cost_micro_usd
    if tokens is None and cost is None:
        return Price(), "what a trial costs is not known (--tokens-per-trial, --usd-per-trial)"
    parts = [] if tokens is None else [f"{tokens:,.0f} tokens"]
    parts += [] if cost is None else [f"${cost / 1e6:.6f}"]
    return Price(tokens, cost), f"a trial takes {' and '.join(parts)}"
