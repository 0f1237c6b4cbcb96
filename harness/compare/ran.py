"""Which bodies ran for which call of a run, as the harness saw it at the tools' door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.matching import ran_with
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult, ToolStart
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import NOT_WRAPPED_NOTE, Note
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall

Gave = tuple[Any, ...]
"""What a body came to: outcome, code, digest of its text."""


@dataclass(slots=True)
class Body:
    """A body that ran, how it ended, and the bodies that ran within it."""

    start: ToolStart
    seq: int
    end: ToolEnd | None = None
    within: list[Body] = field(default_factory=list)

    @property
    def plain(self) -> dict[str, Any]:
        """What is compared of it. Bodies within it may run at once, so they are in the order of their texts."""
        told: dict[str, Any] = {"name": self.start.name, "arguments": self.start.arguments}
        if self.start.instead_of is not None:
            told["instead_of"] = self.start.instead_of
        if self.end is not None:
            told["outcome"] = str(self.end.outcome)
            told["code"] = None if self.end.code is None else str(self.end.code)
        if self.within:
            told["within"] = in_one_order(self.within)
        return told

    @property
    def gave(self) -> Gave:
        """What it came to; nothing where it has not ended."""
        return (None, None, None) if self.end is None else (self.end.outcome, self.end.code, self.end.digest)


def in_one_order(bodies: Sequence[Body]) -> list[dict[str, Any]]:
    """Bodies whose order in time says nothing."""
    return sorted((body.plain for body in bodies), key=canonical_json)


@dataclass(slots=True)
class Asked:
    """A call of the model, and the bodies that ran for it, in order."""

    call: EmittedCall
    bodies: list[Body] = field(default_factory=list)


class Ran:
    """All that ran in a run, in one linear pass.

    ``by_answer`` are the calls of each answer, ``by_result`` the one that a result answers (by numbers of events),
    ``unasked`` the bodies of each agent that no call asked for, ``agents`` whose an event is (where not the root's),
    ``unseen`` the tools that were not wrapped: whether a body of theirs ran nobody knows.
    """

    def __init__(self, trajectory: Trajectory) -> None:
        self.by_answer: dict[int, list[Asked]] = {}
        self.by_result: dict[int, Asked] = {}
        self.unasked: dict[str, list[Body]] = {}
        self.agents: dict[int, str] = {}
        self.unseen: set[str] = set()
        self._bodies: dict[int, Body] = {}
        self._by_id: dict[tuple[str, CallId], Asked] = {}
        self._newest: dict[str, list[Asked]] = {}
        for event in trajectory.events:
            if event.agent:
                self.agents[event.seq] = event.agent
            self._add(event)

    def bodies_of(self, asked: Asked) -> list[Body] | None:
        """The bodies of a call; None where nobody knows."""
        return None if not asked.bodies and asked.call.name in self.unseen else asked.bodies

    def _add(self, event: Event) -> None:
        match event.fact:
            case AssistantMessage(tool_calls=calls) if calls:
                asked = [Asked(call) for call in calls]
                self.by_answer[event.seq] = self._newest[event.agent] = asked
                self._by_id.update(((event.agent, one.call.id), one) for one in asked)
            case ToolStart() as start:
                self._bodies[event.seq] = body = Body(start, event.seq)
                self._place_for(event.agent, start).append(body)
            case ToolEnd(start=seq) as end if seq in self._bodies:
                self._bodies[seq].end = end
            case ToolResult(call_id=call_id) if (event.agent, call_id) in self._by_id:
                self.by_result[event.seq] = self._by_id[event.agent, call_id]
            case Note(name=name, data=data) if name == NOT_WRAPPED_NOTE:
                names = parse_json(data or "[]")
                self.unseen.update(map(str, names if isinstance(names, list) else ()))
            case _:
                pass

    def _place_for(self, agent: str, start: ToolStart) -> list[Body]:
        """Where a body belongs: in the one that calls it, behind its call, or among those that no call asked for."""
        outer = self._bodies.get(start.within) if start.within is not None else None
        if outer is not None:
            return outer.within
        owner = self._by_id.get((agent, start.call_id)) if start.call_id is not None else self._fitting(agent, start)
        return self.unasked.setdefault(agent, []) if owner is None else owner.bodies

    def _fitting(self, agent: str, start: ToolStart) -> Asked | None:
        """The call of a body without an id: of the newest answer one with its arguments, else one that waits."""
        of_tool = [one for one in self._newest.get(agent, ()) if one.call.name == (start.instead_of or start.name)]
        fitting = [one for one in of_tool if ran_with(one.call.arguments, start.arguments)]
        waiting = [one for one in of_tool if not one.bodies]
        return next((one for one in fitting if not one.bodies), next(iter([*fitting[-1:], *waiting]), None))
