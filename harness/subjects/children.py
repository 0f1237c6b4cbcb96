"""Agents that call agents: a driver for each, in one log, stopped with the one that called it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from harness.errors import ToolError
from harness.folds import limits_to_json, reason_text, text_of
from harness.loop import Driver, Hooks, Policies, StopSignal
from harness.models import RecordingDoor
from harness.models.strict import StrictAnswers
from harness.protocols import Model, Tool, ToolContext, World
from harness.subjects.offering import stepwise, told_before_steps
from harness.subjects.remembering import system_text
from harness.subjects.summarising import shorten_of
from harness.tools import Door
from harness.tools.agents import AgentTool
from harness.types.agents import AGENT_NOTE, CHILD_ROLE, MAX_DEPTH, AgentSpec, VisibleRule, begin_note, child_path
from harness.types.codes import CancelBy, Origin, Status
from harness.types.exchange import AssistantMessage
from harness.types.lifecycle import Note, TurnEnd
from harness.types.limits import DEFAULT_MAX_STEPS, Limits
from harness.types.messages import ChatSystem, JsonText
from harness.types.scenario import NO_PARAMETERS

GRACE_SHARE = 3
"""A child has at most this part of its parent's grace, so that it has settled while that lasts (CONFORMANCE 88)."""


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
            rules=world.scenario.tools.visible_from,
        )

    def _hooks_of_main(self) -> Hooks:
        given = self._hooks or Hooks()
        told = told_before_steps(self._world.scenario.runtime_context, self._world.log)
        return replace(given, pre_step=(*told, *given.pre_step)) if told else given

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
        rules: tuple[VisibleRule, ...] = (),
    ) -> Driver:
        world = self._world
        start = partial(self._run_child, parent=agent, depth=depth, grace_ms=limits.grace_ms)
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
            hide=world.hide,
            faults=world.faults,
            gate=world.gate,
            policy=world.scenario.tool_policy.within(names),
            shorten=shorten_of(world, limits, agent),
        )
        return Driver(
            model=RecordingDoor(
                StrictAnswers(model),
                world.log,
                agent=agent,
                redact=world.redact,
                others={role: StrictAnswers(other) for role, other in world.models.items()},
            ),
            tools=stepwise(door, rules, world.log, agent),
            log=world.log,
            limits=limits,
            system=(ChatSystem(system),) if system else (),
            parameters=_parameters(world),
            hooks=None if agent else self._hooks_of_main(),
            policies=replace(self._policies, outcome=None) if agent else self._policies,
            agent=agent,
            used_ids=self._used_ids,
        )

    async def _run_child(
        self, spec: AgentSpec, task: str, context: ToolContext, *, parent: str, depth: int, grace_ms: int
    ) -> str:
        """Run a child to its end; the text of its final answer.

        A stop of the parent's turn reaches it at once, as a cancel by its parent (CONFORMANCE 88). Raises
        ToolError where it ended otherwise than completed, and where agents call agents too deep.
        """
        if depth >= MAX_DEPTH:
            raise ToolError(f"agents may call agents {MAX_DEPTH} deep, and {spec.name!r} would be deeper")
        limits = self._limits_of(spec, grace_ms)
        child = self._driver(
            [tool for tool in self._world.tools if tool.name in spec.tools],
            limits=limits,
            system=spec.system,
            model=self._world.models.get(f"{CHILD_ROLE}{spec.name}", self._world.model),
            agent=child_path(parent, context.call_id or context.key),
            depth=depth + 1,
            rules=spec.visible_from,
        )
        begins = Note(AGENT_NOTE, begin_note(spec.name, limits_to_json(limits)))
        self._world.log.record(begins, origin=Origin.SUBJECT, agent=child.agent)
        cancel = partial(child.cancel, by=CancelBy.PARENT)
        child.open()
        stop = context.signal
        try:
            if isinstance(stop, StopSignal):
                stop.on_set(cancel)
            if not stop.is_set:
                child.send(task)
            await child.run_until_idle()
        finally:
            if isinstance(stop, StopSignal):
                stop.forget(cancel)
            child.close()
        return self._came_to(child, spec, stopped=stop.is_set)

    def _limits_of(self, spec: AgentSpec, grace_ms: int) -> Limits:
        own = spec.limits or replace(self._world.limits, steps=DEFAULT_MAX_STEPS)
        return replace(own, grace_ms=min(own.grace_ms, grace_ms // GRACE_SHARE))

    def _came_to(self, child: Driver, spec: AgentSpec, *, stopped: bool) -> str:
        status, reason = child.outcome
        events = self._world.log.events
        began = any(isinstance(e.fact, TurnEnd) and e.agent == child.agent for e in reversed(events))
        if status is Status.COMPLETED and (began or not stopped):
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


def _parameters(world: World) -> JsonText:
    model = world.scenario.model
    return model.parameters if model else NO_PARAMETERS
