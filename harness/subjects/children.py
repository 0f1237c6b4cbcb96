"""Agents that call agents: a driver for each, in one log, stopped with the one that called it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from harness.errors import ToolError
from harness.folds import reason_text, text_of
from harness.loop import Driver, Hooks, Policies, StopSignal, StrictAnswers
from harness.models import RecordingDoor
from harness.protocols import Model, Tool, ToolContext, World
from harness.subjects.remembering import system_text
from harness.tools import Door
from harness.tools.agents import AgentTool
from harness.types.agents import CHILD_ROLE, MAX_DEPTH, AgentSpec
from harness.types.codes import CancelBy, Status
from harness.types.exchange import AssistantMessage
from harness.types.limits import Limits
from harness.types.messages import ChatSystem, JsonText
from harness.types.scenario import NO_PARAMETERS


class Family:
    """Makes the drivers of one run: the main agent's, and a child's for each call of an agent's tool.

    All write one log under their agent paths, and no call id comes twice in it.
    """

    def __init__(self, world: World, *, hooks: Hooks | None, policies: Policies) -> None:
        self._world = world
        self._hooks = hooks
        self._policies = policies
        self._used_ids: set[str] = set()

    def main(self) -> Driver:
        """The driver of the main agent."""
        world, visible = self._world, self._world.scenario.tools.visible
        offered = [tool for tool in world.tools if visible is None or tool.name in visible]
        return self._driver(
            offered,
            limits=world.limits,
            system=system_text(world.scenario, world.memory),
            model=world.model,
            allowed=world.scenario.tools.allowed,
        )

    def _driver(
        self,
        tools: Sequence[Tool],
        *,
        limits: Limits,
        system: str | None,
        model: Model,
        allowed: tuple[str, ...] | None = None,
        agent: str = "",
        depth: int = 0,
    ) -> Driver:
        world = self._world
        start = partial(self._run_child, parent=agent, depth=depth)
        own = [tool.started_by(start) if isinstance(tool, AgentTool) else tool for tool in tools]
        names = {tool.name for tool in own}
        door = Door(
            own,
            log=world.log,
            clock=world.clock,
            allowed=allowed if allowed is None else [name for name in allowed if name in names],
            timeout_ms=limits.tool_timeout_ms,
            grace_ms=limits.grace_ms,
            redact=world.redact,
            faults=world.faults,
            gate=world.gate,
            policy=world.scenario.tool_policy.within(names),
        )
        return Driver(
            model=RecordingDoor(
                StrictAnswers(model),
                world.log,
                agent=agent,
                redact=world.redact,
                others={role: StrictAnswers(other) for role, other in world.models.items()},
            ),
            tools=door,
            log=world.log,
            limits=limits,
            system=(ChatSystem(system),) if system else (),
            parameters=_parameters(world),
            hooks=None if agent else self._hooks,
            policies=replace(self._policies, outcome=None) if agent else self._policies,
            agent=agent,
            used_ids=self._used_ids,
        )

    async def _run_child(self, spec: AgentSpec, task: str, context: ToolContext, *, parent: str, depth: int) -> str:
        """Run a child to its end; the text of its final answer.

        A stop of the parent's turn reaches it at once, as a cancel by its parent (CONFORMANCE 88). Raises
        ToolError where it ended otherwise than completed, and where agents call agents too deep.
        """
        if depth >= MAX_DEPTH:
            raise ToolError(f"agents may call agents {MAX_DEPTH} deep, and {spec.name!r} would be deeper")
        child = self._driver(
            [tool for tool in self._world.tools if tool.name in spec.tools],
            limits=spec.limits or self._world.limits,
            system=spec.system,
            model=self._world.models.get(f"{CHILD_ROLE}{spec.name}", self._world.model),
            agent=_path(parent, context.call_id or context.key),
            depth=depth + 1,
        )
        cancel = partial(child.cancel, by=CancelBy.PARENT)
        child.open()
        stop = context.signal
        try:
            child.send(task)
            if isinstance(stop, StopSignal):
                stop.on_set(cancel)
            await child.run_until_idle()
        finally:
            if isinstance(stop, StopSignal):
                stop.forget(cancel)
            child.close()
        return self._came_to(child, spec, stopped=stop.is_set)

    def _came_to(self, child: Driver, spec: AgentSpec, *, stopped: bool) -> str:
        status, reason = child.outcome
        if status is Status.COMPLETED:
            return self._answer(child.agent)
        if stopped:
            raise asyncio.CancelledError
        said = self._answer(child.agent)
        partly = f"; it had said: {said}" if said else ""
        raise ToolError(f"agent {spec.name!r} ended {status} ({reason_text(reason)}){partly}")

    def _answer(self, agent: str) -> str:
        """The last text that an agent said."""
        said = (e.fact for e in reversed(self._world.log.events) if e.agent == agent)
        return next((text_of(fact.content) for fact in said if isinstance(fact, AssistantMessage)), "")


def _path(parent: str, call: str) -> str:
    """A child's path: that of its parent, then its call; a generated id has the parent's path in it already."""
    return call if not parent or call.startswith(f"{parent}/") else f"{parent}/{call}"


def _parameters(world: World) -> JsonText:
    model = world.scenario.model
    return model.parameters if model else NO_PARAMETERS
