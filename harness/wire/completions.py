"""Chat Completions answers: read with their known oddities, and rendered.

What real servers send is wider than the documented shape: content as null, text or parts; ids that
are empty, null, absent or numbers; arguments that are empty, null or objects; reasons that are
empty, unknown or another API's words; an error object inside a 200. None of it is repaired here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.errors import ModelError
from harness.types.codes import Code, FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.reasons import Usage
from harness.wire.content import content_from_wire, content_to_wire
from harness.wire.error_objects import error_in
from harness.wire.messages import arguments_text
from harness.wire.shape import bad_shape, json_text, kind_of, read_object

_FINISH: Final = {
    "stop": FinishReason.STOP,
    "eos": FinishReason.STOP,  # Together's word
    "tool_calls": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.REFUSAL,
    "error": FinishReason.ERROR,
    "aborted": FinishReason.ABORTED,
    "cancelled": FinishReason.ABORTED,
    "canceled": FinishReason.ABORTED,
}
_RAW: Final = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.REFUSAL: "refusal",
    FinishReason.ERROR: "error",
    FinishReason.ABORTED: "aborted",
    FinishReason.OTHER: "other",
}
REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "thinking")
"""Fields that hold reasoning, the usual one first."""
FILTERED_AWAY: Final = "an answer that was filtered came without its message"
EMPTY_LEGACY: Final = "a legacy function_call with nothing in it was ignored"
LEGACY_CALL: Final = "a legacy function_call was taken as a tool call"
NO_USAGE: Final = "usage is no object, and was left out"
NO_COUNT: Final = "usage holds what is no count or price, and that was left out: {}"
_COUNTS: Final = (
    "prompt_tokens",
    "completion_tokens",
    "prompt_tokens_details.cached_tokens",
    "completion_tokens_details.reasoning_tokens",
)
_MAX_TOKENS: Final = 2**63 - 1
_Raw = Mapping[str, Any]


def finish_reason(raw: str | None) -> FinishReason | None:
    """The reason in our words; None for none (null, absent or empty), OTHER for an unknown one."""
    return _FINISH.get(raw, FinishReason.OTHER) if raw else None


def parse_completion(body: bytes | str | Mapping[str, Any]) -> Answer:
    """The answer in a response body with status 200.

    Of several choices the first is taken, and a note says so. Raises ModelError DAMAGED_RESPONSE for
    what is no chat completion, or with the code of the error object that stands in its place.
    """
    try:
        raw = read_object(body, "response")
        if raw.get("choices") or not raw.get("error"):
            return _answer(raw, raw.get("choices"))
    except ModelError as error:
        raise ModelError(f"no chat completion: {error}", code=Code.DAMAGED_RESPONSE) from None
    raise error_in(raw)


def _answer(raw: _Raw, choices: Any) -> Answer:
    if not isinstance(choices, list) or not choices:
        bad_shape("choices", "is empty" if choices == [] else f"is {kind_of(choices)}, not an array")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    notes: dict[str, None] = {}
    if message is None and isinstance(choice, Mapping) and choice.get("finish_reason") == "content_filter":
        message, notes = {}, {FILTERED_AWAY: None}
    if not isinstance(message, Mapping):
        bad_shape("choices[0].message", f"is {kind_of(message)}, not an object")
    notes |= dict.fromkeys(usage_notes(raw.get("usage")))
    reason = choice.get("finish_reason")
    word = reason if reason is None or isinstance(reason, str) else json_text(reason, "finish_reason")
    return Answer(
        content=content_from_wire(message.get("content"), "message.content"),
        calls=_calls(message, notes),
        reasoning=reasoning_in(message, notes),
        refusal=first_text(message, "refusal"),
        finish_reason=finish_reason(word),
        raw_finish_reason=word,
        model=first_text(raw, "model"),
        fingerprint=first_text(raw, "system_fingerprint"),
        usage=usage_in(raw.get("usage")),
        notes=(*notes, *(() if len(choices) == 1 else (f"the first of {len(choices)} choices was taken",))),
    )


def first_text(raw: _Raw, *keys: str) -> str | None:
    """The first of these fields that holds any text."""
    return next((raw[key] for key in keys if isinstance(raw.get(key), str) and raw[key]), None)


def reasoning_in(message: _Raw, notes: dict[str, None]) -> str | None:
    """The reasoning of a message or delta, in whichever field it came; a note where that is not the usual one."""
    key = next((key for key in REASONING_FIELDS if isinstance(message.get(key), str) and message[key]), None)
    if key is None:
        return None
    if key != REASONING_FIELDS[0]:
        notes[f"reasoning came in the field {key!r}"] = None
    text: str = message[key]
    return text


# ---------------------------------------------------------------- calls


def _calls(message: _Raw, notes: dict[str, None]) -> tuple[AnsweredCall, ...]:
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    if calls is not None and not isinstance(calls, list):
        bad_shape("message.tool_calls", f"is {kind_of(calls)}, not an array")
    if calls:
        return tuple(_call(call, f"message.tool_calls[{index}]") for index, call in enumerate(calls))
    if legacy is None:
        return ()
    if is_empty_legacy(legacy):
        notes[EMPTY_LEGACY] = None
        return ()
    notes[LEGACY_CALL] = None
    return (_call({"function": legacy}, "message.function_call"),)


def is_empty_legacy(call: Any) -> bool:
    """True for the object without name and arguments that some servers send in every message."""
    return isinstance(call, Mapping) and not call.get("name") and not call.get("arguments")


def _call(raw: Any, where: str) -> AnsweredCall:
    if not isinstance(raw, Mapping):
        bad_shape(where, f"is {kind_of(raw)}, not an object")
    kind = raw.get("type") if isinstance(raw.get("type"), str) else None
    body = raw.get("custom") if kind == "custom" else raw.get("function")
    if not isinstance(body, Mapping):
        return AnsweredCall(None, json_text(raw, where), _wire_id(raw, where), kind)
    return AnsweredCall(
        name=body.get("name") if isinstance(body.get("name"), str) else None,
        arguments=arguments_text(body.get("input" if kind == "custom" else "arguments"), where),
        wire_id=_wire_id(raw, where),
        type=None if kind == "function" else kind,
    )


def _wire_id(raw: _Raw, where: str) -> str | None:
    value = raw.get("id")
    return value if value is None or isinstance(value, str) else json_text(value, f"{where}.id")


# ---------------------------------------------------------------- usage


def usage_in(raw: Any) -> Usage | None:
    """Tokens and cost of a usage object; None for what is none. Counts that are no counts are left out."""
    if not isinstance(raw, Mapping):
        return None
    return Usage(
        input_tokens=count_in(raw.get("prompt_tokens")),
        output_tokens=count_in(raw.get("completion_tokens")),
        cached_tokens=count_in(_inside(raw, "prompt_tokens_details", "cached_tokens")),
        reasoning_tokens=count_in(_inside(raw, "completion_tokens_details", "reasoning_tokens")),
        cost_micro_usd=_micro(raw.get("cost")),
    )


def usage_notes(raw: Any, counts: Sequence[str] = _COUNTS) -> Iterator[str]:
    """What to say of a usage object: that it is none, or which of these counts (by dotted path) are none."""
    if raw is not None and not isinstance(raw, Mapping):
        yield NO_USAGE
        return
    found = {path: _at(raw or {}, path.split(".")) for path in counts}
    odd = [path for path, value in found.items() if value is not None and count_in(value) is None]
    cost = _at(raw or {}, ["cost"])
    if cost is not None and _micro(cost) is None:
        odd.append("cost")
    if odd:
        yield NO_COUNT.format(", ".join(odd))


def _at(raw: Any, path: Sequence[str]) -> Any:
    for name in path:
        raw = raw.get(name) if isinstance(raw, Mapping) else None
    return raw


def _inside(raw: _Raw, outer: str, inner: str) -> Any:
    details = raw.get(outer)
    return details.get(inner) if isinstance(details, Mapping) else None


def count_in(value: Any) -> int | None:
    """A count of tokens; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if 0 <= value <= _MAX_TOKENS and int(value) == value else None


def _micro(dollars: Any) -> int | None:
    if isinstance(dollars, bool) or not isinstance(dollars, int | float) or not math.isfinite(dollars):
        return None
    return round(dollars * 1_000_000) if 0 <= dollars < 1e9 else None


# ---------------------------------------------------------------- rendering


def render_completion(
    answer: Answer,
    *,
    id: str,  # noqa: A002  # the dialect's own word
    model: str,
    created: int = 0,
) -> dict[str, Any]:
    """The response body that carries ``answer``; ``created`` is in seconds. Reading gives it back."""
    body: dict[str, Any] = {
        "id": id,
        "object": "chat.completion",
        "created": created,
        "model": answer.model or model,
        "choices": [{"index": 0, "message": _message(answer), "logprobs": None, "finish_reason": raw_reason(answer)}],
    }
    if answer.fingerprint is not None:
        body["system_fingerprint"] = answer.fingerprint
    if answer.usage is not None:
        body["usage"] = rendered_usage(answer.usage)
    return body


def raw_reason(answer: Answer) -> str | None:
    """The provider's own word for the finish reason, or the usual one for ours."""
    if answer.raw_finish_reason is not None or answer.finish_reason is None:
        return answer.raw_finish_reason
    return _RAW[answer.finish_reason]


def _message(answer: Answer) -> dict[str, Any]:
    content = content_to_wire(answer.content)
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": answer.refusal}
    if answer.reasoning is not None:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [_rendered_call(call) for call in answer.calls]
    return message


def _rendered_call(call: AnsweredCall) -> dict[str, Any]:
    kind = call.type or "function"
    key, text = ("custom", "input") if kind == "custom" else ("function", "arguments")
    body = {} if call.name is None else {"name": call.name}
    rest = {"type": kind, key: body | {text: call.arguments}}
    return rest if call.wire_id is None else {"id": call.wire_id} | rest


def rendered_usage(usage: Usage) -> dict[str, Any]:
    """The usage object that carries these counts."""
    n_in, n_out = usage.input_tokens, usage.output_tokens
    body: dict[str, Any] = {} if n_in is None else {"prompt_tokens": n_in}
    body |= {} if n_out is None else {"completion_tokens": n_out}
    body |= {} if n_in is None or n_out is None else {"total_tokens": n_in + n_out}
    if usage.cached_tokens is not None:
        body["prompt_tokens_details"] = {"cached_tokens": usage.cached_tokens}
    if usage.reasoning_tokens is not None:
        body["completion_tokens_details"] = {"reasoning_tokens": usage.reasoning_tokens}
    if usage.cost_micro_usd is not None:
        body["cost"] = usage.cost_micro_usd / 1_000_000
    return body
