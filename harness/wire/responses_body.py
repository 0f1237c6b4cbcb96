"""An answer as the Responses dialect writes it: output items, and the body around them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.reasons import Usage
from harness.wire.content import visible_text
from harness.wire.responses_items import KEPT_ITEMS

_INCOMPLETE: Final = {
    FinishReason.LENGTH: "max_output_tokens",
    FinishReason.CONTENT_FILTER: "content_filter",
}
_PLACEHOLDERS: Final = ("message", "function_call", "custom_tool_call")
_FAILED: Final = (FinishReason.ERROR, FinishReason.ABORTED)


def render_response(answer: Answer, *, id: str, model: str, created: int = 0) -> dict[str, Any]:  # noqa: A002
    """The response body that carries ``answer``; ``created`` is in seconds, ids of items follow from ``id``."""
    return response_body(answer, output_items(answer, id=id), id=id, model=model, created=created)


def response_body(
    answer: Answer,
    output: Sequence[dict[str, Any]],
    *,
    id: str,  # noqa: A002  # the dialect's own word
    model: str,
    created: int = 0,
) -> dict[str, Any]:
    """The body around output items: how the answer ended, and what it cost.

    An answer without a finish reason is still ``in_progress``: the dialect has no other word for it.
    """
    reason = answer.finish_reason
    body = open_body(id=id, model=answer.model or model, created=created)
    body["output"] = list(output)
    body["status"] = "completed" if reason is not None else "in_progress"
    if reason in _INCOMPLETE:
        body |= {"status": "incomplete", "incomplete_details": {"reason": _INCOMPLETE[reason]}}
    elif reason in _FAILED:
        message = f"the model ended with {answer.raw_finish_reason or reason}"
        body |= {"status": "failed", "error": {"code": "server_error", "message": message}}
    if answer.usage is not None:
        body["usage"] = response_usage(answer.usage)
    return body


def open_body(*, id: str, model: str, created: int) -> dict[str, Any]:  # noqa: A002  # the dialect's own word
    """The body of a response that has just begun."""
    return {
        "id": id,
        "object": "response",
        "created_at": created,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "metadata": {},
        "usage": None,
    }


# ---------------------------------------------------------------- items


def output_items(answer: Answer, *, id: str) -> list[dict[str, Any]]:  # noqa: A002  # the dialect's own word
    """Reasoning, message, calls: each present thing as an item, numbered in that order.

    Items that a provider wants back as they came stand where they stood, and their reasoning in place of ours.
    """
    kept = _kept(answer)
    if kept:
        return _woven(kept, output_items(replace(answer, extra=None, reasoning=None), id=id))
    items: list[dict[str, Any]] = []
    if answer.reasoning:
        items.append(reasoning_item(item_id("rs", id, len(items)), answer.reasoning))
    text = visible_text(answer.content)
    parts = [text_part(text)] if text or answer.content is not None else []
    parts += [refusal_part(answer.refusal)] if answer.refusal else []
    if parts:
        items.append(message_item(item_id("msg", id, len(items)), parts))
    for call in answer.calls:
        items.append(call_item(item_id("fc", id, len(items)), call))
    return items


def _kept(answer: Answer) -> list[dict[str, Any]]:
    value = [] if answer.extra is None else json.loads(answer.extra).get(KEPT_ITEMS)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _woven(kept: list[dict[str, Any]], ours: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The kept items, the placeholders among them filled from ours; what has no place comes last."""
    left, woven = list(ours), []
    for item in kept:
        if item.get("type") not in _PLACEHOLDERS:
            woven.append(item)
        elif (mine := next((one for one in left if one["type"] == item["type"]), None)) is not None:
            left.remove(mine)
            woven.append({**mine, **item})
    return [*woven, *left]


def item_id(kind: str, response: str, index: int) -> str:
    """The id of an output item: ``msg_1_0`` is the first item of ``resp_1``."""
    return f"{kind}_{response.removeprefix('resp_')}_{index}"


def reasoning_item(id: str, text: str) -> dict[str, Any]:  # noqa: A002  # the dialect's own word
    """Thinking, as far as it is shown."""
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"type": "reasoning", "id": id, "summary": summary}


def message_item(id: str, parts: Sequence[dict[str, Any]], status: str = "completed") -> dict[str, Any]:  # noqa: A002
    """What is said."""
    return {"type": "message", "id": id, "status": status, "role": "assistant", "content": list(parts)}


def text_part(text: str) -> dict[str, Any]:
    """Visible text."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def refusal_part(text: str) -> dict[str, Any]:
    """The model's own refusal."""
    return {"type": "refusal", "refusal": text}


def call_item(id: str, call: AnsweredCall, status: str = "completed") -> dict[str, Any]:  # noqa: A002
    """A call; what the answer lacks, the item lacks."""
    custom = call.type == "custom"
    item: dict[str, Any] = {"type": "custom_tool_call" if custom else "function_call", "id": id}
    item |= {} if call.wire_id is None else {"call_id": call.wire_id}
    item |= {} if call.name is None else {"name": call.name}
    item |= {} if call.arguments is None else {"input" if custom else "arguments": call.arguments}
    return item | {"status": status}


def response_usage(usage: Usage) -> dict[str, Any]:
    """The usage object of the dialect; counts that are not known are 0, as it has no optional ones."""
    n_in, n_out = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "input_tokens": n_in,
        "input_tokens_details": {"cached_tokens": usage.cached_tokens or 0, "cache_write_tokens": 0},
        "output_tokens": n_out,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        "total_tokens": n_in + n_out,
    }
