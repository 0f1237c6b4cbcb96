"""`tool_runs`: did every body run because the model asked for it, with its arguments, and once?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent
from harness.checks.unrun import is_told_as_good, told_as_good, told_without_body
from harness.matching import ran_with
from harness.types.codes import Effect, Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolEnd, ToolResult, ToolStart
from harness.types.jsontext import Refusal, parse_json
from harness.types.lifecycle import CHANGED_ARGUMENTS_NOTE, NOT_WRAPPED_NOTE, Note
from harness.types.reasons import EmittedCall
from harness.types.tool_policy import REPAIRED_NOTE

_RULE = "conformance:5"
_AGAIN = "conformance:30"
_FAILURE = "article:20"


@dataclass(slots=True)
class _Asked:
    """A call of the model, the answer that holds it, and the body that ran for it."""

    call: EmittedCall
    answer: Event
    start: Event | None = None


@dataclass(slots=True)
class _Calls:
    """The calls of one agent so far; ``known`` are the names that it is offered, ``reading`` those that may run again.

    Those are the tools without effect, and those declared idempotent.
    """

    reading: frozenset[str]
    known: set[str] = field(default_factory=set)
    of_id: dict[str, list[_Asked]] = field(default_factory=dict)
    of_tool: dict[str, list[_Asked]] = field(default_factory=dict)
    running: dict[int, ToolStart] = field(default_factory=dict)
    failed: set[tuple[str | None, str]] = field(default_factory=set)
    repairs: set[tuple[str, str, str]] = field(default_factory=set)
    changed: dict[str, str] = field(default_factory=dict)

    def ended(self, end: ToolEnd) -> None:
        """A body ended; one that failed may be replaced by another tool's."""
        start = self.running.pop(end.start, None)
        if start is not None and end.outcome is ToolOutcome.ERROR:
            self.failed.add((start.call_id, start.name))

    def noted(self, note: Note) -> None:
        """Remember arguments that a hook changed (CONFORMANCE 54) or a repair made readable."""
        value = parse_json(note.data or "{}")
        if note.name == CHANGED_ARGUMENTS_NOTE and isinstance(value, dict):
            self.changed[str(value.get("call"))] = str(value.get("arguments"))
        if note.name == REPAIRED_NOTE and isinstance(value, dict):
            raw, used = str(value.get("raw")), str(value.get("used"))
            if isinstance(parse_json(raw), Refusal | str) and used != "{}":
                self.repairs.add((str(value.get("callId")), raw, used))

    def fits(self, call: EmittedCall, fact: ToolStart) -> bool:
        """Whether a body runs with the arguments of the call, as they came or as a hook or a repair noted them."""
        sent = self.changed.get(call.id, call.arguments)
        return ran_with(sent, fact.arguments) or (call.id, sent, fact.arguments) in self.repairs

    def answered(self, event: Event, message: AssistantMessage) -> None:
        """Calls wait for their bodies, by id and by tool."""
        for call in message.tool_calls:
            asked = _Asked(call, event)
            self.of_id.setdefault(call.id, []).append(asked)
            self.of_tool.setdefault(call.name, []).append(asked)

    def of(self, fact: ToolStart) -> list[_Asked]:
        """The calls that a body may run for: those of the id that it names, else those of its tool."""
        if fact.call_id is None:
            return self.of_tool.get(fact.name, [])
        wanted = fact.instead_of or fact.name
        return [asked for asked in self.of_id.get(fact.call_id, []) if asked.call.name == wanted]


def _tool_runs(trajectory: Trajectory) -> Iterator[Found]:
    reading = frozenset(tool.name for tool in trajectory.header.tools if tool.effect is Effect.READ or tool.idempotent)
    for events in by_agent(trajectory).values():
        calls = _Calls(reading)
        for event in events:
            match event.fact:
                case RequestHeader(tools=tools):
                    calls.known.update(_names(tools))
                case AssistantMessage() as message:
                    calls.answered(event, message)
                case ToolStart() as start:
                    calls.running[event.seq] = start
                    yield from _start(calls, event, start)
                case ToolEnd() as end:
                    calls.ended(end)
                case Note() as note:
                    calls.noted(note)
                case _:
                    pass
    yield from told_as_good(trajectory)


def _names(tools: str) -> Iterator[str]:
    entries = parse_json(tools)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield str(entry.get("name"))


def _start(calls: _Calls, event: Event, fact: ToolStart) -> Iterator[Found]:
    body = f"the body of {fact.name!r}{at(event)}"
    if fact.within is not None:
        if fact.within not in calls.running:
            yield found(f"{body} runs within {fact.within}, where no body is running", event, rule=_RULE)
        return
    asked = calls.of(fact)
    fitting = [one for one in asked if calls.fits(one.call, fact)]
    waiting = next((one for one in fitting if one.start is None), None)
    if fact.instead_of is not None:
        if not fitting or (fact.call_id, fact.instead_of) not in calls.failed:
            yield found(f"{body} takes over for {fact.instead_of!r}, which has not failed", event, rule=_FAILURE)
    elif waiting is not None:
        waiting.start = event
    elif fitting:
        if fact.name not in calls.reading:
            last = fitting[-1]
            yield found(f"{body} runs again for call {last.call.id!r}", last.answer, last.start, event, rule=_AGAIN)
    elif asked:
        call = asked[-1].call
        text = f"{body} runs with {fact.arguments}, call {call.id!r} has {call.arguments!r}"
        yield found(text, asked[-1].answer, event, rule=_RULE)
    elif fact.call_id is not None or not calls.known or fact.name in calls.known:
        yield found(f"{body} runs, but no answer asks for it", event, rule=_RULE)


def _not_wrapped(trajectory: Trajectory) -> str:
    """Which tools gave the model results although their bodies could not be seen; "" for none."""
    facts = [event.fact for event in trajectory.events]
    noted = {name for fact in facts if isinstance(fact, Note) and fact.name == NOT_WRAPPED_NOTE for name in _list(fact)}
    if not noted:
        return ""
    offered = {tool.name for tool in trajectory.header.tools}
    offered |= {name for fact in facts if isinstance(fact, RequestHeader) for name in _names(fact.tools)}
    called = {call.id: call.name for fact in facts if isinstance(fact, AssistantMessage) for call in fact.tool_calls}
    answered = {called.get(fact.call_id) for fact in facts if isinstance(fact, ToolResult)}
    unseen = [name for name in sorted(noted & offered) if name in answered]
    if not unseen:
        return ""
    which = ", ".join(map(repr, unseen))
    return f"results of {which} reached the model, but no body was seen: was the registry wrapped with env.wrap()?"


def _list(note: Note) -> list[str]:
    value = parse_json(note.data or "[]")
    return [str(name) for name in value] if isinstance(value, list) else []


def _unseen(trajectory: Trajectory) -> str:
    """What was told and not seen; what is found counts before that."""
    return _not_wrapped(trajectory) or (told_without_body(trajectory) if not any(_tool_runs(trajectory)) else "")


def _nothing_ran(trajectory: Trajectory) -> str:
    ran = any(isinstance(event.fact, ToolStart) for event in trajectory.events)
    return "" if ran or is_told_as_good(trajectory) else "no tool ran"


TOOL_RUNS = BuiltCheck(
    name="tool_runs",
    about="every body runs for a call of the model, with its arguments, and once; none is answered as done without one",
    needs=(("tool/start", Origin.PROBE), ("assistant/message", None)),
    rules=(_RULE, _AGAIN, _FAILURE, "conformance:2", "article:31"),
    findings=_tool_runs,
    doubt=_unseen,
    applies=_nothing_ran,
)
"""A tool that only reads, or is declared idempotent, may run more than once for a call; any other may not (INVARIANTS
15). Another tool takes over only for one that failed, and repaired arguments are told in a note. A loop that is seen
at its two doors gives no codes: where it answers a call without a body the check is INCONCLUSIVE, unless the text may
say why, the arguments lack what the tool requires, the same body ran before, or a cancel came first.
"""
