"""Calls and results: `pairing` fails on what is lost, `reused_ids` only tells."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, is_cut, sees, two_doors, unrecorded, wire_id
from harness.folds.imported import is_import
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult, UserMessage
from harness.types.lifecycle import RunEnd, TurnEnd
from harness.types.messages import CallId
from harness.types.reasons import ContentFiltered, EmittedCall, Interrupted, OutOfTokens, Reason, Waiting


@dataclass(frozen=True, slots=True)
class _Emitted:
    call: EmittedCall
    event: Event
    message: AssistantMessage

    def in_step_of(self, event: Event) -> bool:
        known = self.event.step is not None and event.step is not None
        return not known or (self.event.turn, self.event.step) == (event.turn, event.step)


@dataclass(slots=True)
class _Ledger:
    """The open calls of one agent, oldest first under each id."""

    two_doors: bool
    imported: bool
    open: dict[CallId, list[_Emitted]] = field(default_factory=dict)
    closed: dict[CallId, Event] = field(default_factory=dict)
    last_request: Event | None = None

    def emit(self, event: Event, message: AssistantMessage) -> None:
        for call in message.tool_calls:
            self.open.setdefault(call.id, []).append(_Emitted(call, event, message))

    def take(self, event: Event, result: ToolResult) -> Iterator[Found]:
        waiting = self.open.get(result.call_id)
        if not waiting:
            yield self._unasked(event, result)
            return
        emitted = waiting.pop(0)
        if not waiting:
            del self.open[result.call_id]  # only what is open is looked at again: judging stays linear
        self.closed[result.call_id] = event
        if not emitted.in_step_of(event):
            yield found(
                f"call {result.call_id!r} of {emitted.call.name!r}{at(emitted.event)} is answered in a later"
                f" step{at(event)}",
                emitted.event,
                event,
                rule="conformance:29",
            )
        if result.name and emitted.call.name and result.name != emitted.call.name:
            yield found(
                f"call {result.call_id!r} asked for {emitted.call.name!r}, its result is of {result.name!r}",
                emitted.event,
                event,
                rule="conformance:28",
            )

    def _unasked(self, event: Event, result: ToolResult) -> Found:
        earlier = self.closed.get(result.call_id)
        if earlier is not None:
            return found(
                f"a second result for call {result.call_id!r}{at(event)}", earlier, event, rule="conformance:30"
            )
        return found(f"a result without a call: {result.call_id!r}{at(event)}", event, rule="conformance:30")

    def close(self, event: Event, reason: Reason | None, before: int | None = None) -> Iterator[Found]:
        """Report what is still open (of calls emitted before seq ``before``, where given)."""
        for call_id, waiting in list(self.open.items()):
            due = [one for one in waiting if before is None or one.event.seq < before]
            self.open[call_id] = waiting[len(due) :]
            if not self.open[call_id]:
                del self.open[call_id]
            for emitted in due:
                if not _may_stay_open(emitted, reason, told_by_reader=self.imported or isinstance(event.fact, RunEnd)):
                    self.closed[emitted.call.id] = event
                    yield _no_result(emitted, event)

    def passed_over(self, events: Sequence[Event]) -> Iterator[Found]:
        """Report what is open though the conversation went on behind it; a call at the open end is not missed."""
        messages = [event for event in events if isinstance(event.fact, UserMessage | AssistantMessage)]
        seqs = [event.seq for event in messages]
        for waiting in self.open.values():
            for emitted in waiting:
                behind = bisect_right(seqs, emitted.event.seq)
                if behind < len(messages) and not is_cut(emitted.message):
                    yield _no_result(emitted, messages[behind])


def _no_result(emitted: _Emitted, event: Event) -> Found:
    text = f"call {emitted.call.id!r} of {emitted.call.name!r}{at(emitted.event)} has no result"
    return found(text, emitted.event, event, rule="conformance:28")


def _may_stay_open(emitted: _Emitted, reason: Reason | None, *, told_by_reader: bool) -> bool:
    match reason:
        case Interrupted():
            return told_by_reader  # a repair of ours settles every call before it ends the turn
        case Waiting(call_id=call_id):
            ids = [call.id for call in emitted.message.tool_calls]  # calls behind the parked one wait with it
            return call_id in ids and ids.index(emitted.call.id) >= ids.index(call_id)
        case OutOfTokens() | ContentFiltered():
            return is_cut(emitted.message)
        case _:
            return False


def _pairing(trajectory: Trajectory) -> Iterator[Found]:
    has_ends = sees(trajectory, "turn/end") or sees(trajectory, "run/end")
    for events in by_agent(trajectory).values():
        ledger = _Ledger(two_doors(trajectory), is_import(trajectory))
        for event in events:
            yield from _account(ledger, event)
        if not has_ends:
            yield from ledger.passed_over(events)


def _account(ledger: _Ledger, event: Event) -> Iterator[Found]:
    match event.fact:
        case AssistantMessage(interrupted=False) as message:
            if ledger.two_doors:
                yield from ledger.close(event, None)
            ledger.emit(event, message)
        case ToolResult() as result:
            yield from ledger.take(event, result)
        case ModelRequest():
            ledger.last_request = event
            if not ledger.two_doors:
                yield from ledger.close(event, None)
        case TurnEnd(reason=reason) | RunEnd(reason=reason):
            if not ledger.two_doors:
                yield from ledger.close(event, reason)
            elif ledger.last_request is not None:
                yield from ledger.close(event, reason, before=ledger.last_request.seq)
        case _:
            pass


def _may_be_judged(trajectory: Trajectory) -> str:
    if unrecorded(trajectory):
        return "not all of the conversation was recorded: nobody knows which calls were answered"
    return _has_calls(trajectory)


def _has_calls(trajectory: Trajectory) -> str:
    for event in trajectory.events:
        if isinstance(event.fact, ToolResult) or (isinstance(event.fact, AssistantMessage) and event.fact.tool_calls):
            return ""
    return "no tool was called"


PAIRING = BuiltCheck(
    name="pairing",
    about="every call has exactly one result: the oldest open call under its id, in its step",
    needs=(("assistant/message", None), ("tool/result", None)),
    rules=("conformance:28", "conformance:29", "conformance:30", "conformance:75", "conformance:93"),
    findings=_pairing,
    applies=_may_be_judged,
)


# ---------------------------------------------------------------- reused ids


def _reused(trajectory: Trajectory) -> Iterator[Found]:
    for events in by_agent(trajectory).values():
        first: dict[str, Event] = {}
        for event in events:
            if isinstance(event.fact, AssistantMessage):
                yield from _reused_in(event, event.fact, first)


def _reused_in(event: Event, message: AssistantMessage, first: dict[str, Event]) -> Iterator[Found]:
    for call in message.tool_calls:
        wire = wire_id(call)
        if not wire:
            yield found(f"a call of {call.name!r} came without an id{at(event)}", event, rule="conformance:33")
        elif wire not in first:
            first[wire] = event
        elif first[wire] is event:
            yield found(f"the id {wire!r} names two calls of one answer{at(event)}", event, rule="conformance:31")
        else:
            yield found(f"the id {wire!r} was used before{at(event)}", first[wire], event, rule="conformance:32")


REUSED_IDS = BuiltCheck(
    name="reused_ids",
    about="tells where a provider gave an id again, or none (information)",
    needs=(("assistant/message", None),),
    rules=("conformance:31", "conformance:32", "conformance:33"),
    findings=_reused,
    applies=_has_calls,
    information=True,
)
