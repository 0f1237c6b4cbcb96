"""Requests of the Responses dialect, read by a server: the conversation as Chat messages.

An answer is spread over several items there (reasoning, message, calls); neighbouring ones become one
assistant message again. Whoever reads has checked the shape: what is of no known shape is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.wire.requests import ChatRequest, parse_request
from harness.wire.responses_items import kept_items

_OWN: Final = ("input", "instructions", "tools")
_ROLES: Final = ("system", "developer", "user", "assistant")
_CALLS: Final = {"function_call": ("function", "arguments"), "custom_tool_call": ("custom", "input")}
_ITEMS: Final = "<items>"
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
_Raw = Mapping[str, Any]


def items_in(body: _Raw) -> list[Any]:
    """The input of a request as items; a text is one user message."""
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return list(given) if isinstance(given, list) else []


def read_responses_request(body: _Raw, items: Sequence[Any]) -> ChatRequest:
    """The request with ``items`` as its conversation (those of earlier responses first).

    ``parameters`` are all other fields as they came. Raises ModelError INVALID_REQUEST, as for a Chat request.
    """
    instructions = body.get("instructions")
    system = [{"role": "system", "content": instructions}] if isinstance(instructions, str) and instructions else []
    chat = {key: value for key, value in body.items() if key not in _OWN}
    chat["messages"] = [*system, *_messages(items)]
    if body.get("tools"):
        chat["tools"] = [_tool(tool) for tool in body["tools"]]
    return parse_request(chat)


def _tool(tool: Any) -> Any:
    if not isinstance(tool, Mapping) or tool.get("type") != "function":
        return tool
    return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}


def _messages(items: Sequence[Any]) -> Iterator[dict[str, Any]]:
    answer: dict[str, Any] = {}
    for item in items:
        if not isinstance(item, Mapping):
            continue
        kind = item["type"] if isinstance(item.get("type"), str) else "message"
        if kind == "reasoning" or kind in _CALLS or (kind == "message" and item.get("role") == "assistant"):
            if kind == "message" and "content" in answer:
                yield _assistant(answer)
                answer = {}
            _add(answer, item, kind)
            continue
        if answer:
            yield _assistant(answer)
            answer = {}
        if kind in _OUTPUTS:
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": _content(item.get("output"))}
        elif kind == "message" and item.get("role") in _ROLES:
            yield {"role": item["role"], "content": _content(item.get("content"))}
    if answer:
        yield _assistant(answer)


def _add(answer: dict[str, Any], item: _Raw, kind: str) -> None:
    answer.setdefault(_ITEMS, []).append({**item, "type": kind})
    if kind == "reasoning":
        text = "\n\n".join(_texts_of(item.get("summary"), "text"))
        if text:
            answer["reasoning_content"] = text
    elif kind in _CALLS:
        word, field = _CALLS[kind]
        body = {"name": item.get("name"), field: item.get(field)}
        answer.setdefault("tool_calls", []).append({"id": item.get("call_id"), "type": word, word: body})
    else:
        content = item.get("content")
        refusals = _texts_of(content, "refusal")
        said = [part for part in content or () if "refusal" not in part] if refusals else content
        answer["content"] = _content(said)
        answer |= {"refusal": "".join(refusals)} if refusals else {}


def _texts_of(parts: Any, key: str) -> list[str]:
    found = (part.get(key) for part in parts if isinstance(part, Mapping)) if isinstance(parts, list) else ()
    return [text for text in found if isinstance(text, str)]


def _assistant(answer: dict[str, Any]) -> dict[str, Any]:
    """One message; items that only a provider understands are kept in it, to be sent on as they came."""
    kept = kept_items(answer.pop(_ITEMS))
    return {"role": "assistant", "content": None, **answer, **({} if kept is None else json.loads(kept))}


def _content(content: Any) -> Any:
    """Text, or parts as the Chat dialect spells them; parts that are all text become one text."""
    if not isinstance(content, list):
        return content
    parts = [_part(part) for part in content]
    texts = _texts_of(parts, "text")
    if len(texts) == len(parts):
        return "".join(texts) if parts else None
    return parts


def _part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    if part.get("type") in ("input_text", "output_text", "text"):
        return {"type": "text", "text": part.get("text")}
    if part.get("type") == "input_image":
        return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
    return part
