"""The harness's own door to the model: requests are made only here, so they are recorded here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from harness.errors import ModelError, RecordingFailed
from harness.protocols import Emit, Log, Model, Signal
from harness.types.codes import Code
from harness.types.doors import MAIN_ROLE, Answer, ModelCall
from harness.types.messages import JsonText
from harness.types.retrying import MODEL_ROLE_NOTE
from harness.types.scenario import NO_PARAMETERS
from harness.wire.requestlog import RequestLog, as_model_error
from harness.wire.requests import with_parameters

_NO_MODEL: Final = "there is no model: give the scenario a script, or name a model to run it with"
_NO_ROLE: Final = "there is no model of the role {0!r}: give it a script or a model in 'models.{0}'"


class RecordingDoor:
    """A ModelDoor: records the request, asks, records what went wrong, gives the answer.

    A model with ``parameters`` of its own (JSON text of an object) has them recorded and sent below
    those of the call. ``redact`` cleans texts of failures; without it the text of a foreign
    exception is left out and only its class named. ``others`` are the models of other roles; a request that goes
    to one is followed by a note ``model/role``. Without a model every request fails with NO_MODEL
    before anything is sent (CONFORMANCE 156).
    """

    def __init__(
        self,
        model: Model | None,
        log: Log,
        *,
        agent: str = "",
        redact: Callable[[str], str] | None = None,
        others: Mapping[str, Model] | None = None,
    ) -> None:
        self._model = model
        self._requests = RequestLog(log)
        self._agent = agent
        self._redact = redact
        self._others = dict(others or {})

    async def ask(self, call: ModelCall, *, signal: Signal) -> Answer:
        """Ask the model. Raises ModelError (recorded) and RecordingFailed; cancellation passes through."""
        call = self._as_sent(call)
        self._requests.asked(call, stopped=lambda: _pass_on(signal))
        if call.role != MAIN_ROLE:
            self._requests.noted(call, (call.role,), name=MODEL_ROLE_NOTE)
            _pass_on(signal)
        try:
            answer = await self._answer(call, signal)
        except RecordingFailed:
            raise
        except Exception as error:
            failure = as_model_error(error, self._redact)
            self._requests.failed(call, failure)
            if failure is error:
                raise
            raise failure from error
        self._requests.noted(call, answer.notes)
        return answer

    def _as_sent(self, call: ModelCall) -> ModelCall:
        if self._agent and not call.agent:
            call = replace(call, agent=self._agent)
        return with_parameters(call, getattr(self._asked(call), "parameters", NO_PARAMETERS))

    def _asked(self, call: ModelCall) -> Model | None:
        return self._model if call.role == MAIN_ROLE else self._others.get(call.role)

    async def _answer(self, call: ModelCall, signal: Signal) -> Answer:
        model = self._asked(call)
        if model is None:
            why = _NO_MODEL if call.role == MAIN_ROLE else _NO_ROLE.format(call.role)
            raise ModelError(why, code=Code.NO_MODEL)

        def emit(chunk: JsonText) -> None:
            _pass_on(signal)  # a stream that was closed gives nothing more, also where the model swallowed that
            self._requests.chunk(call, chunk)
            _pass_on(signal)

        taker: Emit = emit
        return await model.answer(call, signal=signal, emit=taker)


def _pass_on(signal: Signal) -> None:
    """A listener of a request or a chunk may have stopped it: then nothing more is taken (CONFORMANCE 64, 69)."""
    if signal.is_set:
        raise asyncio.CancelledError
