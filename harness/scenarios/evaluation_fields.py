"""Fields of an evaluation: the whole document, its gate, and how it is run."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema, model_validator

from harness.plugins import suggestion
from harness.scenarios.base import (
    FIELDS,
    LIST,
    TEXT,
    Amount,
    Choice,
    Count,
    Fields,
    Filled,
    Positive,
    by_shape,
    complaint,
)
from harness.scenarios.evaluation_arm_fields import Arms
from harness.scenarios.evaluation_case_fields import CaseFields, TemplateFields
from harness.scenarios.evaluation_history_fields import PADDING_IDS, History, UserFields, made_history
from harness.scenarios.evaluation_model_fields import ChangedModelFields, ModelForm, made_evaluation_model
from harness.scenarios.evaluation_source_fields import SourcesForm
from harness.scenarios.limits_fields import LimitsFields
from harness.scenarios.tool_fields import StubFields
from harness.types.evaluation import (
    ASK_USER,
    LEAST_ALPHA,
    LEAST_MARGIN,
    Asking,
    Estimand,
    Execute,
    GateSpec,
    Grading,
    Metric,
    Running,
    Split,
)
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatMessage


def _check_id(identity: str) -> str:
    """An id names folders: none of its parts may be one that no folder has."""
    if any(part.strip() in ("", ".", "..") for part in identity.split("/")):
        raise complaint(f"{identity!r} is no path of names below a folder; write one such as 'shop' or 'shop/refunds'")
    return identity


Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=400), AfterValidator(_check_id)]
MICRO: Final = 1_000_000
_EXECUTE: Final = (Execute.FIRST.value, Execute.STUBS.value, Execute.TOOLS.value)


class GateFields(Fields):
    """The one comparison that decides."""

    margin: Amount
    base: Filled | None = None
    candidate: Filled | None = None
    metric: Annotated[str, Choice(tuple(Metric))] = Metric.CASE_PASS_RATE.value
    estimand: Annotated[str, Choice(tuple(Estimand))] = Estimand.PROMPTS_LIKE_THESE.value
    alpha: Amount = 0.05
    looks: Positive = 1
    split: Annotated[str, Choice(tuple(Split))] | None = None

    @model_validator(mode="after")
    def _can_be_judged(self) -> GateFields:
        if not LEAST_MARGIN <= self.margin <= 1 - LEAST_MARGIN:
            what = f"a share above 0 and below 1 (by {LEAST_MARGIN:g} at least), such as 0.10"
            raise complaint(f"must be {what}: how much worse the candidate may be; is {self.margin}", field="margin")
        if not LEAST_ALPHA <= self.alpha <= 0.5:
            what = f"a share above 0 (by {LEAST_ALPHA:.6f} at least) and at most 0.5, such as 0.05"
            raise complaint(f"must be {what}; is {self.alpha}", field="alpha")
        return self

    def made(self, arms: tuple[str, ...]) -> GateSpec:
        base, candidate = self._arms(arms)
        return GateSpec(
            base=base,
            candidate=candidate,
            margin=float(self.margin),
            metric=Metric(self.metric),
            estimand=Estimand(self.estimand),
            alpha=float(self.alpha),
            looks=self.looks,
            split=None if self.split is None else Split(self.split),
        )

    def _arms(self, arms: tuple[str, ...]) -> tuple[str, str]:

        if len(arms) < 2:
            raise complaint(f"compares two arms, and there is {len(arms)}; add one to 'arms'", field="gate")
        for field in ("base", "candidate"):
            name = getattr(self, field)
            if name is None and len(arms) > 2:
                raise complaint(f"is needed with {len(arms)} arms: name one of them", field=("gate", field))
            if name is not None and name not in arms:
                raise complaint(f"no arm {name!r}{suggestion(name, arms)}", field=("gate", field))
        if self.base is not None and self.base == self.candidate:
            raise complaint(f"compares {self.base!r} with itself; name another arm", field=("gate", "candidate"))
        base = self.base or next(name for name in arms if name != self.candidate)
        return base, self.candidate or next(name for name in reversed(arms) if name != base)


class AskingFields(Fields):
    """How the model asks the user."""

    model_config = ConfigDict(
        json_schema_extra={"oneOf": [{"required": ["tool"]}, {"required": ["field", "value"]}]},
    )
    tool: Filled | None = None
    field: Filled | None = None
    value: Any = None

    @model_validator(mode="after")
    def _one_way(self) -> AskingFields:
        by_field = self.given("field", "value")
        if (self.tool is None) is (not by_field) or len(by_field) == 1:
            raise complaint("needs {tool: name}, or {field: name, value: …} of a JSON answer")
        return self

    def made(self) -> Asking:
        if self.tool is not None:
            return Asking(tool=self.tool)
        return Asking(field=self.field, value=canonical_json(self.value))


class RunningFields(Fields):
    """How an evaluation is run, and what it may cost."""

    at_once: Positive = 4
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    max_tokens: Positive | None = None
    max_cost_usd: Amount | None = None
    retries: Count = 4

    @model_validator(mode="after")
    def _costs_something(self) -> RunningFields:
        if self.max_cost_usd is not None and not 1 / MICRO <= self.max_cost_usd <= MICRO:
            raise complaint("must be an amount of dollars above 0, such as 2.50", field="max_cost_usd")
        return self

    def made(self) -> Running:
        money = None if self.max_cost_usd is None else round(self.max_cost_usd * MICRO)
        names = ("at_once", "requests_per_minute", "tokens_per_minute", "max_tokens", "retries")
        return Running(**{name: getattr(self, name) for name in names}, max_cost_micro_usd=money)


class CasesFileFields(Fields):
    """A file of cases, one JSON object a line."""

    path: Filled = Field(alias="from")


def _entry_form(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    return TEXT if "from" in value else LIST if "each" in value else FIELDS


CaseEntry: TypeAlias = Annotated[
    Annotated[CaseFields, Tag(FIELDS)] | Annotated[TemplateFields, Tag(LIST)] | Annotated[CasesFileFields, Tag(TEXT)],
    Discriminator(
        _entry_form,
        custom_error_type="shape",
        custom_error_message="must be a case {ask: …, expect: …}, or {from: cases.jsonl}",
    ),
]


class EvaluationFields(Fields):
    """An evaluation document: ``format: harness-evaluation/1``."""

    model_config = ConfigDict(title="harness-evaluation/1")
    format: Literal["harness-evaluation/1"]
    id: Id | None = None
    title: str = ""
    tools: SourcesForm
    system: str | None = None
    model: ModelForm | None = None
    trials: Positive = 1
    seed: Count = 0
    grading: Annotated[str, Choice(tuple(Grading))] = Grading.MATCHERS.value
    execute: Annotated[bool | str, WithJsonSchema({"enum": [True, False, *_EXECUTE]})] | None = None
    stubs: dict[Filled, StubFields] = Field(default_factory=dict)
    limits: LimitsFields | None = None
    ask_user: AskingFields | None = None
    distractor_tools: SourcesForm | None = None
    padding: History = Field(default_factory=list)
    arms: Arms = Field(default_factory=dict)
    cases: Annotated[
        Annotated[Annotated[list[CaseEntry], Field(min_length=1)], Tag(LIST)] | Annotated[CasesFileFields, Tag(FIELDS)],
        by_shape("a list of cases, or {from: cases.jsonl}"),
    ]
    gate: GateFields | None = None
    running: RunningFields = RunningFields()

    @model_validator(mode="after")
    def _what_runs(self) -> EvaluationFields:
        if self.execute is not None and not isinstance(self.execute, bool) and self.execute not in _EXECUTE:
            raise complaint(f"unknown value {self.execute!r}{suggestion(self.execute, _EXECUTE)}", field="execute")
        executed = self.executed()
        if self.stubs and executed is Execute.FIRST:
            raise complaint("nothing runs where one decision is judged; leave out 'execute', or these", field="stubs")
        if executed is Execute.STUBS and not self.stubs:
            raise complaint("needs 'stubs': what the tools give back", field="execute")
        if self.limits is not None and executed is Execute.FIRST:
            raise complaint("bounds whole loops, and one decision is judged; give 'stubs' or 'execute'", field="limits")
        return self

    @model_validator(mode="after")
    def _arms_have_what_they_take(self) -> EvaluationFields:
        if self.padding and not isinstance(self.padding[0], UserFields):
            raise complaint("must begin with a user's message", field="padding")
        turns = sum(isinstance(message, UserFields) for message in self.padding)
        model, _ = made_evaluation_model(self.model)
        for name, arm in self.arms.items():
            if arm.distractors and self.distractor_tools is None:
                raise complaint("has nothing to take; give 'distractor_tools'", field=("arms", name, "distractors"))
            if (arm.history_turns or 0) > turns:
                what = f"asks for {arm.history_turns} turns, and 'padding' has {turns}"
                raise complaint(what, field=("arms", name, "history_turns"))
            if isinstance(arm.model, ChangedModelFields) and arm.model.name is None and model is None:
                what = "is required and missing: the evaluation names no model"
                raise complaint(what, field=("arms", name, "model", "name"))
        return self

    @model_validator(mode="after")
    def _arms_have_files_of_their_own(self) -> EvaluationFields:
        seen: dict[str, str] = {}
        for name in self.arms:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                what = f"differs from {other!r} in case alone, and files of some disks do not; rename one"
                raise complaint(what, field=("arms", name))
        return self

    @model_validator(mode="after")
    def _gate_can_be_judged(self) -> EvaluationFields:
        if self.gate is not None:
            self.gate.made(self.arm_names())
            if self.gate.looks > self.trials:
                what = f"a look is behind a whole block (every case, each arm, once), and there are {self.trials}"
                raise complaint(f"must be at most 'trials': {what}", field=("gate", "looks"))
        return self

    def arm_names(self) -> tuple[str, ...]:
        return tuple(self.arms) or (ONLY_ARM,)

    def executed(self) -> Execute:
        if isinstance(self.execute, str):
            return Execute(self.execute)
        if self.execute is True:
            return Execute.TOOLS
        return Execute.STUBS if self.stubs and self.execute is None else Execute.FIRST

    def asking(self) -> Asking:
        """How the user is asked; where nothing is said, by a tool of that name."""
        return Asking(tool=ASK_USER) if self.ask_user is None else self.ask_user.made()

    def made_padding(self) -> tuple[ChatMessage, ...]:
        return made_history(self.padding, PADDING_IDS)


ONLY_ARM: Final = "base"
"""The name of the arm where none is given."""
