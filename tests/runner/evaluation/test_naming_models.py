"""A model that the environment names stands for the file's in every arm, and what an arm changes about it stays."""

from __future__ import annotations

import json
from pathlib import Path

from harness.evaluate.arms import request_of
from harness.runner.evaluation.plan import EvaluationOptions, EvaluationPlan, plan_evaluation
from harness.runner.specs import ModelSource
from harness.scenarios.evaluation_loading import evaluation
from tests.runner.evaluation.lab import SNAPSHOT

ARMS = {"base": {}, "cold": {"model": {"temperature": 0}}, "other": {"model": "another"}}


def planned(folder: Path) -> EvaluationPlan:
    value = evaluation(tools={"schemas": "t.yaml"}, model={"name": "of-the-file", "temperature": 1}, arms=ARMS, cases=[{"ask": "x", "expect": "no_call"}])
    options = EvaluationOptions(folder=folder, source=ModelSource.LIVE, environ=(("HARNESS_MODEL", "named"),))
    return plan_evaluation(value, SNAPSHOT, options, request_of=request_of)


def test_a_named_model_is_asked_in_every_arm_that_names_none(tmp_path: Path) -> None:
    plan = planned(tmp_path)
    assert [plan.model_of(arm).name for arm in plan.arms] == ["named", "named", "another"]
    requests = [request_of(plan.evaluation, arm, plan.evaluation.cases[0], SNAPSHOT) for arm in plan.evaluation.arms]
    assert [json.loads(request.parameters) for request in requests] == [
        {"model": "named", "temperature": 1}, {"model": "named", "temperature": 0}, {"model": "another", "temperature": 1},
    ]  # fmt: skip
