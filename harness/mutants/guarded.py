"""Rules and questions about calls: originals as a sane loop writes them, and what would be wrong with them."""

from __future__ import annotations

from typing import Final

from harness.mutants.editing import (
    Edit,
    Mutant,
    change,
    changed,
    drop,
    find,
    followed_by,
    like,
    moved_behind,
    on,
    on_both,
    put,
)
from harness.mutants.pen import Pen
from harness.types.codes import (
    ApprovalOutcome,
    CancelBy,
    CancelScope,
    Code,
    InboxQueue,
    Origin,
    QueueDisposition,
    Status,
)
from harness.types.events import Trajectory
from harness.types.exchange import ToolCall, ToolEnd, ToolResult, ToolStart
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    CancelRequested,
    InboxDiscarded,
    RunEnd,
    TurnEnd,
)
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Cancelled, EmittedCall, FinalAnswer, Waiting
from harness.types.scenario import Expectations, Limits


def _call(call_id: str, name: str, q: str) -> EmittedCall:
    return EmittedCall(CallId(call_id), name, JsonText(f'{{"q":"{q}"}}'))


def approved() -> Trajectory:
    """Rules and people: a call denied by a rule, one allowed, one rejected, one that nobody could answer for."""
    pen = Pen()
    denied, allowed = _call("c1", "look", "a"), _call("c2", "note", "b")
    rejected, unheard = _call("c3", "note", "c"), _call("c4", "note", "d")
    pen.turn("tidy up")
    pen.ask()
    pen.answer(None, denied, allowed, rejected, unheard)
    pen.result(denied, "PERMISSION_DENIED: no.", Code.PERMISSION_DENIED)
    pen.write(ApprovalAsked(allowed.id))
    pen.write(ApprovalAnswered(allowed.id, ApprovalOutcome.ALLOWED, "user"))
    pen.run_calls(allowed)
    for call, outcome, code in (
        (rejected, ApprovalOutcome.REJECTED, Code.REJECTED),
        (unheard, ApprovalOutcome.UNAVAILABLE, Code.APPROVAL_UNAVAILABLE),
    ):
        pen.write(ApprovalAsked(call.id))
        pen.write(ApprovalAnswered(call.id, outcome, "user"))
        pen.result(call, f"{code}: no.", code)
    pen.end_step()
    pen.ask()
    pen.answer("Noted b, and left the rest.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    codes = ((1, "PERMISSION_DENIED"), (2, "OK"), (3, "REJECTED"), (4, "APPROVAL_UNAVAILABLE"))
    expect = Expectations(
        status="completed", steps=2, answer=canonical_json("Noted b, and left the rest."), result_codes=codes
    )
    return pen.trajectory("approved", Limits(), expect)


def parked() -> Trajectory:
    """A question that ends the run: the call before it has its result, it and the one behind it wait."""
    pen, one, two, three = Pen(), _call("c1", "look", "a"), _call("c2", "note", "b"), _call("c3", "look", "c")
    pen.turn("look and note")
    pen.ask()
    pen.answer(None, one, two, three)
    pen.run_calls(one)
    pen.write(ApprovalAsked(two.id))
    pen.end_step()
    pen.end(Status.WAITING_FOR_USER, Waiting(two.id))
    expect = Expectations(status="waiting_for_user", reason="waiting", result_codes=((1, "OK"),))
    return pen.trajectory("parked", Limits(), expect)


def unanswered() -> Trajectory:
    """A cancel while a person is asked: the question is closed as cancelled, and its call never began."""
    pen, one, two = Pen(), _call("c1", "note", "a"), _call("c2", "note", "b")
    pen.turn("note both")
    waiting = pen.queue("and then this")
    pen.ask()
    pen.answer(None, one, two)
    pen.write(ApprovalAsked(one.id))
    pen.write(CancelRequested(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    pen.write(CancelDelivered(CancelBy.USER, CancelScope.RUN, QueueDisposition.DROP))
    pen.write(InboxDiscarded(InboxQueue.FOLLOWUP, (waiting,), "cancelled"))
    pen.write(ApprovalAnswered(one.id, ApprovalOutcome.CANCELLED, "user"))
    for call in (one, two):
        pen.result(call, "ABORTED_BEFORE_DISPATCH: never started.", Code.ABORTED_BEFORE_DISPATCH)
    pen.end_step()
    pen.end(Status.CANCELLED, Cancelled(CancelBy.USER))
    codes = ((1, "ABORTED_BEFORE_DISPATCH"), (2, "ABORTED_BEFORE_DISPATCH"))
    return pen.trajectory("unanswered", Limits(), Expectations(status="cancelled", result_codes=codes))


# ---------------------------------------------------------------- mutants


def _rejected(fact: ApprovalAnswered) -> bool:
    return fact.outcome is ApprovalOutcome.REJECTED


def _unavailable(fact: ApprovalAnswered) -> bool:
    return fact.outcome is ApprovalOutcome.UNAVAILABLE


def _cancelled(fact: ApprovalAnswered) -> bool:
    return fact.outcome is ApprovalOutcome.CANCELLED


def _ran_anyway(trajectory: Trajectory) -> Trajectory | None:
    """The body of a rejected call runs to its end."""
    answer = find(trajectory, ApprovalAnswered, _rejected)
    if answer is None or not isinstance(answer.fact, ApprovalAnswered):
        return None
    call_id = answer.fact.call_id
    call = find(trajectory, ToolCall, lambda fact: fact.call_id == call_id)
    if call is None or not isinstance(call.fact, ToolCall):
        return None
    start = ToolStart(call_id, call.fact.name, JsonText(call.fact.arguments))
    return put(trajectory, answer, like(answer, start, origin=Origin.PROBE))


def _denied_after_work(trajectory: Trajectory) -> Trajectory | None:
    """A body does its work, and the model is told that the call was denied."""
    end = find(trajectory, ToolEnd)
    result = find(trajectory, ToolResult, lambda fact: fact.code is None)
    if end is None or result is None or find(trajectory, ApprovalAsked) is None:
        return None
    return change(trajectory, result, code=Code.PERMISSION_DENIED, is_error=True)


def _waits_for_another(trajectory: Trajectory) -> Trajectory | None:
    """The run says that it waits for a call that nobody was asked about."""
    turn, run = find(trajectory, TurnEnd), find(trajectory, RunEnd)
    if turn is None or run is None or not isinstance(run.fact, RunEnd) or not isinstance(run.fact.reason, Waiting):
        return None
    reason = Waiting(CallId("c1"))
    return change(change(trajectory, turn, reason=reason), run, reason=reason)


def _answered(outcome: ApprovalOutcome) -> Edit:
    return changed(outcome=outcome)


_WORD: Final = ApprovalAnswered(CallId("c2"), ApprovalOutcome.ALLOWED, "user")
_AS_REJECTED: Final = on(ToolResult, changed(code=Code.REJECTED), lambda fact: fact.code is Code.APPROVAL_UNAVAILABLE)
_CANCEL_AS_NO: Final = on(ApprovalAnswered, _answered(ApprovalOutcome.REJECTED), _cancelled)
_YES_AFTER_CANCEL: Final = on(ApprovalAnswered, _answered(ApprovalOutcome.ALLOWED), _cancelled)
_RAN_FIRST: Final = on_both(ApprovalAnswered, ToolStart, moved_behind)
_UNHEARD: Final = on(ApprovalAnswered, _answered(ApprovalOutcome.UNAVAILABLE))
_ASKED_LATE: Final = on_both(ApprovalAsked, CancelDelivered, moved_behind)
GUARDED: Final = (
    Mutant("ran_before_the_answer", "a body starts, and then it is allowed", _RAN_FIRST),
    Mutant("ran_though_rejected", "a call runs that a person rejected", _ran_anyway),
    Mutant("ran_unheard", "a call ran although nobody could be asked", _UNHEARD),
    Mutant("answer_to_no_question", "an answer comes, and nothing was asked", on(ApprovalAsked, drop)),
    Mutant("never_answered", "a question is open when the run ends", on(ApprovalAnswered, drop, _unavailable)),
    Mutant("unavailable_told_as_rejected", "nobody was there, the model reads that it was rejected", _AS_REJECTED),
    Mutant("cancel_told_as_rejection", "a cancel while a person is asked is told as their no", _CANCEL_AS_NO),
    Mutant("allowed_after_cancel", "an answer that comes after a cancel is taken", _YES_AFTER_CANCEL),
    Mutant("asked_after_cancel", "a person is asked although the run is cancelled", _ASKED_LATE),
    Mutant("denied_after_work", "a body has done its work, and the call is told as denied", _denied_after_work),
    Mutant("waits_for_another_call", "a run waits for a call that nobody was asked about", _waits_for_another),
    Mutant("parked_and_answered", "a run waits although the answer is there", on(ApprovalAsked, followed_by(_WORD))),
    Mutant("parked_before_its_turn", "a call before the parked one has no result", on(ToolResult, drop)),
)


def guarded() -> tuple[Trajectory, ...]:
    """The originals of this page."""
    return approved(), parked(), unanswered()
