"""A recorded run as a scenario: its input, its answers as a script, its results as stubs, its end as expectations."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from harness.errors import NothingToRunError
from harness.folds import calls_of, exchanges_of
from harness.folds.exchanges import Exchange
from harness.scenarios.lifted.agents import agent_names, agents_of, policy_of
from harness.scenarios.lifted.bodies import Body, bodies_of, faults_of, stub_of
from harness.scenarios.lifted.ends import expectations_of, is_watched
from harness.scenarios.lifted.input import limits_of, offered_tools, schema_of, system_of, tasks_of, unsent_tasks
from harness.scenarios.lifted.places import injections_of, open_end
from harness.scenarios.lifted.script import Note, script_of
from harness.scenarios.lifted.told import outcome_of_answers, repairs, runtime_context, visible_rules
from harness.scenarios.loading import finished
from harness.types.agents import CHILD_ROLE, AgentSpec
from harness.types.codes import BODY_CODES, ClockKind, Code, Effect, Mode
from harness.types.context import SUMMARISER, is_summariser
from harness.types.doors import MAIN_ROLE
from harness.types.events import OfferedTool, Trajectory
from harness.types.exchange import ModelRequest, ModelRetry, RequestHeader, ToolResult
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import CancelRequested, InboxQueued, TurnEnd
from harness.types.policy import NO_RULES
from harness.types.profile_loop import RequestHistory
from harness.types.reasons import Concluded, Failed
from harness.types.retrying import FALLBACK, NO_RETRIES, TRANSIENT, RetryPolicy
from harness.types.scenario import (
    NO_PARAMETERS,
    CancelAction,
    Injection,
    ModelSpec,
    RoleSpec,
    Scenario,
    Stub,
    ToolsSpec,
)
from harness.types.script import ScriptReply

NEVER_ASKED: Final = ScriptReply(say="(the recorded run asked no model)")
"""The script of a run that was stopped before its first request."""


@dataclass(frozen=True, slots=True)
class Lifted:
    """A scenario made of a run, and what could not be carried over, sentence by sentence."""

    scenario: Scenario
    lost: tuple[str, ...]


def lift(trajectory: Trajectory) -> Lifted:
    """The scenario that makes a run like this one again, with a script and stubs only: nothing of anybody's runs.

    Its id and title name the run. Raises NothingToRunError for a run without an answer, a failure or input.
    """
    lost: dict[str, None] = {}
    maker = _Maker(trajectory, lambda text: lost.setdefault(text))
    scenario = finished(maker.scenario())
    return Lifted(scenario, tuple(lost))


class _Maker:
    """Makes the parts one by one; each reads the same exchanges and calls."""

    def __init__(self, trajectory: Trajectory, note: Note) -> None:
        self._trajectory = trajectory
        self._events = trajectory.events
        self._note = note
        self._exchanges = exchanges_of(trajectory)
        self._traces = calls_of(trajectory)
        self._timed = trajectory.header.clock is ClockKind.VIRTUAL
        self._watched = is_watched(trajectory)
        self._cut_at = open_end(self._events)

    def scenario(self) -> Scenario:
        note, events = self._note, self._events
        tasks = (*tasks_of(events, note), *unsent_tasks(events, note))
        cancelled = any(isinstance(event.fact, CancelRequested) for event in events)
        if not tasks or not (self._exchanges or cancelled):
            raise NothingToRunError(
                f"{self._trajectory.source}: there is nothing to make a scenario of: the run has "
                f"{'no input' if not tasks else 'no answer and no failed request'}"
            )
        limits = limits_of(self._trajectory, self._exchanges, note)
        agents = agents_of(events, self._trajectory.header, self._exchanges)
        bodies = self._bodies(limits.tool_timeout_ms, agents)
        scripts = self._scripts()
        main = scripts.pop(MAIN_ROLE, ())
        self._tell_hidden()
        return Scenario(
            id=self._id(),
            tasks=tasks,
            title=f"From the run {self._trajectory.header.run_id}",
            system=system_of(self._trajectory, self._exchanges, note),
            tools=self._tools(bodies, agents),
            model=self._model(),
            script=main or (NEVER_ASKED,),
            allow_leftovers=not main,
            models=tuple((role, RoleSpec(script)) for role, script in sorted(scripts.items())),
            limits=limits,
            inject=(*self._injections(), *(fault for many in bodies.values() for fault in faults_of(many))),
            expect=expectations_of(self._trajectory, cut=self._cut_at is not None),
            policy=policy_of(events, self._traces, note) if self._watched else NO_RULES,
            retry=self._retry(fallback=FALLBACK in scripts),
            agents=agents,
            runtime_context=runtime_context(events),
            outcome=outcome_of_answers(events),
            tool_policy=repairs(events),
            seed=self._trajectory.header.seed or 0,
        )

    def _id(self) -> str:
        known = self._trajectory.header.scenario
        return known.id if known is not None else str(self._trajectory.header.run_id).partition("@")[0]

    # ------------------------------------------------------------ model

    def _scripts(self) -> dict[str, tuple[ScriptReply, ...]]:
        """The replies by role; children have one each, by their agent's name."""
        names = agent_names(self._events)
        by_role: dict[str, list[Exchange]] = {}
        for exchange in filter(self._reached_a_model, self._exchanges):
            role = exchange.role
            if exchange.agent in names:
                role = f"{CHILD_ROLE}{names[exchange.agent]}"
            elif is_summariser(exchange.agent):
                if not sums_up_result(exchange.agent, {trace.call.id for trace in self._traces}):
                    self._note("history was replaced by a summary; what made that happen is not in the file")
                continue
            by_role.setdefault(role, []).append(exchange)
        return {role: script_of(some, timed=self._timed, note=self._note) for role, some in by_role.items()}

    def _reached_a_model(self, exchange: Exchange) -> bool:
        """Not where a cancel inside the request came first: then nothing was asked."""
        if exchange.answered is not None or exchange.chunks or exchange.asked is None:
            return True
        if self._cut_at is not None and self._cut_at.kind == ModelRequest.TYPE and exchange is self._exchanges[-1]:
            return False  # the file stops there, and so will the run
        after = next((e for e in self._events[exchange.asked.seq + 1 :] if _acts(e.fact)), None)
        if after is None or not isinstance(after.fact, CancelRequested):
            return True
        return self._timed and (after.time or 0) > (exchange.asked.time or 0)

    def _retry(self, *, fallback: bool) -> RetryPolicy:
        retries = [event.fact for event in self._events if isinstance(event.fact, ModelRetry)]
        if any(one.code is Code.CONTEXT_OVERFLOW for one in retries):
            self._note("a request was made again with a shorter history; what shortens it is not in the file")
        codes = tuple(sorted({one.code for one in retries} - {Code.CONTEXT_OVERFLOW, Code.AUTH, Code.QUOTA}))
        if not codes and not fallback:
            return NO_RETRIES
        main = [one for one in self._exchanges if one.asked and one.role == MAIN_ROLE]
        made = [getattr(one.asked.fact, "attempt", 1) for one in main if one.asked]
        due = [one.attempt + 1 for one in retries] if not fallback else []
        most = max((*made, *due), default=1)
        return RetryPolicy(attempts=most, codes=codes or TRANSIENT, fallback=fallback)

    def _model(self) -> ModelSpec | None:
        """The parameters of the requests, which belong to a model by name."""
        header = next((one.header for one in self._exchanges if one.header is not None and not one.agent), None)
        if header is None or header.parameters == NO_PARAMETERS:
            return None
        name = next((one.answer.model for one in self._exchanges if one.answer and one.answer.model), None)
        named = name or dict(self._trajectory.header.models).get(MAIN_ROLE) or "model"
        parameters = json.loads(header.parameters)
        stream = parameters.pop("stream", False) is True  # the harness sends it itself
        return ModelSpec(named, canonical_json(parameters), stream=stream)

    # ------------------------------------------------------------ tools

    def _bodies(self, timeout_ms: int | None, agents: Iterable[AgentSpec]) -> dict[str, list[Body]]:
        children = {agent.name for agent in agents}
        by_tool: dict[str, list[Body]] = {}
        for body in bodies_of(self._traces, watched=self._watched, timeout_ms=timeout_ms, note=self._note):
            if body.trace.call.name not in children:
                by_tool.setdefault(body.trace.call.name, []).append(body)
        return by_tool

    def _tools(self, bodies: dict[str, list[Body]], agents: Sequence[AgentSpec]) -> ToolsSpec:
        offered = offered_tools(self._trajectory, self._exchanges)
        children = {agent.name for agent in agents}
        known = {tool.name: tool for tool in offered if tool.name not in children}
        unseen = sorted(set(bodies) - set(known) - {""})
        if unseen and offered:
            self._note(f"tools that were called and not offered are stubs all the same: {', '.join(unseen)}")
        names = sorted({*known, *unseen})
        stubs = []
        for name in names:
            stub = stub_of(bodies.get(name, []), timed=self._timed)
            tool = known.get(name)
            stubs.append((name, stub if tool is None else _described(stub, tool)))
        hidden = {tool.name for tool in offered if tool.hidden}
        schemas = tuple((name, text) for name in names if name in known and (text := schema_of(known[name])))
        return ToolsSpec(
            stubs=tuple(stubs),
            schemas=schemas,
            allowed=self._allowed(names, children),
            visible=tuple(sorted({*names, *children} - hidden)) if hidden else None,
            visible_from=visible_rules(self._events),
        )

    def _allowed(self, names: Iterable[str], children: set[str]) -> tuple[str, ...] | None:
        """All but those that were refused as not allowed."""
        refused = {
            trace.call.name
            for trace in self._traces
            if trace.result is not None
            and isinstance(trace.result.fact, ToolResult)
            and trace.result.fact.code is Code.TOOL_NOT_ALLOWED
        }
        return tuple(sorted({*names, *children} - refused)) if refused else None

    # ------------------------------------------------------------ injections

    def _injections(self) -> tuple[Injection, ...]:
        found = injections_of(self._events, timed=self._timed, note=self._note)
        if self._cut_at is None:
            return found
        self._note("the recording stops there, or was cancelled by means it does not tell: a cancel ends the run there")
        return (*found, Injection(self._cut_at, CancelAction(reason="the recording ends here")))

    def _tell_hidden(self) -> None:
        """What a run can show and a scenario of it cannot make happen again."""
        if any(event.fact.TYPE == "context/replaced" for event in self._events):
            self._note("history was replaced while the run went on; the rule that did it is not in the file")
        headers = [e for e in self._events if isinstance(e.fact, RequestHeader) and e.fact.why.value == "change"]
        if headers and not visible_rules(self._events):
            self._note("the offered tools or parameters changed between requests; the scenario keeps the first ones")
        if self._trajectory.header.profile.request_history is RequestHistory.WINDOWED:
            self._note("requests showed a window of the conversation; how large it was is not in the file")
        ends = [e.fact.reason for e in self._events if isinstance(e.fact, TurnEnd)]
        if any(isinstance(reason, Concluded) for reason in ends):
            self._note("a tool concluded a turn, which no stub does")
        if any(isinstance(reason, Failed) and reason.code in BODY_CODES for reason in ends):
            self._note("a failing tool ended the run; the policy that says so is not in the file")
        if any(trace.start and getattr(trace.start.fact, "attempt", 1) > 1 for trace in self._traces):
            self._note("a body was run again after it failed; the scenario has no such tool policy")


def sums_up_result(agent: str, calls: Container[str]) -> bool:
    """Whether an agent is the summariser of the result of one of these calls."""
    head, _, call = agent.partition(f"{SUMMARISER}-")
    return call in calls and (not head or head.endswith("/"))


def _acts(fact: object) -> bool:
    return not isinstance(fact, InboxQueued) and getattr(fact, "TYPE", "") != "note"


def _described(stub: Stub, tool: OfferedTool) -> Stub:
    return replace(
        stub,
        description=tool.description or None,
        mode=None if tool.mode is Mode.PARALLEL else tool.mode,
        effect=None if tool.effect is Effect.WRITE else tool.effect,
    )


__all__ = ["Lifted", "lift"]
