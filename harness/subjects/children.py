"""Child agents of the built-in loop: a driver of its own for each call of an agent, on the same log.

A child has its own history, inbox, limits and turn numbers; call ids are unique in the run. Its events carry its
path. It begins behind the ``tool/start`` of its call and has settled before that body ends, so a parent ends
after its children (CONFORMANCE 88). A run has one ``run/start`` and ``run/end``, those of the root.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from harness.errors import ToolError
from harness.folds import CallIds, limits_to_json, reason_text, text_of
from harness.loop import Driver, Offering, Policies, StopSignal, StrictAnswers
from harness.loop.offering import Visible
from harness.models import RecordingDoor
from harness.protocols import Model, Tool, ToolContext, World
from harness.tools import Door
from harness.tools.agents import AgentTool, check_agents
from harness.types.agents import (
    AGENT_NOTE,
    CHILD_ROLE,
    MAX_DEPTH,
    AgentSpec,
    begin_note,
    child_path,
    context_at,
    visible_at,
)
from harness.types.codes import CancelBy, Code, Origin, Status
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.lifecycle import Note, TurnEnd
from harness.types.limits import DEFAULT_MAX_STEPS, Limits
from harness.types.messages import ChatSystem, Messages
from harness.types.scenario import NO_PARAMETERS, Scenario

GRACE_SHARE = 3
"""A child has at most this part of its parent's grace, so that it has settled when the parent's is over."""


class Crew:
    """The agents of one run. Raises ConfigurationError where they do not fit the run's tools."""

    def __init__(self, world: World) -> None:
        check_agents(world.scenario, [tool.name for tool in world.tools])
        self._world = world
        self._begun: set[str] = set()

    def tools(self, agent: str, ids: CallIds, *, grace_ms: int, depth: int = 0) -> tuple[Tool, ...]:
        """All tools of the run and its agents, as those of one agent; what it is offered of them is another matter."""
        agents = self._world.scenario.agents
        return (*self._world.tools, *(self._tool(spec, agent, ids, grace_ms, depth + 1) for spec in agents))

    def _tool(self, spec: AgentSpec, parent: str, ids: CallIds, grace_ms: int, depth: int) -> Tool:
        async def ask(task: str, context: ToolContext) -> Any:
            path = child_path(parent, str(context.call_id))
            if path in self._begun:
                raise ToolError(f"the call {path!r} has an agent already: one call starts one", code=Code.TOOL_FAILED)
            self._begun.add(path)
            own = spec.limits or replace(self._world.limits, steps=DEFAULT_MAX_STEPS)
            limits = replace(own, grace_ms=min(own.grace_ms, grace_ms // GRACE_SHARE))
            driver = self._driver(spec, path, ids.of_child(path), limits, depth)
            self._world.log.record(
                Note(AGENT_NOTE, begin_note(spec.name, limits_to_json(limits))), origin=Origin.SUBJECT, agent=path
            )
            return await self._run(spec, path, driver, task, context)

        return AgentTool(spec, ask)

    async def _run(self, spec: AgentSpec, path: str, driver: Driver, task: str, context: ToolContext) -> Any:
        """Drive a child to its end: its answer. Raises ToolError for any other end, CancelledError when stopped."""
        signal, log = context.signal, self._world.log
        assert isinstance(signal, StopSignal), "agents are called by the built-in loop, with its own signal"
        begun = len(log.events)

        def stop() -> None:  # at once, so that nothing of the child starts between the parent's stop and its own
            driver.cancel(by=CancelBy.PARENT, reason="its parent was stopped")

        driver.open()
        signal.on_set(stop)
        try:
            if not signal.is_set:
                driver.send(task)
            await driver.run_until_idle()
        finally:
            signal.forget(stop)
            driver.close()
        return self._outcome(spec, path, begun, signal)

    def _outcome(self, spec: AgentSpec, path: str, begun: int, signal: StopSignal) -> str:
        facts = [event.fact for event in self._world.log.events[begun:] if event.agent == path]
        end = next((fact for fact in reversed(facts) if isinstance(fact, TurnEnd)), None)
        if end is not None and end.status is Status.COMPLETED:
            said = next((fact for fact in reversed(facts) if isinstance(fact, AssistantMessage | ToolResult)), None)
            return text_of(said.content) if said else ""
        if signal.is_set and (end is None or end.status is Status.CANCELLED):
            raise asyncio.CancelledError
        how = "without a turn" if end is None else f"{end.status} ({reason_text(end.reason)})"
        raise ToolError(f"the agent {spec.name!r} has no answer: it ended {how}", code=Code.TOOL_FAILED)

    def _driver(self, spec: AgentSpec, path: str, ids: CallIds, limits: Limits, depth: int) -> Driver:
        world, scenario = self._world, self._world.scenario
        tools = self.tools(path, ids, grace_ms=limits.grace_ms, depth=depth)
        model = world.models.get(f"{CHILD_ROLE}{spec.name}", world.model)
        door = Door(
            tools,
            log=world.log,
            clock=world.clock,
            allowed=allowed_of(scenario, tools),
            timeout_ms=limits.tool_timeout_ms,
            grace_ms=limits.grace_ms,
            redact=world.redact,
            faults=world.faults,
            gate=world.gate,
            policy=scenario.tool_policy,
        )
        others: Mapping[str, Model] = {role: StrictAnswers(one) for role, one in world.models.items()}
        return Driver(
            model=RecordingDoor(StrictAnswers(model), world.log, redact=world.redact, others=others),
            tools=door,
            log=world.log,
            limits=limits,
            system=(ChatSystem(spec.system),) if spec.system else (),
            parameters=scenario.model.parameters if scenario.model else NO_PARAMETERS,
            policies=Policies(retry=scenario.retry, offering=Offering(visible=_visible_to(spec, world, depth))),
            agent=path,
            ids=ids,
        )


def allowed_of(scenario: Scenario, tools: Collection[Tool]) -> tuple[str, ...] | None:
    """The scenario's policy for one agent: of what it names, what that agent has."""
    names = {tool.name for tool in tools}
    allowed = scenario.tools.allowed
    return None if allowed is None else tuple(name for name in allowed if name in names)


def offering_of(scenario: Scenario) -> Offering:
    """What the scenario says of the root's tools and runtime context."""
    rules, values = scenario.tools.visible, scenario.runtime_context

    def visible(_: Messages, turn: int, step: int) -> tuple[str, ...] | None:
        return visible_at(rules, turn=turn, step=step)

    def context(turn: int) -> str | None:
        return context_at(values, turn=turn)

    return Offering(visible if rules else None, context if values else None)


def _visible_to(spec: AgentSpec, world: World, depth: int) -> Visible:
    """A child is offered its tools, at the deepest level no agent; its rules narrow that."""
    own = tuple(tool.name for tool in world.tools) if spec.tools is None else spec.tools
    agents = {one.name for one in world.scenario.agents} if depth >= MAX_DEPTH else set()

    def visible(_: Messages, turn: int, step: int) -> tuple[str, ...]:
        now = visible_at(spec.visible, turn=turn, step=step)
        return tuple(name for name in (own if now is None else now) if name not in agents)

    return visible
