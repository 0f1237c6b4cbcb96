"""Runs that hand work on to child agents, runs that show tools by step, and their mutants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.mutants.editing import Mutant, Mutate, change, drop, like, move, put
from harness.mutants.pen import Pen
from harness.types.agents import AGENT_NOTE, VISIBLE_NOTE, begin_note
from harness.types.codes import CancelBy, CancelScope, Code, LimitKind, QueueDisposition, Status, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, RequestHeader, ToolEnd, ToolResult, ToolStart
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import CancelDelivered, CancelRequested, Note, TurnEnd
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Cancelled, EmittedCall, FinalAnswer, LimitHit
from harness.types.scenario import Expectations, Limits

_LIMITS: Final = JsonText('{"graceMs":300,"steps":1,"wallMs":600000}')


def _call(call_id: str, name: str, q: str) -> EmittedCall:
    return EmittedCall(CallId(call_id), name, JsonText(f'{{"q":"{q}"}}'))


def _began(agent: str, parent: Pen, task: str) -> Pen:
    child = Pen(agent, parent)
    child.write(Note(AGENT_NOTE, begin_note(agent, _LIMITS)))
    child.turn(task)
    child.ask()
    return child


def answered() -> Trajectory:
    """Two calls of one answer start a child each; both children answer, and the root goes on."""
    pen, one, two = Pen(), _call("c1", "look", "a"), _call("c2", "note", "b")
    pen.turn("look and note")
    pen.ask()
    pen.answer(None, one, two)
    starts = [pen.start(call) for call in (one, two)]
    children = [_began(call.id, pen, "your part") for call in (one, two)]
    for child, start, text in zip(children, starts, ("It was a.", "It was b."), strict=True):
        child.answer(text)
        child.end_step()
        child.end(Status.COMPLETED, FinalAnswer(), run=False)
        pen.write(ToolEnd(start, ToolOutcome.OK))
    pen.result(one, "It was a.")
    pen.result(two, "It was b.")
    pen.end_step()
    pen.ask()
    pen.answer("a and b.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    return pen.trajectory("answered", Limits(), Expectations(status="completed"))


def recalled() -> Trajectory:
    """A cancel of the root reaches its child, whose turn ends first, as cancelled by its parent."""
    pen, one = Pen(), _call("c1", "look", "a")
    pen.turn("look")
    pen.ask()
    pen.answer(None, one)
    start = pen.start(one)
    child = _began("c1", pen, "look")
    for by, writer in ((CancelBy.USER, pen), (CancelBy.PARENT, child)):
        writer.write(CancelRequested(by, CancelScope.RUN, QueueDisposition.DROP))
        writer.write(CancelDelivered(by, CancelScope.RUN, QueueDisposition.DROP))
    child.end_step()
    child.end(Status.CANCELLED, Cancelled(CancelBy.PARENT), run=False)
    pen.write(ToolEnd(start, ToolOutcome.CANCELLED))
    pen.result(one, "ABORTED: stopped before it finished.", Code.ABORTED)
    pen.end_step()
    pen.end(Status.CANCELLED, Cancelled(CancelBy.USER))
    return pen.trajectory("recalled", Limits(), Expectations(status="cancelled"))


def shown_by_step() -> Trajectory:
    """One tool is visible in the first step, two from the second on."""
    pen, one = Pen(), _call("c1", "look", "a")
    pen.turn("look, then note")
    pen.ask(visible=("look",))
    pen.answer(None, one)
    pen.run_calls(one)
    pen.end_step()
    pen.ask(visible=("look", "note"))
    pen.answer("Done.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    return pen.trajectory("shown_by_step", Limits(), Expectations(status="completed"))


def handed_on() -> tuple[Trajectory, ...]:
    """All three."""
    return (answered(), recalled(), shown_by_step())


# ---------------------------------------------------------------- mutants


def _first(trajectory: Trajectory, kind: type[Fact], *, child: bool, nth: int = 0) -> Event | None:
    fitting = [e for e in trajectory.events if isinstance(e.fact, kind) and bool(e.agent) is child]
    return fitting[nth] if -len(fitting) <= nth < len(fitting) else None


def _of_child(kind: type[Fact], edit: Callable[[Trajectory, Event], Trajectory | None]) -> Mutate:
    """Edit the first event of a kind that a child wrote."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        event = _first(trajectory, kind, child=True)
        return None if event is None else edit(trajectory, event)

    return mutate


def _behind(kind: type[Fact], nth: int = 0, *, again: bool = False) -> Callable[[Trajectory, Event], Trajectory | None]:
    """The event stands (``again``: stands once more) behind the root's nth of a kind."""

    def edit(trajectory: Trajectory, event: Event) -> Trajectory | None:
        root = _first(trajectory, kind, child=False, nth=nth)
        if root is None:
            return None
        if again:
            return put(trajectory, root, like(event, event.fact, time=root.time))
        return move(trajectory, event, root)

    return edit


def _renamed(trajectory: Trajectory) -> Trajectory | None:
    if not any(event.agent for event in trajectory.events):
        return None
    events = tuple(replace(e, agent="c9") if e.agent == "c1" else e for e in trajectory.events)
    return replace(trajectory, events=events)


def _before_its_body(trajectory: Trajectory, event: Event) -> Trajectory | None:
    root = _first(trajectory, ToolStart, child=False)
    before = trajectory.events[root.seq - 1] if root is not None else None
    return None if before is None else put(trajectory, before, like(event, event.fact, time=before.time))


def _results_swapped(trajectory: Trajectory) -> Trajectory | None:
    results = [e for e in trajectory.events if isinstance(e.fact, ToolResult)]
    if len(results) != 2 or not any(event.agent for event in trajectory.events):
        return None
    one, two = results
    swapped = change(trajectory, one, content=two.fact.content)  # type: ignore[union-attr]  # results, both
    return change(swapped, two, content=one.fact.content)  # type: ignore[union-attr]  # results, both


def _limit(trajectory: Trajectory, event: Event) -> Trajectory | None:
    if not isinstance(event.fact, TurnEnd) or event.fact.status is not Status.COMPLETED:
        return None
    return change(trajectory, event, status=Status.LIMIT_REACHED, reason=LimitHit(LimitKind.STEPS, 1))


def _caused_by_user(trajectory: Trajectory, event: Event) -> Trajectory | None:
    if not isinstance(event.fact, TurnEnd) or event.fact.status is not Status.CANCELLED:
        return None
    return change(trajectory, event, reason=Cancelled(CancelBy.USER))


def _note_says(*names: str, nth: int) -> Mutate:
    def mutate(trajectory: Trajectory) -> Trajectory | None:
        notes = [e for e in trajectory.events if isinstance(e.fact, Note) and e.fact.name == VISIBLE_NOTE]
        return change(trajectory, notes[nth], data=canonical_json(names)) if notes else None

    return mutate


def _header_of_second_step_lost(trajectory: Trajectory) -> Trajectory | None:
    headers = [e for e in trajectory.events if isinstance(e.fact, RequestHeader) and not e.agent]
    return drop(trajectory, headers[1]) if len(headers) > 1 else None


HANDED_ON: Final = (
    Mutant("child_ends_after_parent", "a child's turn ends behind its parent's", _of_child(TurnEnd, _behind(TurnEnd))),
    Mutant(
        "child_ends_after_its_body", "a child's turn ends behind its call's body", _of_child(TurnEnd, _behind(ToolEnd))
    ),
    Mutant(
        "child_asks_after_its_call",
        "a child makes a request when its parent has the result",
        _of_child(ModelRequest, _behind(ToolResult, again=True)),
    ),
    Mutant("child_before_its_body", "a child begins before its call's body", _of_child(Note, _before_its_body)),
    Mutant("child_of_no_call", "a child has the path of a call that nobody made", _renamed),
    Mutant("child_results_swapped", "two children's answers stand under each other's calls", _results_swapped),
    Mutant(
        "child_limit_told_as_answer",
        "a child ends at its limit, its call has a good result",
        _of_child(TurnEnd, _limit),
    ),
    Mutant(
        "child_cancelled_by_user",
        "a child's turn names the user, its parent was cancelled",
        _of_child(TurnEnd, _caused_by_user),
    ),
    Mutant("child_without_header", "a child's request has no header", _of_child(RequestHeader, drop)),
    Mutant(
        "child_asks_after_parents_cancel",
        "a child makes a request behind the cancel of its parent",
        _of_child(ModelRequest, _behind(CancelDelivered, again=True)),
    ),
    Mutant("hidden_tool_offered", "a tool is offered that is not visible", _note_says("note", nth=0)),
    Mutant("visible_tool_missing", "a visible tool is not offered", _note_says("look", "note", nth=0)),
    Mutant("header_of_change_lost", "other tools are visible, and no header says so", _header_of_second_step_lost),
)
