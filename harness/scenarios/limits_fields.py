"""Fields of what is enforced: limits, prices, repeats; read, and written back."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, TEXT, UNIQUE, Count, Fields, Filled, Positive, complaint
from harness.types.limits import (
    DEFAULT_GRACE_MS,
    DEFAULT_MAX_STEPS,
    DEFAULT_REMINDERS,
    DEFAULT_REPEATS,
    DEFAULT_TOOL_CAP,
    DEFAULT_WALL_MS,
    Limits,
    Prices,
    Repeats,
)

UNLIMITED: Final = "none"
NUMBER: Final = "<number>"


def _form(value: Any) -> str | None:
    if isinstance(value, dict):
        return FIELDS
    return TEXT if value == UNLIMITED else NUMBER


Steps: TypeAlias = Annotated[
    Annotated[Literal["none"], Tag(TEXT)] | Annotated[Count, Tag(NUMBER)], Discriminator(_form)
]
AtLeastTwo: TypeAlias = Annotated[int, Field(ge=2)]


class PricesFields(Fields):
    """Micro-dollars per million tokens."""

    input: Count
    output: Count

    def made(self) -> Prices:
        return Prices(self.input, self.output)


class RepeatsFields(Fields):
    """When going round in circles ends a turn; without any threshold equal answers do, with reminders before."""

    same: AtLeastTwo | None = None
    alternating: AtLeastTwo | None = None
    same_result: AtLeastTwo | None = None
    remind: Annotated[list[AtLeastTwo], *UNIQUE] = Field(default_factory=list)
    exclude: Annotated[list[Filled], *UNIQUE] = Field(default_factory=list)

    def made(self) -> Repeats:
        same, remind = self.same, tuple(self.remind)
        if not self.given("same", "alternating", "same_result", "remind"):
            same, remind = DEFAULT_REPEATS, DEFAULT_REMINDERS
        return Repeats(same, self.alternating, self.same_result, remind, tuple(self.exclude))


class LimitsFields(Fields):
    """What is enforced (all in whole steps, calls, tokens, micro-dollars or milliseconds)."""

    steps: Steps = DEFAULT_MAX_STEPS
    wall_ms: Positive = DEFAULT_WALL_MS
    grace_ms: Count = DEFAULT_GRACE_MS
    parallel_tools: Positive = DEFAULT_TOOL_CAP
    tool_timeout_ms: Positive | None = None
    turn_wall_ms: Positive | None = None
    tool_calls: Count | None = None
    tokens: Positive | None = None
    cost_micro_usd: Positive | None = None
    prices: PricesFields | None = None
    context_tokens: Positive | None = None
    repeats: (
        Annotated[Annotated[AtLeastTwo, Tag(NUMBER)] | Annotated[RepeatsFields, Tag(FIELDS)], Discriminator(_form)]
        | None
    ) = None

    @model_validator(mode="after")
    def _money_has_a_price(self) -> LimitsFields:
        if (self.cost_micro_usd is None) is not (self.prices is None):
            raise complaint("'cost_micro_usd' and 'prices' belong together; give both: {input: 150000, output: 600000}")
        return self

    def made(self) -> Limits:
        made = {name: getattr(self, name) for name in self.known()}
        repeats = self.repeats
        made["steps"] = None if self.steps == UNLIMITED else self.steps
        made["prices"] = self.prices and self.prices.made()
        made["repeats"] = repeats.made() if isinstance(repeats, RepeatsFields) else repeats and Repeats(same=repeats)
        return Limits(**made)


def limits_document(limits: Limits) -> dict[str, Any]:
    """The fields of a document's limits; what has its default is left out."""
    default = Limits()
    pairs = {spec.name: getattr(limits, spec.name) for spec in fields(limits)}
    written = {name: value for name, value in pairs.items() if value != getattr(default, name)}
    if limits.steps is None:
        written["steps"] = UNLIMITED
    if limits.prices is not None:
        written["prices"] = {"input": limits.prices.input, "output": limits.prices.output}
    if limits.repeats is not None:
        written["repeats"] = _repeats(limits.repeats)
    return written


def _repeats(repeats: Repeats) -> Any:
    if repeats == Repeats(same=repeats.same) and repeats.same is not None:
        return repeats.same
    pairs = ((spec.name, getattr(repeats, spec.name)) for spec in fields(repeats))
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs if value}
