"""A streamed Responses body: bytes in, chunks of Chat Completions out, and the same answer as the whole one.

The chunks that are told are those of one dialect whatever the provider speaks, so that logs, checks and the kept
prefix of a cut answer know one form only. What was streamed must be what the closing response holds: text, refusal
and calls; anything else is damage, since a reader saw what the answer does not say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from harness.errors import ModelError
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.jsontext import clean_text
from harness.types.messages import JsonText
from harness.wire.chunks import ChunkAssembler
from harness.wire.completions import rendered_usage
from harness.wire.error_objects import error_in
from harness.wire.responses_items import BETWEEN_TEXTS, call_of_item, parse_response, pieces_of, usage_of
from harness.wire.responses_places import NO_INDEX, ItemPlaces
from harness.wire.shape import bad_shape, cleaned
from harness.wire.sse import MOST_EVENT_BYTES, SseDecoder, SseEvent
from harness.wire.streams import EMPTY_EVENT, END, REPLACED, damaged, error_of, event_object

_CLOSING: Final = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")
_DELTAS: Final = {
    "response.output_text.delta": ("text", "content"),
    "response.refusal.delta": ("refusal", "content"),
    "response.reasoning_text.delta": ("reasoning", "content"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary"),
    "response.function_call_arguments.delta": ("arguments", "arguments"),
    "response.custom_tool_call_input.delta": ("arguments", "arguments"),
}
"""Kind of text, and the field of the item that it grows."""
_FIELDS: Final = {"text": "content", "refusal": "refusal", "reasoning": "reasoning_content"}
_CALL_ITEMS: Final = ("function_call", "custom_tool_call")
_ITEMS_DONE: Final = "the closing response held no output: the finished items of the stream were taken"
_UNKNOWN: Final = "an event of a kind that this version does not know was ignored"
_INDEXES: Final = {"content": "content_index", "summary": "summary_index"}
_KNOWN: Final = "response."
_ANY: Final = -1
"""The slot of a text whose events do not say which part of the item it is."""
_Slot = tuple[str, str, int]


@dataclass(slots=True)
class _Item:
    """An output item as far as it has come: its texts by kind and slot; as a call, its number among the calls."""

    texts: dict[_Slot, str] = field(default_factory=dict)
    call: int | None = None
    is_custom: bool = False
    done: Mapping[str, Any] | None = None


class ResponsesStream:
    """Reads the events of one streamed response; ``is_over`` once the closing one came.

    ``limit`` is that of :func:`~harness.wire.responses_items.parse_response`.
    """

    def __init__(self, *, limit: int | None = None, most_event_bytes: int = MOST_EVENT_BYTES) -> None:
        self._limit = limit
        self._decoder = SseDecoder(most_event_bytes=most_event_bytes)
        self._assembler = ChunkAssembler()
        self._notes: dict[str, None] = {}
        self._items: dict[int, _Item] = {}
        self._places = ItemPlaces()
        self._n_calls = 0
        self._last: dict[str, tuple[int, _Slot]] = {}
        self._id = ""
        self._answer: Answer | None = None

    @property
    def is_over(self) -> bool:
        """The closing response came."""
        return self._answer is not None

    def feed(self, data: bytes) -> Iterator[JsonText]:
        """The chunks that these bytes complete. Raises ModelError: DAMAGED_RESPONSE, or what the server says."""
        if self.is_over:
            return
        for event in self._decoder.feed(data):
            if event.data.strip() in ("", END):
                if not event.data.strip():
                    self._notes[EMPTY_EVENT] = None
                continue
            for chunk in self._read(event):
                text = JsonText(json.dumps(chunk, ensure_ascii=True, separators=(",", ":")))
                yield text
                self._assembler.take(text)
            if self._answer is not None:
                self._answer = self._compared(self._answer)
                return

    def answer(self) -> Answer:
        """The whole answer once the closing response came; before that what was streamed, without a finish reason."""
        notes = self._notes | ({REPLACED: None} if self._decoder.replaced else {})
        notes |= {NO_INDEX: None} if self._places.by_id else {}
        if self._answer is None:
            streamed = self._assembler.answer()
            return replace(streamed, notes=(*streamed.notes, *notes))
        return replace(self._answer, notes=tuple({**dict.fromkeys(self._answer.notes), **notes}))

    # ------------------------------------------------------------ events

    def _read(self, event: SseEvent) -> Iterator[dict[str, Any]]:
        value = event_object(event.data)
        if value is None:
            raise damaged("no event of a response: its data is no JSON object")
        kind, response = str(value.get("type") or event.event), value.get("response")
        if kind == "error" or (value.get("error") and not isinstance(response, Mapping)):
            raise error_of(event)
        if kind in _CLOSING and isinstance(response, Mapping):
            _raise_failure(kind, response)
        try:
            yield from self._event(kind, value)
        except ModelError as error:
            if error.code == Code.INVALID_REQUEST:  # the shape of something in it
                raise damaged(f"no event of a response: {error}") from None
            raise

    def _event(self, kind: str, value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        if kind in _CLOSING:
            yield from self._closing(kind, value)
        elif kind in _DELTAS:
            piece = value.get("delta")
            if not isinstance(piece, str):
                bad_shape("delta", "is no text")
            what, where = _DELTAS[kind]
            index = 0 if where == "arguments" else value.get(_INDEXES[where])
            slot = (what, where, index if isinstance(index, int) else _ANY)
            yield from self._grown(self._places.of_event(value), slot, piece)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            yield from self._item(self._places.of_event(value), value.get("item"), is_done=kind.endswith("done"))
        elif kind == "response.created":
            response = value.get("response")
            self._id = str(response.get("id") or "") if isinstance(response, Mapping) else ""
        elif not kind.startswith(_KNOWN):
            self._notes[_UNKNOWN] = None

    def _item(self, index: int, item: Any, *, is_done: bool) -> Iterator[dict[str, Any]]:
        if not isinstance(item, Mapping) or not isinstance(item.get("type"), str):
            bad_shape("item", "is no object with a type")
        known = self._items.setdefault(index, _Item())
        if item["type"] in _CALL_ITEMS:
            yield from self._call(known, item)
        for kind, (where, at), text in pieces_of(item):
            yield from self._settled(index, (kind, where, at), text, is_done=is_done)
        if is_done:
            known.done = item

    def _call(self, known: _Item, item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The beginning of a call, told once."""
        if known.call is not None:
            return
        known.call, known.is_custom = self._n_calls, item["type"] == "custom_tool_call"
        self._n_calls += 1
        call = call_of_item(item, "item")
        body = {} if call.name is None else {"name": call.name}
        named = {} if call.wire_id is None else {"id": call.wire_id}
        kind, text = ("custom", "input") if known.is_custom else ("function", "arguments")
        begun = {} if call.arguments is None else {text: ""}
        yield _delta(self._id, {"tool_calls": [{"index": known.call, **named, "type": kind, kind: body | begun}]})

    def _settled(self, index: int, slot: _Slot, whole: str, *, is_done: bool) -> Iterator[dict[str, Any]]:
        """What was not streamed yet of a text that is told whole. Raises where the stream said something else."""
        texts = self._items[index].texts
        if slot not in texts and (slot[0], slot[1], _ANY) in texts:
            slot = (slot[0], slot[1], _ANY)
        streamed, whole = clean_text(texts.get(slot, "")), clean_text(whole)
        if whole.startswith(streamed):
            yield from self._grown(index, slot, whole[len(streamed) :])
        elif is_done:
            raise damaged(f"output item {index} was streamed as another {slot[0]} than it ended with")

    def _grown(self, index: int, slot: _Slot, piece: str) -> Iterator[dict[str, Any]]:
        item = self._items.setdefault(index, _Item())
        if not piece:
            if slot[0] == "text" and self._last.setdefault("text", (index, slot)) == (index, slot):
                yield _delta(self._id, {"content": ""})
            return
        item.texts[slot] = item.texts.get(slot, "") + piece
        if slot[0] == "arguments":
            if item.call is None:
                raise damaged(f"arguments came for output item {index}, which is no call")
            kind, text = ("custom", "input") if item.is_custom else ("function", "arguments")
            yield _delta(self._id, {"tool_calls": [{"index": item.call, kind: {text: piece}}]})
            return
        last = self._last.get(slot[0])
        self._last[slot[0]] = (index, slot)
        parted = last is not None and (last[0] != index if slot[0] == "text" else last != (index, slot))
        apart = BETWEEN_TEXTS if parted and slot[0] != "refusal" else ""
        yield _delta(self._id, {_FIELDS[slot[0]]: apart + piece})

    # ------------------------------------------------------------ the end

    def _closing(self, kind: str, value: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        response = value.get("response")
        if not isinstance(response, Mapping):
            bad_shape("response", "is no object")
        whole = dict(response) | ({} if response.get("status") else {"status": kind.removeprefix("response.")})
        if not whole.get("output") and self._items:
            self._notes[_ITEMS_DONE] = None
            whole["output"] = self._done_items(is_cut=whole["status"] == "incomplete")
        answer = parse_response({"output": []} | whole, limit=self._limit)
        for index, item in enumerate(whole.get("output") or ()):
            yield from self._item(self._places.of_closing(index, item), cleaned(item, "item"), is_done=True)
        word = answer.raw_finish_reason
        yield {**_delta(self._id, {}), "choices": [{"index": 0, "delta": {}, "finish_reason": word}]}
        if answer.usage is not None:
            yield {**_delta(self._id, {}), "choices": [], "usage": rendered_usage(answer.usage)}
        self._answer = answer

    def _done_items(self, *, is_cut: bool) -> list[Mapping[str, Any]]:
        """The items as the stream ended them; of an answer that was cut, those that it got to."""
        items = [self._items[index].done for index in sorted(self._items)]
        found = [item for item in items if item is not None]
        if len(found) != len(items) and not is_cut:
            raise damaged("the response was closed while an output item was not finished")
        return found

    def _compared(self, whole: Answer) -> Answer:
        """Text, refusal and calls as streamed must be those of the closing response; reasoning is as streamed."""
        streamed = self._assembler.answer()
        for what, one, other in (
            ("text", streamed.content or None, whole.content or None),
            ("refusal", streamed.refusal, whole.refusal),
            ("calls", _told(streamed), _told(whole)),
        ):
            if one != other:
                self._answer = None
                raise damaged(f"the {what} of the closing response is not what was streamed")
        return replace(whole, reasoning=streamed.reasoning)


def _told(answer: Answer) -> list[tuple[str | None, str, str | None]]:
    return [(call.name, call.arguments or "", call.wire_id) for call in answer.calls]


def _raise_failure(kind: str, response: Mapping[str, Any]) -> None:
    if response.get("error") or kind == "response.failed" or response.get("status") == "failed":
        error = response.get("error") or "the response failed, and does not say why"
        failure = error_in(cleaned({"error": error}, "response"))
        failure.usage = usage_of(response.get("usage"))
        raise failure


def _delta(response: str, delta: Mapping[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": None}
    return {"id": response, "object": "chat.completion.chunk", "choices": [choice]}
