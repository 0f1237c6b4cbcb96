"""Chat messages from and to the Chat Completions dialect, without loss.

What has no place of its own in a message (unknown fields, known fields of an unusual value) is kept
in its ``extra`` and laid over the rendered form again. So reading and rendering gives the same JSON
back, but for images (digests) and two defaults that are written out where they were left out:
``content: null`` of an assistant message and ``type: function`` of a call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, assert_never

from harness.types.messages import (
    ChatAssistant,
    ChatCall,
    ChatDeveloper,
    ChatMessage,
    ChatSystem,
    ChatTool,
    ChatUser,
    Content,
    JsonText,
)
from harness.wire.content import content_from_wire, content_to_wire
from harness.wire.shape import bad_shape, cleaned, json_text, kind_of

_Raw = Mapping[str, Any]


def message_from_wire(raw: Mapping[str, Any], where: str = "message") -> ChatMessage:
    """One message of a request or a saved conversation.

    Raises ModelError INVALID_REQUEST, naming ``where``: no object, unknown role, content that is
    neither text nor parts, calls that are no objects. The legacy role ``function`` is read as tool.
    """
    if not isinstance(raw, Mapping):
        bad_shape(where, f"is {kind_of(raw)}, not an object")
    return read_message(cleaned(raw, where), where)


def message_to_wire(message: ChatMessage) -> dict[str, Any]:
    """The message as a JSON object; ``content`` is always written, null where there is none."""
    return _overlaid(_base(message), message.extra)


def read_message(raw: _Raw, where: str) -> ChatMessage:
    """As :func:`message_from_wire`, of a value that is clean already."""
    role = raw.get("role")
    reader = _READERS.get(role) if isinstance(role, str) else None
    if reader is None:
        bad_shape(f"{where}.role", f"is {role!r}, allowed are {', '.join(_READERS)}")
    content = content_from_wire(raw.get("content"), f"{where}.content")
    message = reader(raw, content, where, None)
    extra = _left_over(raw, _base(message), where)
    return message if extra is None else reader(raw, content, where, extra)


def _left_over(raw: _Raw, base: _Raw, where: str) -> JsonText | None:
    """What the rendered form lacks or says otherwise; lists of parts and calls are exact already."""
    exact = {key for key in ("content", "tool_calls") if key in base and isinstance(raw.get(key), list)}
    rest = {key: value for key, value in raw.items() if key not in exact and (key not in base or base[key] != value)}
    return json_text(rest, where) if rest else None


# ---------------------------------------------------------------- reading by role


def _system(raw: _Raw, content: Content | None, where: str, extra: JsonText | None) -> ChatSystem:
    return ChatSystem(content=_present(content), extra=extra)


def _developer(raw: _Raw, content: Content | None, where: str, extra: JsonText | None) -> ChatDeveloper:
    return ChatDeveloper(content=_present(content), extra=extra)


def _user(raw: _Raw, content: Content | None, where: str, extra: JsonText | None) -> ChatUser:
    return ChatUser(content=_present(content), extra=extra)


def _assistant(raw: _Raw, content: Content | None, where: str, extra: JsonText | None) -> ChatAssistant:
    return ChatAssistant(
        content=content,
        reasoning=_text(raw.get("reasoning_content")),
        refusal=_text(raw.get("refusal")),
        tool_calls=_calls(raw.get("tool_calls"), f"{where}.tool_calls"),
        extra=extra,
    )


def _tool(raw: _Raw, content: Content | None, where: str, extra: JsonText | None) -> ChatTool:
    return ChatTool(
        call_id=_text(raw.get("tool_call_id")),
        content=_present(content),
        name=_text(raw.get("name")),
        extra=extra,
    )


_READERS: Final[dict[str, Callable[[_Raw, Content | None, str, JsonText | None], ChatMessage]]] = {
    "system": _system,
    "developer": _developer,
    "user": _user,
    "assistant": _assistant,
    "tool": _tool,
    "function": _tool,
}


def _present(content: Content | None) -> Content:
    return "" if content is None else content


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


# ---------------------------------------------------------------- calls


def _calls(value: Any, where: str) -> tuple[ChatCall, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        bad_shape(where, f"is {kind_of(value)}, not an array")
    return tuple(_call_from_wire(call, f"{where}[{index}]") for index, call in enumerate(value))


def _call_from_wire(raw: Any, where: str) -> ChatCall:
    if not isinstance(raw, Mapping):
        bad_shape(where, f"is {kind_of(raw)}, not an object")
    kind = _text(raw.get("type"))
    body, text_key = (raw.get("custom"), "input") if kind == "custom" else (raw.get("function"), "arguments")
    inner: _Raw = body if isinstance(body, Mapping) else {}
    call = ChatCall(
        id=_text(raw.get("id")) or "",
        name=_text(inner.get("name")) or "",
        arguments=arguments_text(inner.get(text_key), where) or "",
        type=None if kind == "function" else kind,
    )
    rest = _left_over(raw, _call_base(call), where)
    return call if rest is None else replace(call, extra=rest)


def arguments_text(value: Any, where: str) -> str | None:
    """Arguments as text: verbatim where they are, None for null, canonical JSON for a value."""
    return value if value is None or isinstance(value, str) else json_text(value, f"{where}.arguments")


def call_to_wire(call: ChatCall) -> dict[str, Any]:
    """A call inside an assistant message; without a type of its own it is a function call."""
    return _overlaid(_call_base(call), call.extra)


def _call_base(call: ChatCall) -> dict[str, Any]:
    if call.type == "custom":
        return {"id": call.id, "type": "custom", "custom": {"name": call.name, "input": call.arguments}}
    base: dict[str, Any] = {"id": call.id, "type": call.type or "function"}
    if call.type is None or call.name or call.arguments:
        base["function"] = {"name": call.name, "arguments": call.arguments}
    return base


# ---------------------------------------------------------------- rendering


def _overlaid(base: dict[str, Any], extra: JsonText | None) -> dict[str, Any]:
    return base if extra is None else base | json.loads(extra)


def _base(message: ChatMessage) -> dict[str, Any]:
    base: dict[str, Any] = {"role": message.role, "content": content_to_wire(message.content)}
    match message:
        case ChatSystem() | ChatDeveloper() | ChatUser():
            pass
        case ChatAssistant():
            _assistant_base(message, base)
        case ChatTool():
            base |= {"tool_call_id": message.call_id} if message.call_id is not None else {}
            base |= {"name": message.name} if message.name is not None else {}
        case _:
            assert_never(message)
    return base


def _assistant_base(message: ChatAssistant, base: dict[str, Any]) -> None:
    if message.reasoning is not None:
        base["reasoning_content"] = message.reasoning
    if message.refusal is not None:
        base["refusal"] = message.refusal
    if message.tool_calls:
        base["tool_calls"] = [call_to_wire(call) for call in message.tool_calls]
