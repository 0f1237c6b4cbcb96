"""One step: admission, one model request, and the tool calls it asked for."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import Any

from harness.errors import ModelError, RecordingFailed
from harness.folds import committed
from harness.loop.answers import closing_reason
from harness.loop.hooks import Reject
from harness.loop.scheduler import Batch, Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code, LimitKind, ToolOutcome
from harness.types.doors import Answer, ModelCall, ToolReply
from harness.types.exchange import AssistantMessage, ToolCall, ToolResult
from harness.types.jsontext import described
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.reasons import Blocked, EmittedCall, Failed, LimitHit, OutOfTokens, Reason


async def run_step(desk: Desk, turn: Turn) -> Reason | None:
    """Run the next step of a turn. The reason that ends the turn, or None when it goes on."""
    if turn.step >= desk.limits.steps:
        return LimitHit(LimitKind.STEPS, desk.limits.steps)
    blocked = await _admission(desk, turn) if desk.hooks.pre_step else None
    if blocked is not None or turn.stop.is_set:
        return turn.stop.reason or blocked
    turn.step += 1
    turn.step_is_open = True
    desk.say(StepStart(), turn)
    try:
        reason = await _work(desk, turn)
    except Stopped:
        reason = None
    except ModelError as error:
        reason = Failed(_code(error.code), str(error))
    except RecordingFailed as error:
        reason = Failed(Code.RECORDING_FAILED, str(error))
    except Exception as error:  # ours: the turn ends as failed, and the log stays balanced
        reason = Failed(Code.INTERNAL, described(error))
    finally:
        desk.say(StepEnd(), turn)
        turn.step_is_open = False
    return turn.stop.reason or reason


async def _admission(desk: Desk, turn: Turn) -> Reason | None:
    try:
        admission = await desk.scheduler.run_request(
            desk.hooks.admit(desk.history.messages), turn.stop, name="pre_step"
        )
    except Stopped:
        return None
    except Exception as error:  # a hook's fault ends its turn, never the process (CONFORMANCE 12)
        return Failed(Code.HOOK_FAILED, f"a pre_step hook raised {described(error)}")
    return Blocked(admission.message) if isinstance(admission, Reject) else None


async def _work(desk: Desk, turn: Turn) -> Reason | None:
    if turn.stop.is_set:
        return None
    answer = await desk.scheduler.run_request(_ask(desk, turn), turn.stop)
    message = committed(answer, desk.ids, turn=turn.number, step=turn.step, attempt=1)
    desk.say(message, turn)
    reason = closing_reason(message)
    if reason is not None:
        _answer_unrun_calls(desk, turn, message, reason)
        return reason
    await _run_calls(desk, turn, message.tool_calls)
    return None


def _ask(desk: Desk, turn: Turn) -> Coroutine[Any, Any, Answer]:
    call = ModelCall(
        system=desk.system,
        messages=desk.history.messages,
        tools=desk.tools.offered,
        parameters=desk.parameters,
        agent=desk.agent,
        turn=turn.number,
        step=turn.step,
    )
    return desk.model.ask(call, signal=turn.stop)


def _answer_unrun_calls(desk: Desk, turn: Turn, message: AssistantMessage, reason: Reason) -> None:
    """Calls of a cut or filtered answer never run, but each gets its result (CONFORMANCE 94, 96a, 97a)."""
    cut = isinstance(reason, OutOfTokens)
    code = Code.ANSWER_TRUNCATED if cut else Code.SKIPPED
    why = "the answer was cut, so this call was not run" if cut else "the answer was refused or filtered"
    for call in message.tool_calls:
        reply = ToolReply(f"{code}: {why}.", ToolOutcome.CANCELLED, is_error=True, code=code, message=why)
        _commit(desk, turn, call, reply)


async def _run_calls(desk: Desk, turn: Turn, calls: tuple[EmittedCall, ...]) -> None:
    for call in calls:
        desk.say(ToolCall(call.id, call.name, call.arguments), turn)

    def start(call: EmittedCall) -> Coroutine[Any, Any, ToolReply]:
        return desk.tools.run(
            call.name,
            call.arguments,
            call_id=call.id,
            signal=turn.stop,
            turn=turn.number,
            step=turn.step,
            agent=desk.agent,
        )

    commit = partial(_commit, desk, turn)
    batch = Batch(calls, door=desk.tools, scheduler=desk.scheduler, stop=turn.stop, start=start, commit=commit)
    await batch.run()


def _commit(desk: Desk, turn: Turn, call: EmittedCall, reply: ToolReply) -> None:
    desk.say(
        ToolResult(
            call_id=call.id,
            name=call.name,
            content=reply.content,
            is_error=reply.is_error,
            code=reply.code,
            message=reply.message,
            truncated=reply.truncated,
        ),
        turn,
    )


def _code(text: str) -> Code:
    try:
        return Code(text)
    except ValueError:
        return Code.UNKNOWN
