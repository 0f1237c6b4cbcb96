"""The pen that the originals are written with: headers, and events as a sane loop would write them."""

from __future__ import annotations

from typing import Final

from harness.folds import History, expectations_to_json, limits_to_json
from harness.types.agents import VISIBLE_NOTE
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
from harness.types.events import Event, Header, OfferedTool, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ModelRequest,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import (
    CancelDelivered,
    CancelRequested,
    InboxClaimed,
    InboxDiscarded,
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
from harness.types.messages import ChatUser, JsonText, MessageId, RunId
from harness.types.profile import Profile
from harness.types.profile_loop import OfferedToolOrder, RequestHistory
from harness.types.profile_run import CancelCause, InputBatching, KeptQueue, ParentCancel, QueueAfterBlock
from harness.types.reasons import EmittedCall, QueuedMessage, Reason, Usage
from harness.types.scenario import Expectations, Limits

_PROBED: Final = (RequestHeader, ModelRequest, ToolStart, ToolEnd, CancelRequested, CancelDelivered, RunQuiescent)
_TOLD: Final = (
    RunStart, RunEnd, InboxQueued, InboxClaimed, InboxDiscarded, TurnStart, TurnEnd, StepStart, StepEnd,
    UserMessage, AssistantMessage, ToolCall, ToolResult,
)  # fmt: skip
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
            *((fact.TYPE, Origin.PROBE) for fact in _PROBED),
            *((fact.TYPE, Origin.SUBJECT) for fact in _TOLD),
        ),
    )


class Pen:
    """Writes a trajectory as a sane loop would, one call a piece; a ``parent``'s child writes into the same."""

    def __init__(self, agent: str = "", parent: Pen | None = None) -> None:
        self.events: list[Event] = parent.events if parent else []
        self._agent = agent
        self._history = History(agent)
        self._turn = self._step = 0
        self._in_turn = self._open = False
        self._n_input = 0
        if parent is None:
            self.write(RunStart())

    def write(self, fact: Fact) -> int:
        """One event in the open turn and step; gives its seq."""
        origin = Origin.PROBE if isinstance(fact, (*_PROBED, Note)) else Origin.SUBJECT
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
        self._turn, self._step, self._in_turn = self._turn + 1, 0, True
        self.write(TurnStart())
        self.claim(queued, text)

    def claim(self, queued: MessageId, text: str, queue: InboxQueue = InboxQueue.FOLLOWUP) -> None:
        """Take a piece of input into the transcript."""
        self.write(InboxClaimed(queue, (queued,)))
        self.write(UserMessage(ChatUser(text)))

    def ask(self, visible: tuple[str, ...] | None = None) -> None:
        """Begin a step with its request, which offers what is ``visible`` (None: what the one before did)."""
        self._step, self._open = self._step + 1, True
        self.write(StepStart())
        if visible is not None:
            self.write(Note(VISIBLE_NOTE, canonical_json(visible)))
        mine = (event for event in self.events if event.agent == self._agent)
        if visible is not None or not any(isinstance(event.fact, RequestHeader) for event in mine):
            tools = [
                {"name": tool.name, "description": tool.description, "parameters": {
                    "properties": {"q": {"type": "string"}}, "required": ["q"], "type": "object"}}
                for tool in _TOOLS
                if visible is None or tool.name in visible
            ]  # fmt: skip
            self.write(RequestHeader((), canonical_json(tools), JsonText("{}"), HeaderWhy.INITIAL))
        self.write(ModelRequest(self._history.messages))

    def answer(
        self, text: str | None, *calls: EmittedCall, finish: FinishReason | None = None, usage: Usage | None = None
    ) -> None:
        """The model's answer, and (of a complete one) its calls."""
        reason = finish or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        self.write(AssistantMessage(text, tool_calls=calls, finish_reason=reason, usage=usage))
        if reason is not FinishReason.LENGTH:
            for call in calls:
                self.write(ToolCall(call.id, call.name, call.arguments))

    def start(self, call: EmittedCall) -> int:
        """A body begins."""
        return self.write(ToolStart(call.id, call.name, JsonText(call.arguments)))

    def result(self, call: EmittedCall, text: str, code: Code | None = None) -> None:
        """A call's result; an error result where a code is given."""
        self.write(ToolResult(call.id, call.name, text, is_error=code is not None, code=code))

    def run_calls(self, *calls: EmittedCall) -> None:
        """Bodies of one answer, overlapping; the last ends first; results in model order."""
        starts = [self.start(call) for call in calls]
        for start in reversed(starts):
            self.write(ToolEnd(start, ToolOutcome.OK))
        for call in calls:
            self.result(call, f"found {call.arguments}")

    def end_step(self) -> None:
        """Close the open step."""
        self.write(StepEnd())
        self._open = False

    def end(self, status: Status, reason: Reason, *notes: Note, run: bool = True) -> None:
        """Close the turn and, with ``run``, the run, down to its last line."""
        self.write(TurnEnd(status, reason))
        self._in_turn = False
        if run:
            self.write(RunEnd(status, reason))
            for note in notes:
                self.write(note)
            self.write(RunQuiescent())

    def trajectory(self, name: str, limits: Limits, expect: Expectations) -> Trajectory:
        """All of it under a header."""
        return Trajectory(header(name, limits, expect), tuple(self.events), source=name)
