"""A scripted answer in chunks: emitted on the run's clock, and put together from what was emitted."""

from __future__ import annotations

from harness.errors import InvalidValueError, ModelError
from harness.models.replies import answer_of
from harness.protocols import Clock, Emit
from harness.types.chunking import ChunkCut, ChunkPlan
from harness.types.doors import Answer
from harness.types.messages import JsonText
from harness.types.script import ScriptReply
from harness.wire.chat import ChunkAssembler, render_chunks


async def streamed(reply: ScriptReply, plan: ChunkPlan, number: int, *, clock: Clock, emit: Emit) -> Answer:
    """The answer of the reply with that number (from 1), through the assembler that real streams go through.

    Other tasks run between two chunks. Raises ModelError where the stream fails or holds an error, and
    InvalidValueError where it would break behind its last chunk, so that the break could never happen.
    """
    chunks = chunks_of(reply, plan, number)
    fails = plan.fails
    _check_break("cut_after", plan.cut_after, len(chunks) - 1, number)
    _check_break("fail_after", None if fails is None else fails.chunks, len(chunks), number)
    assembler = ChunkAssembler()
    for position, chunk in enumerate(chunks):
        if fails is not None and position == fails.chunks:
            break
        if position == plan.cut_after:
            return assembler.answer()
        await clock.sleep_ms(plan.delay_ms)
        emit(chunk)
        assembler.take(chunk)
    if fails is not None:
        raise ModelError(fails.message, code=fails.code)
    return assembler.answer()


def _check_break(name: str, at: int | None, last: int, number: int) -> None:
    if at is not None and at > last:
        raise InvalidValueError(f"reply {number}: {name} {at} never happens; {last} is the last place in this answer")


def chunks_of(reply: ScriptReply, plan: ChunkPlan, number: int) -> tuple[JsonText, ...]:
    """The chunks of the reply with that number: those given, or its answer cut by the plan."""
    if plan.cut is ChunkCut.GIVEN:
        return plan.given
    return tuple(render_chunks(answer_of(reply, number), cut=plan.cut, every=plan.every, id=f"chatcmpl-{number}"))
