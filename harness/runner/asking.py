"""Asks about a parked call before its run goes on, where somebody is there to be asked (``--resume … --approve``)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.folds import calls_of
from harness.guarding import answer_of
from harness.loop.stop import StopSignal
from harness.runner.approvers import find_approver
from harness.types.events import Trajectory
from harness.types.jsontext import parse_json
from harness.types.lifecycle import CHANGED_ARGUMENTS_NOTE, Note
from harness.types.messages import CallId
from harness.types.policy import ApprovalReply, Question


def answer_now(path: Path, parent: Trajectory, call: CallId, approver: str) -> tuple[CallId, ApprovalReply]:
    """The call that the run of ``path`` waits for, and what the approver says of it.

    Raises UsageError where nobody answers, and where the call is to stay parked: the file is as it was.
    """
    reply, by, fault = asyncio.run(_asked(_question(parent, call), approver))
    if reply in (ApprovalReply.ALLOW, ApprovalReply.REJECT):
        return call, reply
    why = f"{by} leaves it parked" if reply is ApprovalReply.PARK else f"{by} gave no answer{fault and f' ({fault})'}"
    raise UsageError(
        f"{path}: stays parked at the question about call {call!r}: {why}. "
        f"Ask again, or answer it with --answer {call}=allow or --answer {call}=reject"
    )


async def _asked(question: Question, approver: str) -> tuple[ApprovalReply, str, str]:
    async def run(asking: Coroutine[Any, Any, Any], _: str) -> Any:
        return await asking

    return await answer_of(question, find_approver(approver), signal=StopSignal(), run=run)


def _question(parent: Trajectory, call: CallId) -> Question:
    """As the run asked it: with the arguments that hooks left."""
    found = next(trace.call for trace in calls_of(parent) if trace.call.id == call)
    arguments = found.arguments
    for event in parent.events:
        if isinstance(event.fact, Note) and event.fact.name == CHANGED_ARGUMENTS_NOTE:
            noted = parse_json(event.fact.data or "{}")
            if isinstance(noted, dict) and noted.get("call") == call:
                arguments = noted["arguments"]
    return Question(call, found.name, arguments, f"parked in {parent.header.run_id}")
