"""Responses requests: rendered from a model call.

Parameters are those of Chat Completions, since a scenario's are the same whatever API is asked; the ones that have
another name or shape here are put into it, and those that stand in the shape of Responses already stay.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, Final, assert_never

from harness.errors import ConfigurationError
from harness.types.doors import ModelCall
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
from harness.wire.content import content_to_wire
from harness.wire.responses_items import KEPT_ITEMS
from harness.wire.tools import render_tools

_OWN: Final = ("input", "instructions", "tools", "messages")


def render_response_request(call: ModelCall, model: str, items: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The request body of a call; ``items`` are its messages as :func:`input_items` gives them, in order.

    One plain system text goes into ``instructions``, anything else into the input. Raises ConfigurationError for
    parameters that would replace input, instructions or tools.
    """
    parameters: dict[str, Any] = json.loads(call.parameters)
    for key in _OWN:
        if key in parameters:
            raise ConfigurationError(f"request parameters may not hold {key!r}; remove it from them")
    body: dict[str, Any] = {"model": parameters.pop("model", model)}
    instructions = _instructions(call.system)
    if instructions is not None:
        body["instructions"] = instructions
    leading = [] if instructions is not None else [item for message in call.system for item in input_items(message)]
    body["input"] = [*leading, *items]
    tools = [_tool(tool) for tool in render_tools(call.tools)]
    if tools:
        body["tools"] = tools
    shaped = response_parameters(parameters)
    return body | {key: shaped[key] for key in sorted(shaped)}


def _instructions(system: tuple[ChatSystem | ChatDeveloper, ...]) -> str | None:
    if len(system) != 1:
        return None
    (one,) = system
    return one.content if isinstance(one, ChatSystem) and isinstance(one.content, str) and one.extra is None else None


# ---------------------------------------------------------------- messages


def input_items(message: ChatMessage, custom: Container[str | None] = ()) -> Iterator[dict[str, Any]]:
    """The input items that a message is, in order; ``custom`` are ids of calls of custom tools."""
    match message:
        case ChatSystem() | ChatDeveloper() | ChatUser():
            yield {"role": message.role, "content": _content(message.content, "input_text")}
        case ChatTool():
            yield _output_item(message, custom)
        case ChatAssistant():
            yield from _assistant(message)
        case _:
            assert_never(message)


def _output_item(message: ChatTool, custom: Container[str | None]) -> dict[str, Any]:
    kind = "custom_tool_call_output" if message.call_id in custom else "function_call_output"
    return {"type": kind, "call_id": message.call_id, "output": _content(message.content, "input_text")}


def _assistant(message: ChatAssistant) -> Iterator[dict[str, Any]]:
    """Message and calls, among the items that were kept; each call once, whatever was kept of it."""
    said, calls = _said(message), list(message.tool_calls)
    for item in _kept(message.extra):
        kind = item.get("type")
        if kind == "message":
            if said is not None:
                content = [_answer_part(part) for part in said]
                yield {**item, "role": "assistant", "content": content}
                said = None
        elif kind in ("function_call", "custom_tool_call"):
            if calls:
                yield {**item, **_call(calls.pop(0))}
        else:
            yield dict(item)
    if said is not None:
        yield {"type": "message", "role": "assistant", "content": [_answer_part(part) for part in said]}
    for call in calls:
        yield _call(call)


def _said(message: ChatAssistant) -> list[dict[str, Any]] | None:
    content = content_to_wire(message.content)
    if isinstance(content, str):
        content = [{"type": "text", "text": content}] if content else []
    parts = [*(content or ()), *([{"type": "refusal", "refusal": message.refusal}] if message.refusal else ())]
    return parts or None


def _answer_part(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "output_text", "text": part["text"]} if part.get("type") == "text" else dict(part)


def _kept(extra: JsonText | None) -> list[dict[str, Any]]:
    value = None if extra is None else json.loads(extra).get(KEPT_ITEMS)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _call(call: ChatCall) -> dict[str, Any]:
    if call.type == "custom":
        return {"type": "custom_tool_call", "call_id": call.id, "name": call.name, "input": call.arguments}
    return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}


def _content(content: Content, text_type: str) -> str | list[Any]:
    wire = content_to_wire(content)
    return [_input_part(part, text_type) for part in wire] if isinstance(wire, list) else wire or ""


def _input_part(part: Mapping[str, Any], text_type: str) -> dict[str, Any]:
    match part.get("type"):
        case "text":
            return {"type": text_type, "text": part["text"]}
        case "image_url" if isinstance(part.get("image_url"), Mapping):
            return {"type": "input_image", "image_url": part["image_url"].get("url")}
        case _:
            return dict(part)


# ---------------------------------------------------------------- tools and parameters


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool in the shape of Responses, where a function is strict unless it says that it is not."""
    function = tool.get("function")
    if tool.get("type") == "function" and isinstance(function, Mapping):
        return {"type": "function", "strict": False, **function}
    return dict(tool)


def response_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Request parameters of Chat Completions in the names and shapes of Responses."""
    shaped = dict(parameters)
    shaped.pop("stream_options", None)
    for name in ("max_tokens", "max_completion_tokens"):
        if name in shaped:
            limit = shaped.pop(name)
            shaped.setdefault("max_output_tokens", limit)
    choice = shaped.get("tool_choice")
    if isinstance(choice, Mapping) and isinstance(choice.get("function"), Mapping):
        shaped["tool_choice"] = {"type": "function", **choice["function"]}
    if "reasoning_effort" in shaped:
        shaped["reasoning"] = {"effort": shaped.pop("reasoning_effort"), **(shaped.get("reasoning") or {})}
    if "response_format" in shaped:
        shaped["text"] = {"format": _format(shaped.pop("response_format")), **(shaped.get("text") or {})}
    return shaped


def _format(asked: Any) -> Any:
    schema = asked.get("json_schema") if isinstance(asked, Mapping) else None
    return {"type": "json_schema", **schema} if isinstance(schema, Mapping) else asked
