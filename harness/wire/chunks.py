"""Streamed answers: chunks of the Chat Completions dialect, assembled into the answer that they make.

What real streams do is wider than the documented shape. Each rule that decides anything but the plain
case leaves a note in the answer:

- pieces of calls are placed by index, else by id, else with the call opened last (:mod:`~harness.wire.chunk_calls`);
- what comes behind the finish reason is ignored, but for usage: the first close wins (CONFORMANCE 142);
- of several choices the first one that spoke is taken;
- usage that comes more than once counts once: the last one, never a sum;
- an ``error`` in a chunk fails the answer, whatever was complete before it (CONFORMANCE 145).

Texts are cleaned only when they are whole, so a character that was split over two chunks survives (148).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.errors import ModelError
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.events import Event
from harness.types.exchange import AssistantChunk, AssistantMessage, ModelRequest, ModelRetry
from harness.types.jsontext import clean_text, loads_strict
from harness.types.lifecycle import StepStart
from harness.types.messages import Content, Part, TextPart
from harness.wire.chunk_calls import StreamedCalls
from harness.wire.completions import (
    EMPTY_LEGACY,
    LEGACY_CALL,
    finish_reason,
    first_text,
    is_empty_legacy,
    reasoning_in,
    usage_in,
    usage_notes,
)
from harness.wire.content import content_from_wire
from harness.wire.error_objects import error_in
from harness.wire.shape import bad_shape, cleaned, json_text, kind_of

_LATE: Final = "what came behind the finish reason was ignored"
_OTHER_CHOICE: Final = "of several streamed choices the first was taken"
_USAGE_AGAIN: Final = "usage came more than once: the last one counts"
_NULL: Final = "{0} of a chunk that was null was ignored"
_ENDS_A_STREAM: Final = (ModelRequest, ModelRetry, AssistantMessage, StepStart)


class ChunkAssembler:
    """Takes the chunks of one attempt, in order; ``answer()`` is what they make so far.

    A broken stream simply ends: without a finish reason among its chunks the answer has none.
    """

    def __init__(self) -> None:
        self._notes: dict[str, None] = {}
        self._calls = StreamedCalls(self._notes)
        self._content: list[str | Part] = []
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._choice: int | None = None
        self._seen: dict[str, Any] = {}
        self._legacy = StreamedCalls({})

    def take(self, chunk: str | bytes | Mapping[str, Any]) -> None:
        """The next chunk. Raises ModelError: DAMAGED_RESPONSE for no chunk, or what an ``error`` in it says."""
        try:
            raw = chunk_object(chunk)
            if not raw.get("error"):
                self._take(raw)
                return
        except ModelError as error:
            raise ModelError(f"no chunk of an answer: {error}", code=Code.DAMAGED_RESPONSE) from None
        failure = error_in(cleaned(raw, "chunk"))
        failure.usage = usage_in(raw.get("usage")) or self._seen.get("usage")
        raise failure

    def answer(self) -> Answer:
        """The answer as far as it came: texts joined, nothing repaired."""
        word = self._seen.get("finish")
        return Answer(
            content=self.content,
            calls=self._calls.answered() or self._legacy.answered(),
            reasoning=_joined(self._reasoning),
            refusal=_joined(self._refusal),
            finish_reason=finish_reason(word),
            raw_finish_reason=word,
            model=self._seen.get("model"),
            fingerprint=self._seen.get("fingerprint"),
            usage=self._seen.get("usage"),
            notes=tuple(self._notes),
        )

    @property
    def content(self) -> Content | None:
        """The visible text (or parts) so far; None where nothing came."""
        if all(isinstance(piece, str) for piece in self._content):
            texts = [piece for piece in self._content if isinstance(piece, str)]
            return clean_text("".join(texts)) if texts else None
        parts: list[Part] = []
        for piece in self._content:
            part = TextPart(piece) if isinstance(piece, str) else piece
            if isinstance(part, TextPart) and parts and isinstance(parts[-1], TextPart):
                parts[-1] = TextPart(parts[-1].text + part.text)
            else:
                parts.append(part)
        return tuple(TextPart(clean_text(part.text)) if isinstance(part, TextPart) else part for part in parts)

    def _take(self, raw: Mapping[str, Any]) -> None:
        for name, key in (("model", "model"), ("fingerprint", "system_fingerprint")):
            text = self._seen.get(name) or first_text(raw, key)
            self._seen[name] = text and clean_text(text)
        usage = usage_in(raw.get("usage"))
        self._notes |= dict.fromkeys(usage_notes(raw.get("usage")))
        if usage is not None:
            if "usage" in self._seen:
                self._notes[_USAGE_AGAIN] = None
            self._seen["usage"] = usage
        choices = raw.get("choices")
        self._note_null(raw, "choices")
        if choices is not None and not isinstance(choices, list):
            bad_shape("choices", f"is {kind_of(choices)}, not an array")
        for choice in choices or ():
            if not isinstance(choice, Mapping):
                bad_shape("choices[0]", f"is {kind_of(choice)}, not an object")
            self._take_choice(choice)

    def _note_null(self, raw: Mapping[str, Any], name: str) -> None:
        if name in raw and raw[name] is None:
            self._notes[_NULL.format(name)] = None

    def _take_choice(self, choice: Mapping[str, Any]) -> None:
        index = choice.get("index")
        number = index if isinstance(index, int) else 0
        self._choice = number if self._choice is None else self._choice
        if number != self._choice:
            self._notes[_OTHER_CHOICE] = None
            return
        delta, reason = choice.get("delta"), choice.get("finish_reason")
        if "finish" in self._seen:
            if reason or (isinstance(delta, Mapping) and _says_something(delta)):
                self._notes[_LATE] = None
            return
        self._note_null(choice, "delta")
        if isinstance(delta, Mapping):
            self._take_delta(delta)
        elif delta is not None:
            bad_shape("delta", f"is {kind_of(delta)}, not an object")
        if reason:
            self._seen["finish"] = clean_text(reason) if isinstance(reason, str) else json_text(reason, "finish_reason")

    def _take_delta(self, delta: Mapping[str, Any]) -> None:
        content = delta.get("content")
        if isinstance(content, str):
            self._content.append(content)
        elif content is not None:
            self._content += content_from_wire(content, "delta.content") or ()
        thought = reasoning_in(delta, self._notes)
        self._reasoning += [thought] if thought else []
        refusal = delta.get("refusal")
        self._refusal += [refusal] if isinstance(refusal, str) and refusal else []
        if delta.get("tool_calls") is not None:
            self._calls.take(delta["tool_calls"], "delta.tool_calls")
        if is_empty_legacy(delta.get("function_call")):
            self._notes[EMPTY_LEGACY] = None
        elif isinstance(delta.get("function_call"), Mapping):
            self._notes[LEGACY_CALL] = None
            self._legacy.take([{"index": 0, "function": delta["function_call"]}], "delta.function_call")


def assembled(chunks: Sequence[str | bytes | Mapping[str, Any]]) -> Answer:
    """The answer that these chunks make. Raises ModelError for what is no chunk, or holds an error."""
    assembler = ChunkAssembler()
    for chunk in chunks:
        assembler.take(chunk)
    return assembler.answer()


def unanswered_chunks(events: Sequence[Event], agent: str) -> list[AssistantChunk]:
    """The chunks of an agent's request that has no answer yet, in order.

    None of an earlier request, and none of an attempt that will be made again (CONFORMANCE 144).
    """
    chunks: list[AssistantChunk] = []
    for position in range(len(events) - 1, -1, -1):
        event = events[position]
        if event.agent != agent:
            continue
        if isinstance(event.fact, _ENDS_A_STREAM):
            break
        if isinstance(event.fact, AssistantChunk):
            chunks.append(event.fact)
    return chunks[::-1]


def visible_prefix(chunks: Sequence[str]) -> Answer:
    """What a reader saw of an answer that never became whole: content, and what was told about it.

    Half-streamed calls, reasoning and refusals are left out, and so is all from the first damaged chunk on.
    """
    assembler = ChunkAssembler()
    for chunk in chunks:
        try:
            assembler.take(chunk)
        except ModelError:  # it is the failure that ended the answer: the chunks before it were seen
            break
    whole = assembler.answer()
    return Answer(content=whole.content, model=whole.model, fingerprint=whole.fingerprint, usage=whole.usage)


def _joined(pieces: list[str]) -> str | None:
    return clean_text("".join(pieces)) or None


def _says_something(delta: Mapping[str, Any]) -> bool:
    return any(value for key, value in delta.items() if key != "role")


def chunk_object(chunk: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    """A chunk as it came: not cleaned yet, or a character split over two chunks would be lost.

    Raises ModelError INVALID_REQUEST for what is no object of strict JSON.
    """
    if isinstance(chunk, Mapping):
        return chunk
    try:
        value = loads_strict(chunk)
    except (ValueError, RecursionError) as error:
        bad_shape("chunk", f"is not JSON ({type(error).__name__}: {error})")
    if not isinstance(value, dict):
        bad_shape("chunk", f"is no JSON object but {kind_of(value)}")
    return value
