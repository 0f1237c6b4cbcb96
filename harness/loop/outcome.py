"""The outcome judge: what a final answer came to, where the host has somebody who says."""

from __future__ import annotations

from dataclasses import replace

from harness.folds import text_of
from harness.loop.scheduler import Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code, Status
from harness.types.jsontext import described
from harness.types.messages import ChatAssistant
from harness.types.reasons import Failed, FinalAnswer, Reason


async def judged(desk: Desk, turn: Turn, reason: FinalAnswer) -> Reason:
    """The reason with the judge's word; Failed where the judge throws (CONFORMANCE 12). The answer stays."""
    judge = desk.policies.outcome
    if judge is None:
        return reason
    messages = desk.history.messages
    last = messages[-1] if messages else None
    answer = text_of(last.content) if isinstance(last, ChatAssistant) else ""
    try:
        said = await desk.scheduler.run_request(judge(answer, messages), turn.stop, name="outcome judge")
    except Stopped:
        return turn.stop.reason or reason
    except Exception as error:  # a host's fault ends its turn, never the process
        return Failed(Code.HOOK_FAILED, f"the outcome judge raised {described(error)}")
    return reason if said.status is Status.COMPLETED else replace(reason, outcome=said.status, why=said.why)
