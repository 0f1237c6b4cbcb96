"""One step: what it takes in, one model request, and the tool calls it asked for."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any

from harness.errors import ModelError, RecordingFailed
from harness.folds import committed
from harness.guarding import HookFailed
from harness.loop.answers import closing_reason
from harness.loop.attempts import answered, code_of
from harness.loop.context import compact_if_due, shortener
from harness.loop.gate import Gate
from harness.loop.intake import take_in
from harness.loop.limits import before_body, before_request, reached, remind
from harness.loop.partial import keep_prefix
from harness.loop.scheduler import Batch, Stopped, ToolFailedRun
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code, ToolOutcome
from harness.types.doors import ModelCall, ToolReply
from harness.types.exchange import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.jsontext import described
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.messages import CallId, ChatUser
from harness.types.policy import ApprovalReply
from harness.types.reasons import Concluded, EmittedCall, Failed, OutOfTokens, Reason


async def run_step(desk: Desk, turn: Turn) -> Reason | None:
    """Run the next step of a turn. The reason that ends the turn, or None when it goes on."""
    ended = await compact_if_due(desk, turn)
    if turn.step and ended is None:
        ended = before_request(desk, turn)
        if ended is None:
            remind(desk)
    ended = ended or await take_in(desk, turn) or before_request(desk, turn)
    if ended is not None:
        return ended
    turn.step += 1
    turn.step_is_open = True
    desk.say(StepStart(), turn)
    return await _to_its_end(desk, turn, _work(desk, turn))


async def finish_step(
    desk: Desk, turn: Turn, calls: tuple[EmittedCall, ...], answers: Mapping[CallId, ApprovalReply]
) -> Reason | None:
    """Go on with a step that was parked: ``calls`` are those without a result, in model order.

    ``answers`` were given meanwhile, by call; hooks and policy look again, and may deny what a person
    allowed. Gives what ``run_step`` gives.
    """
    return await _to_its_end(desk, turn, _run_calls(desk, turn, calls, answers))


async def _to_its_end(desk: Desk, turn: Turn, work: Coroutine[Any, Any, Reason | None]) -> Reason | None:
    try:
        reason = await work
    except Stopped:
        reason = None
    except ModelError as error:
        reason = Failed(code_of(error), str(error))
    except ToolFailedRun as error:
        reason = Failed(error.code, str(error))
    except RecordingFailed as error:
        reason = Failed(Code.RECORDING_FAILED, str(error))
    except HookFailed as error:
        reason = Failed(Code.HOOK_FAILED, str(error))
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
        answer, attempt = await answered(desk, turn, _call(desk, turn), shorten=shortener(desk, turn))
    except (Stopped, ModelError):
        keep_prefix(desk, turn)
        raise
    message = committed(answer, desk.ids, turn=turn.number, step=turn.step, attempt=attempt)
    desk.say(message, turn)
    reason = closing_reason(message)
    if reason is not None:
        _answer_unrun_calls(desk, turn, message, reason)
        return reason
    for call in message.tool_calls:
        desk.say(ToolCall(call.id, call.name, call.arguments), turn)
    return await _run_calls(desk, turn, message.tool_calls, {})


def _call(desk: Desk, turn: Turn) -> ModelCall:
    return ModelCall(
        system=desk.system,
        messages=desk.shown,
        tools=desk.tools.offered,
        parameters=desk.parameters,
        agent=desk.agent,
        turn=turn.number,
        step=turn.step,
    )


def _answer_unrun_calls(desk: Desk, turn: Turn, message: AssistantMessage, reason: Reason) -> None:
    """Calls of a cut or filtered answer never run, but each gets its result (CONFORMANCE 94, 96a, 97a)."""
    cut = isinstance(reason, OutOfTokens)
    code = Code.ANSWER_TRUNCATED if cut else Code.SKIPPED
    why = "the answer was cut, so this call was not run" if cut else "the answer was refused or filtered"
    for call in message.tool_calls:
        reply = ToolReply(f"{code}: {why}.", ToolOutcome.CANCELLED, is_error=True, code=code, message=why)
        _commit(desk, turn, call, reply)


async def _run_calls(
    desk: Desk, turn: Turn, calls: tuple[EmittedCall, ...], answers: Mapping[CallId, ApprovalReply]
) -> Reason | None:
    """Run the calls, commit their results, then tell what they add (CONFORMANCE 55); one may conclude the turn (17)."""
    replies: list[ToolReply] = []

    async def start(call: EmittedCall) -> ToolReply:
        return before_body(desk, turn, call) or await desk.tools.run(
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
        replies.append(reply)

    gate = Gate(desk, turn, answers)
    await Batch(
        calls, door=desk.tools, gate=gate, scheduler=desk.scheduler, stop=turn.stop, start=start, commit=commit
    ).run()
    for text in (text for reply in replies for text in reply.context if not turn.stop.is_set):
        desk.say(UserMessage(ChatUser(text)), turn)
    return reached(turn) or (Concluded() if any(reply.concludes for reply in replies) else None)


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
