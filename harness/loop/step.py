"""One step: what it takes in, one model request, and the tool calls it asked for."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from harness.errors import ModelError, RecordingFailed
from harness.folds import committed
from harness.loop.answers import closing_reason
from harness.loop.intake import take_in
from harness.loop.partial import keep_prefix
from harness.loop.scheduler import Batch, Stopped
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code, LimitKind, ToolOutcome
from harness.types.doors import Answer, ModelCall, ToolReply
from harness.types.exchange import AssistantMessage, ToolCall, ToolResult
from harness.types.jsontext import described
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.reasons import Concluded, EmittedCall, Failed, LimitHit, OutOfTokens, Reason


async def run_step(desk: Desk, turn: Turn) -> Reason | None:
    """Run the next step of a turn. The reason that ends the turn, or None when it goes on."""
    limit = LimitHit(LimitKind.STEPS, desk.limits.steps)
    if 0 < turn.step >= limit.value:
        return limit
    ended = await take_in(desk, turn)
    if ended is not None or turn.step >= limit.value:
        return ended or limit
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


async def _work(desk: Desk, turn: Turn) -> Reason | None:
    if turn.stop.is_set:
        return None
    try:
        answer = await desk.scheduler.run_request(_ask(desk, turn), turn.stop)
    except (Stopped, ModelError):
        keep_prefix(desk, turn)
        raise
    message = committed(answer, desk.ids, turn=turn.number, step=turn.step, attempt=1)
    desk.say(message, turn)
    reason = closing_reason(message)
    if reason is not None:
        _answer_unrun_calls(desk, turn, message, reason)
        return reason
    concluded = await _run_calls(desk, turn, message.tool_calls)
    return Concluded() if concluded else None


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


async def _run_calls(desk: Desk, turn: Turn, calls: tuple[EmittedCall, ...]) -> bool:
    """Run the calls and commit their results; whether one of them concludes the turn (CONFORMANCE 17)."""
    concluding = []
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

    def commit(call: EmittedCall, reply: ToolReply) -> None:
        _commit(desk, turn, call, reply)
        if reply.concludes:
            concluding.append(call.id)

    batch = Batch(calls, door=desk.tools, scheduler=desk.scheduler, stop=turn.stop, start=start, commit=commit)
    await batch.run()
    return bool(concluding)


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
