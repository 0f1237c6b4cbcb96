"""A small shop of tools, and what a model may answer about it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.evaluate.grading import grade
from harness.types.codes import FinishReason, Status
from harness.types.evaluation import Acceptable, Arm, Asking, Case, EvalTool, Evaluation, Execute, ToolSnapshot, Wanted
from harness.types.expectations import CallOrder, ExpectedCall
from harness.types.grades import Grade
from harness.types.jsontext import canonical_json
from harness.types.trials import Trial, TrialAnswer, TrialCall

ORDER = {"type": "object", "properties": {"id": {"type": "integer"}, "note": {"type": "string"}}, "required": ["id"]}
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "number"},
        "exact": {"type": "boolean"},
        "place": {"type": "object"},
    },
}
ANYTHING = {"type": "object"}
SCHEMAS = {"get_order": ORDER, "refund_order": ORDER, "get_weather": WEATHER, "search": ANYTHING, "ask_user": ANYTHING}
TOOLS = ToolSnapshot(tuple(EvalTool(n, "", canonical_json(s)) for n, s in sorted(SCHEMAS.items())), "sha256:0")
NOW = Arm("now")
ASK_TOOL = Asking(tool="ask_user")
ASK_STATUS = Asking(field="status", value=canonical_json("need_input"))
ASK_USER, NO_CALL = Acceptable(Wanted.ASK_USER), Acceptable(Wanted.NO_CALL)


@dataclass(frozen=True)
class FewCases:
    held: Sequence[Case] = ()
    digest: str = "sha256:0"

    def __len__(self):
        return len(self.held)

    def __getitem__(self, index):
        return self.held[index]

    def __iter__(self):
        return iter(self.held)


def shop(**fields: Any) -> Evaluation:
    return Evaluation("shop", (), (NOW,), FewCases(), **{"asking": ASK_TOOL, **fields})


SHOP = shop()
LOOP = shop(execute=Execute.STUBS)


def wanted(*calls: str | tuple[str, Any], order: CallOrder = CallOrder.ANY_ORDER) -> Acceptable:
    """Calls of a name, or of a name with arguments."""
    return Acceptable(Wanted.CALLS, tuple(_expected(one) for one in calls), order)


def _expected(one: str | tuple[str, Any]) -> ExpectedCall:
    return ExpectedCall(one) if isinstance(one, str) else ExpectedCall(one[0], canonical_json(one[1]))


def made(*calls: tuple[str, Any], content: str | None = None, **fields: Any) -> TrialAnswer:
    """An answer with calls; arguments that are text are sent as they are."""
    sent = tuple(TrialCall(name, a if isinstance(a, str) else json.dumps(a)) for name, a in calls)
    finish = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    ended = {"finish_reason": finish, "status": Status.COMPLETED}
    return TrialAnswer(**{"content": content, "calls": sent, **ended, **fields})


def said(text: str | None, **fields: Any) -> TrialAnswer:
    return made(content=text, **fields)


@dataclass(frozen=True)
class Shown:
    """A case and an answer to it."""

    accept: Acceptable | tuple[Acceptable, ...]
    answer: TrialAnswer
    case: Mapping[str, Any] = field(default_factory=dict)
    arm: Arm = NOW
    evaluation: Evaluation = SHOP

    @property
    def grade(self) -> Grade:
        accept = self.accept if isinstance(self.accept, tuple) else (self.accept,)
        case = Case("c", "?", accept, **self.case)
        return grade(case, self.arm, Trial("c", self.arm.name, 1, "sha256:0", self.answer), tools=TOOLS, evaluation=self.evaluation)


def found(one: Grade) -> list[tuple[str, str]]:
    """Classes and places."""
    return [(misfit.kind, misfit.path) for misfit in one.misfits]
