"""Steps of ATIF from and to our facts, one function each way.

What ATIF has no field for is put under ``extra.harness``: whatever would come back otherwise by the reading function is
kept there, so that nothing of an answer, a call or a result is lost between two of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Final

from harness.errors import InvalidValueError
from harness.folds import from_plain, sent_ids, to_plain
from harness.formats.builder import ForeignCall, ForeignResult
from harness.formats.values import whole_or_none
from harness.types.codes import Code
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import Content, ImagePart, JsonText, OtherPart, Part, TextPart, camel
from harness.types.reasons import EmittedCall, Usage

OURS: Final = "harness"
"""The key under ``extra`` that is this project's."""
_DIGEST: Final = "sha256:"
_MICRO: Final = 1_000_000


def ours(value: Mapping[str, Any]) -> dict[str, Any]:
    """What this project kept under ``extra`` of an object; empty for none."""
    extra = value.get("extra")
    kept = extra.get(OURS) if isinstance(extra, dict) else None
    return kept if isinstance(kept, dict) else {}


def with_ours(value: dict[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
    """The object with that under its ``extra``."""
    return value | {"extra": {OURS: kept}} if kept else value


# ---------------------------------------------------------------- content


def content_of(value: Any) -> Content:
    """Content of a message or a result: text, or parts."""
    if value is None:
        return ""
    return value if isinstance(value, str) else tuple(_part(part) for part in value)


def _part(part: dict[str, Any]) -> Part:
    source = part.get("source")
    if set(part) == {"type", "text"} and part["type"] == "text" and isinstance(part["text"], str):
        return TextPart(text=part["text"])
    if part["type"] == "image" and isinstance(source, dict) and set(part) == {"type", "source"}:
        path, kind = source.get("path"), source.get("media_type")
        if isinstance(path, str) and path.startswith(_DIGEST) and isinstance(kind, str):
            return ImagePart(digest=path.removeprefix(_DIGEST), media_type=kind)
    return OtherPart(json=canonical_json(part))


def content_to(content: Content) -> str | list[Any]:
    """Content as ATIF spells it; a part of no kind of its own becomes the text of its JSON."""
    return content if isinstance(content, str) else [_part_to(part) for part in content]


def _part_to(part: Part) -> dict[str, Any]:
    match part:
        case TextPart(text=text):
            return {"type": "text", "text": text}
        case ImagePart(digest=digest, media_type=kind):
            return {"type": "image", "source": {"media_type": kind or "image/*", "path": _DIGEST + digest}}
        case OtherPart(json=text):
            value = parse_json(text)
            fits = isinstance(value, dict) and value.get("type") in ("image", "audio") and "source" in value
            return value if isinstance(value, dict) and fits else {"type": "text", "text": text}


def user_content(step: Mapping[str, Any]) -> Content:
    """What a user's step says. Raises InvalidValueError for what we kept and is damaged."""
    kept = ours(step)
    content = revived_content(kept["content"]) if "content" in kept else content_of(step["message"])
    return "" if content is None else content


def kept_content(content: Content | None) -> Any:
    """Content as it is kept beside what ATIF can say: text, null, or our parts without their type."""
    return to_plain(content)


def revived_content(value: Any) -> Content | None:
    """The content that was kept. Raises InvalidValueError for what is none."""
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise InvalidValueError("a kept content is text, null or a list of parts")
    return tuple(_revived_part(part) for part in value)


def _revived_part(part: Any) -> Part:
    kinds = {"text": TextPart, "digest": ImagePart, "json": OtherPart}
    known = next((kind for key, kind in kinds.items() if isinstance(part, dict) and key in part), None)
    if known is None:
        raise InvalidValueError("a kept part has text, a digest or json")
    return from_plain(known, part)


# ---------------------------------------------------------------- answers


def answer_of(step: Mapping[str, Any]) -> AssistantMessage:
    """The answer of an agent's step, without its calls. Raises InvalidValueError for what we kept and is damaged."""
    message, calls = step["message"], step.get("tool_calls")
    plain = AssistantMessage(
        content=None if not message and calls else content_of(message),
        reasoning=step.get("reasoning_content"),
        model=step.get("model_name"),
        usage=_usage(step.get("metrics")),
    )
    kept = ours(step).get("answer")
    if not isinstance(kept, dict):
        return plain
    revived = from_plain(AssistantMessage, {key: value for key, value in kept.items() if key != "content"})
    names = [spec.name for spec in fields(AssistantMessage) if camel(spec.name) in kept]
    changes = {name: getattr(revived, name) for name in names if name != "content"}
    if "content" in kept:
        changes["content"] = revived_content(kept["content"])
    return replace(plain, **changes)


def answer_to(answer: AssistantMessage) -> dict[str, Any]:
    """The step of an answer, calls not counted in; what would come back otherwise is kept."""
    step: dict[str, Any] = {"source": "agent", "message": content_to(answer.content or "")}
    optional = {"model_name": answer.model, "reasoning_content": answer.reasoning, "metrics": _metrics(answer.usage)}
    step |= {name: value for name, value in optional.items() if value is not None}
    if answer.tool_calls:
        sent = sent_ids(answer.tool_calls)
        step["tool_calls"] = [call_to(call, name) for call, name in zip(answer.tool_calls, sent, strict=True)]
    back = answer_of(step)
    kept = {}
    for spec in fields(AssistantMessage):
        value = getattr(answer, spec.name)
        if spec.name != "tool_calls" and value != getattr(back, spec.name):
            kept[camel(spec.name)] = to_plain(value)
    return with_ours(step, {"answer": kept} if kept else {})


def _usage(metrics: Mapping[str, Any] | None) -> Usage | None:
    if not metrics:
        return None
    names = ("prompt_tokens", "completion_tokens", "cached_tokens")
    cost = metrics.get("cost_usd")
    micro = round(cost * _MICRO) if isinstance(cost, int | float) and abs(cost) < 2**40 else None
    prompt, completion, cached = (whole_or_none(metrics.get(name)) for name in names)
    usage = Usage(prompt, completion, cached, cost_micro_usd=micro)
    return None if usage == Usage() else usage


def _metrics(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    named = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "cost_usd": None if usage.cost_micro_usd is None else usage.cost_micro_usd / _MICRO,
    }
    return {name: value for name, value in named.items() if value is not None} or None


# ---------------------------------------------------------------- calls and results


def call_of(call: Mapping[str, Any]) -> ForeignCall:
    """A call; its arguments as canonical JSON text, or as the text that we kept."""
    kept = ours(call)
    text, wire, kind = kept.get("arguments"), kept.get("wireId"), kept.get("type")
    return ForeignCall(
        call["function_name"],
        text if isinstance(text, str) else canonical_json(call["arguments"]),
        wire if isinstance(wire, str) else call["tool_call_id"],
        kind if isinstance(kind, str) else None,
    )


def call_to(call: EmittedCall, sent: str) -> dict[str, Any]:
    """The call as ATIF has it, under the id that it is sent back under, which is its own in its step.

    Arguments that are no object stand empty; their text is kept.
    """
    value = parse_json(call.arguments)
    arguments = {} if isinstance(value, Refusal) or not isinstance(value, dict) else value
    kept: dict[str, Any] = {}
    if canonical_json(arguments) != call.arguments:
        kept["arguments"] = call.arguments
    if call.wire_id is not None and call.wire_id != sent:
        kept["wireId"] = call.wire_id
    if call.type is not None:
        kept["type"] = call.type
    made = {"tool_call_id": sent, "function_name": call.name, "arguments": arguments}
    return with_ours(made, kept)


def result_of(result: Mapping[str, Any], name: str | None) -> ForeignResult:
    """A result of the call ``name``. Raises InvalidValueError for what we kept and is damaged."""
    kept = ours(result)
    content = revived_content(kept["content"]) if "content" in kept else content_of(result.get("content"))
    code, message, own_name = kept.get("code"), kept.get("message"), kept.get("name")
    if code is not None and code not in tuple(Code):
        raise InvalidValueError(f"{code!r} is no code of a result")
    return ForeignResult(
        None,
        "" if content is None else content,
        own_name if isinstance(own_name, str) else name,
        is_error=kept.get("isError") is True,
        code=None if code is None else Code(code),
        message=message if isinstance(message, str) else None,
        truncated=kept.get("truncated") is True,
    )


def result_to(result: ToolResult, source: str | None, name: str | None) -> dict[str, Any]:
    """The result of the call ``source`` of a tool in the same step; None: of none, so that its own id is kept."""
    made: dict[str, Any] = {"source_call_id": source, "content": content_to(result.content)}
    back = result_of(made, name)
    told = {
        "name": (result.name, back.name or ""),
        "isError": (result.is_error, False),
        "code": (result.code, None),
        "message": (result.message, None),
        "truncated": (result.truncated, False),
        "callId": (None if source is not None else result.call_id, None),
    }
    kept = {key: value for key, (value, default) in told.items() if value != default}
    if back.content != result.content:
        kept["content"] = kept_content(result.content)
    return with_ours(made, kept)


def plain_json(text: JsonText | str | None) -> Any:
    """The value of a JSON text of ours; None for none."""
    value = parse_json(text) if text else None
    return None if isinstance(value, Refusal) else value
