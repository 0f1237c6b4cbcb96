"""Calls that were answered although no body ran for them: told as good by a loop that tells all, or seen as a text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.checks.base import Found, found
from harness.checks.reading import at, by_agent, plain_text, two_doors
from harness.matching import ran_with
from harness.types.codes import Code
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, ToolStart
from harness.types.jsontext import parse_json
from harness.types.lifecycle import CancelDelivered, CancelRequested
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall

_RULE: Final = "conformance:2"
_GOOD: Final = (None, Code.EMPTY, Code.TRUNCATED, Code.SUMMARISED)
_TELLS_WHY: Final = re.compile(
    r"error|exception|fail|invalid|den(y|ied)|reject|refus|declin|forbid|unauthori|permi|approv|block|disabl|unavailab"
    r"|unknown|missing|requir|must|expect|cancel|abort|interrupt|skip|stop|ignor|already|duplicat|cached|pending|wait"
    r"|time.?out|limit|exceed|budget|\bno\b|\bnot\b|n't\b|cannot|unable|without",
    re.IGNORECASE,
)
"""Words of a text that may say why nothing ran. A text with any of them is not held against its loop."""


@dataclass(slots=True)
class _Bodies:
    """The bodies of one agent so far: by the call that they name, and all of each tool; its calls; a cancel."""

    calls: dict[CallId, EmittedCall] = field(default_factory=dict)
    named: set[CallId] = field(default_factory=set)
    of_tool: dict[str, list[ToolStart]] = field(default_factory=dict)
    cancelled: bool = False

    def add(self, event: Event) -> None:
        match event.fact:
            case AssistantMessage(tool_calls=calls):
                self.calls.update((call.id, call) for call in calls)
            case ToolStart(call_id=call_id) as start:
                self.of_tool.setdefault(start.instead_of or start.name, []).append(start)
                if call_id is not None:
                    self.named.add(call_id)
            case CancelRequested() | CancelDelivered():
                self.cancelled = True
            case _:
                pass

    def may_have_run(self, call: EmittedCall) -> bool:
        """A body names the call, names none and is of its tool, or ran before with these arguments (and was kept)."""
        bodies = self.of_tool.get(call.name, ())
        return call.id in self.named or any(
            start.call_id is None or ran_with(call.arguments, start.arguments) for start in bodies
        )


def is_told_as_good(trajectory: Trajectory) -> bool:
    """Whether a loop that tells all tells of a good result, so that bodies have to be there."""
    facts = (event.fact for event in trajectory.events)
    return not two_doors(trajectory) and any(isinstance(fact, ToolResult) and _is_good(fact) for fact in facts)


def _is_good(result: ToolResult) -> bool:
    return not result.is_error and result.code in _GOOD


def told_as_good(trajectory: Trajectory) -> Iterator[Found]:
    """Good results of calls for which no body ran. Whatever else happened to a call has a code, or is an error."""
    if two_doors(trajectory):
        return
    for events in by_agent(trajectory).values():
        bodies = _Bodies()
        for event in events:
            bodies.add(event)
            if isinstance(event.fact, ToolResult) and _is_good(event.fact):
                call = bodies.calls.get(event.fact.call_id)
                if call is not None and not _ran(bodies, call):
                    text = f"call {call.id!r} of {call.name!r} is answered as done{at(event)}, but no body ran for it"
                    yield found(text, event, rule=_RULE)


def _ran(bodies: _Bodies, call: EmittedCall) -> bool:
    return call.id in bodies.named or any(start.call_id is None for start in bodies.of_tool.get(call.name, ()))


def told_without_body(trajectory: Trajectory) -> str:
    """Which call of a tool whose bodies are seen was answered without one, by a loop that is seen at its two doors.

    Such a loop gives no codes, so nobody knows whether its text says "done". Left out is what may be sane: calls
    whose arguments the tool does not take, bodies kept from before, texts that may say why, all behind a cancel. ""
    for no such call.
    """
    if not two_doors(trajectory):
        return ""
    required = {tool.name: _required(tool.parameters) for tool in trajectory.header.tools}
    for events in by_agent(trajectory).values():
        bodies = _Bodies()
        for event in events:
            bodies.add(event)
            if not isinstance(event.fact, ToolResult) or bodies.cancelled:
                continue
            call, text = bodies.calls.get(event.fact.call_id), plain_text(event.fact.content)
            if call is None or call.name not in required or not _takes(required[call.name], call.arguments):
                continue
            if not bodies.may_have_run(call) and text.strip() and not _TELLS_WHY.search(text):
                return f"call {call.id!r} of {call.name!r} was answered with {text[:60]!r}, but no body was seen"
    return ""


def _required(schema: str) -> frozenset[str]:
    value = parse_json(schema)
    names = value.get("required") if isinstance(value, dict) else None
    return frozenset(map(str, names if isinstance(names, list) else ()))


def _takes(required: frozenset[str], arguments: str) -> bool:
    value = parse_json(arguments or "{}")
    return isinstance(value, dict) and required <= value.keys()
