"""Words and numbers of Inspect's logs in ours: stop reasons, usage, limits, errors, ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.formats.values import text_or_none, whole_or_none
from harness.types.codes import CancelBy, Code, FinishReason, LimitKind, Status
from harness.types.reasons import (
    Cancelled,
    Concluded,
    ContentFiltered,
    Failed,
    FinalAnswer,
    LimitHit,
    OutOfTokens,
    Reason,
    Usage,
)
from harness.wire.completions import count_in

_STOPS: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
_LIMITS: Final = {
    "context": LimitKind.CONTEXT,
    "time": LimitKind.WALL_TIME,
    "working": LimitKind.WALL_TIME,
    "message": LimitKind.MESSAGES,
    "turn": LimitKind.STEPS,
    "token": LimitKind.TOKENS,
    "cost": LimitKind.COST,
}
_CODES: Final = {
    "parsing": Code.INVALID_ARGS,
    "timeout": Code.TOOL_TIMEOUT,
    "permission": Code.PERMISSION_DENIED,
    "approval": Code.REJECTED,
    "output_limit": Code.TRUNCATED,
    "unknown": Code.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class ModelCall:
    """What the event of a model call says beside its message."""

    finish: FinishReason | None = None
    raw_finish: str | None = None
    model: str | None = None
    usage: Usage | None = None


def model_calls(events: Iterable[Mapping[str, Any]]) -> dict[str, ModelCall]:
    """What model calls say, by the id of the message that they gave."""
    found: dict[str, ModelCall] = {}
    for event in events:
        output = event.get("output") if event.get("event") == "model" else None
        message = _choice(output).get("message")
        if isinstance(message, dict) and isinstance(message.get("id"), str):
            found[message["id"]] = call_told(output)
    return found


def call_told(output: Any) -> ModelCall:
    """What the output of a model call says of it."""
    word = text_or_none(_choice(output).get("stop_reason"))
    finish = _STOPS.get(word, FinishReason.OTHER) if word else None
    if not isinstance(output, dict):
        return ModelCall()
    return ModelCall(finish, word, text_or_none(output.get("model")), _usage(output.get("usage")))


def is_output_of(output: Any, message: Mapping[str, Any]) -> bool:
    """True where an output may be that of a message: it has a choice, and that names no other."""
    given = _choice(output).get("message")
    named = given.get("id") if isinstance(given, dict) else None
    return bool(_choice(output)) and (named is None or named == message.get("id"))


def _choice(output: Any) -> Mapping[str, Any]:
    choices = output.get("choices") if isinstance(output, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _usage(raw: Any) -> Usage | None:
    if not isinstance(raw, dict):
        return None
    names = ("input_tokens", "output_tokens", "input_tokens_cache_read", "reasoning_tokens")
    counts = [count_in(raw.get(name)) for name in names]
    return Usage(*counts) if any(count is not None for count in counts) else None


def tools_of(events: Iterable[Mapping[str, Any]]) -> tuple[list[Any], dict[str, Any]] | None:
    """The tools and the settings of the first model call that tells of them."""
    for event in events:
        if event.get("event") == "model" and isinstance(event.get("tools"), list):
            config = event.get("config")
            settings = (
                {key: value for key, value in config.items() if value is not None} if isinstance(config, dict) else {}
            )
            return event["tools"], settings
    return None


def error_code(error: Any) -> Code | None:
    """Our code for the error of a tool; None for none."""
    if not isinstance(error, dict):
        return None
    return _CODES.get(str(error.get("type")), Code.TOOL_FAILED)


def end_of_sample(
    sample: Mapping[str, Any], log: Mapping[str, Any], last: Mapping[str, Any], called: ModelCall
) -> tuple[Status, Reason] | None:
    """How a sample ended: its error, its limit, else its last message and the call that gave it; None for nothing."""
    error = sample.get("error")
    if isinstance(error, dict):
        return Status.FAILED, Failed(Code.UNKNOWN, text_or_none(error.get("message")) or "failed without a message")
    limit = sample.get("limit")
    if isinstance(limit, dict):
        return _limit(limit)
    if last.get("role") == "assistant":
        return _answered(last, called)
    if last.get("role") == "tool" and (sample.get("scores") or log.get("status") == "success"):
        return Status.COMPLETED, Concluded()
    return None


def _limit(limit: Mapping[str, Any]) -> tuple[Status, Reason]:
    word = str(limit.get("type"))
    if word == "operator":
        return Status.CANCELLED, Cancelled(CancelBy.USER)
    if word not in _LIMITS:
        return Status.FAILED, Failed(Code.UNKNOWN, f"stopped by the limit {word!r}")
    given = limit.get("limit")
    value = whole_or_none(given) if not isinstance(given, float) else int(given) if abs(given) < 2**53 else None
    return Status.LIMIT_REACHED, LimitHit(_LIMITS[word], value or 0, message=f"the limit {word!r}")


def _answered(last: Mapping[str, Any], called: ModelCall) -> tuple[Status, Reason] | None:
    match called.finish:
        case FinishReason.LENGTH:
            return Status.INCOMPLETE, OutOfTokens()
        case FinishReason.CONTENT_FILTER:
            return Status.INCOMPLETE, ContentFiltered()
        case _:
            return None if last.get("tool_calls") else (Status.COMPLETED, FinalAnswer())
