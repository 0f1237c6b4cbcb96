"""What ``harness evaluate`` would refuse of an evaluation before it asks anything, as problems of ``dataset check``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harness.errors import UsageError
from harness.evaluate.dataset_problems import Problem
from harness.runner.evaluation.bodies import check_bodies
from harness.runner.evaluation.plan import EvaluationOptions, EvaluationPlan
from harness.runner.evaluation.preparing import Prepared
from harness.runner.evaluation.whole_loop import check_beginnings
from harness.runner.specs import ModelSource
from harness.types.evaluation import Evaluation, ToolSnapshot


def refusals_of(evaluation: Evaluation, snapshot: ToolSnapshot, distractors: ToolSnapshot | None) -> Iterator[Problem]:
    """What cannot be run though every name fits: tools without a body, what a whole loop cannot begin with, requests
    that cannot be made. For an evaluation whose other problems are none.
    """
    prepared = Prepared(evaluation, snapshot) if distractors is None else Prepared(evaluation, snapshot, distractors)
    arms = tuple(range(len(evaluation.arms)))
    plan = EvaluationPlan(
        evaluation, snapshot, EvaluationOptions(Path()), prepared.request_of, ModelSource.AUTO, "", arms,
        evaluation.trials, None, distractors,
    )  # fmt: skip
    yield from _refused("stubs" if evaluation.stubs else "execute", partial(check_bodies, plan))
    yield from _refused("execute", partial(check_beginnings, plan))
    for arm in evaluation.arms:
        ask = partial(prepared.request_of, evaluation, arm, evaluation.cases[0], snapshot)
        yield from _refused(f"arms.{arm.name}", ask)


def _refused(field: str, look: Callable[[], object]) -> Iterator[Problem]:
    try:
        look()
    except UsageError as error:
        yield Problem(str(error), field)
