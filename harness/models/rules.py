"""The rules of a profile, applied: to a request before it is sent, and to an answer that came. Pure.

Nothing is changed in silence: each rule that decided something gives a note.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from harness.errors import ModelError
from harness.models.profiles import AdapterProfile, CutResponse, Finish, OutputLimit, ReasoningBack, StreamUsage
from harness.types.codes import Code, FinishReason
from harness.types.doors import Answer
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatAssistant, ChatMessage, JsonText
from harness.wire.completions import finish_reason
from harness.wire.messages import message_to_wire
from harness.wire.responses_items import KEPT_ITEMS

NO_REASONS: Final = "this provider never says why an answer ended: it counts without a finish reason"
CALLS_COUNT: Final = "calls came with another finish reason than tool_calls: they count"
NO_ID: Final = "a call came without an id: it goes back under one of the harness"
SAME_ID: Final = "two calls of one answer came with one id: the later one goes back under one of the harness"
NO_ARGUMENTS: Final = "a call came without arguments"
UNKNOWN_REASON: Final = "the finish reason is no documented one: whether there are calls decides"
REASONING_LEFT_OUT: Final = "reasoning was not sent back, as this provider takes none"
REASONING_RENAMED: Final = "reasoning was sent back in the field 'reasoning'"
ITEMS_LEFT_OUT: Final = "output items of the Responses API were not sent to this one"
_DOCUMENTED: Final = ("stop", "tool_calls", "length", "content_filter")
_LIMITS: Final = ("max_tokens", "max_completion_tokens")
_CUT: Final = (FinishReason.LENGTH, FinishReason.CONTENT_FILTER, FinishReason.REFUSAL)


# ---------------------------------------------------------------- requests


def chat_parameters(given: Mapping[str, Any], profile: AdapterProfile, notes: dict[str, None]) -> dict[str, Any]:
    """The parameters of a chat request as this provider takes them."""
    shaped = dict(given)
    if profile.output_limit is not OutputLimit.AS_GIVEN:
        wanted = profile.output_limit.value
        for name in _LIMITS:
            if name in shaped and name != wanted:
                limit = shaped.pop(name)
                if wanted not in shaped:
                    shaped[wanted] = limit
                    notes[f"{name} was sent as {wanted}"] = None
    if shaped.get("stream") is True and profile.stream_usage is StreamUsage.ASKED:
        shaped.setdefault("stream_options", {"include_usage": True})
    return shaped


def own_parameters(parameters: JsonText, *, stream: bool) -> JsonText:
    """The parameters of a model, with what asks for a stream where it is to stream."""
    return canonical_json({"stream": True} | json.loads(parameters)) if stream else parameters


def chat_message(message: ChatMessage, profile: AdapterProfile, notes: dict[str, None]) -> dict[str, Any]:
    """A message as this provider takes it; nothing of another dialect or provider is shown."""
    wire = message_to_wire(message)
    if not isinstance(message, ChatAssistant):
        return wire
    if wire.pop(KEPT_ITEMS, None) is not None:
        notes[ITEMS_LEFT_OUT] = None
    if message.reasoning is None or profile.reasoning_back is ReasoningBack.REASONING_CONTENT:
        return wire
    text = wire.pop("reasoning_content", None)
    if profile.reasoning_back is ReasoningBack.LEFT_OUT:
        notes[REASONING_LEFT_OUT] = None
    elif text is not None:
        wire[profile.reasoning_back.value] = text
        notes[REASONING_RENAMED] = None
    return wire


# ---------------------------------------------------------------- answers


def normalised(answer: Answer, profile: AdapterProfile, notes: Mapping[str, None], *, is_whole: bool = True) -> Answer:
    """The answer with a note for each rule that decided something, those of its request first.

    ``is_whole``: it came to the end that the server marks; a stream that did not is never taken without a finish
    reason, whoever sends it (CONFORMANCE 98).
    """
    found = dict(notes) | dict.fromkeys(answer.notes)
    answer = _in_documented_words(answer, profile, found)
    never = profile.finish is Finish.NEVER and answer.finish_reason is None and is_whole
    if never:
        found[NO_REASONS] = None
    if answer.calls and answer.finish_reason not in (None, FinishReason.TOOL_CALLS, *_CUT):
        found[CALLS_COUNT] = None
    found |= dict.fromkeys(_call_notes(answer))
    return replace(answer, notes=tuple(found), no_finish_expected=profile.finish is Finish.NEVER and is_whole)


def _in_documented_words(answer: Answer, profile: AdapterProfile, notes: dict[str, None]) -> Answer:
    raw = answer.raw_finish_reason
    meant = dict(profile.finish_words).get(raw or "")
    reason = answer.finish_reason if meant is None else finish_reason(meant)
    if reason is FinishReason.OTHER:
        notes[UNKNOWN_REASON] = None
    elif reason is not None and raw not in _DOCUMENTED:
        notes[f"the finish reason {raw!r} was taken as {reason.value!r}"] = None
    return replace(answer, finish_reason=reason)


def told_limit(body: Mapping[str, Any], profile: AdapterProfile) -> int | None:
    """The ``max_output_tokens`` of a Responses request, where only usage tells whether it cut the answer."""
    limit = body.get("max_output_tokens")
    known = profile.cut_response is CutResponse.TOLD or not isinstance(limit, int) or isinstance(limit, bool)
    return None if known else limit


def whole_stream(answer: Answer) -> Answer:
    """The answer of a stream. Raises ModelError NO_FINISH_REASON where nothing said why it ended.

    Half of it may be missing then, so that no loop may be given it, ours or a user's (INVARIANTS 6).
    """
    if answer.finish_reason is None and not answer.no_finish_expected:
        what = "the stream ended without a finish reason, so it may be cut: nothing of it is used"
        if replace(answer, notes=()) == Answer():
            what = "the stream held nothing: does the address lead to the API?"
        error = ModelError(what, code=Code.NO_FINISH_REASON)
        error.usage = answer.usage
        raise error
    return answer


def _call_notes(answer: Answer) -> list[str]:
    ids = [call.wire_id for call in answer.calls if call.wire_id]
    notes = [NO_ID] if len(ids) < len(answer.calls) else []
    notes += [SAME_ID] if len(set(ids)) < len(ids) else []
    return notes + ([NO_ARGUMENTS] if any(not (call.arguments or "").strip() for call in answer.calls) else [])
