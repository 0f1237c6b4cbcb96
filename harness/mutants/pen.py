"""The pen that the originals are written with: headers, and events as a sane loop would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from harness.folds import History, expectations_to_json, limits_to_json
from harness.types.agents import VISIBLE_NOTE
from harness.types.chunking import ChunkCut
from harness.types.codes import (
    ClockKind,
    Code,
    FinishReason,
    HeaderWhy,
    InboxQueue,
    Origin,
    Status,
    ToolOutcome,
)
from harness.types.doors import Answer, AnsweredCall
from harness.types.events import Event, Header, OfferedTool, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.facts import PROBED, TOLD, Fact
from harness.types.jsontext import canonical_json, text_digest
from harness.types.lifecycle import (
    InboxClaimed,
    InboxQueued,
    Note,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import ChatUser, JsonText, MessageId, Messages, RunId
from harness.types.profile import Profile
from harness.types.profile_loop import OfferedToolOrder, RequestHistory
from harness.types.profile_run import (
    CancelCause,
    Compaction,
    ContextOverflow,
    InputBatching,
    KeptQueue,
    ParentCancel,
    QueueAfterBlock,
    StreamedPrefix,
)
from harness.types.reasons import Alive, EmittedCall, QueuedMessage, Reason, Usage
from harness.types.scenario import Expectations, Limits
from harness.wire.chunk_render import render_chunks

_SCHEMA: Final = JsonText('{"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"}')
_TOOLS: Final = tuple(OfferedTool(name, f"Call this to {name}.", _SCHEMA) for name in ("delete", "look", "note"))
PROFILE: Final = Profile(
    request_history=RequestHistory.APPEND_ONLY,
    offered_tool_order=OfferedToolOrder.BY_NAME,
    cancel_cause=CancelCause.FIRST,
    input_batching=InputBatching.ONE_FOLLOWUP_ALL_STEERING,
    kept_queue=KeptQueue.PARKED_UNTIL_WAKE,
    queue_after_block=QueueAfterBlock.PARKED_IN_ORDER,
    parent_cancel=ParentCancel.REACHES_CHILDREN,
    compaction=Compaction.WHERE_CALLS_BALANCE,
    context_overflow=ContextOverflow.COMPACTED_AND_RETRIED_ONCE,
    streamed_prefix=StreamedPrefix.KEPT_AND_MARKED,
)


def header(name: str, limits: Limits, expect: Expectations) -> Header:
    return Header(
        version="0",
        run_id=RunId(name),
        subject="original",
        expectations=expectations_to_json(expect),
        limits=limits_to_json(limits),
        tools=_TOOLS,
        profile=PROFILE,
        clock=ClockKind.VIRTUAL,
        observed=(
            *((kind, Origin.PROBE) for kind in PROBED),
            *((kind, Origin.SUBJECT) for kind in TOLD),
        ),
    )


class Pen:
    """Writes a trajectory as a sane loop would, one call a piece; behind ``past`` where it goes on."""

    def __init__(
        self, past: Sequence[Event] = (), *, show: Callable[[Messages], Messages] = lambda messages: messages
    ) -> None:
        self._show = show
        self.events: list[Event] = list(past)
        self._history = History()
        self._turn = self._step = 0
        self._in_turn = self._open = False
        self._n_input = 0
        self._agent = ""
        for event in past:
            self._history.apply(event)
            self._turn = max(self._turn, event.turn or 0)
        if not past:
            self.write(RunStart())

    @contextmanager
    def child(self, path: str) -> Iterator[None]:
        """What is written inside is a child's work, under its path; afterwards its parent's goes on."""
        before = (self._history, self._turn, self._step, self._in_turn, self._open, self._agent)
        self._history, self._agent = History(path), path
        self._turn = self._step = 0
        self._in_turn = self._open = False
        yield
        self._history, self._turn, self._step, self._in_turn, self._open, self._agent = before

    @contextmanager
    def parent(self) -> Iterator[None]:
        """What is written inside a child's work is the main agent's, outside of turn and step: a cancel."""
        agent, self._agent = self._agent, ""
        kept = (self._in_turn, self._open)
        self._in_turn = self._open = False
        yield
        self._agent = agent
        self._in_turn, self._open = kept

    def write(self, fact: Fact) -> int:
        """One event in the open turn and step; gives its seq."""
        origin = Origin.PROBE if fact.TYPE in (*PROBED, Note.TYPE) else Origin.SUBJECT
        seq = len(self.events)
        step = self._step if self._open else None
        turn = self._turn if self._in_turn else None
        event = Event(seq, fact, origin, time=seq * 2, agent=self._agent, turn=turn, step=step)
        self.events.append(event)
        self._history.apply(event)
        return seq

    def queue(self, text: str, queue: InboxQueue = InboxQueue.FOLLOWUP) -> MessageId:
        """Accept a piece of input."""
        self._n_input += 1
        queued = QueuedMessage(MessageId(f"m{self._n_input}"), ChatUser(text))
        self.write(InboxQueued(queue, (queued,)))
        return queued.id

    def turn(self, text: str, queued: MessageId | None = None) -> None:
        """Begin a turn with its input, which is queued now unless it was before."""
        queued = queued or self.queue(text)
        self.begin()
        self.claim(queued, text)

    def begin(self) -> None:
        """Begin a turn."""
        self._turn, self._step, self._in_turn = self._turn + 1, 0, True
        self.write(TurnStart())

    def claim(self, queued: MessageId, text: str, queue: InboxQueue = InboxQueue.FOLLOWUP) -> None:
        """Take a piece of input into the transcript."""
        self.write(InboxClaimed(queue, (queued,)))
        self.write(UserMessage(ChatUser(text)))

    def ask(self, visible: tuple[str, ...] | None = None) -> None:
        """Begin a step with its request, which offers what is ``visible`` from here on (None: as before)."""
        self._step, self._open = self._step + 1, True
        self.write(StepStart())
        known = any(isinstance(e.fact, RequestHeader) and e.agent == self._agent for e in self.events)
        if visible is not None:
            self.write(Note(VISIBLE_NOTE, canonical_json(visible)))
        if visible is not None or not known:
            tools = [
                {"name": tool.name, "description": tool.description, "parameters": {
                    "properties": {"q": {"type": "string"}}, "required": ["q"], "type": "object"}}
                for tool in _TOOLS
                if visible is None or tool.name in visible
            ]  # fmt: skip
            why = HeaderWhy.CHANGE if known else HeaderWhy.INITIAL
            self.write(RequestHeader((), canonical_json(tools), JsonText("{}"), why))
        self.again(1)

    def again(self, attempt: int) -> None:
        """The request of an attempt."""
        self.write(ModelRequest(self._show(self._history.messages), attempt))

    def ask_again(self, code: Code, attempt: int) -> None:
        """The request failed as attempt ``attempt - 1`` and is made again."""
        self.write(ModelFailed(code, "not now", attempt - 1))
        self.write(ModelRetry(code, attempt - 1, 2))
        self.write(ModelRequest(self._history.messages, attempt))

    def answer(
        self,
        text: str | None,
        *calls: EmittedCall,
        finish: FinishReason | None = None,
        usage: Usage | None = None,
        attempt: int = 1,
    ) -> None:
        """The model's answer, and (of a complete one) its calls."""
        reason = finish or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        raw = reason.replace("-", "_")
        self.write(AssistantMessage(text, None, None, calls, reason, raw, usage=usage, attempt=attempt))
        if reason is not FinishReason.LENGTH:
            for call in calls:
                self.write(ToolCall(call.id, call.name, call.arguments))

    def stream(self, text: str | None, *calls: EmittedCall) -> None:
        """The same answer in chunks, then whole."""
        given = tuple(AnsweredCall(call.name, call.arguments, call.id) for call in calls)
        reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        for chunk in render_chunks(Answer(text, given, finish_reason=reason), cut=ChunkCut.WORDS):
            self.write(AssistantChunk(chunk))
        self.answer(text, *calls)

    def start(self, call: EmittedCall) -> int:
        """A body begins."""
        return self.write(ToolStart(call.id, call.name, JsonText(call.arguments)))

    def result(self, call: EmittedCall, text: str, code: Code | None = None) -> None:
        """A call's result; an error result where a code is given."""
        self.write(ToolResult(call.id, call.name, text, is_error=code is not None, code=code))

    def run_calls(self, *calls: EmittedCall) -> None:
        """Bodies of one answer, overlapping; the last ends first; results in model order."""
        starts = [self.start(call) for call in calls]
        found = [f"found {call.arguments}" for call in calls]
        for start, text in reversed(list(zip(starts, found, strict=True))):
            self.write(ToolEnd(start, ToolOutcome.OK, digest=text_digest(text)))
        for call, text in zip(calls, found, strict=True):
            self.result(call, text)

    def end_step(self) -> None:
        """Close the open step."""
        self.write(StepEnd())
        self._open = False

    def end(
        self, status: Status, reason: Reason, *notes: Note, run: bool = True, alive: tuple[Alive, ...] = ()
    ) -> None:
        """Close the turn and, with ``run``, the run, down to its last line."""
        self.write(TurnEnd(status, reason))
        self._in_turn = False
        if run:
            self.write(RunEnd(status, reason))
            for note in notes:
                self.write(note)
            self.write(RunQuiescent(alive))

    def trajectory(self, name: str, limits: Limits, expect: Expectations) -> Trajectory:
        """All of it under a header."""
        return Trajectory(header(name, limits, expect), tuple(self.events), source=name)
