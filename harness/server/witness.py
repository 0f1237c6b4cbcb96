"""The recorder of a loop that is seen through its model door alone: requests and answers to facts.

All is written with origin probe and without turn and step: the loop has not said where it is. Steps
are answered requests (design page, Who writes what).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.errors import ModelError, RecordingFailed
from harness.folds import CallIds, committed
from harness.protocols import Emit, Log, Model, Signal
from harness.server.asking import Asked, NeverSet
from harness.server.seen import Seen
from harness.types.codes import Origin
from harness.types.doors import Answer, ModelCall
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note
from harness.types.messages import JsonText, MessageBuffer, Messages
from harness.wire.requestlog import RequestLog, as_model_error
from harness.wire.requests import ChatRequest, call_of

REFUSED_NOTE: Final = "server/refused"
"""Name of the note that keeps why a body of no known shape was refused."""


class Witness:
    """Asks ``model`` for a foreign loop and writes down all that its request bodies show.

    New user messages and tool results first, then ``request/header`` (where changed; its parameters
    hold the model's name), ``model/request``, and ``assistant/message`` or ``model/error``. The calls
    of an answer get unique ids: the provider's own where it is not empty and not used before, else
    ``1.<answered request>.<index>``.
    """

    def __init__(
        self,
        log: Log,
        model: Model,
        *,
        redact: Callable[[str], str] | None = None,
        signal: Signal | None = None,
    ) -> None:
        self._log = log
        self._model = model
        self._redact = redact
        self._signal: Signal = NeverSet() if signal is None else signal
        self._requests = RequestLog(log)
        self._seen = Seen()
        self._buffer = MessageBuffer()
        self._ids = CallIds()
        self._n_answered = 0
        self._asked: dict[int, ModelCall] = {}
        self._unanswered: ModelCall | None = None

    async def ask(self, asked: Asked) -> Answer:
        """Record, ask, record. Raises ModelError (recorded) and RecordingFailed.

        An answer that will be lost on its way is no answer to the loop: it is recorded as a failed request.
        """
        call = self._record_request(asked.request, asked.number)
        try:
            answer = asked.given
            if answer is None:
                answer = await self._model.answer(call, signal=self._signal, emit=self._emit(call, asked.emit))
        except RecordingFailed:
            raise
        except Exception as error:
            failure = as_model_error(error, self._redact)
            self._requests.failed(call, failure)
            if failure is error:
                raise
            raise failure from error
        self._requests.noted(call, answer.notes)
        if asked.lost is not None:
            self._requests.failed(call, asked.lost)
            return answer
        self._record_answer(answer, call)
        return answer

    def failed(self, request: ChatRequest | None, number: int, error: ModelError) -> None:
        """The server failed a request by itself: refused its history, or was too late."""
        if request is None:
            self._record(Note(REFUSED_NOTE, canonical_json(str(error))))
            return
        call = self._asked.get(number) or self._record_request(request, number)
        self._requests.failed(call, error)

    def _record_request(self, request: ChatRequest, number: int) -> ModelCall:
        messages = self._shared(request.messages)
        call = call_of(replace(request, messages=messages))
        earlier = self._unanswered
        if earlier is not None and replace(earlier, attempt=1) == call:
            call = replace(call, attempt=earlier.attempt + 1)
        self._asked[number] = self._unanswered = call
        for fact in self._seen.news(messages):
            self._record(fact)
        self._requests.asked(call)
        return call

    def _shared(self, messages: Messages) -> Messages:
        """The same messages, on the buffer of the request before where that one was a beginning of it."""
        known = self._buffer.view()
        new = list(messages)
        if len(known) > len(new) or any(a != b for a, b in zip(known, new, strict=False)):
            self._buffer, known = MessageBuffer(), Messages.of(())
        for message in new[len(known) :]:
            self._buffer.append(message)
        return self._buffer.view()

    def _emit(self, call: ModelCall, emit: Emit) -> Emit:
        def told(chunk: JsonText) -> None:
            self._requests.chunk(call, chunk)
            emit(chunk)

        return told

    def _record_answer(self, answer: Answer, call: ModelCall) -> None:
        self._n_answered += 1
        self._unanswered = None
        fact = committed(answer, self._ids, turn=1, step=self._n_answered, attempt=call.attempt)
        self._seen.answered(answer, fact.tool_calls)
        self._record(fact)

    def _record(self, fact: Fact) -> None:
        self._log.record(fact, origin=Origin.PROBE)
