"""The dialects that the scripted server speaks: how each reads a request and writes an answer, whole or streamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from harness.errors import ModelError
from harness.server.reply import NotOffered
from harness.server.validation import HistoryRefusal, refusal_of
from harness.server.validation_responses import responses_refusal
from harness.types.chunking import ChunkCut
from harness.types.doors import Answer
from harness.types.jsontext import canonical_json, clean_text
from harness.types.messages import JsonText
from harness.wire.chunk_render import render_chunks
from harness.wire.completions import render_completion
from harness.wire.failures import error_body, render_error
from harness.wire.requests import ChatRequest, parse_request
from harness.wire.responses_body import render_response
from harness.wire.responses_events import NamedEvent, ResponseEvents
from harness.wire.responses_read import items_in, read_responses_request
from harness.wire.sse_render import DONE, sse_event

_PIECE: Final = 24
_STORED: Final = 10_000
_ELSEWHERE: Final = {
    "background": "wait for the answer",
    "conversation": "send the history as input, or name a previous_response_id",
    "prompt": "send the text as instructions and input",
}


class HistoryCheck(StrEnum):
    """Whether a history that the real API would refuse is answered with 400 here too, or taken as it is."""

    STRICT = "strict"
    LENIENT = "lenient"


@dataclass(frozen=True, slots=True)
class Read:
    """A request body as a dialect understands it; one of the two first is there, or both."""

    request: ChatRequest | None
    refusal: HistoryRefusal | None
    stream: bool = False
    items: tuple[Any, ...] = ()
    keep: bool = False


class Frames(Protocol):
    """Writes one streamed answer, event by event."""

    def begin(self) -> Iterable[bytes]: ...
    def chunk(self, chunk: JsonText) -> Iterable[bytes]: ...
    def end(self, answer: Answer) -> Iterable[bytes]: ...
    def failed(self, error: ModelError) -> Iterable[bytes]: ...


class Dialect(Protocol):
    """One API: its name, its path, its ways to read and write."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    def read(self, body: Mapping[str, Any], check: HistoryCheck) -> Read:
        """Understand a body. Raises NotOffered for options that this server does not have."""
        ...

    def whole(self, answer: Answer, number: int, read: Read) -> bytes: ...
    def frames(self, number: int, read: Read) -> Frames: ...


def chunks_of(answer: Answer, *, id: str, model: str) -> Iterator[JsonText]:  # noqa: A002
    """An answer that came whole, as chunks; arguments come in two pieces at least."""
    lengths = [-(-len(call.arguments) // 2) for call in answer.calls if call.arguments and len(call.arguments) > 1]
    return render_chunks(answer, cut=ChunkCut.CHARACTERS, every=min([_PIECE, *lengths]), id=id, model=model)


def _parsed(make: Any, *args: Any) -> tuple[ChatRequest | None, HistoryRefusal | None]:
    try:
        return make(*args), None
    except ModelError as error:
        return None, HistoryRefusal(str(error), "")


# ---------------------------------------------------------------- Chat Completions


class ChatDialect:
    """Chat Completions."""

    name = "chat"
    path = "/chat/completions"

    def read(self, body: Mapping[str, Any], check: HistoryCheck) -> Read:
        """Understand a body. Raises NotOffered for more than one choice."""
        if body.get("n") not in (None, 1):
            raise NotOffered(f"n={body['n']!r} is not offered; ask for one choice at a time", status=400, param="n")
        refusal = refusal_of(body) if check is HistoryCheck.STRICT else None
        request, shapeless = _parsed(parse_request, body)
        return Read(request, refusal or shapeless, bool(body.get("stream")))

    def whole(self, answer: Answer, number: int, read: Read) -> bytes:
        """The body; a raw one comes verbatim."""
        if answer.raw is not None:
            return clean_text(answer.raw).encode("utf-8")
        body = render_completion(answer, id=f"chatcmpl-{number}", model=_model(read))
        return canonical_json(body).encode("utf-8")

    def frames(self, number: int, read: Read) -> Frames:
        """The events of a stream."""
        options = {} if read.request is None else _options(read.request)
        return _ChatFrames(f"chatcmpl-{number}", _model(read), with_usage=options.get("include_usage") is True)


def _options(request: ChatRequest) -> Mapping[str, Any]:
    options = json.loads(request.parameters).get("stream_options")
    return options if isinstance(options, Mapping) else {}


def _model(read: Read) -> str:
    return read.request.model if read.request is not None else ""


class _ChatFrames:
    def __init__(self, id: str, model: str, *, with_usage: bool) -> None:  # noqa: A002  # the dialect's own word
        self._id, self._model, self._with_usage = id, model, with_usage
        self._n = 0

    def begin(self) -> Iterable[bytes]:
        return ()

    def chunk(self, chunk: JsonText) -> Iterable[bytes]:
        self._n += 1
        return (sse_event(chunk),)

    def end(self, answer: Answer) -> Iterable[bytes]:
        """What is still to be told. A stream whose chunks made no finish reason ends without a word."""
        if self._n:
            return (DONE,) if answer.finish_reason is not None else ()
        told = answer if self._with_usage else replace(answer, usage=None)
        return (*(sse_event(chunk) for chunk in chunks_of(told, id=self._id, model=self._model)), DONE)

    def failed(self, error: ModelError) -> Iterable[bytes]:
        rendered = render_error(error)
        body = error_body(str(error), kind="server_error") if rendered is None else rendered[2]
        return (sse_event(body.decode("utf-8")),)


# ---------------------------------------------------------------- Responses


class ResponsesDialect:
    """Responses. Answers are remembered by their id, so that a request may name the one before it."""

    name = "responses"
    path = "/responses"

    def __init__(self) -> None:
        self._stored: dict[str, tuple[Any, ...]] = {}

    def read(self, body: Mapping[str, Any], check: HistoryCheck) -> Read:
        """Understand a body. Raises NotOffered for what is kept or done elsewhere: see _ELSEWHERE."""
        for name, instead in _ELSEWHERE.items():
            if body.get(name):
                raise NotOffered(f"{name} is not offered; {instead}", status=400, param=name)
        before = body.get("previous_response_id")
        stored = () if before is None else self._stored.get(str(before))
        stream, keep = bool(body.get("stream")), body.get("store") is not False
        if stored is None:
            why = HistoryRefusal(
                f"previous response with id {str(before)!r} not found",
                "previous_response_id",
                "previous_response_not_found",
            )
            return Read(None, why, stream)
        items = (*stored, *items_in(body))
        refusal = responses_refusal(body, items) if check is HistoryCheck.STRICT else None
        if refusal is not None:  # what has the wrong shape is not read any further
            return Read(_as_far_as_it_goes(body, items), refusal, stream)
        request, shapeless = _parsed(read_responses_request, body, items)
        return Read(request, shapeless, stream, items, keep)

    def whole(self, answer: Answer, number: int, read: Read) -> bytes:
        """The body."""
        body = render_response(answer, id=f"resp_{number}", model=_model(read))
        self._store(body["id"], read, body["output"])
        return canonical_json(body).encode("utf-8")

    def frames(self, number: int, read: Read) -> Frames:
        """The events of a stream."""
        return _ResponsesFrames(f"resp_{number}", read, self._store)

    def _store(self, id: str, read: Read, output: Iterable[Any]) -> None:  # noqa: A002  # the dialect's own word
        if read.keep and len(self._stored) < _STORED:
            self._stored[id] = (*read.items, *output)


def _as_far_as_it_goes(body: Mapping[str, Any], items: tuple[Any, ...]) -> ChatRequest | None:
    try:
        return read_responses_request(body, items)
    except ModelError:  # the refusal itself says what is wrong
        return None


class _ResponsesFrames:
    def __init__(self, id: str, read: Read, store: Any) -> None:  # noqa: A002  # the dialect's own word
        self._id, self._read, self._store = id, read, store
        self._events = ResponseEvents(id=id, model=_model(read))
        self._n = 0

    def begin(self) -> Iterable[bytes]:
        return _framed(self._events.begin())

    def chunk(self, chunk: JsonText) -> Iterable[bytes]:
        self._n += 1
        return _framed(self._events.take(chunk))

    def end(self, answer: Answer) -> Iterable[bytes]:
        if not self._n:
            for chunk in chunks_of(replace(answer, usage=None), id=self._id, model=_model(self._read)):
                yield from _framed(self._events.take(chunk))
        elif answer.finish_reason is None:
            return
        yield from _framed(self._events.end(answer))
        self._store(self._id, self._read, self._events.output)

    def failed(self, error: ModelError) -> Iterable[bytes]:
        return _framed([self._events.failed(error)])


def _framed(events: Iterable[NamedEvent]) -> Iterator[bytes]:
    return (sse_event(event.data, event.name) for event in events)
