"""A streamed Chat Completions body: bytes in, chunks out, and the answer that they make. Pure.

One rule book for every reader of a stream: the adapter reads what a server sends with it, and
``make cut-streams`` what was recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from harness.errors import ModelError
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.jsontext import clean_text, loads_strict
from harness.types.messages import JsonText
from harness.wire.chunks import ChunkAssembler, chunk_object
from harness.wire.error_objects import error_in
from harness.wire.shape import cleaned
from harness.wire.sse import MOST_EVENT_BYTES, SseDecoder, SseEvent

END: Final = "[DONE]"
EMPTY_EVENT: Final = "an event without data was ignored"
NO_END: Final = "the stream ended without [DONE]"
REPLACED: Final = "bytes of the stream that are no UTF-8 were replaced"


class AnswerStream(Protocol):
    """What reads one streamed answer."""

    @property
    def is_over(self) -> bool:
        """The server said that nothing more comes."""
        ...

    def feed(self, data: bytes) -> Iterator[JsonText]:
        """The chunks that these bytes complete, each given before it is taken. Raises ModelError."""
        ...

    def answer(self) -> Answer:
        """The answer as far as it came. Raises ModelError where that is damaged."""
        ...


class ChatStream:
    """Reads the events of one streamed chat completion.

    What comes behind ``[DONE]`` is not looked at. An event named ``error`` fails the answer, also where its data
    has no ``error`` of its own. An answer without finish reason is one that was cut.
    """

    def __init__(self, *, most_event_bytes: int = MOST_EVENT_BYTES) -> None:
        self._decoder = SseDecoder(most_event_bytes=most_event_bytes)
        self._assembler = ChunkAssembler()
        self._notes: dict[str, None] = {}
        self._is_over = False

    @property
    def is_over(self) -> bool:
        """``[DONE]`` came."""
        return self._is_over

    def feed(self, data: bytes) -> Iterator[JsonText]:
        """The chunks that these bytes complete. Raises ModelError: DAMAGED_RESPONSE, or what the server says."""
        if self._is_over:
            return
        for event in self._decoder.feed(data):
            text = event.data.strip()
            if text == END:
                self._is_over = True
                return
            if not text:
                self._notes[EMPTY_EVENT] = None
                continue
            chunk = None if event.event == "error" else self._chunk(event)
            yield JsonText(clean_text(text))
            if chunk is None:
                raise error_of(event)
            self._assembler.take(chunk)

    def _chunk(self, event: SseEvent) -> Mapping[str, Any]:
        """The chunk of an event. What is none is told to nobody: no log of ours may hold it (INVARIANTS 18)."""
        try:
            return chunk_object(event.data)
        except ModelError as error:
            raise damaged(f"no chunk of an answer: {error}") from None

    def answer(self) -> Answer:
        """The answer as far as it came, with a note for each rule that decided something."""
        answer = self._assembler.answer()
        if self._decoder.replaced:
            self._notes[REPLACED] = None
        if not self._is_over and answer.finish_reason is not None:
            self._notes[NO_END] = None
        return replace(answer, notes=(*answer.notes, *self._notes))


def error_of(event: SseEvent) -> ModelError:
    """The ModelError of an event that is an error, whatever its data is."""
    value = event_object(event.data)
    if value is None:
        return error_in({"error": clean_text(event.data)})
    try:
        raw = cleaned(value, "event")
    except ModelError as error:
        return damaged(f"no event of an answer: {error}")
    return error_in(raw if raw.get("error") else {"error": raw})


def event_object(data: str) -> Mapping[str, Any] | None:
    """The JSON object in an event's data, not cleaned yet; None for anything else."""
    try:
        value = loads_strict(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def damaged(what: str) -> ModelError:
    """The error of a stream that cannot be read."""
    return ModelError(what, code=Code.DAMAGED_RESPONSE)
