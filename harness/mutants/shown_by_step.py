"""A run that shows tools by step, two children that answer at the same time, and what goes wrong with either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from harness.mutants.editing import Mutant, Mutate, change, drop, like, put
from harness.mutants.pen import Pen
from harness.types.agents import AGENT_NOTE, VISIBLE_NOTE, begin_note
from harness.types.codes import LimitKind, Status, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, RequestHeader, ToolEnd, ToolResult, ToolStart
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import CancelDelivered, Note, TurnEnd
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall, FinalAnswer, LimitHit
from harness.types.scenario import Expectations, Limits

_LIMITS: Final = JsonText('{"graceMs":300,"steps":1,"wallMs":600000}')


def _call(call_id: str, name: str) -> EmittedCall:
    return EmittedCall(CallId(call_id), name, JsonText('{"q":"a"}'))


def _expected(answer: str, n_results: int) -> Expectations:
    codes = tuple((number, "OK") for number in range(1, n_results + 1))
    return Expectations(status="completed", answer=canonical_json(answer), result_codes=codes)


def shown_by_step() -> Trajectory:
    """One tool is visible in the first step, two from the second on."""
    pen, one = Pen(), _call("c1", "look")
    pen.turn("look, then note")
    pen.ask(visible=("look",))
    pen.answer(None, one)
    pen.run_calls(one)
    pen.end_step()
    pen.ask(visible=("look", "note"))
    pen.answer("Done.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    return pen.trajectory("shown_by_step", Limits(), _expected("Done.", 1))


def side_by_side() -> Trajectory:
    """Two calls of one answer start a child each, with a limit of one step; both answer."""
    pen, one, two = Pen(), _call("c1", "look"), _call("c2", "note")
    pen.turn("look and note")
    pen.ask()
    pen.answer(None, one, two)
    starts = [pen.start(call) for call in (one, two)]
    for call, start, text in zip((one, two), starts, ("It was a.", "It was b."), strict=True):
        with pen.child(call.id):
            pen.write(Note(AGENT_NOTE, begin_note(call.name, _LIMITS)))
            pen.turn("your part")
            pen.ask()
            pen.answer(text)
            pen.end_step()
            pen.end(Status.COMPLETED, FinalAnswer(), run=False)
        pen.write(ToolEnd(start, ToolOutcome.OK))
    pen.result(one, "It was a.")
    pen.result(two, "It was b.")
    pen.end_step()
    pen.ask()
    pen.answer("a and b.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    return pen.trajectory("side_by_side", Limits(), _expected("a and b.", 2))


# ---------------------------------------------------------------- mutants


def _child(edit: Callable[[Trajectory, Event], Trajectory | None], kind: type) -> Mutate:
    """Edit the first event of a kind that a child wrote."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        event = next((e for e in trajectory.events if e.agent and isinstance(e.fact, kind)), None)
        return None if event is None else edit(trajectory, event)

    return mutate


def _behind_the_cancel(trajectory: Trajectory, event: Event) -> Trajectory | None:
    cancels = [e for e in trajectory.events if isinstance(e.fact, CancelDelivered) and not e.agent]
    asked = [e for e in trajectory.events if e.agent and isinstance(e.fact, ModelRequest)]
    return put(trajectory, cancels[0], like(asked[-1], asked[-1].fact, time=cancels[0].time)) if cancels else None


def _before_its_body(trajectory: Trajectory, event: Event) -> Trajectory | None:
    body = next(e for e in trajectory.events if isinstance(e.fact, ToolStart) and not e.agent)
    before = trajectory.events[body.seq - 1]
    return put(trajectory, before, like(event, event.fact, time=before.time))


def _answers_swapped(trajectory: Trajectory) -> Trajectory | None:
    results = [e for e in trajectory.events if isinstance(e.fact, ToolResult) and not e.fact.is_error and not e.agent]
    if len(results) != 2 or not any(event.agent for event in trajectory.events):
        return None
    one, two = results
    swapped = change(trajectory, one, content=two.fact.content)  # type: ignore[union-attr]  # results, both
    return change(swapped, two, content=one.fact.content)  # type: ignore[union-attr]  # results, both


def _at_its_limit(trajectory: Trajectory, event: Event) -> Trajectory | None:
    if not isinstance(event.fact, TurnEnd) or event.fact.status is not Status.COMPLETED:
        return None
    return change(trajectory, event, status=Status.LIMIT_REACHED, reason=LimitHit(LimitKind.STEPS, 1))


def _not_reached(trajectory: Trajectory) -> Trajectory | None:
    """The child goes on to its answer as if its parent had not been cancelled, and tells no cancel."""
    told = [e for e in trajectory.events if e.agent and isinstance(e.fact, CancelDelivered)]
    ends = [e for e in trajectory.events if e.agent and isinstance(e.fact, TurnEnd)]
    if not told:
        return None
    return drop(change(trajectory, ends[-1], status=Status.COMPLETED, reason=FinalAnswer()), told[0])


def _asks_again(trajectory: Trajectory, event: Event) -> Trajectory | None:
    answered = next(e for e in trajectory.events[event.seq :] if e.agent == event.agent and e.fact.TYPE == "step/end")
    before = trajectory.events[answered.seq - 1]
    return put(trajectory, before, like(event, event.fact, time=before.time))


def _note_says(*names: str) -> Mutate:
    def mutate(trajectory: Trajectory) -> Trajectory | None:
        notes = [e for e in trajectory.events if isinstance(e.fact, Note) and e.fact.name == VISIBLE_NOTE]
        return change(trajectory, notes[0], data=canonical_json(names)) if notes else None

    return mutate


def _header_of_change_lost(trajectory: Trajectory) -> Trajectory | None:
    headers = [e for e in trajectory.events if isinstance(e.fact, RequestHeader) and not e.agent]
    return drop(trajectory, headers[1]) if len(headers) > 1 else None


def _bounded(trajectory: Trajectory) -> Trajectory | None:
    """A child's own limit on context is below what its request shows."""
    notes = [e for e in trajectory.events if isinstance(e.fact, Note) and e.fact.name == AGENT_NOTE]
    limits = JsonText('{"contextTokens":1,"graceMs":300,"steps":1,"wallMs":600000}')
    return change(trajectory, notes[0], data=begin_note("look", limits)) if notes else None


BY_STEP: Final = (
    Mutant("child_over_its_context", "a child asks although its own limit on context is reached", _bounded),
    Mutant(
        "child_before_its_body", "a child works before its call's body begins", _child(_before_its_body, ModelRequest)
    ),
    Mutant("child_answers_swapped", "two children's answers stand under each other's calls", _answers_swapped),
    Mutant(
        "child_limit_told_as_answer",
        "a child is at its limit, its call has a good result",
        _child(_at_its_limit, TurnEnd),
    ),
    Mutant("child_not_reached", "a child answers although its parent was cancelled", _not_reached),
    Mutant("child_asks_past_its_limit", "a child asks again at its own limit", _child(_asks_again, ModelRequest)),
    Mutant("child_without_header", "a child's request has no header", _child(drop, RequestHeader)),
    Mutant(
        "child_asks_after_parents_cancel",
        "a child asks behind its parent's cancel",
        _child(_behind_the_cancel, TurnEnd),
    ),
    Mutant("hidden_tool_offered", "a tool is offered that is not visible", _note_says("note")),
    Mutant("visible_tool_missing", "a visible tool is not offered", _note_says("look", "note")),
    Mutant("header_of_change_lost", "other tools are visible, and no header says so", _header_of_change_lost),
)
