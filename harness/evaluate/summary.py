"""What an evaluation says: every trial graded as it comes and counted, then one summary of the counts.

Trials may come in any order and from anywhere (one file, shards, a replay): the summary is the same, byte for byte.
Memory grows with cases x arms x trials by one byte each, and with nothing that a model said. No model judges
anything: a grade is a comparison of the answer with what the case says is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from harness.evaluate.arm_lines import arm_line
from harness.evaluate.comparison import compare, outcome_of, rule_in_words, sight_of
from harness.evaluate.curves import curves
from harness.evaluate.drift import provenance
from harness.evaluate.error_causes import error_causes
from harness.evaluate.factors import factor_lines
from harness.evaluate.grading import grade as graded_trial
from harness.evaluate.insight import arguments, confusion, misfits, suspects, tags, worst
from harness.evaluate.tally import Place, Tally
from harness.types.codes import Outcome
from harness.types.evaluation import Evaluation, ToolSnapshot
from harness.types.evaluation_comparison import ComparisonSummary
from harness.types.evaluation_summary import ArmSummary, EvaluationSummary
from harness.types.grades import Grade
from harness.types.trials import Trial

NO_GATE: Final = "no gate is declared: PASS only where every planned trial passed"


def summarise(
    evaluation: Evaluation, snapshot: ToolSnapshot, trials: Iterable[Trial], distractors: ToolSnapshot | None = None
) -> EvaluationSummary:
    """Grade and count all trials, and say what they come to. ``distractors`` is what arms took distractors from.

    Raises InvalidValueError for a trial that the evaluation did not plan, for one that is there twice, and for cases
    that share an id.
    """
    return summary_of(tallied(evaluation, snapshot, trials, distractors), snapshot)


def tallied(
    evaluation: Evaluation, snapshot: ToolSnapshot, trials: Iterable[Trial], distractors: ToolSnapshot | None = None
) -> Tally:
    """All trials graded and counted. Raises like :func:`summarise`."""
    tally = Tally(evaluation, distractors)
    for _ in graded(tally, snapshot, trials):
        pass
    return tally


def graded(tally: Tally, snapshot: ToolSnapshot, trials: Iterable[Trial]) -> Iterator[tuple[Place, Trial, Grade]]:
    """Grade and count trials one by one, and hand each over. Raises like :func:`summarise`."""
    evaluation = tally.evaluation
    for trial in trials:
        place = tally.place(trial)
        arm, pool = evaluation.arms[place.arm], tally.distractors
        grade = graded_trial(place.case, arm, trial, tools=snapshot, evaluation=evaluation, distractors=pool)
        tally.add(place, trial, grade)
        yield place, trial, grade


def settle(tally: Tally) -> None:
    """Where a declared look decided and the run stopped there, take the plan to have ended there, for every number."""
    gate = tally.evaluation.gate
    if gate is None or _missing_arm(tally.evaluation):
        return
    sight = sight_of(tally, gate)
    if sight.stopped_early:
        tally.end_behind(sight.blocks)


def summary_of(tally: Tally, snapshot: ToolSnapshot) -> EvaluationSummary:
    """What the counted trials come to."""
    evaluation = tally.evaluation
    settle(tally)
    arms = tuple(arm_line(tally, number) for number in range(len(tally.arms)))
    missing = _missing_arm(evaluation)
    comparison = None if evaluation.gate is None or missing else compare(tally, evaluation.gate)
    outcome, why = (Outcome.INVALID, missing) if missing else _outcome(arms, comparison)
    n_suspects, first_suspects = suspects(tally)
    return EvaluationSummary(
        evaluation=evaluation.id,
        title=evaluation.title,
        digest=evaluation.digest,
        tools_digest=snapshot.digest,
        model=_model(evaluation),
        execute=evaluation.execute,
        n_cases=len(tally.index),
        n_units=tally.index.n_units,
        n_tools=len(snapshot.tools),
        n_trials=tally.n_trials,
        outcome=outcome,
        verdict=outcome.value.lower() if comparison is None else comparison.verdict,
        rule=_rule(evaluation),
        why=why,
        arms=arms,
        comparison=comparison,
        confusion=confusion(tally),
        arguments=arguments(tally),
        misfits=misfits(tally),
        factors=factor_lines(tally),
        curves=curves(tally),
        tags=tags(tally),
        n_suspects=n_suspects,
        suspects=first_suspects,
        worst=worst(tally),
        provenance=provenance(tally),
        errors=error_causes(tally),
    )


def _missing_arm(evaluation: Evaluation) -> str:
    """Which arm of the gate is not among the arms; "" where both are."""
    there = {arm.name for arm in evaluation.arms}
    named = () if evaluation.gate is None else (evaluation.gate.base, evaluation.gate.candidate)
    missing = [name for name in named if name not in there]
    return f"the gate compares with the arm {missing[0]!r}, which was not run" if missing else ""


def _rule(evaluation: Evaluation) -> str:
    return NO_GATE if evaluation.gate is None else rule_in_words(evaluation.gate)


def _model(evaluation: Evaluation) -> str:
    return evaluation.model.name if evaluation.model else evaluation.model_from or ""


def _outcome(arms: tuple[ArmSummary, ...], comparison: ComparisonSummary | None) -> tuple[Outcome, str]:
    """Nothing that ran is INVALID; else the gate decides; without one everything has to pass."""
    planned, passed, failed, errored = (
        sum(getattr(arm.counts, name) for arm in arms) for name in ("planned", "passed", "failed", "errored")
    )
    if not planned or not passed + failed + errored:
        return Outcome.INVALID, "nothing was asked: no trial passed, failed or errored"
    if comparison is not None:
        return outcome_of(comparison.verdict), comparison.why
    if failed:
        return Outcome.FAIL, f"{failed} of {planned} planned trials failed"
    if errored:
        return Outcome.ERROR, f"{errored} of {planned} planned trials have no answer, and none failed"
    if passed < planned:
        return Outcome.INCONCLUSIVE, f"{planned - passed} of {planned} planned trials were skipped"
    return Outcome.PASS, ""
