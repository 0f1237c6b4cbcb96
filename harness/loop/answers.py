"""What a model's answer does to its turn: cut and filtered answers run none of their calls."""

from __future__ import annotations

from harness.types.codes import FinishReason
from harness.types.exchange import AssistantMessage
from harness.types.reasons import ContentFiltered, FinalAnswer, OutOfTokens, Reason


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
