"""Other calls: one left out, one too many, another tool, other arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from harness.checks.reading import is_cut
from harness.matching import ran_with
from harness.mutants.behaviours.base import Behaviour, Step, call_text, nth_of, offered_names, rows_of_call, steps_of
from harness.mutants.behaviours.draft import Draft
from harness.mutants.behaviours.making import (
    another_id,
    drop_chunks,
    drop_step,
    put_call,
    put_step,
    required_of,
    sample_arguments,
)
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolCall, ToolResult, ToolStart
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.mutating import MutationKind
from harness.types.reasons import EmittedCall

_NUMBER: Final = re.compile(r"\d+")
_DONE: Final = "done"


def left_out(run: Trajectory) -> Iterator[Behaviour]:
    """A call is not made; a step that asked for nothing else does not happen."""
    for step in steps_of(run):
        for call in step.calls if step.is_plain else ():
            draft = Draft(run)
            if len(step.calls) == 1:
                drop_step(draft, step)
            else:
                drop_chunks(draft, step.answer)
                draft.drop(rows_of_call(step, call))
                draft.change(step.answer, tool_calls=tuple(one for one in step.calls if one is not call))
            text = f"{call.name!r} is not called"
            yield Behaviour(
                MutationKind.CALLS,
                text,
                step.answer,
                call_text(call),
                "nothing",
                draft.finished(),
                nth=nth_of(call, step.calls),
            )


def made_again(run: Trajectory) -> Iterator[Behaviour]:
    """A call is made a second time, in the next step or in the same answer."""
    for step in steps_of(run):
        for call in step.calls if step.is_plain and not is_cut(step.message) else ():
            if any(event.agent for event in rows_of_call(step, call)):
                continue  # what a child would do the second time is not known
            again = replace(call, id=another_id(run), wire_id=None)
            reply = _reply_to(step, call)
            text = f"{call.name!r} is called again"
            ways = _ways_to_add(run, step, again, reply)
            was, now = call_text(call), f"twice {call_text(call)}"
            nth = nth_of(call, step.calls)
            yield Behaviour(MutationKind.CALLS, text, step.answer, was, now, ways[0], ways[1:], nth)


def _ways_to_add(run: Trajectory, step: Step, call: EmittedCall, reply: str) -> tuple[Trajectory, ...]:
    """In a step of its own in front of the next one, or else in the same answer."""
    steps = steps_of(run)
    place = next(i for i, one in enumerate(steps) if one.answer.seq == step.answer.seq)
    ways = []
    if place + 1 < len(steps) and steps[place + 1].answer.turn == step.answer.turn:
        draft = Draft(run)
        put_step(draft, steps[place + 1], call, reply=reply)
        ways.append(draft.finished())
    draft = Draft(run)
    drop_chunks(draft, step.answer)
    put_call(draft, step, call, reply)
    return (*ways, draft.finished())


def _reply_to(step: Step, call: EmittedCall) -> str:
    results = (event.fact for event in step.rows if isinstance(event.fact, ToolResult) and not event.agent)
    content = next((fact.content for fact in results if fact.call_id == call.id and not fact.is_error), _DONE)
    return content if isinstance(content, str) else _DONE


def not_asked_for(run: Trajectory) -> Iterator[Behaviour]:
    """A tool is called that was offered and that the run had no use for."""
    steps = steps_of(run)
    if not steps:
        return
    used = {call.name for step in steps for call in step.calls}
    last = steps[-1]
    for name in offered_names(run):
        if name in used:
            continue
        call = EmittedCall(another_id(run), name, sample_arguments(run, name))
        if not last.calls:
            draft = Draft(run)
            put_step(draft, last, call)
            ways: tuple[Trajectory, ...] = (draft.finished(),)
            asking = [step for step in steps if step.calls and step.is_plain and not is_cut(step.message)]
            ways += _ways_to_add(run, asking[-1], call, _DONE)[-1:] if asking else ()
        elif last.is_plain and not is_cut(last.message):
            ways = _ways_to_add(run, last, call, _DONE)
        else:
            continue
        text = f"{name!r} is called too"
        yield Behaviour(MutationKind.CALLS, text, last.answer, "nothing", call_text(call), ways[0], ways[1:])


# ---------------------------------------------------------------- another call in the place of one


def of_another_tool(run: Trajectory) -> Iterator[Behaviour]:
    """Another tool is called with the same arguments."""
    offered = offered_names(run)
    for event, place, call in _calls(run):
        other = next((name for name in offered if name != call.name), None)
        if event.agent or other is None or call.name not in offered:
            continue
        after = replace(call, name=other)
        text = f"{other!r} is called instead of {call.name!r}"
        made = _in_place_of(run, event, place, after)
        yield Behaviour(MutationKind.CALLS, text, event, call_text(call), call_text(after), made, nth=_nth(event, call))


def with_other_arguments(run: Trajectory) -> Iterator[Behaviour]:
    """Each value among the arguments is another one; each argument that may be left out is."""
    for event, place, call in _calls(run):
        given = parse_json(call.arguments)
        if not isinstance(given, dict):
            continue
        for path, before, after, whole in _others(given, required_of(run, call.name)):
            made = _in_place_of(run, event, place, replace(call, arguments=canonical_json(whole)))
            text = (
                f"{call.name!r} is called with another {path!r}"
                if after
                else f"{call.name!r} is called without {path!r}"
            )
            yield Behaviour(
                MutationKind.ARGUMENTS, text, event, before, after or "left out", made, nth=_nth(event, call)
            )


def _calls(run: Trajectory) -> Iterator[tuple[Event, int, EmittedCall]]:
    """All calls of all agents, with their answer and their place in it."""
    for event in run.events:
        if isinstance(event.fact, AssistantMessage) and not event.fact.interrupted:
            for place, call in enumerate(event.fact.tool_calls):
                yield event, place, call


def _nth(event: Event, call: EmittedCall) -> int:
    return nth_of(call, event.fact.tool_calls) if isinstance(event.fact, AssistantMessage) else 0


def _in_place_of(run: Trajectory, event: Event, place: int, after: EmittedCall) -> Trajectory:
    """The same run with another name or other arguments of a call, wherever they stand."""
    assert isinstance(event.fact, AssistantMessage)
    before = event.fact.tool_calls[place]
    draft = Draft(run)
    drop_chunks(draft, event)
    draft.change(event, tool_calls=(*event.fact.tool_calls[:place], after, *event.fact.tool_calls[place + 1 :]))
    for other in _until_next_answer(run, event):
        match other.fact:
            case ToolCall(call_id=before.id):
                draft.change(other, name=after.name, arguments=after.arguments)
            case ToolStart(call_id=before.id, instead_of=None, name=before.name) as start:
                same = ran_with(before.arguments, start.arguments)
                used = JsonText(after.arguments) if same else start.arguments
                draft.change(other, name=after.name, arguments=used)
            case ToolResult(call_id=before.id):
                draft.change(other, name=after.name)
            case _:
                pass
    return draft.finished()


def _until_next_answer(run: Trajectory, event: Event) -> Iterator[Event]:
    """Events of the same agent from an answer to its next one: ids may come again in later answers."""
    for other in run.events[event.seq + 1 :]:
        if other.agent == event.agent:
            if isinstance(other.fact, AssistantMessage):
                return
            yield other


def _others(given: dict[str, Any], required: frozenset[str]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Path, text of the value, text of another ("": left out), and the arguments with it."""
    for path, value in _leaves(given, ()):
        after = _another(value)
        whole = _with(given, path, after)
        yield ".".join(map(str, path)), canonical_json(value), canonical_json(after), whole
    for name in given:
        if name not in required and len(given) > 1:
            yield name, canonical_json(given[name]), "", {key: value for key, value in given.items() if key != name}


def _leaves(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from _leaves(part, (*path, name))
    elif isinstance(value, list) and value:
        for place, part in enumerate(value):
            yield from _leaves(part, (*path, place))
    elif path:
        yield path, value


def _with(value: Any, path: tuple[str | int, ...], leaf: Any) -> Any:
    if not path:
        return leaf
    first, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {name: _with(part, rest, leaf) if name == first else part for name, part in value.items()}
    return [_with(part, rest, leaf) if place == first else part for place, part in enumerate(value)]


def _another(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return other_text(value)
        case None:
            return "something"
        case list():
            return ["something"]
        case _:
            return {"something": 1}


def other_text(text: str) -> str:
    """The first number in a text is one more; a text without a number is another."""
    place = _NUMBER.search(text)
    if place is None:
        return f"other {text}" if text else "something"
    return f"{text[: place.start()]}{int(place[0]) + 1}{text[place.end() :]}"
