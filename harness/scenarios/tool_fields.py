"""Fields of a scenario's tools: built-in, a user's own, stubbed, and what they work on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, model_validator

from harness.scenarios.base import UNIQUE, Choice, Count, Fields, Filled, ObjectName, complaint
from harness.scenarios.visible_fields import VisibleFields, made_rules
from harness.types.codes import Code, Effect, Mode
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.scenario import Stub, ToolsSpec

STUB_FORMS: Final = ("returns", "sequence", "cases", "raises")
TOOL_CODES: Final = tuple(code.value for code in list(Code)[: list(Code).index(Code.EMPTY_RESPONSE)])
"""Codes that a tool's result can have."""


def json_pairs(values: Mapping[str, Any]) -> tuple[tuple[str, JsonText], ...]:
    """Names with canonical JSON texts, sorted by name, so that key order never matters."""
    return tuple((name, canonical_json(values[name])) for name in sorted(values))


class StubCaseFields(Fields):
    """What a stub returns where the arguments include these."""

    nullable = ("returns",)
    when: dict[str, Any]
    returns: Any

    def made(self) -> tuple[JsonText, JsonText]:
        return canonical_json(self.when), canonical_json(self.returns)


class StubFields(Fields):
    """What a tool does instead of its body."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [form]} for form in STUB_FORMS]})
    nullable = ("returns",)
    returns: Any = None
    sequence: Annotated[list[Any], Field(min_length=1)] | None = None
    cases: Annotated[list[StubCaseFields], Field(min_length=1)] | None = None
    raises: str | None = None
    code: Annotated[str, Choice(TOOL_CODES)] | None = None
    delay_ms: Count = 0
    delays_ms: Annotated[list[Count], Field(min_length=1)] | None = None
    description: str | None = None
    mode: Annotated[str, Choice(tuple(Mode))] | None = None
    effect: Annotated[str, Choice(tuple(Effect))] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> StubFields:
        given = self.given(*STUB_FORMS)
        if len(given) != 1:
            raise complaint(f"must have one of {', '.join(STUB_FORMS)}, has {', '.join(given) or 'none'}")
        if self.code is not None and given != ["raises"]:
            raise complaint("'code' belongs to 'raises'", field="code")
        return self

    def made(self) -> Stub:
        return Stub(
            returns=canonical_json(self.returns) if self.given("returns") else None,
            sequence=None if self.sequence is None else tuple(canonical_json(value) for value in self.sequence),
            cases=None if self.cases is None else tuple(case.made() for case in self.cases),
            raises=self.raises,
            code=self.code,
            delay_ms=self.delay_ms,
            delays_ms=tuple(self.delays_ms or ()),
            description=self.description,
            mode=None if self.mode is None else Mode(self.mode),
            effect=None if self.effect is None else Effect(self.effect),
        )


class ToolsFields(Fields):
    """Which tools are offered, and what they see."""

    use: Annotated[list[Filled], *UNIQUE] = Field(default_factory=list)
    source: ObjectName | None = Field(default=None, alias="from")
    stub: dict[Filled, StubFields] = Field(default_factory=dict)
    schemas: dict[Filled, dict[str, Any]] = Field(default_factory=dict)
    files: dict[Filled, str] = Field(default_factory=dict)
    memory: dict[str, Any] = Field(default_factory=dict)
    allowed: Annotated[list[Filled], *UNIQUE] | None = None
    visible: Annotated[list[Filled], *UNIQUE] | None = None
    visible_from: list[VisibleFields] = Field(default_factory=list)
    options: dict[Filled, Any] = Field(default_factory=dict)

    def made(self) -> ToolsSpec:
        return ToolsSpec(
            use=tuple(self.use),
            source=self.source,
            stubs=tuple((name, self.stub[name].made()) for name in sorted(self.stub)),
            schemas=json_pairs(self.schemas),
            files=tuple(sorted(self.files.items())),
            memory=json_pairs(self.memory),
            allowed=None if self.allowed is None else tuple(self.allowed),
            visible=None if self.visible is None else tuple(self.visible),
            visible_from=made_rules(self.visible_from),
            options=json_pairs(self.options),
        )
