"""Good trajectories to break: small, complete, and such as the built-in loop writes them.

Each is built event by event, so that the checks and their mutants depend on no loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.folds import History, expectations_to_json, limits_to_json
from harness.types.codes import (
    CancelBy,
    CancelScope,
    ClockKind,
    Code,
    FinishReason,
    HeaderWhy,
    InboxQueue,
    LimitKind,
    Origin,
    QueueDisposition,
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
from harness.types.messages import CallId, ChatUser, JsonText, MessageId, RunId
from harness.types.profile import Profile
from harness.types.profile_loop import OfferedToolOrder, RequestHistory
from harness.types.profile_run import CancelCause
from harness.types.reasons import Cancelled, EmittedCall, FinalAnswer, LimitHit, OutOfTokens, QueuedMessage, Reason
from harness.types.scenario import CallOrder, Expectations, ExpectedCall, ExpectedCalls, Limits

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
)


def _header(name: str, limits: Limits, expect: Expectations) -> Header:
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
    """Writes a trajectory as a sane loop would, one call a piece."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._history = History()
        self._turn = self._step = 0
        self._in_turn = self._open = False
        self._n_input = 0
        self.write(RunStart())

    def write(self, fact: Fact) -> int:
        """One event in the open turn and step; gives its seq."""
        origin = Origin.PROBE if isinstance(fact, (*_PROBED, Note)) else Origin.SUBJECT
        seq = len(self.events)
        step = self._step if self._open else None
        turn = self._turn if self._in_turn else None
        event = Event(seq, fact, origin, time=seq * 2, turn=turn, step=step)
        self.events.append(event)
        self._history.apply(event)
        return seq

    def queue(self, text: str) -> MessageId:
        """Accept a piece of input."""
        self._n_input += 1
        queued = QueuedMessage(MessageId(f"m{self._n_input}"), ChatUser(text))
        self.write(InboxQueued(InboxQueue.FOLLOWUP, (queued,)))
        return queued.id

    def turn(self, text: str) -> None:
        """Begin a turn with its input."""
        queued = self.queue(text)
        self._turn, self._step, self._in_turn = self._turn + 1, 0, True
        self.write(TurnStart())
        self.write(InboxClaimed(InboxQueue.FOLLOWUP, (queued,)))
        self.write(UserMessage(ChatUser(text)))

    def ask(self) -> None:
        """Begin a step with its request."""
        self._step, self._open = self._step + 1, True
        self.write(StepStart())
        if not any(isinstance(event.fact, RequestHeader) for event in self.events):
            tools = [
                {"name": tool.name, "description": tool.description, "parameters": {
                    "properties": {"q": {"type": "string"}}, "required": ["q"], "type": "object"}}
                for tool in _TOOLS
            ]  # fmt: skip
            self.write(RequestHeader((), canonical_json(tools), JsonText("{}"), HeaderWhy.INITIAL))
        self.write(ModelRequest(self._history.messages))

    def answer(self, text: str | None, *calls: EmittedCall, finish: FinishReason | None = None) -> None:
        """The model's answer, and (of a complete one) its calls."""
        reason = finish or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
        self.write(AssistantMessage(text, tool_calls=calls, finish_reason=reason))
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
        return Trajectory(_header(name, limits, expect), tuple(self.events), source=name)


def _call(call_id: str, name: str, q: str) -> EmittedCall:
    return EmittedCall(CallId(call_id), name, JsonText(f'{{"q":"{q}"}}'))


def _wanted(calls: Sequence[EmittedCall]) -> tuple[ExpectedCall, ...]:
    return tuple(ExpectedCall(call.name, JsonText(call.arguments)) for call in calls)


def completed() -> Trajectory:
    """Two turns, a failing call between good ones, two calls in one answer, everything expected."""
    pen, one, two, three = Pen(), _call("c1", "look", "a"), _call("c2", "note", "b"), _call("c3", "look", "c")
    pen.turn("look and note")
    pen.ask()
    pen.answer("I look.", one, two)
    pen.run_calls(one, two)
    pen.end_step()
    pen.ask()
    pen.answer(None, three)
    pen.write(ToolEnd(pen.start(three), ToolOutcome.ERROR, Code.TOOL_FAILED))
    pen.result(three, "TOOL_FAILED: nothing there; try 'a' or 'b'.", Code.TOOL_FAILED)
    pen.end_step()
    pen.ask()
    pen.answer("Found a, noted b.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer(), run=False)
    pen.turn("thanks")
    pen.ask()
    pen.answer("The answer is 42.")
    pen.end_step()
    state = Note("end_state", canonical_json({"memory": {"b": 1, "d": 2}, "files": {"x.txt": "x"}}))
    pen.end(Status.COMPLETED, FinalAnswer(), state)
    expect = Expectations(
        status="completed",
        reason="final-answer",
        steps=4,
        messages=9,
        turns=2,
        calls=(ExpectedCalls(CallOrder.EXACT, _wanted((one, two, three))),),
        never=("delete",),
        before=(("note", "delete"),),
        at_most_once=("note",),
        answer=canonical_json({"$regex": "42"}),
        result_codes=((1, "OK"), (2, "OK"), (3, "TOOL_FAILED")),
        end_state=canonical_json({"memory": {"b": 1, "d": {"$any": True}}, "files": {"$subset": {"x.txt": "x"}}}),
    )
    return pen.trajectory("completed", Limits(), expect)


def limited() -> Trajectory:
    """The step limit of two ends a run that would have gone on."""
    pen, one, two = Pen(), _call("c1", "look", "a"), _call("c2", "look", "b")
    pen.turn("look for ever")
    for call in (one, two):
        pen.ask()
        pen.answer(None, call)
        pen.run_calls(call)
        pen.end_step()
    pen.end(Status.LIMIT_REACHED, LimitHit(LimitKind.STEPS, 2))
    codes = ((1, "OK"), (2, "OK"))
    expect = Expectations(status="limit_reached", reason="limit", steps=2, messages=5, turns=1, result_codes=codes)
    return pen.trajectory("limited", Limits(steps=2), expect)


def cancelled() -> Trajectory:
    """A cancel while the first of two calls runs and other input waits: one settles, one never starts."""
    pen, one, two = Pen(), _call("c1", "look", "a"), _call("c2", "look", "b")
    pen.turn("look twice")
    waiting = pen.queue("and then this")
    pen.ask()
    pen.answer(None, one, two)
    start = pen.start(one)
    pen.write(CancelRequested(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    pen.write(CancelDelivered(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    pen.write(InboxDiscarded(InboxQueue.FOLLOWUP, (waiting,), "cancelled"))
    pen.write(ToolEnd(start, ToolOutcome.CANCELLED))
    pen.result(one, "ABORTED: stopped before it finished.", Code.ABORTED)
    pen.result(two, "ABORTED_BEFORE_DISPATCH: never started.", Code.ABORTED_BEFORE_DISPATCH)
    pen.end_step()
    pen.end(Status.CANCELLED, Cancelled(CancelBy.USER))
    codes = ((1, "ABORTED"), (2, "ABORTED_BEFORE_DISPATCH"))
    return pen.trajectory("cancelled", Limits(), Expectations(status="cancelled", result_codes=codes))


def cut() -> Trajectory:
    """An answer cut by the output limit, whose call never runs; the next turn goes on in good order."""
    pen, call = Pen(), _call("c1", "note", "long")
    pen.turn("write it all down")
    pen.ask()
    pen.answer("It is", call, finish=FinishReason.LENGTH)
    pen.result(call, "ANSWER_TRUNCATED: the answer was cut, so this call was not run.", Code.ANSWER_TRUNCATED)
    pen.end_step()
    pen.end(Status.INCOMPLETE, OutOfTokens(), run=False)
    pen.turn("shorter, please")
    pen.ask()
    pen.answer("Done.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    expect = Expectations(status="completed", answer=canonical_json("Done."), result_codes=((1, "ANSWER_TRUNCATED"),))
    return pen.trajectory("cut", Limits(), expect)


def originals() -> dict[str, Trajectory]:
    """All of them by name."""
    made = (completed(), limited(), cancelled(), cut())
    return {trajectory.source: trajectory for trajectory in made}
