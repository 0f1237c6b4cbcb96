"""From one scripted reply to the answer it stands for."""

from __future__ import annotations

from dataclasses import replace

from harness.errors import ModelError
from harness.types.doors import Answer, AnsweredCall
from harness.types.messages import JsonText
from harness.types.reasons import Usage
from harness.types.script import ScriptCall, ScriptReply
from harness.wire.completions import finish_reason, parse_completion


def answer_of(reply: ScriptReply, number: int) -> Answer:
    """The answer of the reply with that number (from 1). Raises ModelError where ``raw`` is damaged.

    A raw response is read like one that came over the network, and kept in the answer or the error.
    The finish reason is the usual one of the answer's kind unless the reply says another (``""``: none
    came).
    """
    if reply.raw is not None:
        return _raw_answer(reply.raw)
    word = ("tool_calls" if reply.calls else "stop") if reply.finish is None else reply.finish or None
    return Answer(
        content=None if reply.empty else reply.say,
        calls=tuple(_call(call, number, index) for index, call in enumerate(reply.calls)),
        reasoning=reply.reasoning,
        refusal=reply.refusal,
        finish_reason=finish_reason(word),
        raw_finish_reason=word,
        usage=_usage(reply),
    )


def _raw_answer(raw: JsonText) -> Answer:
    try:
        return replace(parse_completion(raw), raw=raw)
    except ModelError as error:
        error.body = raw
        raise


def _call(call: ScriptCall, number: int, index: int) -> AnsweredCall:
    given = f"call_{number}_{index}" if call.id is None else call.id
    return AnsweredCall(name=call.name, arguments=call.arguments, wire_id=None if call.no_id else given)


def _usage(reply: ScriptReply) -> Usage | None:
    if reply.input_tokens is None and reply.output_tokens is None:
        return None
    return Usage(input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
