"""Fields of child agents, visible tools and runtime context; read, and written back."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag, WithJsonSchema

from harness.scenarios.base import FIELDS, LIST, Fields, Filled, Positive, by_shape, complaint
from harness.scenarios.limits_fields import LimitsFields, limits_document
from harness.types.agents import AgentSpec, VisibleRule
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.scenario import Scenario

_NAME: Final = r"^[A-Za-z0-9_-]{1,64}$"


def _form(value: Any) -> str:
    return FIELDS if isinstance(value, dict) else "<name>"


class VisibleFields(Fields):
    """What is offered from a turn and a step on, both counted from 1."""

    tools: list[Filled]
    from_turn: Positive = 1
    from_step: Positive = 1

    def made(self) -> VisibleRule:
        return VisibleRule(tuple(self.tools), self.from_turn, self.from_step)


VisibleForm: TypeAlias = list[
    Annotated[
        Annotated[Filled, Tag("<name>")] | Annotated[VisibleFields, Tag(FIELDS)],
        Discriminator(_form),
    ]
]


def _one_kind(entries: VisibleForm) -> VisibleForm:
    if len({isinstance(entry, str) for entry in entries}) > 1:
        raise complaint("must hold names of tools, or rules {tools, from_turn, from_step}, not both")
    return entries


Visible: TypeAlias = Annotated[VisibleForm, AfterValidator(_one_kind)]


def made_visible(entries: VisibleForm | None) -> tuple[VisibleRule, ...]:
    """Rules; a list of names is one rule for every step, and an empty one offers nothing."""
    if entries is None:
        return ()
    names = tuple(entry for entry in entries if isinstance(entry, str))
    rules = tuple(entry.made() for entry in entries if not isinstance(entry, str))
    return rules or (VisibleRule(names),)


def visible_document(rules: tuple[VisibleRule, ...]) -> list[Any]:
    """The names alone where they hold always."""
    if len(rules) == 1 and rules[0] == VisibleRule(rules[0].tools):
        return list(rules[0].tools)
    return [_rule(rule) for rule in rules]


def _rule(rule: VisibleRule) -> dict[str, Any]:
    since = {"from_turn": rule.from_turn, "from_step": rule.from_step}
    return {"tools": list(rule.tools), **{name: number for name, number in since.items() if number > 1}}


class AgentFields(Fields):
    """An agent that can be called like a tool, with a task."""

    description: Filled
    system: str | None = None
    tools: list[Filled] | None = None
    visible: Visible | None = None
    limits: LimitsFields | None = None

    def made(self, name: str) -> AgentSpec:
        tools = None if self.tools is None else tuple(self.tools)
        limits = None if self.limits is None else self.limits.made()
        return AgentSpec(name, self.description, self.system, tools, made_visible(self.visible), limits)


AgentName: TypeAlias = Annotated[str, Field(pattern=_NAME)]
Agents: TypeAlias = dict[AgentName, AgentFields]
Context: TypeAlias = Annotated[
    Annotated[dict[str, Any], Tag(FIELDS)]
    | Annotated[list[Annotated[dict[str, Any], WithJsonSchema({"type": "object"})]], Field(min_length=1), Tag(LIST)],
    by_shape("a mapping, or a list of mappings, one a turn"),
]


def made_agents(agents: Agents) -> tuple[AgentSpec, ...]:
    """The values in the order of the names."""
    return tuple(agents[name].made(name) for name in sorted(agents))


def made_context(context: Any) -> tuple[JsonText, ...]:
    """Canonical JSON texts, one a turn."""
    values = [context] if isinstance(context, dict) else context or []
    return tuple(canonical_json(value) for value in values)


def agents_document(scenario: Scenario) -> dict[str, Any]:
    """``agents`` and ``runtime_context`` as they are written; {} for neither."""
    written: dict[str, Any] = {}
    if scenario.agents:
        written["agents"] = {spec.name: _agent(spec) for spec in scenario.agents}
    if scenario.runtime_context:
        values = [json.loads(text) for text in scenario.runtime_context]
        written["runtime_context"] = values[0] if len(values) == 1 and values[0] else values
    return written


def _agent(spec: AgentSpec) -> dict[str, Any]:
    written: dict[str, Any] = {"description": spec.description}
    if spec.system is not None:
        written["system"] = spec.system
    if spec.tools is not None:
        written["tools"] = list(spec.tools)
    if spec.visible:
        written["visible"] = visible_document(spec.visible)
    if spec.limits is not None:
        written["limits"] = limits_document(spec.limits)
    return written
