"""A streamed answer as events of the Responses dialect, made from the chunks of the Chat dialect.

One stream of chunks is the source of both dialects. An item is opened when its first piece comes and
closed when the next one opens; a piece for an item that is closed already (chunks of parallel calls
that are mixed) is still told as a delta of it.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from harness.errors import ModelError
from harness.types.chunking import ChunkCut
from harness.types.doors import Answer, AnsweredCall
from harness.types.messages import JsonText
from harness.wire.chunk_render import render_chunks
from harness.wire.responses_body import (
    call_item,
    item_id,
    message_item,
    open_body,
    output_items,
    reasoning_item,
    refusal_part,
    response_body,
    text_part,
)

_LAST: Final = {"completed": "response.completed", "incomplete": "response.incomplete", "failed": "response.failed"}
_REASONING: Final = ("reasoning_content", "reasoning", "thinking")


class NamedEvent(NamedTuple):
    """An event: its name ("" for none) and its data as text."""

    name: str
    data: str


@dataclass(slots=True)
class _Item:
    """An output item under way. ``key`` says which pieces are its own; ``call`` is what is known of a call."""

    key: object
    index: int
    id: str
    call: AnsweredCall | None = None
    pieces: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    closed: bool = False

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def parts(self) -> list[dict[str, Any]]:
        parts = [text_part(self.text)] if self.pieces else []
        return parts + ([refusal_part("".join(self.refusal))] if self.refusal else [])

    def value(self) -> dict[str, Any]:
        """The item as it is when done."""
        if self.call is not None:
            return call_item(self.id, self._whole_call(self.call))
        return reasoning_item(self.id, self.text) if self.key == "reasoning" else message_item(self.id, self.parts)

    def _whole_call(self, call: AnsweredCall) -> AnsweredCall:
        arguments = self.text if self.pieces or call.arguments is not None else None
        return AnsweredCall(call.name, arguments, call.wire_id, call.type)


class ResponseEvents:
    """Makes the events of one response. ``output`` are its items as far as they came."""

    def __init__(self, *, id: str, model: str, created: int = 0) -> None:  # noqa: A002  # the dialect's own word
        self._id, self._model, self._created = id, model, created
        self._items: list[_Item] = []
        self._n = 0

    @property
    def output(self) -> list[dict[str, Any]]:
        """The items so far, in order."""
        return [item.value() for item in self._items]

    def begin(self) -> Iterator[NamedEvent]:
        """The response is there, and nothing of it."""
        body = open_body(id=self._id, model=self._model, created=self._created)
        yield self._event("response.created", response=body)
        yield self._event("response.in_progress", response=body)

    def take(self, chunk: JsonText) -> Iterator[NamedEvent]:
        """The events of the next chunk; a chunk that is none comes through as it is, without a name."""
        try:
            raw = json.loads(chunk)
        except (ValueError, RecursionError):
            yield NamedEvent("", chunk)
            return
        if not isinstance(raw, Mapping) or raw.get("error"):
            yield NamedEvent("", chunk)
            return
        choices = raw.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        delta = first.get("delta") if isinstance(first, Mapping) else None
        if isinstance(delta, Mapping):
            yield from self._delta(delta)

    def end(self, answer: Answer) -> Iterator[NamedEvent]:
        """Close what is open, and the response, as the answer says it ended."""
        for item in self._items:
            yield from self._close(item)
        output = (
            self.output if answer.extra is None else output_items(answer, id=self._id)
        )  # with a provider's own items
        body = response_body(answer, output, id=self._id, model=self._model, created=self._created)
        yield self._event(_LAST.get(body["status"], "response.incomplete"), response=body)

    def failed(self, error: ModelError) -> NamedEvent:
        """The event that ends a response in its middle."""
        code = "rate_limit_exceeded" if error.code == "RATE_LIMIT" else "server_error"
        return self._event("error", code=code, message=str(error), param=None)

    # ------------------------------------------------------------ pieces

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[NamedEvent]:
        thought = next((delta[key] for key in _REASONING if isinstance(delta.get(key), str) and delta[key]), None)
        if thought:
            yield from self._reasoning(thought)
        for text in _texts(delta.get("content")):
            yield from self._text(text)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            yield from self._refusal(refusal)
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, Mapping):
                yield from self._call(call, call.get("index", position))

    def _reasoning(self, piece: str) -> Iterator[NamedEvent]:
        item = self._known("reasoning")
        if item is None:
            item = yield from self._opened("reasoning", "rs")
            yield self._at(item, "response.reasoning_summary_part.added", summary_index=0, part=_summary(""))
        item.pieces.append(piece)
        yield self._at(item, "response.reasoning_summary_text.delta", summary_index=0, delta=piece)

    def _text(self, piece: str) -> Iterator[NamedEvent]:
        item = self._known("message") or (yield from self._opened("message", "msg"))
        if not item.pieces:
            yield self._at(item, "response.content_part.added", content_index=0, part=text_part(""))
        item.pieces.append(piece)
        yield self._at(item, "response.output_text.delta", content_index=0, delta=piece, logprobs=[])

    def _refusal(self, piece: str) -> Iterator[NamedEvent]:
        item = self._known("message") or (yield from self._opened("message", "msg"))
        place = 1 if item.pieces else 0
        if not item.refusal:
            yield self._at(item, "response.content_part.added", content_index=place, part=refusal_part(""))
        item.refusal.append(piece)
        yield self._at(item, "response.refusal.delta", content_index=place, delta=piece)

    def _call(self, raw: Mapping[str, Any], index: object) -> Iterator[NamedEvent]:
        custom = raw.get("type") == "custom" or isinstance(raw.get("custom"), Mapping)
        body = raw.get("custom" if custom else "function")
        fields: Mapping[str, Any] = body if isinstance(body, Mapping) else {}
        text = fields.get("input" if custom else "arguments")
        item = self._known(("call", index))
        if item is None:
            wire_id = raw.get("id") if isinstance(raw.get("id"), str) else None
            name = fields.get("name") if isinstance(fields.get("name"), str) else None
            call = AnsweredCall(name, "" if isinstance(text, str) else None, wire_id, "custom" if custom else None)
            item = yield from self._opened(("call", index), "fc", call)
        if isinstance(text, str) and text:
            item.pieces.append(text)
            kind = "response.custom_tool_call_input" if custom else "response.function_call_arguments"
            yield self._at(item, f"{kind}.delta", delta=text)

    # ------------------------------------------------------------ items

    def _known(self, key: object) -> _Item | None:
        return next((item for item in self._items if item.key == key), None)

    def _opened(self, key: object, kind: str, call: AnsweredCall | None = None) -> Generator[NamedEvent, None, _Item]:
        for other in self._items:
            yield from self._close(other)
        index = len(self._items)
        item = _Item(key, index, item_id(kind, self._id, index), call)
        self._items.append(item)
        shown = item.value() if call is None else call_item(item.id, call)
        shown |= {"status": "in_progress"} if key != "reasoning" else {}
        yield self._event("response.output_item.added", output_index=index, item=shown)
        return item

    def _close(self, item: _Item) -> Iterator[NamedEvent]:
        if item.closed:
            return
        item.closed = True
        yield from self._told_whole(item)
        yield self._event("response.output_item.done", output_index=item.index, item=item.value())

    def _told_whole(self, item: _Item) -> Iterator[NamedEvent]:
        if item.call is not None:
            custom = item.call.type == "custom"
            kind = "response.custom_tool_call_input" if custom else "response.function_call_arguments"
            rest = {"input": item.text} if custom else {"arguments": item.text, "name": item.call.name}
            yield self._at(item, f"{kind}.done", **rest)
            return
        if item.key == "reasoning":
            yield self._at(item, "response.reasoning_summary_text.done", summary_index=0, text=item.text)
            yield self._at(item, "response.reasoning_summary_part.done", summary_index=0, part=_summary(item.text))
            return
        for place, part in enumerate(item.parts):
            kind, key = ("output_text", "text") if part["type"] == "output_text" else ("refusal", "refusal")
            more: dict[str, Any] = {"logprobs": []} if key == "text" else {}
            yield self._at(item, f"response.{kind}.done", content_index=place, **{key: part[key]}, **more)
            yield self._at(item, "response.content_part.done", content_index=place, part=part)

    def _at(self, item: _Item, name: str, /, **fields: Any) -> NamedEvent:
        return self._event(name, item_id=item.id, output_index=item.index, **fields)

    def _event(self, name: str, /, **fields: Any) -> NamedEvent:
        value = {"type": name, "sequence_number": self._n, **fields}
        self._n += 1
        return NamedEvent(name, json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}


def _texts(content: Any) -> Iterable[str]:
    if isinstance(content, str):
        return [content]  # an empty one opens its message all the same
    parts = content if isinstance(content, list) else []
    return [part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str)]


def render_response_events(
    answer: Answer,
    *,
    id: str,  # noqa: A002  # the dialect's own word
    model: str,
    created: int = 0,
    cut: ChunkCut = ChunkCut.WHOLE,
    every: int = 1,
) -> Iterator[JsonText]:
    """The events of ``answer`` as JSON texts, in order; ``every`` is in characters (for CHARACTERS).

    An answer without finish reason has no closing event.
    """
    made = ResponseEvents(id=id, model=model, created=created)
    chunks = render_chunks(answer, cut=cut, every=every, id=id)
    events = [*made.begin(), *(event for chunk in chunks for event in made.take(chunk))]
    if answer.finish_reason is not None:
        events += made.end(answer)
    yield from (JsonText(event.data) for event in events)
