"""What the real API answers with 400, so that "is the history valid" is a fact and no opinion.

Adjacency: right after an assistant message with calls stand tool messages, one for each id and in
any order, before anything else. Refused besides: unknown roles, content of the wrong kind, ids that
are empty, null or used twice in one message, arguments that are no text, bad or repeated tool names,
a choice of tools where none are offered, and parameters of the wrong kind or out of their range.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.server.parameters import Wrong, wrong_format, wrong_parameters
from harness.wire.shape import kind_of

_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PARTS: Final = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
_MOST_TOOLS: Final = 128


@dataclass(frozen=True, slots=True)
class HistoryRefusal:
    """Why a request is refused: ``param`` is the place and ``code`` the word, as the API names them."""

    message: str
    param: str
    code: str | None = None


def refusal_of(body: Mapping[str, Any]) -> HistoryRefusal | None:
    """The first thing that the real API would refuse in a request body; None when it would take it."""
    return next(_refusals(body), None)


def _refusals(body: Mapping[str, Any]) -> Iterator[HistoryRefusal]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield HistoryRefusal("you must provide a model parameter", "model")
    yield from (HistoryRefusal(*one) for one in _parameters(body))
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        what = "an empty array" if messages == [] else kind_of(messages)
        yield HistoryRefusal(f"expected an array with at least one message, got {what}", "messages")
        return
    for index, message in enumerate(messages):
        yield from _message(message, f"messages[{index}]")
    yield from _adjacency(messages)
    yield from _tools(body)


def _parameters(body: Mapping[str, Any]) -> Iterator[Wrong]:
    yield from wrong_parameters(body)
    form = body.get("response_format")
    if isinstance(form, Mapping) and form.get("type") == "json_schema":
        yield from wrong_format(form.get("json_schema"), "response_format.json_schema", ("name",))


# ---------------------------------------------------------------- one message


def _message(message: Any, where: str) -> Iterator[HistoryRefusal]:
    if not isinstance(message, Mapping):
        yield HistoryRefusal(f"expected an object, got {kind_of(message)}", where)
        return
    role = message.get("role")
    if role == "function":
        yield HistoryRefusal("role 'function' is not offered here; answer calls with role 'tool'", f"{where}.role")
    elif not isinstance(role, str) or role not in _PARTS:
        yield HistoryRefusal(f"invalid value {role!r}; supported are {', '.join(_PARTS)}", f"{where}.role")
    else:
        yield from _content(message, role, f"{where}.content")
        yield from _assistant(message, where) if role == "assistant" else _other(message, role, where)


def _content(message: Mapping[str, Any], role: str, where: str) -> Iterator[HistoryRefusal]:
    content = message.get("content")
    if isinstance(content, str):
        return
    if content is None:
        has_calls = role == "assistant" and (message.get("tool_calls") or message.get("refusal"))
        if not has_calls:
            yield HistoryRefusal(f"expected a string or an array of parts, got null (role {role!r})", where)
    elif not isinstance(content, list):
        yield HistoryRefusal(f"expected a string or an array of parts, got {kind_of(content)}", where)
    elif not content:
        yield HistoryRefusal("expected at least one part", where)
    else:
        yield from _parts(content, role, where)


def _parts(content: list[Any], role: str, where: str) -> Iterator[HistoryRefusal]:
    for index, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind not in _PARTS[role]:
            allowed = ", ".join(_PARTS[role])
            yield HistoryRefusal(f"invalid part {kind!r}; supported are {allowed}", f"{where}[{index}].type")
        elif kind == "text" and not isinstance(part.get("text"), str):
            yield HistoryRefusal(f"expected a string, got {kind_of(part.get('text'))}", f"{where}[{index}].text")


def _other(message: Mapping[str, Any], role: str, where: str) -> Iterator[HistoryRefusal]:
    if message.get("tool_calls") is not None:
        yield HistoryRefusal(f"role {role!r} has no tool_calls", f"{where}.tool_calls")
    if role == "tool" and not _is_id(message.get("tool_call_id")):
        yield HistoryRefusal("expected the id of a call, a non-empty string", f"{where}.tool_call_id")


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _assistant(message: Mapping[str, Any], where: str) -> Iterator[HistoryRefusal]:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list) or not calls:
        yield HistoryRefusal("expected an array with at least one call, or nothing", f"{where}.tool_calls")
        return
    seen: set[str] = set()
    for index, call in enumerate(calls):
        yield from _call(call, seen, f"{where}.tool_calls[{index}]")


def _call(call: Any, seen: set[str], where: str) -> Iterator[HistoryRefusal]:
    if not isinstance(call, Mapping):
        yield HistoryRefusal(f"expected an object, got {kind_of(call)}", where)
        return
    identity, kind = call.get("id"), call.get("type")
    if not isinstance(identity, str) or not identity:
        yield HistoryRefusal(f"expected a non-empty string, got {identity!r}", f"{where}.id")
    elif identity in seen:
        yield HistoryRefusal(f"id {identity!r} stands twice in one message", f"{where}.id")
    else:
        seen.add(identity)
    if kind not in ("function", "custom"):
        yield HistoryRefusal(f"invalid value {kind!r}; supported are function, custom", f"{where}.type")
        return
    body, text = call.get(kind), "arguments" if kind == "function" else "input"
    fields: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    yield from _name(fields.get("name"), f"{where}.{kind}.name")
    if not isinstance(fields.get(text), str):
        yield HistoryRefusal(f"expected a string, got {kind_of(fields.get(text))}", f"{where}.{kind}.{text}")


def _name(name: Any, where: str) -> Iterator[HistoryRefusal]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield HistoryRefusal(f"invalid name {name!r}; expected the pattern ^[a-zA-Z0-9_-]{{1,64}}$", where)


# ---------------------------------------------------------------- order of messages


def _adjacency(messages: list[Any]) -> Iterator[HistoryRefusal]:
    """Assumes well-formed messages: everything else was yielded before."""
    owed: list[str] = []
    since = 0
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            identity = message["tool_call_id"]
            if identity in owed:
                owed.remove(identity)
            else:
                yield _unasked(identity, index)
        else:
            if owed:
                yield _unanswered(owed, since)
            owed = [call["id"] for call in message.get("tool_calls") or ()]
            since = index
    if owed:
        yield _unanswered(owed, since)


def _unasked(identity: str, index: int) -> HistoryRefusal:
    return HistoryRefusal(
        "messages with role 'tool' must answer a call of the nearest preceding message with 'tool_calls'; "
        f"no open call has the id {identity!r}",
        f"messages[{index}].tool_call_id",
    )


def _unanswered(owed: list[str], index: int) -> HistoryRefusal:
    return HistoryRefusal(
        "an assistant message with 'tool_calls' must be followed by tool messages that answer each "
        f"'tool_call_id'; without an answer: {', '.join(owed)}",
        f"messages[{index}].tool_calls",
    )


# ---------------------------------------------------------------- tools


def _tools(body: Mapping[str, Any]) -> Iterator[HistoryRefusal]:
    tools = body.get("tools")
    if tools is None:
        if body.get("tool_choice") is not None:
            yield HistoryRefusal("tool_choice is only allowed when tools are given", "tool_choice")
        return
    if not isinstance(tools, list) or not 0 < len(tools) <= _MOST_TOOLS:
        yield HistoryRefusal(f"expected an array of 1 to {_MOST_TOOLS} tools", "tools")
        return
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        yield from _tool(tool, seen, f"tools[{index}]")
    yield from _choice(body.get("tool_choice"), seen)


def _tool(tool: Any, seen: set[str], where: str) -> Iterator[HistoryRefusal]:
    kind = tool.get("type") if isinstance(tool, Mapping) else None
    if kind not in ("function", "custom"):
        yield HistoryRefusal(f"invalid value {kind!r}; supported are function, custom", f"{where}.type")
        return
    body = tool.get(kind)
    fields: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
    name = fields.get("name")
    yield from _name(name, f"{where}.{kind}.name")
    if name in seen:
        yield HistoryRefusal(f"tool {name!r} is offered twice", f"{where}.{kind}.name")
    if isinstance(name, str):
        seen.add(name)
    if not isinstance(fields.get("parameters", {}), Mapping):
        yield HistoryRefusal("expected a JSON Schema object", f"{where}.{kind}.parameters")


def _choice(choice: Any, offered: set[str]) -> Iterator[HistoryRefusal]:
    if choice is None or choice in ("none", "auto", "required"):
        return
    function = choice.get("function") if isinstance(choice, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if isinstance(choice, Mapping) and choice.get("type") != "function":
        return  # allowed_tools and custom tools: taken as they are
    if name not in offered:
        yield HistoryRefusal(f"tool choice {choice!r} names no tool that is offered", "tool_choice")
