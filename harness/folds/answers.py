"""From a model's answer to the fact that a door commits, and the unique ids of its calls."""

from __future__ import annotations

from collections.abc import Iterable

from harness.types.doors import Answer, AnsweredCall
from harness.types.exchange import AssistantMessage
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall


class CallIds:
    """Gives each call of a run its unique id: the provider's own, or ``turn.step.index``.

    The provider's own is taken where it is not empty and was not used before in the run; a child's
    generated ids begin with its agent path (design page, Ids). Agents of one run share what is ``used``.
    """

    def __init__(self, agent: str = "", used: set[str] | None = None) -> None:
        self._prefix = f"{agent}/" if agent else ""
        self._used = set() if used is None else used

    def emitted(self, call: AnsweredCall, *, turn: int, step: int, index: int) -> EmittedCall:
        """The call under its unique id; the provider's is kept beside it where it differs."""
        wire = call.wire_id
        if wire and wire not in self._used:
            chosen, kept = wire, None
        else:
            chosen, kept = self._generated(f"{self._prefix}{turn}.{step}.{index}"), wire
        self._used.add(chosen)
        return EmittedCall(CallId(chosen), call.name or "", call.arguments or "", kept, call.type)

    def remember(self, ids: Iterable[CallId]) -> None:
        """Take note of ids that an earlier run gave."""
        self._used.update(ids)

    def _generated(self, name: str) -> str:
        while name in self._used:
            name += "'"
        return name


def committed(answer: Answer, ids: CallIds, *, turn: int, step: int, attempt: int) -> AssistantMessage:
    """The fact that an accepted answer becomes."""
    calls = tuple(ids.emitted(call, turn=turn, step=step, index=index) for index, call in enumerate(answer.calls))
    return AssistantMessage(
        content=answer.content,
        reasoning=answer.reasoning,
        refusal=answer.refusal,
        tool_calls=calls,
        finish_reason=answer.finish_reason,
        raw_finish_reason=answer.raw_finish_reason,
        model=answer.model,
        fingerprint=answer.fingerprint,
        usage=answer.usage,
        attempt=attempt,
        extra=answer.extra,
    )
