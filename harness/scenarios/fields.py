"""Fields of a scenario: the whole document and its limits."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, LIST, TEXT, Choice, Count, Fields, Filled, by_shape, complaint
from harness.scenarios.expect_fields import ExpectFields
from harness.scenarios.inject_fields import InjectFields
from harness.scenarios.limits_fields import LimitsFields
from harness.scenarios.outcome_fields import OutcomeFields
from harness.scenarios.script_fields import Script, made_script
from harness.scenarios.tool_fields import ToolsFields
from harness.types.codes import ClockKind
from harness.types.jsontext import canonical_json
from harness.types.scenario import ModelSpec, Scenario

CLOCKS: Final = (ClockKind.VIRTUAL.value, ClockKind.SYSTEM.value)
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=400)]


class ModelFields(Fields):
    """The model of a run that is recorded or live."""

    name: Filled
    parameters: dict[str, Any] = Field(default_factory=dict)

    def made(self) -> ModelSpec:
        return ModelSpec(self.name, canonical_json(self.parameters))


def _number_form(value: Any) -> str | None:
    if isinstance(value, str):
        return TEXT
    return "<number>" if isinstance(value, int) and not isinstance(value, bool) else None


Number: TypeAlias = Annotated[
    Annotated[Filled, Tag(TEXT)] | Annotated[int, Tag("<number>")],
    Discriminator(
        _number_form,
        custom_error_type="shape",
        custom_error_message="must be a number of a catalogue, such as 7 or 96a",
    ),
]
Numbers: TypeAlias = list[Number]
COVERS: Final = {"conformance": "conformance", "articles": "article", "public_cases": "public_case"}
"""Fields of ``covers`` and the prefix of their entries in the value."""


class CoversFields(Fields):
    """Numbers of catalogues that the scenario carries."""

    conformance: Numbers = Field(default_factory=list)
    articles: Numbers = Field(default_factory=list)
    public_cases: Numbers = Field(default_factory=list)

    def made(self) -> tuple[str, ...]:
        return tuple(f"{prefix}:{number}" for name, prefix in COVERS.items() for number in getattr(self, name))


class ScenarioFields(Fields):
    """A scenario document: ``format: harness-scenario/1``."""

    model_config = ConfigDict(
        title="harness-scenario/1", json_schema_extra={"oneOf": [{"required": ["task"]}, {"required": ["tasks"]}]}
    )
    later = ("release", "models")
    format: Literal["harness-scenario/1"]
    id: Id | None = None
    title: str = ""
    tags: list[Filled] = Field(default_factory=list)
    covers: CoversFields = CoversFields()
    skip: Filled | None = None
    system: str | None = None
    task: str | None = None
    tasks: Annotated[list[str], Field(min_length=1)] | None = None
    tools: Annotated[
        Annotated[list[Filled], Tag(LIST)] | Annotated[ToolsFields, Tag(FIELDS)],
        by_shape("a list of built-in tools, or {use, from, stub, …}"),
    ] = Field(default_factory=list)
    model: (
        Annotated[
            Annotated[Filled, Tag(TEXT)] | Annotated[ModelFields, Tag(FIELDS)],
            by_shape("a model's name, or {name, parameters}"),
        ]
        | None
    ) = None
    script: Script | None = None
    allow_leftovers: bool = False
    limits: LimitsFields = LimitsFields()
    inject: list[InjectFields] = Field(default_factory=list)
    expect: ExpectFields = ExpectFields()
    checks: list[Filled] = Field(default_factory=list)
    outcome: OutcomeFields | None = None
    clock: Annotated[str, Choice(CLOCKS)] | None = None
    seed: Count = 0

    @model_validator(mode="after")
    def _one_task_form(self) -> ScenarioFields:
        given = self.given("task", "tasks")
        if len(given) != 1:
            raise complaint(f"needs 'task' (text) or 'tasks' (a list), has {' and '.join(given) or 'neither'}")
        return self

    def made(self, identity: str) -> Scenario:
        """The value, without digest, source and line."""
        tools = ToolsFields.model_construct(use=self.tools) if isinstance(self.tools, list) else self.tools
        return Scenario(
            id=self.id or identity,
            tasks=tuple(self.tasks or [self.task or ""]),
            title=self.title,
            system=self.system,
            tools=tools.made(),
            model=self._model(),
            script=None if self.script is None else made_script(self.script),
            allow_leftovers=self.allow_leftovers,
            limits=self.limits.made(),
            inject=tuple(injection.made() for injection in self.inject),
            expect=self.expect.made(),
            checks=tuple(self.checks),
            outcome=None if self.outcome is None else self.outcome.made(),
            clock=None if self.clock is None else ClockKind(self.clock),
            tags=tuple(self.tags),
            covers=self.covers.made(),
            skip=self.skip,
            seed=self.seed,
        )

    def _model(self) -> ModelSpec | None:
        if isinstance(self.model, str):
            return ModelSpec(self.model)
        return None if self.model is None else self.model.made()
