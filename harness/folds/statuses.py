"""The status that a reason gives a turn or run."""

from __future__ import annotations

from typing import assert_never

from harness.types.codes import Status
from harness.types.reasons import (
    Blocked,
    Cancelled,
    Concluded,
    ContentFiltered,
    Failed,
    FinalAnswer,
    Interrupted,
    LimitHit,
    OutOfTokens,
    Reason,
    Waiting,
)


def status_for(reason: Reason) -> Status:
    """The status that a reason gives a turn (design page, Statuses)."""
    match reason:
        case FinalAnswer(outcome=outcome):
            return outcome or Status.COMPLETED
        case Concluded():
            return Status.COMPLETED
        case OutOfTokens() | ContentFiltered() | Interrupted():
            return Status.INCOMPLETE
        case LimitHit():
            return Status.LIMIT_REACHED
        case Waiting():
            return Status.WAITING_FOR_USER
        case Blocked():
            return Status.BLOCKED
        case Failed():
            return Status.FAILED
        case Cancelled():
            return Status.CANCELLED
        case _:
            assert_never(reason)
