"""What a run was given: system text, tasks, offered tools, limits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from harness.folds import limits_from_json, text_of
from harness.folds.exchanges import Exchange
from harness.scenarios.lifted.places import inputs_of
from harness.scenarios.lifted.script import Note
from harness.types.codes import Effect, Isolation, Mode, Status
from harness.types.events import Event, OfferedTool, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, RequestHeader, UserMessage
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import MESSAGE_NOTE, RunEnd, TurnEnd
from harness.types.lifecycle import Note as NoteFact
from harness.types.limits import DEFAULT_MAX_STEPS, Limits
from harness.types.messages import ChatSystem, JsonText

UNSENT = "(a task that was never sent)"


def system_of(trajectory: Trajectory, exchanges: Sequence[Exchange], note: Note) -> str | None:
    """The system text of the first request; several messages are joined. An import shows it without any request."""
    headers = [one.header for one in exchanges if not one.agent and one.header is not None]
    headers = headers or [e.fact for e in trajectory.events if isinstance(e.fact, RequestHeader) and not e.agent]
    texts: list[str] = []
    if headers:
        texts = [text_of(one.content) for one in headers[0].system]
        if any(one.system != headers[0].system for one in headers):
            note("the system text changed while the run went on; the scenario has the first one")
        if any(not isinstance(one, ChatSystem) for one in headers[0].system):
            note("developer messages become a part of the system text")
    texts += _noted_system(trajectory.events)
    if len(texts) > 1:
        note(f"{len(texts)} system messages become one")
    return "\n\n".join(texts) if texts else None


def _noted_system(events: Sequence[Event]) -> list[str]:
    """System messages of an import behind others, up to its first answer."""
    found = []
    for event in events:
        if isinstance(event.fact, AssistantMessage):
            break
        if isinstance(event.fact, NoteFact) and event.fact.name == MESSAGE_NOTE:
            raw = parse_json(event.fact.data or "{}")
            if isinstance(raw, dict) and raw.get("role") in ("system", "developer"):
                content = raw.get("content")
                parts = content if isinstance(content, list) else [{"text": content}]
                found.append("".join(str(part.get("text") or "") for part in parts if isinstance(part, dict)))
    return found


def tasks_of(events: Sequence[Event], note: Note) -> tuple[str, ...]:
    """One task a turn, from the inbox where the file tells of one, else from the user messages.

    Input behind the last answer that no answer followed is left out where the file does not tell how the run ended.
    """
    tasks: list[list[str]] = []
    inputs = [one for one in inputs_of(events) if one.is_task]
    for one in inputs:
        if one.joins:
            note("user messages that came one behind the other become one task")
            tasks[-1].append(one.text(note))
        else:
            tasks.append([one.text(note)])
    answers = [e.seq for e in events if isinstance(e.fact, AssistantMessage | ModelRequest) and not e.agent]
    ended = any(isinstance(event.fact, RunEnd) for event in events)
    if len(tasks) > 1 and answers and not ended and inputs[-1].event.seq > answers[-1]:
        note(f"input behind the last answer is left out, since nothing answers it: {' / '.join(tasks.pop())!r:.60}")
    if answers and (not inputs or inputs[0].event.seq > answers[0]):
        note("the first answer came before any input; its turn begins with an empty task")
        tasks.insert(0, [""])
    return tuple("\n\n".join(task) for task in tasks)


def unsent_tasks(events: Sequence[Event], note: Note) -> tuple[str, ...]:
    """A task that a cancel kept from being sent: a run whose last turn was not cancelled ends as cancelled by it."""
    end = next((e.fact for e in reversed(events) if isinstance(e.fact, RunEnd)), None)
    if end is None or end.status is not Status.CANCELLED:
        return ()
    last = next((e.fact for e in reversed(events) if isinstance(e.fact, TurnEnd) and not e.agent), None)
    if last is not None and last.status is Status.CANCELLED:
        return ()
    note("a cancel kept a task from being sent; what it said is not in the file")
    return (UNSENT,)


def offered_tools(trajectory: Trajectory, exchanges: Sequence[Exchange]) -> tuple[OfferedTool, ...]:
    """The tools of the header, else those of the main agent's first request."""
    if trajectory.header.tools:
        return trajectory.header.tools
    header = next((one.header for one in exchanges if one.header is not None and not one.agent), None)
    listed = [] if header is None else parse_json(header.tools)
    if isinstance(listed, Refusal) or not isinstance(listed, list):
        return ()
    return tuple(_offered(tool) for tool in listed if isinstance(tool, dict) and isinstance(tool.get("name"), str))


def _offered(tool: dict[str, object]) -> OfferedTool:
    schema = tool.get("parameters")
    text = canonical_json(schema if isinstance(schema, dict) else {"type": "object"})
    return OfferedTool(
        str(tool["name"]), str(tool.get("description") or ""), text, Mode.PARALLEL, Effect.WRITE, Isolation.INLINE
    )


def schema_of(tool: OfferedTool) -> JsonText | None:
    """A stub's schema; None where it takes any object anyway."""
    return None if json.loads(tool.parameters) == {"type": "object"} else tool.parameters


def limits_of(trajectory: Trajectory, exchanges: Sequence[Exchange], note: Note) -> Limits:
    """The limits of the header; of an import, the default ones with as many steps as its longest turn took."""
    known = limits_from_json(trajectory.header.limits)
    if known is not None:
        return known
    longest = max(_steps_by_turn(trajectory.events), default=0)
    if longest <= DEFAULT_MAX_STEPS:
        return Limits()
    note(f"a turn took {longest} steps, so limits.steps is that")
    return replace(Limits(), steps=longest)


def _steps_by_turn(events: Sequence[Event]) -> list[int]:
    counts = [0]
    over = False
    for event in events:
        if event.agent:
            continue
        if isinstance(event.fact, UserMessage) and over:
            counts.append(0)
            over = False
        elif isinstance(event.fact, AssistantMessage):
            counts[-1] += 1
            over = not event.fact.tool_calls
    return counts
