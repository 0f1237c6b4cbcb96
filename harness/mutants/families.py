"""Mutants of a run with a child agent: work outside the call that it is for, and a cancel that misses it."""

from __future__ import annotations

from typing import Final

from harness.mutants.editing import Mutant, change, like, put, with_events
from harness.mutants.pen import Pen
from harness.types.codes import CancelBy, CancelScope, Code, QueueDisposition, Status, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolEnd
from harness.types.lifecycle import CancelDelivered, CancelRequested, TurnEnd
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Cancelled, EmittedCall, FinalAnswer
from harness.types.scenario import Expectations, Limits


def delegated() -> Trajectory:
    """A child answers for one call; another child is at work when the run is cancelled."""
    pen = Pen()
    one, two = (EmittedCall(CallId(name), "look", JsonText('{"q":"a"}')) for name in ("c1", "c2"))
    pen.turn("delegate")
    pen.ask()
    pen.answer(None, one)
    start = pen.start(one)
    with pen.child("c1"):
        pen.turn("do it")
        pen.ask()
        pen.answer("Done it.")
        pen.end_step()
        pen.end(Status.COMPLETED, FinalAnswer(), run=False)
    pen.write(ToolEnd(start, ToolOutcome.OK))
    pen.result(one, "Done it.")
    pen.end_step()
    pen.ask()
    pen.answer(None, two)
    start = pen.start(two)
    by = (CancelScope.RUN, QueueDisposition.DROP)
    with pen.child("c2"):
        pen.turn("do more")
        pen.ask()
        with pen.parent():
            pen.write(CancelRequested(CancelBy.USER, *by))
            pen.write(CancelDelivered(CancelBy.USER, *by))
        pen.write(CancelRequested(CancelBy.PARENT, *by))
        pen.write(CancelDelivered(CancelBy.PARENT, *by))
        pen.end_step()
        pen.end(Status.CANCELLED, Cancelled(CancelBy.PARENT), run=False)
    pen.write(ToolEnd(start, ToolOutcome.CANCELLED))
    pen.result(two, "ABORTED: stopped before it finished.", Code.ABORTED)
    pen.end_step()
    pen.end(Status.CANCELLED, Cancelled(CancelBy.USER))
    codes = ((1, "OK"), (2, "ABORTED"))
    return pen.trajectory("delegated", Limits(), Expectations(result_codes=codes))


def _of_child(trajectory: Trajectory, kind: type) -> list[Event]:
    return [event for event in trajectory.events if event.agent and isinstance(event.fact, kind)]


def _asks_after_its_call(trajectory: Trajectory) -> Trajectory | None:
    requests = _of_child(trajectory, ModelRequest)
    ends = [event for event in trajectory.events if isinstance(event.fact, ToolEnd) and not event.agent]
    return put(trajectory, ends[0], like(requests[0], requests[0].fact)) if requests and ends else None


def _renamed(trajectory: Trajectory) -> Trajectory | None:
    if not any(event.agent for event in trajectory.events):
        return None
    names = {"c1": "c9", "c2": "c2"}
    moved = (like(e, e.fact, agent=names.get(e.agent, e.agent)) if e.agent else e for e in trajectory.events)
    return with_events(trajectory, moved)


def _never_told(trajectory: Trajectory) -> Trajectory | None:
    ends = [e for e in _of_child(trajectory, TurnEnd) if getattr(e.fact, "status", None) is Status.CANCELLED]
    return change(trajectory, ends[0], reason=Cancelled(CancelBy.USER)) if ends else None


def _never_ends(trajectory: Trajectory) -> Trajectory | None:
    ends = _of_child(trajectory, TurnEnd)
    return with_events(trajectory, (e for e in trajectory.events if e is not ends[0])) if ends else None


FAMILIES: Final = (
    Mutant("child_outlives_its_call", "a child asks on after its call has ended", _asks_after_its_call),
    Mutant("child_of_no_call", "a child works under a call that nobody made", _renamed),
    Mutant("child_says_user_cancelled", "a child cancelled by its parent says that the user did it", _never_told),
    Mutant("child_never_ends", "a child's turn is open when its call ends", _never_ends),
)
