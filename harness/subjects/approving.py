"""Who answers for a person: the scenario's script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from harness.protocols import Clock, Signal
from harness.types.policy import ApprovalReply, Question, ScriptedApproval, ScriptedReply


class ScriptedApprover:
    """Answers as a scenario says: each answer once, the first that fits the question.

    Raises LookupError where none fits, so that the question counts as unavailable.
    """

    name = "script"

    def __init__(self, approvals: Sequence[ScriptedApproval], clock: Clock) -> None:
        self._left = list(approvals)
        self._clock = clock

    async def ask(self, question: Question, *, signal: Signal) -> ApprovalReply:
        """What the next fitting answer says, after its delay on the run's clock."""
        for approval in self._left:
            if approval.tool in (None, question.tool) and approval.call in (None, question.call_id):
                self._left.remove(approval)
                return await self._given(approval)
        raise LookupError("the scenario scripts no answer to this question; add one to policy.approvals")

    async def _given(self, approval: ScriptedApproval) -> ApprovalReply:
        if approval.after_ms:
            await self._clock.sleep_ms(approval.after_ms)
        if approval.reply is ScriptedReply.HANG:
            await asyncio.Event().wait()
        if approval.reply is ScriptedReply.THROW:
            raise RuntimeError("the scripted approver throws")
        return ApprovalReply(approval.reply.value)
