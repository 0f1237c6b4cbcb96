"""An answer as a Responses body, and as the events of a stream; reading either gives the answer back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.types.chunking import ChunkCut
from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.messages import JsonText
from harness.types.reasons import Usage
from harness.wire.chunk_render import pieces
from harness.wire.completions import raw_reason
from harness.wire.content import visible_text
from harness.wire.responses_items import KEPT_ITEMS

_DONE: Final = (FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.REFUSAL, FinishReason.OTHER)
_WORDS: Final = {FinishReason.LENGTH: "max_output_tokens"}
_Item = dict[str, Any]


def render_response(answer: Answer, *, id: str, model: str, created: int = 0) -> dict[str, Any]:  # noqa: A002
    """The response body that carries ``answer``; ``created`` is in seconds.

    An answer without finish reason has no status either. Parts of a content that are no text have no place here.
    """
    body: dict[str, Any] = {"id": id, "object": "response", "created_at": created, "model": answer.model or model}
    body |= _status(answer)
    body["output"] = list(_items(answer, id))
    if answer.usage is not None:
        body["usage"] = _usage(answer.usage)
    return body


def _status(answer: Answer) -> dict[str, Any]:
    if answer.finish_reason is None:
        return {}
    if answer.finish_reason in _DONE:
        return {"status": "completed", "error": None, "incomplete_details": None}
    if answer.finish_reason is FinishReason.ABORTED:
        return {"status": "cancelled", "error": None, "incomplete_details": None}
    if answer.finish_reason is FinishReason.ERROR:
        return {"status": "failed", "error": {"code": "server_error", "message": "the answer ended with an error"}}
    reason = _WORDS.get(answer.finish_reason, raw_reason(answer))
    return {"status": "incomplete", "error": None, "incomplete_details": {"reason": reason}}


def _items(answer: Answer, prefix: str) -> Iterator[_Item]:
    kept = [] if answer.extra is None else json.loads(answer.extra).get(KEPT_ITEMS, [])
    calls, message = list(answer.calls), _message(answer, prefix)
    if not kept and answer.reasoning is not None:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        yield {"id": f"rs_{prefix}", "type": "reasoning", "summary": summary}
    for item in kept:
        if item["type"] == "message" and message is not None:
            yield {**message, **item}
            message = None
        elif item["type"] in ("function_call", "custom_tool_call") and calls:
            yield {**_call(calls.pop(0), f"fc_{prefix}_{len(calls)}"), **item}
        elif item["type"] not in ("message", "function_call", "custom_tool_call"):
            yield item
    if message is not None:
        yield message
    yield from (_call(call, f"fc_{prefix}_{index}") for index, call in enumerate(calls))


def _message(answer: Answer, prefix: str) -> _Item | None:
    content: list[_Item] = []
    if answer.content is not None:
        content.append({"type": "output_text", "text": visible_text(answer.content), "annotations": []})
    if answer.refusal is not None:
        content.append({"type": "refusal", "refusal": answer.refusal})
    if not content:
        return None
    return {"id": f"msg_{prefix}", "type": "message", "status": "completed", "role": "assistant", "content": content}


def _call(call: AnsweredCall, id: str) -> _Item:  # noqa: A002
    kind, text = ("custom_tool_call", "input") if call.type == "custom" else ("function_call", "arguments")
    named = {} if call.name is None else {"name": call.name}
    ids = {"id": id} | ({} if call.wire_id is None else {"call_id": call.wire_id})
    return {**ids, "type": kind, "status": "completed", **named, text: call.arguments}


def _usage(usage: Usage) -> dict[str, Any]:
    n_in, n_out = usage.input_tokens, usage.output_tokens
    body: dict[str, Any] = {} if n_in is None else {"input_tokens": n_in}
    body |= {} if usage.cached_tokens is None else {"input_tokens_details": {"cached_tokens": usage.cached_tokens}}
    body |= {} if n_out is None else {"output_tokens": n_out}
    if usage.reasoning_tokens is not None:
        body["output_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    return body | ({} if n_in is None or n_out is None else {"total_tokens": n_in + n_out})


# ---------------------------------------------------------------- events


def render_response_events(
    answer: Answer,
    *,
    id: str,  # noqa: A002  # the dialect's own word
    model: str,
    created: int = 0,
    cut: ChunkCut = ChunkCut.WHOLE,
    every: int = 1,
) -> Iterator[JsonText]:
    """The events of ``answer`` as JSON texts, each with its ``type`` and ``sequence_number``, in order.

    ``every`` is in characters (for CHARACTERS). An answer without finish reason has no closing event.
    """
    body = render_response(answer, id=id, model=model, created=created)
    begun = {**body, "status": "in_progress", "output": []}
    begun.pop("usage", None)
    events: list[Mapping[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(body["output"]):
        events.extend(_item_events(index, item, cut, every))
    if answer.finish_reason is not None:
        events.append({"type": f"response.{body['status']}", "response": body})
    for number, event in enumerate(events):
        text = json.dumps({**event, "sequence_number": number}, ensure_ascii=False, separators=(",", ":"))
        yield JsonText(text)


def _item_events(index: int, item: _Item, cut: ChunkCut, every: int) -> Iterator[Mapping[str, Any]]:
    place = {"output_index": index, "item_id": item.get("id")}
    yield {"type": "response.output_item.added", "output_index": index, "item": _begun(item)}
    for kind, slot, text in _texts(item):
        for piece in pieces(text, cut, every):
            yield {"type": f"response.{kind}.delta", **place, **slot, "delta": piece}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _begun(item: _Item) -> _Item:
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "reasoning":
            return {**item, **{key: [] for key in ("summary", "content") if key in item}}
        case "function_call" | "custom_tool_call":
            text = "input" if item["type"] == "custom_tool_call" else "arguments"
            return {**item, "status": "in_progress", text: None if item[text] is None else ""}
        case _:
            return item


def _texts(item: _Item) -> Iterator[tuple[str, dict[str, int], str | None]]:
    for at, part in enumerate(item.get("summary", ())):
        yield "reasoning_summary_text", {"summary_index": at}, part["text"]
    for at, part in enumerate(item.get("content", ())):
        kind = {"output_text": "output_text", "refusal": "refusal"}.get(part["type"], "reasoning_text")
        yield kind, {"content_index": at}, part["refusal" if kind == "refusal" else "text"]
    if item["type"] == "function_call":
        yield "function_call_arguments", {}, item["arguments"]
    elif item["type"] == "custom_tool_call":
        yield "custom_tool_call_input", {}, item["input"]
