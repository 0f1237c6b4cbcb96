"""Fields of ``agents``: agents that others call as tools."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Field, model_validator

from harness.scenarios.base import UNIQUE, Fields, Filled, Words, complaint
from harness.scenarios.limits_fields import LimitsFields, limits_document
from harness.scenarios.visible_fields import VisibleFields, made_rules, rules_document
from harness.types.agents import AgentSpec


class AgentFields(Fields):
    """One agent: what is told of it, its system prompt, what it may use, its own limits."""

    description: Words
    system: str | None = None
    tools: Annotated[list[Filled], *UNIQUE] = Field(default_factory=list)
    limits: LimitsFields | None = None
    visible_from: list[VisibleFields] = Field(default_factory=list)

    @model_validator(mode="after")
    def _may_answer(self) -> AgentFields:
        if self.limits is not None and self.limits.steps == 0:
            raise complaint("is 0, so the agent could never answer; allowed: from 1 on", field=("limits", "steps"))
        return self

    def made(self, name: str) -> AgentSpec:
        limits = None if self.limits is None else self.limits.made()
        rules = made_rules(self.visible_from)
        return AgentSpec(name, self.description, self.system, tuple(self.tools), limits, rules)


Agents: TypeAlias = dict[Filled, AgentFields]


def made_agents(agents: Agents) -> tuple[AgentSpec, ...]:
    """The values, in the order of the names."""
    return tuple(agents[name].made(name) for name in sorted(agents))


def agents_document(agents: tuple[AgentSpec, ...]) -> dict[str, Any]:
    """The fields of each agent, what has its default left out."""
    return {agent.name: _agent(agent) for agent in agents}


def _agent(agent: AgentSpec) -> dict[str, Any]:
    written: dict[str, Any] = {"description": agent.description}
    if agent.system is not None:
        written["system"] = agent.system
    if agent.tools:
        written["tools"] = list(agent.tools)
    if agent.visible_from:
        written["visible_from"] = rules_document(agent.visible_from)
    if agent.limits is not None:
        written["limits"] = limits_document(agent.limits)
    return written
