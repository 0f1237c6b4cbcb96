"""The words of DeepSeek Harness in ours: why a turn ended, why the model stopped, error codes."""

from __future__ import annotations

from typing import Any, Final

from harness.formats.values import text_or_none, whole_or_none
from harness.types.codes import ApprovalOutcome, CancelBy, Code, FinishReason, HeaderWhy, LimitKind, Status
from harness.types.messages import CallId
from harness.types.reasons import (
    Blocked,
    Cancelled,
    Failed,
    FinalAnswer,
    Interrupted,
    LimitHit,
    OutOfTokens,
    Reason,
    Usage,
    Waiting,
)

_CODES: Final = {
    **{code.value: code for code in Code},
    "CONTEXT_WINDOW_EXCEEDED": Code.CONTEXT_OVERFLOW,
    "FS_SANDBOX_DENIED": Code.PERMISSION_DENIED,
    "SANDBOX_UNAVAILABLE": Code.PERMISSION_DENIED,
}
_FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool-calls": FinishReason.TOOL_CALLS,
    "max-tokens": FinishReason.LENGTH,
    "length": FinishReason.LENGTH,
    "content-filter": FinishReason.CONTENT_FILTER,
    "refusal": FinishReason.REFUSAL,
    "aborted": FinishReason.ABORTED,
    "error": FinishReason.ERROR,
}
_APPROVALS: Final = {
    "approved": ApprovalOutcome.ALLOWED,
    "allowed": ApprovalOutcome.ALLOWED,
    "accepted": ApprovalOutcome.ALLOWED,
    "rejected": ApprovalOutcome.REJECTED,
    "denied": ApprovalOutcome.REJECTED,
    "canceled": ApprovalOutcome.CANCELLED,
    "cancelled": ApprovalOutcome.CANCELLED,
    "unavailable": ApprovalOutcome.UNAVAILABLE,
}
_WHYS: Final = {why.value: why for why in HeaderWhy}
_CANCELLERS: Final = {by.value: by for by in CancelBy}


def turn_end(reason: Any) -> tuple[Status, Reason]:
    """Status and reason of a ``turn/end``; an unknown kind is a failure that names it."""
    fields = reason if isinstance(reason, dict) else {}
    kind = fields.get("kind")
    match kind:
        case "completed":
            return Status.COMPLETED, FinalAnswer()
        case "max-tokens":
            return Status.INCOMPLETE, OutOfTokens()
        case "interrupted":
            return Status.INCOMPLETE, Interrupted()
        case "aborted" | "cancelled" | "canceled":
            return Status.CANCELLED, Cancelled(_canceller(fields.get("reason")))
        case "error":
            return Status.FAILED, _failed(fields.get("error"))
        case "blocked":
            return Status.BLOCKED, Blocked(text_or_none(fields.get("message")))
        case "max-steps":
            return Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, whole_or_none(fields.get("limit")) or 0)
        case "waiting":
            call = text_or_none(fields.get("callId"))
            return Status.WAITING_FOR_USER, Waiting(CallId(call) if call else None)
        case _:
            return Status.FAILED, Failed(Code.UNKNOWN, f"the turn ended for an unknown reason: {kind!r}")


def _canceller(reason: Any) -> CancelBy:
    kind = reason.get("kind") if isinstance(reason, dict) else reason
    return _CANCELLERS.get(kind, CancelBy.USER) if isinstance(kind, str) else CancelBy.USER


def _failed(error: Any) -> Failed:
    fields = error if isinstance(error, dict) else {}
    return Failed(code_of(fields.get("code")), text_or_none(fields.get("message")) or "failed without a message")


def code_of(word: Any) -> Code:
    """Our code for a word of theirs; UNKNOWN for one that we have no place for."""
    if not isinstance(word, str):
        return Code.UNKNOWN
    return _CODES.get(word, Code.UNKNOWN)


def error_of(error: Any, *, is_error: bool) -> tuple[Code | None, str | None]:
    """Code and message of a tool result; an error without a code is UNKNOWN (CONFORMANCE 150)."""
    if isinstance(error, dict):
        words = [str(error[key]) for key in ("name", "code", "message") if key in error]
        return code_of(error.get("code")), ": ".join(words) or None
    return (Code.UNKNOWN, "failed without a code") if is_error else (None, None)


def finish_of(reason: Any) -> tuple[FinishReason, str] | None:
    """Our finish reason and theirs; None where none was given."""
    kind = reason.get("kind") if isinstance(reason, dict) else reason
    return (_FINISH.get(kind, FinishReason.OTHER), kind) if isinstance(kind, str) and kind else None


def header_why(reason: Any) -> HeaderWhy:
    """Why a request header was written; a word that we do not know is a change."""
    return _WHYS.get(reason, HeaderWhy.CHANGE) if isinstance(reason, str) else HeaderWhy.CHANGE


def approval_outcome(word: Any) -> ApprovalOutcome | None:
    """How a question was answered; None for a word that we do not know."""
    return _APPROVALS.get(word) if isinstance(word, str) else None


def usage_of(usage: Any) -> Usage | None:
    """Tokens as counted there; None where nothing was counted."""
    if not isinstance(usage, dict):
        return None
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "reasoningTokens")
    whole = [whole_or_none(usage.get(name)) for name in names]
    return Usage(*whole) if any(count is not None for count in whole) else None
