"""Steps and calls that a run did not have, written as its own loop would tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from harness.mutants.behaviours.base import Step
from harness.mutants.behaviours.draft import Draft
from harness.types.codes import FinishReason, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelRequest,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
)
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import Note, StepEnd, StepStart
from harness.types.messages import CallId, JsonText, Messages
from harness.types.reasons import EmittedCall

_SAMPLES: Final[dict[str, Any]] = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
_DEEPEST: Final = 4


def another_id(trajectory: Trajectory) -> CallId:
    """An id that no call of the run has."""
    taken = {
        call.id
        for event in trajectory.events
        if isinstance(event.fact, AssistantMessage)
        for call in event.fact.tool_calls
    }
    number = 1
    while f"another_{number}" in taken:
        number += 1
    return CallId(f"another_{number}")


def rows_of_work(draft: Draft, like: Event, call: EmittedCall, reply: str) -> list[Event]:
    """The events of a call that succeeded, as far as the run tells such: ``tool/call`` first, then body and result."""
    rows: list[Event] = []
    if draft.observed(ToolCall):
        rows.append(draft.new(like, ToolCall(call.id, call.name, call.arguments)))
    if draft.observed(ToolStart):
        start = draft.new(like, ToolStart(call.id, call.name, JsonText(call.arguments)))
        rows += [start, draft.new(like, ToolEnd(start.seq, ToolOutcome.OK))]
    return [*rows, draft.new(like, ToolResult(call.id, call.name, reply))]


def put_step(
    draft: Draft, before: Step, call: EmittedCall, work: Sequence[Event] | None = None, reply: str = "done"
) -> None:
    """Another step, with one call, in front of a step; that one's request header stands in it."""
    like = before.answer
    headers = [event for event in before.rows if _frames_request(event)]
    draft.drop(headers)
    first = next(event for event in before.rows if event.seq not in {header.seq for header in headers})
    rows: list[Event] = [draft.new(like, StepStart())] if draft.observed(StepStart) else []
    rows += headers
    if draft.observed(ModelRequest):
        rows.append(draft.new(like, ModelRequest(Messages.of(()))))
    asked = AssistantMessage(
        tool_calls=(call,),
        finish_reason=FinishReason.TOOL_CALLS,
        raw_finish_reason="tool_calls",
        model=before.message.model,
    )
    rows.append(draft.new(like, asked))
    rows += rows_of_work(draft, like, call, reply) if work is None else work
    rows += [draft.new(like, StepEnd())] if draft.observed(StepEnd) else []
    draft.put(draft.place(first), rows)


def _frames_request(event: Event) -> bool:
    return not event.agent and isinstance(event.fact, RequestHeader | Note)


def put_call(draft: Draft, step: Step, call: EmittedCall, reply: str) -> None:
    """One more call in the answer of a step, behind its others."""
    draft.change(step.answer, tool_calls=(*step.calls, call))
    announced, *work = rows_of_work(draft, step.answer, call, reply)
    if not isinstance(announced.fact, ToolCall):
        work, announced = [announced, *work], None  # type: ignore[assignment]  # this loop announces no calls
    results = [event for event in step.rows if isinstance(event.fact, ToolResult) and not event.agent]
    draft.put(draft.place(results[-1]) + 1, work)
    if announced is not None:
        told = [event for event in step.rows if isinstance(event.fact, ToolCall) and not event.agent]
        draft.put(draft.place(told[-1]) + 1, [announced])


def drop_step(draft: Draft, step: Step) -> None:
    """Without a step; its request header stands in the next one."""
    steps_behind = [event for event in draft.events[draft.place(step.rows[-1]) + 1 :] if not event.agent]
    following = next((event for event in steps_behind if isinstance(event.fact, ModelRequest)), None)
    headers = [event for event in step.rows if isinstance(event.fact, RequestHeader) and not event.agent]
    draft.drop(step.rows)
    if following is not None:
        moved = [replace(event, turn=following.turn, step=following.step) for event in headers]
        draft.put(draft.place(following), moved)


def drop_chunks(draft: Draft, step_answer: Event) -> None:
    """The answer comes whole, where it came in chunks."""
    gone: list[Event] = []
    for event in reversed(draft.events[: draft.place(step_answer)]):
        if event.agent == step_answer.agent and isinstance(event.fact, ModelRequest):
            break
        if event.agent == step_answer.agent and isinstance(event.fact, AssistantChunk):
            gone.append(event)
    draft.drop(gone)


def sample_arguments(trajectory: Trajectory, name: str) -> JsonText:
    """Arguments that the schema of an offered tool takes, as small as they can be; ``{}`` where it names none."""
    for event in trajectory.events:
        entries = parse_json(event.fact.tools) if isinstance(event.fact, RequestHeader) else None
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name") == name:
                return canonical_json(_sample(entry.get("parameters"), 0))
    return JsonText("{}")


def required_of(trajectory: Trajectory, name: str) -> frozenset[str]:
    """Names of the arguments that a tool must be given."""
    return frozenset(parse_json(sample_arguments(trajectory, name)))  # type: ignore[arg-type]  # an object, as it was made


def _sample(schema: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return {} if depth == 0 else "x"
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    kind = schema.get("type", "object" if depth == 0 else "string")
    if isinstance(kind, list):
        kind = kind[0]
    if kind != "object":
        return _SAMPLES.get(str(kind))
    fields = schema.get("properties") or {}
    return {name: _sample(fields.get(name), depth + 1) for name in schema.get("required") or ()}
