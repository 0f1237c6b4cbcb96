"""`approval`: a call that a person is asked about runs once they allow it, and never otherwise.

What was refused, by a rule or by a person, has no body that did its work. A question that is open when a
cancel comes is answered as cancelled, whatever is said later; one that is open at the end of a run is the
call that the run waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.cancel import windows
from harness.checks.reading import at, by_agent
from harness.types.codes import ApprovalOutcome, Code, Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolCall, ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import ApprovalAnswered, ApprovalAsked, RunEnd
from harness.types.messages import CallId
from harness.types.profile_run import CancelDuringApproval
from harness.types.profile_tools import ApprovalAfterCancel
from harness.types.reasons import Interrupted, Reason, Waiting

_REFUSALS: Final = (Code.PERMISSION_DENIED, Code.REJECTED, Code.APPROVAL_UNAVAILABLE)
_CODES: Final = {
    ApprovalOutcome.REJECTED: (Code.REJECTED,),
    ApprovalOutcome.UNAVAILABLE: (Code.APPROVAL_UNAVAILABLE,),
    ApprovalOutcome.CANCELLED: (Code.ABORTED, Code.ABORTED_BEFORE_DISPATCH),
}


@dataclass(slots=True)
class _Questions:
    """What one agent was asked about so far, and what its bodies came to."""

    cancelled_calls_tell: bool
    called: set[CallId] = field(default_factory=set)
    asked: dict[CallId, Event] = field(default_factory=dict)
    answered: dict[CallId, Event] = field(default_factory=dict)
    bodies: dict[int, CallId] = field(default_factory=dict)
    worked: dict[CallId, Event] = field(default_factory=dict)

    def outcome(self, call: CallId) -> ApprovalOutcome | None:
        answer = self.answered.get(call)
        return answer.fact.outcome if answer is not None and isinstance(answer.fact, ApprovalAnswered) else None


def _approval(trajectory: Trajectory) -> Iterator[Found]:
    tells = trajectory.header.profile.cancel_during_approval is not CancelDuringApproval.REJECTED
    for events in by_agent(trajectory).values():
        questions = _Questions(tells)
        for event in events:
            match event.fact:
                case ToolCall(call_id=call_id):
                    questions.called.add(call_id)
                case ApprovalAsked() as asked:
                    yield from _asked(questions, event, asked)
                case ApprovalAnswered() as answered:
                    yield from _answered(questions, event, answered)
                case ToolStart() as start:
                    yield from _start(questions, event, start)
                case ToolEnd(start=seq, outcome=ToolOutcome.OK) if seq in questions.bodies:
                    questions.worked[questions.bodies[seq]] = event
                case ToolResult() as result:
                    yield from _result(questions, event, result)
                case RunEnd(reason=reason):
                    yield from _left_open(questions, event, reason)
                case _:
                    pass
    if trajectory.header.profile.approval_after_cancel is not ApprovalAfterCancel.HONOURED:
        yield from _after_cancel(trajectory)


def _asked(questions: _Questions, event: Event, fact: ApprovalAsked) -> Iterator[Found]:
    before = questions.asked.get(fact.call_id)
    if before is not None:
        text = f"call {fact.call_id!r} is asked about a second time{at(event)}"
        yield found(text, before, event, rule="conformance:57")
    elif questions.called and fact.call_id not in questions.called:
        yield found(f"call {fact.call_id!r} is asked about{at(event)}, and there is none", event, rule="conformance:57")
    questions.asked[fact.call_id] = event


def _answered(questions: _Questions, event: Event, fact: ApprovalAnswered) -> Iterator[Found]:
    if fact.call_id not in questions.asked:
        yield found(f"an answer about call {fact.call_id!r}{at(event)} to no question", event, rule="conformance:57")
    elif fact.call_id in questions.answered:
        before = questions.answered[fact.call_id]
        yield found(f"a second answer about call {fact.call_id!r}{at(event)}", before, event, rule="conformance:58")
        return
    questions.answered[fact.call_id] = event


def _start(questions: _Questions, event: Event, fact: ToolStart) -> Iterator[Found]:
    call_id = fact.call_id
    if call_id is None:
        return
    questions.bodies[event.seq] = call_id
    asked, outcome = questions.asked.get(call_id), questions.outcome(call_id)
    if asked is not None and outcome is not ApprovalOutcome.ALLOWED:
        said = f"was answered {outcome}" if outcome else "has no answer yet"
        text = f"the body of {fact.name!r} started{at(event)}, although the question about call {call_id!r} {said}"
        yield found(text, asked, questions.answered.get(call_id), event, rule="conformance:57")


def _result(questions: _Questions, event: Event, fact: ToolResult) -> Iterator[Found]:
    asked, worked = questions.asked.get(fact.call_id), questions.worked.get(fact.call_id)
    if worked is not None and fact.code in _REFUSALS:
        text = f"the result of call {fact.call_id!r} says {fact.code}, and its body has done its work"
        yield found(text, worked, event, rule="conformance:52")
    if asked is None or fact.code is Code.TOOL_NOT_STARTED:
        return  # the process died before the call came to anything; `lineage` looks at that
    outcome = questions.outcome(fact.call_id)
    if outcome is None:
        text = f"call {fact.call_id!r} has a result{at(event)} while its question is open"
        yield found(text, asked, event, rule="conformance:57")
    elif outcome in _CODES and fact.code not in _CODES[outcome]:
        if outcome is ApprovalOutcome.CANCELLED and not questions.cancelled_calls_tell:
            return
        text = f"the question about call {fact.call_id!r} was answered {outcome}, its result says {fact.code or 'OK'}"
        rule = "conformance:85" if outcome is ApprovalOutcome.CANCELLED else "conformance:57"
        yield found(text, questions.answered[fact.call_id], event, rule=rule)


def _left_open(questions: _Questions, end: Event, reason: Reason) -> Iterator[Found]:
    if isinstance(reason, Interrupted):
        return
    waits_for = reason.call_id if isinstance(reason, Waiting) else None
    for call_id, event in questions.asked.items():
        if call_id not in questions.answered and call_id != waits_for:
            yield found(f"the question about call {call_id!r} was never answered", event, end, rule="conformance:57")
    if waits_for is not None and (waits_for not in questions.asked or waits_for in questions.answered):
        text = f"the run waits for a word about call {waits_for!r}, and no question about it is open"
        yield found(text, questions.answered.get(waits_for), end, rule="article:28")


def _after_cancel(trajectory: Trajectory) -> Iterator[Found]:
    for window in windows(trajectory):
        for event in window.events:
            match event.fact:
                case ApprovalAsked(call_id=call_id):
                    text = f"call {call_id!r} was asked about{at(event)} after the cancel was delivered"
                    yield found(text, window.cancel, event, rule="conformance:58")
                case ApprovalAnswered(call_id=call_id, outcome=outcome) if outcome is not ApprovalOutcome.CANCELLED:
                    text = f"call {call_id!r} was answered {outcome}{at(event)} after the cancel was delivered"
                    yield found(text, window.cancel, event, rule="conformance:58")
                case _:
                    pass


def _was_refused(trajectory: Trajectory) -> str:
    for event in trajectory.events:
        if isinstance(event.fact, ApprovalAsked | ApprovalAnswered):
            return ""
        if isinstance(event.fact, RunEnd) and isinstance(event.fact.reason, Waiting) and event.fact.reason.call_id:
            return ""
        if isinstance(event.fact, ToolResult) and event.fact.code in _REFUSALS:
            return ""
    return "nobody was asked about a call, and none was refused"


APPROVAL = BuiltCheck(
    name="approval",
    about="a call that a person is asked about runs once it is allowed and only then; what is refused never ran",
    needs=(("approval/asked", None), ("approval/answered", None), ("tool/start", Origin.PROBE)),
    rules=("conformance:52", "conformance:57", "conformance:58", "conformance:85", "article:28"),
    findings=_approval,
    applies=_was_refused,
)
