"""Mutants of streams: chunks that are lost, changed or late, and cut answers that tell too much or too little."""

from __future__ import annotations

from typing import Final

from harness.mutants.editing import Mutant, Mutate, change, changed, drop, find, moved_behind, on, on_both
from harness.mutants.pen import Pen
from harness.types.chunking import ChunkCut
from harness.types.codes import CancelBy, CancelScope, InboxQueue, QueueDisposition, Status
from harness.types.doors import Answer
from harness.types.events import Trajectory
from harness.types.exchange import AssistantChunk, AssistantMessage
from harness.types.lifecycle import CancelDelivered, CancelRequested, InboxDiscarded
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Cancelled, EmittedCall, FinalAnswer
from harness.types.scenario import Expectations, Limits
from harness.wire.chunk_render import render_chunks

_HALF: Final = EmittedCall(CallId("half"), "look", '{"q":')
_BROKEN: Final = JsonText('{"error":{"message":"overloaded","type":"server_error"}}')
_TOO_LONG: Final = "I begin with all of it."


def _is_prefix(fact: AssistantMessage) -> bool:
    return fact.interrupted


def _late_chunk(trajectory: Trajectory) -> Trajectory | None:
    chunk, cancel = find(trajectory, AssistantChunk, nth=-1), find(trajectory, CancelDelivered)
    late = chunk is not None and cancel is not None and chunk.seq < cancel.seq
    return moved_behind(trajectory, chunk, cancel) if late and chunk and cancel else None


def _says_something(fact: AssistantChunk) -> bool:
    return '"content"' in fact.chunk


def _closes(fact: AssistantChunk) -> bool:
    return '"finish_reason":"' in fact.chunk


def _streams(trajectory: Trajectory) -> bool:
    return find(trajectory, AssistantChunk) is not None


def _answer_changed(trajectory: Trajectory) -> Trajectory | None:
    answer = find(trajectory, AssistantMessage) if _streams(trajectory) else None
    return None if answer is None else change(trajectory, answer, content="Something else.")


def _prefix(**fields: object) -> Mutate:
    return on(AssistantMessage, changed(**fields), _is_prefix)


def streamed() -> Trajectory:
    """Answers in chunks; a cancel cuts the last one in mid-stream."""
    pen, one = Pen(), EmittedCall(CallId("c1"), "look", '{"q":"a"}')
    pen.turn("look, piece by piece")
    pen.ask()
    pen.stream("I look for it.", one)
    pen.run_calls(one)
    pen.end_step()
    pen.ask()
    pen.stream("It is found.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer(), run=False)
    pen.turn("now all of it")
    waiting = pen.queue("and then this")
    pen.ask()
    for chunk in list(render_chunks(Answer("I begin with the first of them."), cut=ChunkCut.WORDS))[:3]:
        pen.write(AssistantChunk(chunk))
    pen.write(CancelRequested(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    pen.write(CancelDelivered(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    pen.write(InboxDiscarded(InboxQueue.FOLLOWUP, (waiting,), "cancelled"))
    pen.write(AssistantMessage("I begin ", interrupted=True))
    pen.end_step()
    pen.end(Status.CANCELLED, Cancelled(CancelBy.USER))
    return pen.trajectory("streamed", Limits(), Expectations(status="cancelled", steps=2, result_codes=((1, "OK"),)))


STREAMS: Final = (
    Mutant("chunk_lost", "a piece of the text never came", on(AssistantChunk, drop, _says_something)),
    Mutant("finish_lost", "the stream never closed, and its answer was used", on(AssistantChunk, drop, _closes)),
    Mutant("streamed_otherwise", "the answer is not what was streamed", _answer_changed),
    Mutant("stream_failed_midway", "a chunk failed, its answer was used", on(AssistantChunk, changed(chunk=_BROKEN))),
    Mutant("chunk_behind_answer", "a chunk behind its answer", on_both(AssistantChunk, AssistantMessage, moved_behind)),
    Mutant("chunk_after_cancel", "a chunk comes after the cancel", _late_chunk),
    Mutant("prefix_lost", "what could be seen is gone", on(AssistantMessage, drop, _is_prefix)),
    Mutant("prefix_too_long", "the cut answer says too much", _prefix(content=_TOO_LONG)),
    Mutant("prefix_with_a_call", "a half call is kept", _prefix(tool_calls=(_HALF,))),
)  # fmt: skip
