"""Words and numbers of GenAI spans in ours: finish reasons, usage, parameters, ends."""

from __future__ import annotations

from typing import Any, Final

from harness.formats.otel_messages import Said
from harness.formats.otel_values import Span
from harness.types.codes import Code, FinishReason, Status
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText
from harness.types.reasons import ContentFiltered, Failed, FinalAnswer, OutOfTokens, Reason, Usage
from harness.wire.completions import count_in

_FINISH: Final = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "tool_call": FinishReason.TOOL_CALLS,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.REFUSAL,
    "error": FinishReason.ERROR,
}
_INPUT: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
_OUTPUT: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
_CACHED: Final = ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens")
_REASONING: Final = ("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens")
_PARAMETER: Final = "gen_ai.request."


def finish_of(said: Said, span: Span | None) -> tuple[FinishReason | None, str | None]:
    """Our word and theirs, of the message or of its span; None for none."""
    reasons = None if span is None else span.attributes.get("gen_ai.response.finish_reasons")
    first = reasons[0] if isinstance(reasons, list) and reasons else None
    word = said.finish or (first if isinstance(first, str) else None)
    return (_FINISH.get(word, FinishReason.OTHER), word) if word else (None, None)


def usage_of(span: Span) -> Usage | None:
    """Tokens of a span in both spellings; None where it counts none."""
    counts = [_count(span, names) for names in (_INPUT, _OUTPUT, _CACHED, _REASONING)]
    return Usage(*counts) if any(count is not None for count in counts) else None


def _count(span: Span, names: tuple[str, ...]) -> int | None:
    return next((count for name in names if (count := count_in(span.attributes.get(name))) is not None), None)


def parameters_of(span: Span) -> JsonText:
    """The parameters of a request under the names of the conventions, without the model."""
    found: dict[str, Any] = {
        name.removeprefix(_PARAMETER): value
        for name, value in span.attributes.items()
        if name.startswith(_PARAMETER) and name != "gen_ai.request.model"
    }
    return canonical_json(found)


def end_of_span(span: Span, said: Said | None) -> tuple[Status, Reason] | None:
    """The end that the last request tells of; None where it ended on calls or does not tell."""
    if span.error is not None:
        return Status.FAILED, Failed(Code.UNKNOWN, span.error)
    if said is None or said.role != "assistant":
        return None
    match finish_of(said, span)[0]:
        case FinishReason.LENGTH:
            return Status.INCOMPLETE, OutOfTokens()
        case FinishReason.CONTENT_FILTER | FinishReason.REFUSAL:
            return Status.INCOMPLETE, ContentFiltered()
        case FinishReason.STOP if said.content and not said.calls:
            return Status.COMPLETED, FinalAnswer()
        case _:
            return None
