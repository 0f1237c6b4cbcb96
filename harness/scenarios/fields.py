"""Fields of a scenario: the whole document and its limits."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from harness.scenarios.agent_fields import Agents, made_agents
from harness.scenarios.base import FIELDS, LIST, TEXT, UNIQUE, Choice, Count, Fields, Filled, by_shape, complaint
from harness.scenarios.context_fields import ContextFields
from harness.scenarios.expect_fields import ExpectFields
from harness.scenarios.fault_fields import FaultFields, made_faults
from harness.scenarios.inject_fields import InjectFields
from harness.scenarios.limits_fields import LimitsFields
from harness.scenarios.model_fields import ModelForm, Roles, made_model, made_roles
from harness.scenarios.outcome_fields import OutcomeFields
from harness.scenarios.policy_fields import PolicyFields
from harness.scenarios.retry_fields import RetryFields
from harness.scenarios.script_fields import Script, follows_history, made_script
from harness.scenarios.tool_fields import ToolsFields
from harness.scenarios.tool_policy_fields import ToolPolicyFields
from harness.scenarios.visible_fields import Context, made_context
from harness.types.codes import ClockKind
from harness.types.context import SUMMARISER
from harness.types.messages import CallId
from harness.types.retrying import FALLBACK
from harness.types.scenario import Scenario
from harness.types.script import ScriptFollows

CLOCKS: Final = (ClockKind.VIRTUAL.value, ClockKind.SYSTEM.value)
FOLLOWS: Final = tuple(follows.value for follows in ScriptFollows)
Id: TypeAlias = Annotated[str, Field(min_length=1, max_length=400)]


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
        Annotated[list[Filled], *UNIQUE, Tag(LIST)] | Annotated[ToolsFields, Tag(FIELDS)],
        by_shape("a list of built-in tools, or {use, from, stub, …}"),
    ] = Field(default_factory=list)
    model: ModelForm | None = None
    script: Script | None = None
    script_follows: Annotated[str, Choice(FOLLOWS)] = ScriptFollows.ORDER.value
    allow_leftovers: bool = False
    models: Roles = Field(default_factory=dict)
    faults: list[FaultFields] = Field(default_factory=list)
    limits: LimitsFields = LimitsFields()
    inject: list[InjectFields] = Field(default_factory=list)
    release: Annotated[list[Filled], *UNIQUE] = Field(default_factory=list)
    expect: ExpectFields = ExpectFields()
    expect_after: ExpectFields | None = None
    checks: Annotated[list[Filled], *UNIQUE] = Field(default_factory=list)
    tool_policy: ToolPolicyFields = ToolPolicyFields()
    outcome: OutcomeFields | None = None
    policy: PolicyFields = PolicyFields()
    retry: RetryFields = RetryFields()
    agents: Agents = Field(default_factory=dict)
    runtime_context: Context | None = None
    context: ContextFields = ContextFields()
    clock: Annotated[str, Choice(CLOCKS)] | None = None
    seed: Count = 0

    @model_validator(mode="after")
    def _one_task_form(self) -> ScenarioFields:
        given = self.given("task", "tasks")
        if len(given) != 1:
            raise complaint(f"needs 'task' (text) or 'tasks' (a list), has {' and '.join(given) or 'neither'}")
        return self

    @model_validator(mode="after")
    def _plain_by_history(self) -> ScenarioFields:
        if self.script_follows == ScriptFollows.HISTORY and not follows_history(made_script(self.script or [])):
            raise complaint("follows 'history' only without branches, failures and hangs", field="script_follows")
        return self

    @model_validator(mode="after")
    def _one_fault_a_request(self) -> ScenarioFields:
        made_faults(self.faults)
        return self

    @model_validator(mode="after")
    def _model_to_fall_back_on(self) -> ScenarioFields:
        if self.retry.fallback and FALLBACK not in self.models:
            raise complaint(f"has a fallback, and 'models' has no {FALLBACK!r}", field="retry")
        role = self.context.needs_role()
        if role is not None and role not in self.models:
            raise complaint(f"compacts by {role!r}, and 'models' has no {role!r}", field="context")
        if self.tool_policy.made().summarises and SUMMARISER not in self.models:
            raise complaint(f"has long results summarised, and 'models' has no {SUMMARISER!r}", field="tool_policy")
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
            model=made_model(self.model),
            script=None if self.script is None else made_script(self.script),
            script_follows=ScriptFollows(self.script_follows),
            allow_leftovers=self.allow_leftovers,
            models=made_roles(self.models),
            faults=made_faults(self.faults),
            limits=self.limits.made(),
            inject=tuple(injection.made() for injection in self.inject),
            release=tuple(map(CallId, self.release)),
            expect=self.expect.made(),
            expect_after=None if self.expect_after is None else self.expect_after.made(),
            checks=tuple(self.checks),
            tool_policy=self.tool_policy.made(),
            outcome=None if self.outcome is None else self.outcome.made(),
            policy=self.policy.made(),
            retry=self.retry.made(),
            agents=made_agents(self.agents),
            runtime_context=made_context(self.runtime_context),
            context=self.context.made(),
            clock=None if self.clock is None else ClockKind(self.clock),
            tags=tuple(self.tags),
            covers=self.covers.made(),
            skip=self.skip,
            seed=self.seed,
        )
