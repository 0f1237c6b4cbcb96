"""What a model's answer is worth: damage is refused, cut and filtered answers run none of their calls."""

from __future__ import annotations

from harness.errors import ModelError
from harness.protocols import Emit, Model, Signal
from harness.types.codes import Code, FinishReason
from harness.types.doors import Answer, ModelCall
from harness.types.exchange import AssistantMessage
from harness.types.messages import JsonText
from harness.types.reasons import ContentFiltered, FinalAnswer, OutOfTokens, Reason
from harness.types.scenario import NO_PARAMETERS
from harness.wire.content import has_substance

_EMPTY_IS_FINE = frozenset({FinishReason.LENGTH, FinishReason.CONTENT_FILTER, FinishReason.REFUSAL})


class StrictAnswers:
    """A model whose damaged answers are failures of the request, so that none is committed.

    Refused are an answer without finish reason (unless the provider is known never to send one), one
    that the provider says it aborted or failed, one with nothing in it, and a call without a name
    (CONFORMANCE 33, 98, 99, 154).
    """

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._model.name

    @property
    def parameters(self) -> JsonText:
        """The request parameters that the model behind adds of itself."""
        parameters: JsonText = getattr(self._model, "parameters", NO_PARAMETERS)
        return parameters

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """The model's answer. Raises ModelError where it is damaged."""
        answer = await self._model.answer(call, signal=signal, emit=emit)
        damage = damage_of(answer)
        if damage is not None:
            damage.usage = answer.usage
            raise damage
        return answer


def damage_of(answer: Answer) -> ModelError | None:
    """What makes an answer unusable, or None."""
    if answer.finish_reason is None and not answer.no_finish_expected:
        return ModelError(
            "the answer has no finish reason, so it may be cut: nothing of it is used",
            code=Code.NO_FINISH_REASON,
        )
    if answer.finish_reason is FinishReason.ABORTED:
        return ModelError("the provider aborted the answer by itself", code=Code.PROVIDER_ABORTED)
    if answer.finish_reason is FinishReason.ERROR:
        return ModelError("the provider ended the answer with an error", code=Code.SERVER)
    nameless = [i for i, call in enumerate(answer.calls) if not call.name]
    if nameless:
        return ModelError(f"call {nameless[0] + 1} of the answer has no name", code=Code.DAMAGED_RESPONSE)
    if _is_empty(answer) and answer.finish_reason not in _EMPTY_IS_FINE:
        return ModelError("the answer holds neither text nor calls", code=Code.EMPTY_RESPONSE)
    return None


def _is_empty(answer: Answer) -> bool:
    return not (answer.calls or answer.refusal or has_substance(answer.content))


def closing_reason(message: AssistantMessage) -> Reason | None:
    """Why this answer ends the turn, or None when its calls are to be run.

    Output cut by the token limit, filtered or refused never runs its calls (CONFORMANCE 94, 97a); an
    unknown reason lets the presence of calls decide.
    """
    if message.finish_reason is FinishReason.LENGTH:
        return OutOfTokens()
    if message.refusal or message.finish_reason in (FinishReason.CONTENT_FILTER, FinishReason.REFUSAL):
        return ContentFiltered()
    return None if message.tool_calls else FinalAnswer()
