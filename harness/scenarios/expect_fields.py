"""Fields of what a scenario expects."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import ConfigDict, Field, Tag, WithJsonSchema, model_validator

from harness.scenarios.base import FIELDS, LIST, TEXT, Choice, Count, Fields, Filled, Regex, by_shape, complaint
from harness.scenarios.effect_fields import EffectsFields, effects_made
from harness.scenarios.matchers import Matchers
from harness.scenarios.tool_fields import TOOL_CODES
from harness.types.codes import Status
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.reasons import Reason
from harness.types.scenario import CallOrder, Expectations, ExpectedCall, ExpectedCalls, Provenance

STATUSES: Final = tuple(status.value for status in Status)
REASONS: Final = tuple(reason.__dataclass_fields__["kind"].default for reason in get_args(Reason))
RESULTS: Final = ("OK", *TOOL_CODES)
MATCHERS: Final = ("contains", "regex", "any")

WantedCall: TypeAlias = Annotated[
    Annotated[Filled, Tag(TEXT)]
    | Annotated[Annotated[dict[Filled, Matchers], Field(min_length=1, max_length=1)], Tag(FIELDS)],
    by_shape("a tool's name, or {tool: {arguments}}"),
]
WantedCalls: TypeAlias = list[WantedCall]


def _wanted(call: str | dict[str, dict[str, Any]]) -> ExpectedCall:
    if isinstance(call, str):
        return ExpectedCall(call)
    name, arguments = next(iter(call.items()))
    return ExpectedCall(name, canonical_json(arguments))


class OrderFields(Fields):
    """Calls to compare in other ways than exactly."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    exact: WantedCalls | None = None
    in_order: WantedCalls | None = Field(default=None, alias="in-order")
    any_order: WantedCalls | None = Field(default=None, alias="any-order")
    subset: WantedCalls | None = None
    superset: WantedCalls | None = None

    @model_validator(mode="after")
    def _asks_something(self) -> OrderFields:
        if not self.model_fields_set:
            raise complaint(f"asks nothing; give one of {', '.join(self.known())}")
        return self

    def made(self) -> tuple[ExpectedCalls, ...]:
        by_order = {order: getattr(self, order.value.replace("-", "_")) for order in CallOrder}
        return tuple(
            ExpectedCalls(order, tuple(map(_wanted, calls))) for order, calls in by_order.items() if calls is not None
        )


class AnswerFields(Fields):
    """A matcher of the final answer."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    contains: str | None = None
    regex: Regex | None = None
    any: Literal[True] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> AnswerFields:
        if len(self.model_fields_set) != 1:
            raise complaint(f"must have one of {', '.join(MATCHERS)}; write the answer itself to compare it whole")
        return self

    def made(self) -> JsonText:
        name = next(iter(self.model_fields_set))
        return canonical_json({f"${name}": getattr(self, name)})


class EndStateFields(Fields):
    """Matchers of what the run left behind, by where it is."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    memory: Matchers | None = None
    files: Matchers | None = None

    def made(self) -> JsonText:
        return canonical_json({name: getattr(self, name) for name in self.model_fields_set})


class ProvenanceFields(Fields):
    """Claims that need evidence."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    answer: list[Regex] = Field(default_factory=list)
    arguments: dict[Filled, list[Filled]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _asks_something(self) -> ProvenanceFields:
        if not self.answer and not any(self.arguments.values()):
            raise complaint("asks for the evidence of nothing; give expressions for the answer, or names of arguments")
        return self

    def made(self) -> Provenance:
        return Provenance(tuple(self.answer), tuple((tool, tuple(names)) for tool, names in self.arguments.items()))


def provenance_document(wanted: Provenance | None) -> dict[str, Any]:
    """The fields that say something."""
    if wanted is None:
        return {}
    written = {"answer": list(wanted.answer), "arguments": {tool: list(names) for tool, names in wanted.arguments}}
    return {name: value for name, value in written.items() if value}


class ExpectFields(Fields):
    """Everything that can be expected; what is left out is not asked."""

    status: Annotated[str, Choice(STATUSES)] | None = None
    reason: Annotated[str, Choice(REASONS)] | None = None
    steps: Count | None = None
    messages: Count | None = None
    turns: Count | None = None
    calls: (
        Annotated[
            Annotated[WantedCalls, Tag(LIST)] | Annotated[OrderFields, Tag(FIELDS)],
            by_shape("a list of calls (compared exactly), or {in-order: […]} and the like"),
        ]
        | None
    ) = None
    never: list[Filled] = Field(default_factory=list)
    before: list[Annotated[list[Filled], Field(min_length=2, max_length=2)]] = Field(default_factory=list)
    at_most_once: list[Filled] = Field(default_factory=list)
    answer: (
        Annotated[
            Annotated[str, Tag(TEXT)] | Annotated[AnswerFields, Tag(FIELDS)],
            by_shape("text, or a matcher such as {contains: …}"),
        ]
        | None
    ) = None
    results: list[Annotated[Annotated[str, Choice(RESULTS)] | None, WithJsonSchema({"enum": [*RESULTS, None]})]] = (
        Field(default_factory=list)
    )
    end_state: EndStateFields | None = None
    error: Filled | None = None
    provenance: ProvenanceFields | None = None
    effects: EffectsFields = Field(default_factory=dict)

    def made(self) -> Expectations:
        return Expectations(
            status=self.status,
            reason=self.reason,
            steps=self.steps,
            messages=self.messages,
            turns=self.turns,
            calls=self._calls(),
            never=tuple(self.never),
            before=tuple((first, second) for first, second in self.before),
            at_most_once=tuple(self.at_most_once),
            answer=self._answer(),
            result_codes=tuple((n, code) for n, code in enumerate(self.results, start=1) if code is not None),
            end_state=None if self.end_state is None else self.end_state.made(),
            error=self.error,
            provenance=None if self.provenance is None else self.provenance.made(),
            effects=effects_made(self.effects),
        )

    def _calls(self) -> tuple[ExpectedCalls, ...]:
        if self.calls is None:
            return ()
        if isinstance(self.calls, OrderFields):
            return self.calls.made()
        return (ExpectedCalls(CallOrder.EXACT, tuple(map(_wanted, self.calls))),)

    def _answer(self) -> JsonText | None:
        if self.answer is None:
            return None
        return canonical_json(self.answer) if isinstance(self.answer, str) else self.answer.made()
