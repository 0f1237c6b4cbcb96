"""Chat Completions requests: rendered from a model call, and read from a body."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.types.doors import ModelCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatDeveloper, ChatMessage, ChatSystem, JsonText, Messages
from harness.wire.messages import message_to_wire, read_message
from harness.wire.shape import bad_shape, json_text, kind_of, read_object
from harness.wire.tools import parse_tools, render_tools

_OWN: Final = ("messages", "tools")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request body. ``parameters`` are all fields but ``model``, ``messages`` and ``tools``."""

    model: str
    system: tuple[ChatSystem | ChatDeveloper, ...]
    messages: Messages
    tools: JsonText
    parameters: JsonText
    stream: bool


def render_request(call: ModelCall, model: str, messages: Sequence[Mapping[str, Any]] | None = None) -> dict[str, Any]:
    """The request body of a call, the same for equal calls, keys in a fixed order.

    A ``model`` in the call's parameters goes before ``model`` (as other people's loops send it);
    without tools there is no ``tools`` field. ``messages`` are those of the call where somebody rendered
    them already. Raises ConfigurationError for parameters that would replace messages or tools.
    """
    parameters: dict[str, Any] = json.loads(call.parameters)
    for key in _OWN:
        if key in parameters:
            raise ConfigurationError(f"request parameters may not hold {key!r}; remove it from them")
    body: dict[str, Any] = {"model": parameters.pop("model", model)}
    shown = messages if messages is not None else [message_to_wire(message) for message in call.messages]
    body["messages"] = [*(message_to_wire(message) for message in call.system), *shown]
    tools = render_tools(call.tools)
    if tools:
        body["tools"] = tools
    return body | {key: parameters[key] for key in sorted(parameters)}


def parse_request(body: bytes | str | Mapping[str, Any]) -> ChatRequest:
    """Read a request body; leading system and developer messages are its ``system``.

    Raises ModelError INVALID_REQUEST naming the place of what has the wrong shape.
    """
    raw = read_object(body, "body")
    model, messages = raw.get("model"), raw.get("messages")
    if not isinstance(model, str) or not model:
        bad_shape("model", f"is {kind_of(model)}, not the name of a model")
    if not isinstance(messages, list):
        bad_shape("messages", f"is {kind_of(messages)}, not an array")
    system, rest = _split([_message(raw, index) for index, raw in enumerate(messages)])
    others = {key: value for key, value in raw.items() if key not in ("model", *_OWN)}
    return ChatRequest(
        model=model,
        system=system,
        messages=Messages.of(rest),
        tools=parse_tools(raw.get("tools")),
        parameters=json_text(others, "body"),
        stream=raw.get("stream") is True,
    )


def _message(raw: Any, index: int) -> ChatMessage:
    where = f"messages[{index}]"
    if not isinstance(raw, Mapping):
        bad_shape(where, f"is {kind_of(raw)}, not an object")
    return read_message(raw, where)


def _split(
    messages: list[ChatMessage],
) -> tuple[tuple[ChatSystem | ChatDeveloper, ...], list[ChatMessage]]:
    system: list[ChatSystem | ChatDeveloper] = []
    for message in messages:
        if not isinstance(message, ChatSystem | ChatDeveloper):
            break
        system.append(message)
    return tuple(system), messages[len(system) :]


def call_of(request: ChatRequest) -> ModelCall:
    """The model call that a request body is; its ``parameters`` hold the model's name too."""
    parameters = json.loads(request.parameters) | {"model": request.model}
    return ModelCall(request.system, request.messages, request.tools, canonical_json(parameters))


def with_parameters(call: ModelCall, defaults: JsonText) -> ModelCall:
    """The call with ``defaults`` below its own parameters (both JSON texts of objects)."""
    if defaults == "{}":
        return call
    merged = canonical_json(json.loads(defaults) | json.loads(call.parameters))
    return call if merged == call.parameters else replace(call, parameters=merged)
