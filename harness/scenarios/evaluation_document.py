"""Writing: an evaluation back to the fields of its document, in the order of the format's page; cases as lines."""

from __future__ import annotations

import json
from typing import Any

from harness.scenarios.document import stub_document
from harness.scenarios.evaluation_arm_fields import arm_document
from harness.scenarios.evaluation_history_fields import PADDING_IDS, history_document
from harness.scenarios.evaluation_model_fields import model_document
from harness.scenarios.evaluation_source_fields import sources_document
from harness.scenarios.expect_document import answer_document, wanted_call
from harness.scenarios.limits_fields import limits_document
from harness.scenarios.writing import changed, filled, present
from harness.types.evaluation import (
    ASK_USER,
    EVALUATION_FORMAT,
    Acceptable,
    Asking,
    Case,
    Estimand,
    Evaluation,
    Execute,
    GateSpec,
    Grading,
    Running,
    Split,
    Wanted,
)
from harness.types.expectations import CallOrder
from harness.types.jsontext import canonical_json

_MICRO = 1_000_000


def evaluation_document(evaluation: Evaluation, *, cases_from: str | None = None) -> dict[str, Any]:
    """The fields of an evaluation's document; what has its default is left out.

    All cases stand in it with their ids, or, with ``cases_from``, in that file of lines (:func:`case_line`). Reading
    it gives an equal evaluation but for ``source`` and the lines of cases.
    """
    cases: Any = {"from": cases_from} if cases_from else [case_document(case) for case in evaluation.cases]
    return {
        "format": EVALUATION_FORMAT,
        "id": evaluation.id,
        **filled(title=evaluation.title),
        "tools": sources_document(evaluation.sources),
        **present(system=evaluation.system, model=model_document(evaluation.model, evaluation.model_from)),
        "trials": evaluation.trials,
        **filled(
            seed=evaluation.seed,
            grading="" if evaluation.grading is Grading.MATCHERS else evaluation.grading.value,
            execute=_execute(evaluation),
            stubs={name: stub_document(stub) for name, stub in evaluation.stubs},
            limits=limits_document(evaluation.limits),
            ask_user=_asking(evaluation.asking),
            distractor_tools=evaluation.distractor_tools and sources_document(evaluation.distractor_tools),
            padding=history_document(evaluation.padding, PADDING_IDS),
        ),
        "arms": {arm.name: arm_document(arm, evaluation.model) for arm in evaluation.arms},
        "cases": cases,
        **filled(gate=evaluation.gate and gate_document(evaluation.gate), running=_running(evaluation.running)),
    }


def _execute(evaluation: Evaluation) -> Any:
    if evaluation.execute is Execute.TOOLS:
        return True
    return None if evaluation.execute is Execute.FIRST else evaluation.execute.value


def _asking(asking: Asking) -> dict[str, Any]:
    if asking.tool is not None:
        return {} if asking.tool == ASK_USER else {"tool": asking.tool}
    return {} if asking.field is None else {"field": asking.field, "value": json.loads(asking.value or "null")}


def gate_document(gate: GateSpec) -> dict[str, Any]:
    """The fields of ``gate``."""
    return {
        "metric": gate.metric.value,
        "margin": gate.margin,
        "base": gate.base,
        "candidate": gate.candidate,
        **({} if gate.estimand is Estimand.PROMPTS_LIKE_THESE else {"estimand": gate.estimand.value}),
        **({} if gate.alpha == 0.05 else {"alpha": gate.alpha}),
        **({} if gate.looks == 1 else {"looks": gate.looks}),
        **present(split=gate.split and gate.split.value),
    }


def _running(running: Running) -> dict[str, Any]:
    written = changed(running, Running())
    money = written.pop("max_cost_micro_usd", None)
    return written if money is None else {**written, "max_cost_usd": money / _MICRO}


# ---------------------------------------------------------------- cases


def case_line(case: Case) -> bytes:
    """A case as one canonical line of a file of cases, with its line end."""
    return canonical_json(case_document(case)).encode() + b"\n"


def case_document(case: Case) -> dict[str, Any]:
    """The fields of a case."""
    written: dict[str, Any] = {"id": case.id}
    if case.ask:
        written["ask"] = case.ask
    written["expect"] = expect_document(case.accept)
    return {
        **written,
        **filled(
            history=history_document(case.history),
            never=list(case.never),
            tags=list(case.tags),
            group=case.group,
            split="" if case.split is Split.DEV else case.split.value,
        ),
        **present(system=case.system, tools=None if case.tools is None else list(case.tools)),
        **present(answer=None if case.answer is None else answer_document(case.answer)),
        **present(bfcl=None if case.bfcl is None else json.loads(case.bfcl)),
    }


def expect_document(accept: tuple[Acceptable, ...]) -> Any:
    """The field ``expect``."""
    written = [_acceptable(one) for one in accept]
    return written[0] if len(written) == 1 else {"any_of": written}


def _acceptable(one: Acceptable) -> Any:
    if one.wanted is not Wanted.CALLS:
        return one.wanted.value
    calls = [wanted_call(call) for call in one.calls]
    if one.order is not CallOrder.ANY_ORDER:
        return {one.order.value: calls}
    return calls[0] if len(calls) == 1 and calls[0] != ASK_USER else calls
