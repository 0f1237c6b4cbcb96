"""A script out of recorded exchanges: what each request was answered, or how it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from harness.folds import given_id, text_of
from harness.folds.exchanges import Exchange
from harness.scenarios.chunk_fields import BREAKS
from harness.scenarios.script_fields import FAILURES
from harness.types.chunking import ChunkBreak, ChunkCut, ChunkPlan
from harness.types.codes import Code, FinishReason
from harness.types.exchange import AssistantMessage, ModelFailed
from harness.types.reasons import EmittedCall
from harness.types.script import ScriptCall, ScriptFailure, ScriptReply

Note = Callable[[str], None]
"""Takes a sentence about what could not be carried over."""

_WORDS: Final = {
    FinishReason.STOP: "stop",
    FinishReason.TOOL_CALLS: "tool_calls",
    FinishReason.LENGTH: "length",
    FinishReason.CONTENT_FILTER: "content_filter",
    FinishReason.REFUSAL: "refusal",
}


def script_of(exchanges: Iterable[Exchange], *, timed: bool, note: Note) -> tuple[ScriptReply, ...]:
    """One reply for each exchange that reached its model, in order.

    ``timed``: how long answers took belongs to the run (a virtual clock).
    """
    return tuple(_reply(one, number, timed=timed, note=note) for number, one in enumerate(exchanges, start=1))


def _reply(exchange: Exchange, number: int, *, timed: bool, note: Note) -> ScriptReply:
    delay_ms = exchange.delay_ms if timed else 0
    if exchange.chunks:
        return ScriptReply(delay_ms=0, chunks=_plan(exchange, timed=timed, note=note))
    if exchange.failure is not None:
        fail = replace(_failure(exchange.failure, note), retry_after_ms=exchange.retried_after_ms)
        return ScriptReply(fail=fail, delay_ms=delay_ms)
    if exchange.answer is not None:
        return _answer(exchange.answer, number, delay_ms, note)
    return ScriptReply(hang=True)


def _plan(exchange: Exchange, *, timed: bool, note: Note) -> ChunkPlan:
    gaps = {gap or 0 for gap, _ in exchange.chunks} if timed else {0}
    if len(gaps) > 1:
        note("chunks came at irregular times; the scenario gives each the longest of them")
    given = tuple(chunk for _, chunk in exchange.chunks)
    fail = None if exchange.failure is None else _failure(exchange.failure, note)
    breaks = None if fail is None or fail.code not in BREAKS else ChunkBreak(len(given), fail.code, fail.message)
    return ChunkPlan(cut=ChunkCut.GIVEN, given=given, delay_ms=max(gaps), fails=breaks)


def _failure(failed: ModelFailed, note: Note) -> ScriptFailure:
    if failed.usage is not None:
        note("a failed request cost tokens, which a scripted failure does not")
    if failed.code.value in FAILURES:
        return ScriptFailure(failed.code.value, failed.message or "failed")
    note(f"a request failed with {failed.code}, which no script can give: it fails with UNKNOWN")
    return ScriptFailure(Code.UNKNOWN.value, failed.message or "failed")


def _answer(answer: AssistantMessage, number: int, delay_ms: int, note: Note) -> ScriptReply:
    say = None if answer.content is None else text_of(answer.content)
    if answer.content is not None and not isinstance(answer.content, str):
        note("an answer was made of parts; the script says their text")
    _left_out(answer, note)
    calls = tuple(_call(call, number, index) for index, call in enumerate(answer.tool_calls))
    nothing = say is None and not calls and answer.refusal is None and answer.reasoning is None
    usage = answer.usage
    return ScriptReply(
        say=say,
        calls=calls,
        finish=_finish(answer),
        reasoning=answer.reasoning,
        refusal=answer.refusal,
        delay_ms=delay_ms,
        input_tokens=usage.input_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        empty=nothing,
    )


def _left_out(answer: AssistantMessage, note: Note) -> None:
    usage = answer.usage
    if answer.fingerprint is not None or answer.model is not None:
        note("the names of models and the fingerprints of answers are left out")
    if usage is not None and (usage.cached_tokens, usage.reasoning_tokens, usage.cost_micro_usd) != (None, None, None):
        note("cached and reasoning tokens and reported costs are left out: a script counts tokens in and out")


def _call(call: EmittedCall, number: int, index: int) -> ScriptCall:
    wire = given_id(call)
    name = call.name or None
    if wire is None:
        return ScriptCall(name, call.arguments, no_id=True)
    return ScriptCall(name, call.arguments, None if wire == f"call_{number}_{index}" else wire)


def _finish(answer: AssistantMessage) -> str | None:
    """None where it is the usual word of an answer of this kind, or the file tells none (an import)."""
    usual = "tool_calls" if answer.tool_calls else "stop"
    reason = answer.finish_reason
    word = answer.raw_finish_reason or (None if reason is None else _WORDS.get(reason, reason.value))
    return None if word in (None, usual) else word
