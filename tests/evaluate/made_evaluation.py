"""Small evaluations, made by hand: cases, arms, and trials that answer as a table says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.types.codes import Code, FinishReason, Status
from harness.types.evaluation import (
    Acceptable,
    Arm,
    Case,
    EvalTool,
    Evaluation,
    Execute,
    GateSpec,
    SourceKind,
    ToolSnapshot,
    ToolSource,
    Wanted,
)
from harness.types.expectations import ExpectedCall
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.model_spec import ModelSpec
from harness.types.reasons import Usage
from harness.types.trials import AnswerOrigin, Owner, Provenance, Trial, TrialAnswer, TrialCall, TrialError

SCRIPTED = Provenance(AnswerOrigin.SCRIPTED)
SCHEMA = JsonText('{"properties":{"id":{"type":"integer"}},"type":"object"}')


class ListedCases(tuple[Case, ...]):
    """Cases in memory."""

    __slots__ = ()

    @property
    def digest(self) -> str:
        return "0" * 64


def call(name: str, **arguments: Any) -> TrialCall:
    return TrialCall(name, json.dumps(arguments))


def expects(name: str, **arguments: Any) -> Acceptable:
    return Acceptable(Wanted.CALLS, (ExpectedCall(name, canonical_json(arguments)),))


def case(name: str, *accept: Acceptable, **more: Any) -> Case:
    return Case(name, more.pop("ask", f"ask {name}"), accept or (expects("get_order", id=1),), **more)


def cases(n: int, **more: Any) -> tuple[Case, ...]:
    return tuple(case(f"c{i:03}", **more) for i in range(n))


def snapshot(*names: str) -> ToolSnapshot:
    tools = tuple(EvalTool(name, f"does {name}", SCHEMA) for name in names or ("get_order", "lookup", "refund_order"))
    return ToolSnapshot(tools, "5" * 64)


def evaluation(cases: Iterable[Case], arms: Sequence[Arm] = (Arm("now"), Arm("new")), **more: Any) -> Evaluation:
    source = ToolSource(SourceKind.SCHEMAS, inline=JsonText("[]"))
    more = {"model": ModelSpec("m"), "trials": 3, "execute": Execute.FIRST, "digest": "d" * 64, **more}
    return Evaluation("shop", (source,), tuple(arms), ListedCases(cases), **more)


def gate(margin: float = 0.1, **more: Any) -> GateSpec:
    return GateSpec("now", "new", margin, **more)


CALLED: Mapping[str, Any] = {"finish_reason": FinishReason.TOOL_CALLS, "status": Status.COMPLETED}
RIGHT = TrialAnswer(calls=(call("get_order", id=1),), **CALLED)
WRONG_TOOL = TrialAnswer(calls=(call("lookup", id=1),), **CALLED)
WRONG_VALUE = TrialAnswer(calls=(call("get_order", id=2),), **CALLED)
NOTHING = TrialAnswer(content="I do not know.", finish_reason=FinishReason.STOP, status=Status.COMPLETED)
ANSWERS: Mapping[str, TrialAnswer] = {"+": RIGHT, "t": WRONG_TOOL, "v": WRONG_VALUE, "n": NOTHING}
ERRORS = {
    "p": TrialError(Code.SERVER, "the provider failed", Owner.PROVIDER),
    "a": TrialError(Code.DAMAGED_RESPONSE, "no answer could be read", Owner.AGENT),
}


def trial(case: str, arm: str, number: int, letter: str, *, by: Provenance = SCRIPTED, usage: Usage | None = None) -> Trial:
    return Trial(case, arm, number, "r" * 64, ANSWERS.get(letter), ERRORS.get(letter), usage=usage, by=by)


def trials(table: Mapping[str, Mapping[str, str]], **more: Any) -> Iterator[Trial]:
    """Of ``{arm: {case: letters}}``: one letter a trial, "." for a trial that was never asked."""
    for arm, rows in table.items():
        for name, letters in rows.items():
            for number, letter in enumerate(letters, 1):
                if letter != ".":
                    yield trial(name, arm, number, letter, **more)
