"""What every model door of ours writes about requests: header where changed, request, failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from harness.errors import HarnessError, ModelError
from harness.protocols import Log
from harness.types.codes import Code, HeaderWhy, Origin
from harness.types.doors import ModelCall
from harness.types.exchange import AssistantChunk, ModelFailed, ModelRequest, RequestHeader
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note
from harness.types.messages import JsonText
from harness.wire.failures import known_code

ANSWER_NOTE: Final = "model/answer"
"""Name of the note that holds a remark of a model adapter."""


class RequestLog:
    """Records requests with origin probe. All methods raise RecordingFailed."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._headers: dict[str, RequestHeader] = {}

    def asked(self, call: ModelCall, *, stopped: Callable[[], None] = lambda: None) -> None:
        """``request/header`` where it is new or changed, then ``model/request``.

        ``stopped`` is called behind each of the two, and raises where the asker was stopped meanwhile.
        """
        known = self._headers.get(call.agent)
        if known is None or not _shows(known, call):
            header = RequestHeader(call.system, call.tools, call.parameters, self._why(call.agent, known))
            self._headers[call.agent] = header
            self._record(header, call)
            stopped()
        self._record(ModelRequest(call.messages, call.attempt), call)
        stopped()

    def chunk(self, call: ModelCall, chunk: JsonText) -> None:
        """A piece of the answer has come."""
        self._record(AssistantChunk(chunk, call.attempt), call)

    def failed(self, call: ModelCall, error: ModelError) -> None:
        """``model/error``: this attempt failed."""
        self._record(ModelFailed(known_code(error.code), str(error), call.attempt, error.usage), call)

    def noted(self, call: ModelCall, notes: Iterable[str], name: str = ANSWER_NOTE) -> None:
        """A note for each remark of the adapter."""
        for note in notes:
            self._record(Note(name, canonical_json(note)), call)

    def _why(self, agent: str, known: RequestHeader | None) -> HeaderWhy:
        if known is not None:
            return HeaderWhy.CHANGE
        earlier = any(event.agent == agent and isinstance(event.fact, RequestHeader) for event in self._log.events)
        return HeaderWhy.RESUME if earlier else HeaderWhy.INITIAL

    def _record(self, fact: Fact, call: ModelCall) -> None:
        self._log.record(fact, origin=Origin.PROBE, agent=call.agent, turn=call.turn, step=call.step)


def _shows(header: RequestHeader, call: ModelCall) -> bool:
    return header.system == call.system and header.tools == call.tools and header.parameters == call.parameters


def as_model_error(error: Exception, redact: Callable[[str], str] | None = None) -> ModelError:
    """Any failure of a model as a ModelError with a message; the text of a foreign exception may be secret.

    A ModelError keeps its code; every other exception becomes INTERNAL and is named by its class. Texts
    go through ``redact``; without it only texts of our own errors are used (CONFORMANCE 150: also an
    exception that cannot be rendered).
    """
    ours = isinstance(error, HarnessError)
    text = _text(error) if ours or redact is not None else ""
    text = text if redact is None else redact(text)
    if isinstance(error, ModelError):
        if text == str(error):
            return error
        cleaned = ModelError(text, code=error.code, retry_after_ms=error.retry_after_ms)
        cleaned.body, cleaned.usage = error.body, error.usage
        return cleaned
    name = type(error).__name__
    return ModelError(f"the model raised {name}: {text}" if text else f"the model raised {name}", code=Code.INTERNAL)


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # an exception may fail to render itself; its class still names it
        return ""
