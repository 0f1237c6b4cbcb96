"""An agent as a tool: what the model is offered; whoever runs agents says how one is started."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

from harness.errors import ConfigurationError, UnsupportedError
from harness.protocols import Tool, ToolContext
from harness.schemas import ArgumentSchema
from harness.tools.registry import checked_name
from harness.tools.replies import listed
from harness.types.agents import AgentSpec
from harness.types.codes import Effect, Isolation, Mode
from harness.types.jsontext import canonical_json

Start = Callable[[AgentSpec, str, ToolContext], Awaitable[str]]
_PARAMETERS: Final = canonical_json(
    {
        "type": "object",
        "properties": {"task": {"type": "string", "description": "what to do, with all that must be known"}},
        "required": ["task"],
        "additionalProperties": False,
    }
)


class AgentTool:
    """A tool whose body is an agent. ``start`` runs it; without one a call raises UnsupportedError.

    An agent settles by itself once it is stopped, so it is waited for and never given up.
    """

    settles_itself = True

    mode: Mode = Mode.PARALLEL
    effect: Effect = Effect.WRITE
    idempotent: bool = False
    isolation: Isolation = Isolation.INLINE
    parameters = _PARAMETERS

    def __init__(self, spec: AgentSpec, start: Start | None = None) -> None:
        self.spec = spec
        self.name = checked_name(spec.name)
        self.description = spec.description
        self._start = start
        self._schema = ArgumentSchema(self.name, self.parameters, closed=True)

    def started_by(self, start: Start) -> AgentTool:
        """The same tool with somebody who runs its agent."""
        return AgentTool(self.spec, start)

    def check(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is allowed, or None."""
        return self._schema.explain(arguments)

    async def call(self, arguments: Mapping[str, Any], context: ToolContext) -> Any:
        """Run the agent; its final answer. Raises ToolError where it came to none."""
        if self._start is None:
            raise UnsupportedError(f"agent {self.name!r}: only the built-in loop runs agents of a scenario")
        return await self._start(self.spec, str(arguments["task"]), context)


def with_agents(tools: Sequence[Tool], agents: Sequence[AgentSpec]) -> tuple[Tool, ...]:
    """The tools and the agents beside them. Raises ConfigurationError for clashes and unknown names."""
    if not agents:
        return tuple(tools)
    names = [*(tool.name for tool in tools), *(agent.name for agent in agents)]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigurationError(f"agents: {listed(twice)} names more than one tool or agent; names must be unique")
    for agent in agents:
        unknown = sorted(set(agent.tools) - set(names))
        if unknown:
            raise ConfigurationError(
                f"agents: {agent.name!r} may use {listed(unknown)}, which the scenario does not have; "
                f"there are: {listed(sorted(names))}"
            )
    return (*tools, *map(AgentTool, agents))
