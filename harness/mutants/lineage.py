"""Good trajectories that were repaired or go on from another, and the ways to break what they stand on."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.folds import prefix_digest, repaired
from harness.mutants.editing import Mutant, change, changed, doubled, find, like, on, put
from harness.mutants.pen import Pen
from harness.types.codes import ApprovalOutcome, Code, Status
from harness.types.events import Parent, Trajectory
from harness.types.exchange import ToolCall, ToolResult, ToolStart, UserMessage
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import ApprovalAnswered, ApprovalAsked, RunEnd, RunQuiescent, TurnEnd
from harness.types.limits import Limits
from harness.types.messages import CallId, ChatUser, RunId
from harness.types.reasons import Alive, EmittedCall, FinalAnswer
from harness.types.scenario import Expectations

_ONE: Final = EmittedCall(CallId("c1"), "look", '{"q":"a"}')
_TWO: Final = EmittedCall(CallId("c2"), "note", '{"q":"b"}')


def died() -> Trajectory:
    """The process died while the first of two calls ran; repaired."""
    pen = Pen()
    pen.turn("look and note")
    pen.ask()
    pen.answer(None, _ONE, _TWO)
    pen.start(_ONE)
    codes = ((1, "TOOL_OUTCOME_UNKNOWN"), (2, "TOOL_NOT_STARTED"))
    return repaired(pen.trajectory("died", Limits(), Expectations(result_codes=codes)))


def resumed() -> Trajectory:
    """The work of that turn is taken up by the next one, which has no input of its own."""
    parent = died()
    end = next(event for event in parent.events if isinstance(event.fact, TurnEnd))
    pen = Pen(parent.events[: end.seq + 1])
    pen.begin()
    pen.ask()
    answer = "Looked; whether it was noted is not known."
    pen.answer(answer)
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer(), alive=_left(parent))
    codes = ((1, "TOOL_OUTCOME_UNKNOWN"), (2, "TOOL_NOT_STARTED"))
    return _behind(pen, "resumed", end.seq, Expectations(answer=canonical_json(answer), result_codes=codes))


def _left(parent: Trajectory) -> tuple[Alive, ...]:
    """Bodies whose end nobody saw, as the parent's last line names them."""
    last = parent.events[-1].fact
    return last.alive if isinstance(last, RunQuiescent) else ()


def answered() -> Trajectory:
    """A run that was parked at its second call goes on with the answer."""
    pen = Pen()
    pen.turn("look and note")
    pen.ask()
    pen.answer(None, _ONE, _TWO)
    pen.run_calls(_ONE)
    asked = pen.write(ApprovalAsked(_TWO.id))
    pen.write(ApprovalAnswered(_TWO.id, ApprovalOutcome.ALLOWED, "user"))
    pen.run_calls(_TWO)
    pen.end_step()
    pen.ask()
    pen.answer("Looked and noted.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    expect = Expectations(answer=canonical_json("Looked and noted."), result_codes=((1, "OK"), (2, "OK")))
    return _behind(pen, "answered", asked, expect)


def going_on() -> tuple[Trajectory, ...]:
    """All of them."""
    return died(), resumed(), answered()


def _behind(pen: Pen, name: str, seq: int, expect: Expectations) -> Trajectory:
    made = pen.trajectory(name, Limits(), expect)
    parent = Parent(RunId("died"), seq, "resume", prefix_digest(made.events[: seq + 1]))
    return replace(made, header=replace(made.header, parent=parent))


# ---------------------------------------------------------------- mutants


def _unknown(fact: ToolResult) -> bool:
    return fact.code is Code.TOOL_OUTCOME_UNKNOWN


def _not_started(fact: ToolResult) -> bool:
    return fact.code is Code.TOOL_NOT_STARTED


def _runs_again(trajectory: Trajectory) -> Trajectory | None:
    """In the turn that takes up the work, the body of a call starts that had begun before."""
    if trajectory.header.parent is None:
        return None
    start, end = find(trajectory, ToolStart), find(trajectory, TurnEnd, nth=-1)
    if start is None or end is None or find(trajectory, ToolResult, _unknown) is None:
        return None
    return put(trajectory, end, like(end, start.fact, origin=start.origin))


def _starts_unanswered(trajectory: Trajectory) -> Trajectory | None:
    answer = find(trajectory, ApprovalAnswered)
    if answer is None:
        return None
    kept = tuple(event for event in trajectory.events if event is not answer)
    return replace(trajectory, events=tuple(replace(event, seq=seq) for seq, event in enumerate(kept)))


def _prefix_changed(trajectory: Trajectory) -> Trajectory | None:
    said = find(trajectory, UserMessage)
    if trajectory.header.parent is None or said is None:
        return None
    return change(trajectory, said, message=ChatUser("look, note, and delete"))


def _from_an_open_turn(trajectory: Trajectory) -> Trajectory | None:
    parent, call = trajectory.header.parent, find(trajectory, ToolCall)
    if parent is None or call is None:
        return None
    digest = prefix_digest(trajectory.events[: call.seq + 1])
    header = replace(trajectory.header, parent=replace(parent, seq=call.seq, digest=digest))
    return replace(trajectory, header=header)


def _shorter_than_its_past(trajectory: Trajectory) -> Trajectory | None:
    parent = trajectory.header.parent
    if parent is None:
        return None
    header = replace(trajectory.header, parent=replace(parent, seq=len(trajectory.events) + 3))
    return replace(trajectory, header=header)


def _said_by_a_live_run(trajectory: Trajectory) -> Trajectory | None:
    """A turn that ended by itself gives a call the code of a repair."""
    if find(trajectory, ToolResult, _unknown) is not None:
        return None
    result, end = find(trajectory, ToolResult), find(trajectory, RunEnd)
    if result is None or end is None or trajectory.header.parent is not None:
        return None
    return change(trajectory, result, code=Code.TOOL_OUTCOME_UNKNOWN, is_error=True, content="unknown")


def _renumbered(trajectory: Trajectory) -> Trajectory | None:
    """What comes behind the past begins to count turns anew."""
    parent = trajectory.header.parent
    if parent is None or find(trajectory, ToolResult, _unknown) is None:
        return None
    events = tuple(replace(e, turn=1) if e.seq > parent.seq and e.turn is not None else e for e in trajectory.events)
    return replace(trajectory, events=events)


LINEAGE: Final = (
    Mutant("settled_call_runs_again", "a call that had begun before the process died runs again", _runs_again),
    Mutant("past_changed", "what was taken over is not what its parent holds", _prefix_changed),
    Mutant("goes_on_inside_a_turn", "a run goes on from where a turn is open", _from_an_open_turn),
    Mutant("past_cut_short", "a file is shorter than what it goes on from", _shorter_than_its_past),
    Mutant("parked_call_runs_unanswered", "a parked call runs before its answer is told", _starts_unanswered),
    Mutant("turns_counted_anew", "the turns behind the past begin at one again", _renumbered),
    Mutant("repair_doubles_a_result", "a call that repair settled is settled twice", on(ToolResult, doubled, _unknown)),
    Mutant(
        "begun_call_called_not_started",
        "a call whose body began is said never to have started",
        on(ToolResult, changed(code=Code.TOOL_NOT_STARTED), _unknown),
    ),
    Mutant(
        "waiting_call_called_unknown",
        "a call whose body never began is said to have an unknown outcome",
        on(ToolResult, changed(code=Code.TOOL_OUTCOME_UNKNOWN), _not_started),
    ),
    Mutant("live_run_says_unknown", "a run that did not die says that an outcome is unknown", _said_by_a_live_run),
)
