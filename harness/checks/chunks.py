"""`chunks`: a streamed answer is what its chunks make, and a cut one leaves its visible text and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, has_substance, is_within, wire_id
from harness.errors import ModelError
from harness.folds.imported import is_import
from harness.types.codes import Origin
from harness.types.doors import Answer
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantChunk, AssistantMessage, ModelFailed, ModelRequest, ModelRetry
from harness.types.lifecycle import CancelDelivered, RunEnd, StepEnd, StepStart, TurnEnd, TurnStart
from harness.types.profile_run import StreamedPrefix
from harness.types.reasons import Cancelled, Interrupted
from harness.wire.chunks import assembled, visible_prefix


@dataclass(slots=True)
class _Stream:
    """What has come since the latest request or retry of one agent, and what closed it."""

    chunks: list[Event] = field(default_factory=list)
    closed: Event | None = None
    message: Event | None = None


def _chunks(trajectory: Trajectory) -> Iterator[Found]:
    kept = trajectory.header.profile.streamed_prefix is StreamedPrefix.KEPT_AND_MARKED
    streams: dict[str, _Stream] = {}
    for event in trajectory.events:
        stream = streams.setdefault(event.agent, _Stream())
        match event.fact:
            case ModelRequest() | ModelRetry():
                streams[event.agent] = _Stream()
            case AssistantChunk():
                if stream.closed is not None:
                    text = f"a chunk{at(event)} comes after {stream.closed.fact.TYPE}"
                    rule = "69" if isinstance(stream.closed.fact, CancelDelivered) else "141"
                    yield found(text, stream.closed, event, rule=f"conformance:{rule}")
                stream.chunks.append(event)
            case AssistantMessage(interrupted=True) as message:
                yield from _interrupted(stream, event, message)
                stream.closed = stream.message = event
            case AssistantMessage() as message:
                if stream.chunks:
                    yield from _whole(stream, event, message)
                stream.closed = stream.message = event
            case ModelFailed():
                stream.closed = event
            case CancelDelivered():
                for agent, other in streams.items():
                    if is_within(agent, event.agent):
                        other.closed = other.closed or event
            case StepEnd() if kept and stream.message is None:
                if not _died(trajectory, event):
                    yield from _lost(stream, event)
            case _:
                pass


def _died(trajectory: Trajectory, step_end: Event) -> bool:
    """Whether repair ended the step: the process died before it could keep what was seen of the answer.

    Its turn was interrupted; or a cancel had reached it, and it is the last one before the run was interrupted
    or another took it over.
    """
    taken_over = trajectory.header.parent.seq if trajectory.header.parent is not None else None
    cancelled = False
    for event in trajectory.events[step_end.seq + 1 :]:
        if taken_over is not None and event.seq > taken_over >= step_end.seq:
            return cancelled
        match event.fact:
            case TurnEnd(reason=reason) if event.agent == step_end.agent and not cancelled:
                if isinstance(reason, Interrupted):
                    return True
                cancelled = isinstance(reason, Cancelled)
            case RunEnd(reason=reason):
                return cancelled and isinstance(reason, Interrupted)
            case TurnStart() | StepStart() if event.agent == step_end.agent:
                return False
            case _:
                pass
    return False


def _texts(stream: _Stream) -> list[str]:
    return [event.fact.chunk for event in stream.chunks if isinstance(event.fact, AssistantChunk)]


def _whole(stream: _Stream, event: Event, message: AssistantMessage) -> Iterator[Found]:
    first = stream.chunks[0]
    try:
        answer = assembled(_texts(stream))
    except ModelError as error:
        text = f"an answer was committed{at(event)} although its stream failed: {error}"
        yield found(text, first, event, rule="conformance:145")
        return
    for what, streamed, committed in _parts(answer, message):
        if streamed != committed:
            two = f"{_short(streamed)}, not {_short(committed)}"
            text = f"the chunks make another {what} than the answer{at(event)}: {two}"
            yield found(text, first, stream.chunks[-1], event, rule="conformance:141")


def _parts(answer: Answer, message: AssistantMessage) -> Iterator[tuple[str, object, object]]:
    yield "text", answer.content or None, message.content or None
    yield "reasoning", answer.reasoning, message.reasoning
    yield "refusal", answer.refusal, message.refusal
    yield "finish reason", answer.raw_finish_reason, message.raw_finish_reason
    streamed = [(call.name or "", call.arguments or "", call.wire_id or "") for call in answer.calls]
    given = [(call.name, call.arguments, wire_id(call)) for call in message.tool_calls]
    named = [id_ for _, _, id_ in streamed]
    # An id that the provider left out was made by the loop, and stands for none.
    yield (
        "calls",
        streamed,
        [(n, a, "" if not named[i : i + 1] or not named[i] else w) for i, (n, a, w) in enumerate(given)],
    )


def _interrupted(stream: _Stream, event: Event, message: AssistantMessage) -> Iterator[Found]:
    if message.tool_calls:
        text = f"an interrupted answer{at(event)} holds {message.tool_calls[0].name!r}, a call that never became whole"
        yield found(text, event, rule="conformance:70")
    seen = visible_prefix(_texts(stream)).content
    if (seen or None) != (message.content or None):
        two = f"{_short(message.content)}, not {_short(seen)}"
        text = f"the interrupted answer{at(event)} is not what could be seen of it: {two}"
        yield found(text, *stream.chunks[:1], event, rule="conformance:70")


def _lost(stream: _Stream, event: Event) -> Iterator[Found]:
    seen = visible_prefix(_texts(stream)).content
    if has_substance(seen):
        text = f"what could be seen of an interrupted answer was lost{at(event)}: {_short(seen)}"
        yield found(text, stream.chunks[0], event, rule="conformance:70")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:79] + "…"


def _streamed(trajectory: Trajectory) -> str:
    if is_import(trajectory):
        return "a foreign file has chunks of its own form"
    return "" if any(isinstance(event.fact, AssistantChunk) for event in trajectory.events) else "nothing was streamed"


CHUNKS = BuiltCheck(
    name="chunks",
    about="an answer is what its chunks make; none comes late; a cut one leaves its visible text, marked, and no call",
    needs=(("assistant/chunk", Origin.PROBE), ("assistant/message", None)),
    rules=tuple(f"conformance:{n}" for n in (69, 70, 141, 145)),
    findings=_chunks,
    applies=_streamed,
)
