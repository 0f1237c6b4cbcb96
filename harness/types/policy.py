"""What stands between a call and its body: answers to questions about it."""

from __future__ import annotations

from enum import StrEnum


class ApprovalReply(StrEnum):
    """What an approver says. PARK ends the run as waiting for the user: the answer comes in another run."""

    ALLOW = "allow"
    REJECT = "reject"
    UNAVAILABLE = "unavailable"
    PARK = "park"
