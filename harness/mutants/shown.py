"""Mutants of what the model is shown: history, tools, results, ids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from harness.mutants.editing import Mutant, Mutate, change, changed, drop, find, like, on, put, show
from harness.types.codes import HeaderWhy
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, RequestHeader, ToolResult
from harness.types.jsontext import canonical_json, parse_json
from harness.types.messages import ChatAssistant, ChatMessage, ChatSystem, ChatTool, ChatUser, JsonText

Edit = Callable[[list[ChatMessage]], bool]
_TRACE: Final = (
    'TOOL_FAILED: Traceback (most recent call last):\n  File "/home/ada/tools.py", line 7, in look\nKeyError: 1'
)


def _at(kind: type[ChatMessage], edit: Callable[[Any], ChatMessage | None], *, last: bool = False) -> Mutate:
    """Edit the first message of a kind that ``edit`` can change (it gives the new one); None leaves it."""

    def in_messages(messages: list[ChatMessage]) -> bool:
        for index, message in enumerate(messages):
            other = edit(message) if isinstance(message, kind) else None
            if other is not None:
                messages[index] = other
                return True
        return False

    return lambda trajectory: show(trajectory, in_messages, last=last)


def _with_call(**fields: Any) -> Callable[[ChatAssistant], ChatAssistant | None]:
    def edit(message: ChatAssistant) -> ChatAssistant | None:
        if not message.tool_calls:
            return None
        first, *rest = message.tool_calls
        return replace(message, tool_calls=(replace(first, **fields), *rest))

    return edit


def _group(messages: list[ChatMessage]) -> int | None:
    return next((i for i, m in enumerate(messages) if isinstance(m, ChatAssistant) and m.tool_calls), None)


def _without_result(messages: list[ChatMessage]) -> bool:
    index = _group(messages)
    if index is None:
        return False
    del messages[index + 1]
    return True


def _twice(messages: list[ChatMessage]) -> bool:
    index = _group(messages)
    if index is None:
        return False
    messages.insert(index + 1, messages[index + 1])
    return True


def _swapped(messages: list[ChatMessage]) -> bool:
    index = _group(messages)
    if index is None or len(messages) < index + 3 or not isinstance(messages[index + 2], ChatTool):
        return False
    messages[index + 1], messages[index + 2] = messages[index + 2], messages[index + 1]
    return True


def _separated(messages: list[ChatMessage]) -> bool:
    index = _group(messages)
    if index is None:
        return False
    messages.insert(index + 1, ChatUser("by the way"))
    return True


def _without_call(messages: list[ChatMessage]) -> bool:
    """As a loop does that keeps only one of several calls: call and result are both gone."""
    index = _group(messages)
    message = messages[index] if index is not None else None
    if index is None or not isinstance(message, ChatAssistant) or len(message.tool_calls) < 2:
        return False
    messages[index] = replace(message, tool_calls=message.tool_calls[:-1])
    del messages[index + len(message.tool_calls)]
    return True


def _without_input(messages: list[ChatMessage]) -> bool:
    place = next((i for i, message in enumerate(messages) if isinstance(message, ChatUser)), None)
    if place is None:
        return False
    del messages[place]
    return True


def _shown(edit: Edit, *, last: bool = False) -> Mutate:
    return lambda trajectory: show(trajectory, edit, last=last)


# ---------------------------------------------------------------- offered tools


def _offer(edit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Callable[[Trajectory, Event], Trajectory]:
    def mutate(trajectory: Trajectory, event: Event) -> Trajectory:
        fact = event.fact
        tools: Any = parse_json(fact.tools) if isinstance(fact, RequestHeader) else []
        return change(trajectory, event, tools=canonical_json(edit(tools)))

    return mutate


def _dropped_later(trajectory: Trajectory) -> Trajectory | None:
    """The second request comes without tools, and the header in force says so."""
    header, request = find(trajectory, RequestHeader), find(trajectory, ModelRequest, nth=1)
    if header is None or request is None or not isinstance(header.fact, RequestHeader):
        return None
    fact = replace(header.fact, tools=JsonText("[]"), why=HeaderWhy.CHANGE)
    before = trajectory.events[request.seq - 1]
    return put(trajectory, before, like(request, fact))


def _prompt_lost_later(trajectory: Trajectory) -> Trajectory | None:
    """The first request shows a system prompt, the second of the same agent goes on without one."""
    header = find(trajectory, RequestHeader)
    requests = [event for event in trajectory.events if isinstance(event.fact, ModelRequest) and not event.agent]
    if header is None or len(requests) < 2 or not isinstance(header.fact, RequestHeader):
        return None
    later = like(requests[1], replace(header.fact, why=HeaderWhy.CHANGE))
    dropped = put(trajectory, trajectory.events[requests[1].seq - 1], later)
    return change(dropped, dropped.events[header.seq], system=(ChatSystem("Be brief."),))


# ---------------------------------------------------------------- ids of the provider


def _wire_ids(*ids: str) -> Mutate:
    """The provider's ids of the first calls of the run, in order; ours stay."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        left = list(ids)
        for event in trajectory.events:
            if isinstance(event.fact, AssistantMessage) and event.fact.tool_calls and left:
                calls = tuple(replace(call, wire_id=left.pop(0)) if left else call for call in event.fact.tool_calls)
                trajectory = change(trajectory, event, tool_calls=calls)
        return None if left else trajectory

    return mutate


SHOWN: Final = (
    Mutant("prompt_lost_later", "the second request shows no system prompt any more", _prompt_lost_later),
    Mutant("result_missing_in_request", "a result is not shown", _shown(_without_result)),
    Mutant("result_twice_in_request", "a result is shown twice", _shown(_twice)),
    Mutant("results_swapped_in_request", "results are shown in another order", _shown(_swapped)),
    Mutant("result_apart_in_request", "a user message between call and result", _shown(_separated)),
    Mutant("empty_id_in_request", "a call is sent back without id", _at(ChatAssistant, _with_call(id=""))),
    Mutant("renamed_id_in_request", "a call is sent back under another id", _at(ChatAssistant, _with_call(id="zz"))),
    Mutant(
        "argument_changed_in_history",
        "a call is sent back with other arguments",
        _at(ChatAssistant, _with_call(arguments='{"q":"other"}')),
    ),
    Mutant("name_changed_in_history", "a call is sent back as another", _at(ChatAssistant, _with_call(name="delete"))),
    Mutant("call_lost_in_history", "of two calls one is sent back", _shown(_without_call)),
    Mutant(
        "text_changed_in_history",
        "the answer's text is sent back changed",
        _at(ChatAssistant, lambda message: replace(message, content=f"{message.content or ''}!")),
    ),
    Mutant(
        "result_changed_in_history",
        "a result is shown changed",
        _at(ChatTool, lambda message: replace(message, content="(result)")),
    ),
    Mutant(
        "history_rewritten",
        "a later request shows an old message changed",
        _at(ChatUser, lambda message: replace(message, content="another task"), last=True),
    ),
    Mutant("input_missing_in_request", "the input is not shown", _shown(_without_input)),
    Mutant("tools_dropped_later", "the second request offers no tools", _dropped_later),
    Mutant("tool_not_offered", "one tool is not offered", on(RequestHeader, _offer(lambda tools: tools[1:]))),
    Mutant(
        "private_state_offered",
        "a tool is offered with its function",
        on(RequestHeader, _offer(lambda tools: [{**tools[0], "function": "look"}, *tools[1:]])),
    ),
    Mutant(
        "tools_reordered", "tools are offered in another order", on(RequestHeader, _offer(lambda tools: tools[::-1]))
    ),
    Mutant("header_lost", "nothing says what was offered", on(RequestHeader, drop)),
    Mutant(
        "description_changed",
        "a tool is offered with another description",
        on(RequestHeader, _offer(lambda tools: [{**tools[0], "description": "a function"}, *tools[1:]])),
    ),
    Mutant(
        "traceback_shown",
        "a traceback of the host is shown",
        on(ToolResult, changed(content=_TRACE), lambda f: f.is_error),
    ),
    Mutant(
        "host_path_shown",
        "an error shows a path of the host",
        on(ToolResult, changed(content="TOOL_FAILED: no file /home/ada/notes.txt"), lambda fact: fact.is_error),
    ),
    Mutant(
        "frame_in_good_result",
        "a good result holds a traceback",
        on(ToolResult, changed(content=_TRACE), lambda fact: not fact.is_error),
    ),
    Mutant("wire_id_reused", "the provider gives an id again, a step later", _wire_ids("K9", "K8", "K9")),
    Mutant("wire_id_twice", "the provider gives two calls of an answer one id", _wire_ids("K9", "K9")),
    Mutant("wire_id_empty", "the provider gives an empty id", _wire_ids("")),
)
