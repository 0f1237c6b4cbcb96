"""Agents as tools: what a model is offered to hand a task on, and whether a scenario's agents fit its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.protocols import Tool, ToolContext
from harness.tools.registry import FunctionTool
from harness.tools.replies import listed
from harness.types.agents import AgentSpec, VisibleRule
from harness.types.scenario import Scenario

_TASK: Final = {
    "type": "object",
    "properties": {"task": {"type": "string", "minLength": 1, "description": "the whole task, in words"}},
    "required": ["task"],
    "additionalProperties": False,
}


class AgentTool(FunctionTool):
    """An agent that is called like any tool, ``name(task)``; ``ask`` starts it and gives what it came to.

    It settles by itself once it is stopped, so it is waited for and never abandoned.
    """

    settles_itself = True

    def __init__(self, spec: AgentSpec, ask: Callable[[str, ToolContext], Awaitable[Any]]) -> None:
        async def hand_over(task: str, context: ToolContext) -> Any:
            return await ask(task, context)

        super().__init__(hand_over, name=spec.name, description=spec.description, parameters=_TASK)


async def _nobody(task: str, context: ToolContext) -> Any:
    raise AssertionError(f"{task!r} was given to an agent that is only listed ({context.call_id})")


def with_agents(scenario: Scenario, tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The scenario's tools and its agents, by name, for the header of a run; these agents do not work.

    Raises ConfigurationError where they do not fit one another.
    """
    plain = tuple(tools)
    check_agents(scenario, [tool.name for tool in plain])
    agents = (AgentTool(spec, _nobody) for spec in scenario.agents)
    return tuple(sorted((*plain, *agents), key=lambda tool: tool.name))


def check_agents(scenario: Scenario, names: Collection[str]) -> None:
    """Raise ConfigurationError for an agent that is called like a tool, and for names that nothing has."""
    agents = [spec.name for spec in scenario.agents]
    if taken := sorted(set(agents) & set(names)):
        raise ConfigurationError(f"agents and tools share a name: {listed(taken)}; give the agent another one")
    known = {*names, *agents}
    _check_rules(scenario.tools.visible, known, "tools.visible")
    for spec in scenario.agents:
        _check_known(spec.tools or (), known, f"agents.{spec.name}.tools")
        own = known if spec.tools is None else set(spec.tools)
        _check_rules(spec.visible, own, f"agents.{spec.name}.visible")
    roles = {role.removeprefix("child:") for role, _ in scenario.models if role.startswith("child:")}
    if idle := sorted(roles - set(agents)):
        raise ConfigurationError(f"models for {listed(idle)}, which are no agents; there are: {listed(agents)}")


def _check_rules(rules: Iterable[VisibleRule], known: Collection[str], where: str) -> None:
    for rule in rules:
        _check_known(rule.tools, known, where)


def _check_known(names: Iterable[str], known: Collection[str], where: str) -> None:
    if unknown := sorted(set(names) - set(known)):
        raise ConfigurationError(f"{where} names {listed(unknown)}; there are: {listed(sorted(known))}")
