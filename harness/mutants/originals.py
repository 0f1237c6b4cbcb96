"""Good trajectories to break: small, complete, and such as the built-in loop writes them.

Each is built event by event, so that the checks and their mutants depend on no loop.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.mutants.attempts import retried
from harness.mutants.budgeted import budgeted
from harness.mutants.effectful import effectful
from harness.mutants.evidenced import evidenced
from harness.mutants.families import delegated
from harness.mutants.guarded import guarded
from harness.mutants.lineage import going_on
from harness.mutants.pen import Pen
from harness.mutants.replaced import compacted, narrowed
from harness.mutants.shown_by_step import shown_by_step, side_by_side
from harness.mutants.streams import streamed
from harness.types.codes import (
    CancelBy,
    CancelScope,
    Code,
    FinishReason,
    InboxQueue,
    LimitKind,
    QueueDisposition,
    Status,
    ToolOutcome,
)
from harness.types.events import Trajectory
from harness.types.exchange import (
    ToolEnd,
    ToolStart,
)
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import (
    CancelDelivered,
    CancelRequested,
    InboxDiscarded,
    Note,
)
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Cancelled, EmittedCall, FinalAnswer, LimitHit, OutOfTokens
from harness.types.scenario import CallOrder, Expectations, ExpectedCall, ExpectedCalls, Limits
from harness.types.tool_policy import REPAIRED_NOTE


def _call(call_id: str, name: str, q: str) -> EmittedCall:
    return EmittedCall(CallId(call_id), name, JsonText(f'{{"q":"{q}"}}'))


def _wanted(calls: Sequence[EmittedCall]) -> tuple[ExpectedCall, ...]:
    return tuple(ExpectedCall(call.name, JsonText(call.arguments)) for call in calls)


def worked_on() -> Trajectory:
    """A tool that takes over for a failed one, a body within another, a second attempt, repaired arguments."""
    pen, one, two = Pen(), _call("c1", "note", "a"), _call("c2", "look", "b")
    broken = EmittedCall(CallId("c3"), "delete", "{'q':'c'}")
    pen.turn("work")
    pen.ask()
    pen.answer(None, one, two, broken)
    pen.write(ToolEnd(pen.start(one), ToolOutcome.ERROR, Code.TOOL_FAILED))
    start = pen.write(ToolStart(one.id, "look", JsonText(one.arguments), 2, instead_of="note"))
    pen.write(ToolEnd(start, ToolOutcome.OK))
    pen.result(one, "found a")
    outer = pen.start(two)
    inner = pen.write(ToolStart(None, "note", JsonText('{"q":"within"}'), within=outer))
    pen.write(ToolEnd(inner, ToolOutcome.OK))
    pen.write(ToolEnd(outer, ToolOutcome.OK))
    pen.result(two, "found b")
    used = JsonText('{"q":"c"}')
    told = {"callId": broken.id, "raw": broken.arguments, "rungs": ["single-quotes"], "used": used}
    pen.write(Note(REPAIRED_NOTE, canonical_json(told)))
    pen.write(ToolEnd(pen.write(ToolStart(broken.id, "delete", used)), ToolOutcome.OK))
    pen.result(broken, "deleted c")
    pen.end_step()
    pen.ask()
    pen.answer("Done.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    expect = Expectations(answer=JsonText('"Done."'), result_codes=((1, "OK"), (2, "OK"), (3, "OK")))
    return pen.trajectory("worked_on", Limits(), expect)


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


def steered() -> Trajectory:
    """Input of all three queues while two calls run; the follow-ups then have turns of their own, in order."""
    pen, one, two = Pen(), _call("c1", "look", "a"), _call("c2", "note", "b")
    pen.turn("look and note")
    pen.ask()
    pen.answer(None, one, two)
    starts = [pen.start(call) for call in (one, two)]
    docx = pen.queue("use docx", InboxQueue.STEER)
    waiting = [(text, pen.queue(text)) for text in ("then print it", "then tell me")]
    account = pen.queue("the account is 7", InboxQueue.INJECT)
    for start, call in zip(starts, (one, two), strict=True):
        pen.write(ToolEnd(start, ToolOutcome.OK))
        pen.result(call, f"found {call.arguments}")
    pen.end_step()
    pen.claim(docx, "use docx", InboxQueue.STEER)
    pen.claim(account, "the account is 7", InboxQueue.INJECT)
    pen.ask()
    pen.answer("Noted.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer(), run=False)
    for number, (text, queued) in enumerate(waiting, start=1):
        pen.turn(text, queued)
        pen.ask()
        pen.answer("Done.")
        pen.end_step()
        pen.end(Status.COMPLETED, FinalAnswer(), run=number == len(waiting))
    calls = (ExpectedCalls(CallOrder.IN_ORDER, _wanted((one, two))),)
    expect = Expectations(
        status="completed", steps=4, messages=11, turns=3, calls=calls, answer=canonical_json("Done."),
        result_codes=((1, "OK"), (2, "OK")),
    )  # fmt: skip
    return pen.trajectory("steered", Limits(), expect)


def originals() -> dict[str, Trajectory]:
    """All of them by name."""
    made = (
        completed(),
        limited(),
        cancelled(),
        cut(),
        steered(),
        worked_on(),
        budgeted(),
        evidenced(),
        effectful(),
        delegated(),
        side_by_side(),
        shown_by_step(),
        *going_on(),
        retried(),
        streamed(),
        *guarded(),
        compacted(),
        narrowed(),
    )
    return {trajectory.source: trajectory for trajectory in made}
