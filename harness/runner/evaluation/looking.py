"""An evaluation that may end early: only behind whole blocks, at the looks that its gate declared beforehand."""

from __future__ import annotations

from dataclasses import replace

from harness.evaluate.comparison import sight_of
from harness.evaluate.summary import tallied
from harness.runner.evaluation.backends import Backend
from harness.runner.evaluation.folder import headers_of, trials_files, trials_in
from harness.runner.evaluation.judging import as_asked
from harness.runner.evaluation.plan import EvaluationPlan
from harness.runner.evaluation.running import Ran, Tell
from harness.runner.evaluation.workers import joined
from harness.statistics.sequential import plan_looks


def run_with_looks(plan: EvaluationPlan, run: Backend, *, tell: Tell | None = None) -> Ran:
    """Run a plan; where its gate looks more than once, stop behind the first look that decides.

    A shard alone decides nothing: it is run to its end. Raises what ``run`` raises.
    """
    gate = plan.evaluation.gate
    names = {plan.evaluation.arms[arm].name for arm in plan.arms}
    if gate is None or gate.looks == 1 or plan.options.shard.of > 1 or not {gate.base, gate.candidate} <= names:
        return run(plan, tell=tell)
    ended: list[Ran] = []
    for blocks in plan_looks(plan.trials, gate.looks, alpha=gate.alpha).blocks:
        ran = run(replace(plan, upto=blocks), tell=tell)
        ended.append(ran)
        if ran.stopped or ran.spent or ran.interrupted or ran.n_missed:
            break
        if blocks < plan.trials and _decided(plan):
            ran.decided = blocks
            break
    whole = joined(ended)
    whole.n_before, whole.took_ms = ended[0].n_before, sum(one.took_ms for one in ended)
    return whole


def _decided(plan: EvaluationPlan) -> bool:
    """Whether the whole blocks that are there decide by the rule that was fixed before."""
    gate = plan.evaluation.gate
    if gate is None:
        return False
    paths = trials_files(plan.options.folder)
    tally = tallied(as_asked(plan.evaluation, headers_of(paths)), plan.snapshot, trials_in(paths), plan.distractors)
    return sight_of(tally, gate).stopped_early
