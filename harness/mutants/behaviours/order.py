"""The same calls at other times: in another order, at once, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from harness.matching import same_json
from harness.mutants.behaviours.base import Behaviour, Step, call_text, rows_of_call, steps_of
from harness.mutants.behaviours.draft import Draft
from harness.mutants.behaviours.making import drop_chunks, put_step
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolCall, ToolResult
from harness.types.jsontext import parse_json
from harness.types.lifecycle import StepEnd
from harness.types.messages import CallId
from harness.types.mutating import MutationKind
from harness.types.reasons import EmittedCall


def turned_in_an_answer(run: Trajectory) -> Iterator[Behaviour]:
    """Two neighbours among the calls of one answer change places."""
    for step in steps_of(run):
        for place, (one, other) in enumerate(pairwise(step.calls) if step.is_plain else ()):
            if _same((one,), (other,)):
                continue
            calls = (*step.calls[:place], other, one, *step.calls[place + 2 :])
            draft = Draft(run)
            drop_chunks(draft, step.answer)
            draft.change(step.answer, tool_calls=calls)
            for kind in (ToolCall, ToolResult):
                _arrange(draft, step, kind, [call.id for call in calls])
            text = f"{one.name!r} and {other.name!r} are called the other way round"
            yield _behaviour(MutationKind.ORDER, text, step, (one, other), (other, one), draft)


def _arrange(draft: Draft, step: Step, kind: type[ToolCall | ToolResult], ids: list[CallId]) -> None:
    """The facts of a kind in that order of calls, in the places that they have."""
    rows = [event for event in step.rows if isinstance(event.fact, kind) and not event.agent]
    facts = {event.fact.call_id: event.fact for event in rows if isinstance(event.fact, ToolCall | ToolResult)}
    for row, fact in zip(rows, [facts[one] for one in ids if one in facts], strict=True):
        draft.events[draft.place(row)] = replace(row, fact=fact)


def turned_steps(run: Trajectory) -> Iterator[Behaviour]:
    """What two neighbouring steps ask for changes places."""
    for one, other in _neighbours(run):
        if _same(one.calls, other.calls):
            continue
        draft = Draft(run)
        first, second = _payload(draft, one), _payload(draft, other)
        attempts = (one.message.attempt, other.message.attempt)
        places = (draft.place(first[0]), draft.place(second[0]))
        draft.drop([*first, *second])
        for rows, step, attempt, like in ((first, one, attempts[1], other), (second, other, attempts[0], one)):
            rows[0] = replace(rows[0], fact=replace(step.message, attempt=attempt))
            rows[:] = [replace(row, step=like.answer.step) for row in rows]
        draft.put(places[0], second)
        draft.put(places[1] - len(first) + len(second), first)
        text = f"{_names(other.calls)} before {_names(one.calls)}"
        yield _behaviour(MutationKind.ORDER, text, one, (*one.calls, *other.calls), (*other.calls, *one.calls), draft)


def _payload(draft: Draft, step: Step) -> list[Event]:
    """An answer and what was done for it."""
    drop_chunks(draft, step.answer)
    place = next(i for i, event in enumerate(step.rows) if event.seq == step.answer.seq)
    return [event for event in step.rows[place:] if event.agent or not isinstance(event.fact, StepEnd)]


def at_once(run: Trajectory) -> Iterator[Behaviour]:
    """The calls of two neighbouring steps are made in one answer: one step less."""
    for one, other in _neighbours(run):
        if {call.id for call in one.calls} & {call.id for call in other.calls}:
            continue
        calls = (*one.calls, *other.calls)
        draft = Draft(run)
        first, second = _payload(draft, one), _payload(draft, other)
        told = [row for row in second if isinstance(row.fact, ToolCall) and not row.agent]
        work = [row for row in second[1:] if row not in told]
        draft.drop(other.rows)
        draft.change(one.answer, tool_calls=calls)
        draft.put(draft.place(first[-1]) + 1, [replace(row, step=one.answer.step) for row in work])
        announced = [row for row in first if isinstance(row.fact, ToolCall) and not row.agent]
        if announced:
            draft.put(draft.place(announced[-1]) + 1, [replace(row, step=one.answer.step) for row in told])
        text = f"{_names(one.calls)} and {_names(other.calls)} are called in one answer"
        yield _behaviour(MutationKind.STEPS, text, one, ("two steps",), ("one step",), draft)


def one_after_the_other(run: Trajectory) -> Iterator[Behaviour]:
    """The last call of an answer gets a step of its own: one step more."""
    steps = steps_of(run)
    for step, following in pairwise(steps):
        if not step.is_plain or len(step.calls) < 2 or step.answer.turn != following.answer.turn:
            continue
        last = step.calls[-1]
        draft = Draft(run)
        drop_chunks(draft, step.answer)
        work = rows_of_call(step, last)
        draft.drop(work)
        draft.change(step.answer, tool_calls=step.calls[:-1])
        put_step(draft, following, last, work)
        text = f"{last.name!r} is called in a step of its own"
        yield _behaviour(MutationKind.STEPS, text, step, ("one step",), ("two steps",), draft)


def _neighbours(run: Trajectory) -> Iterator[tuple[Step, Step]]:
    """Steps of one turn, one directly behind the other, that both ask for calls."""
    for one, other in pairwise(steps_of(run)):
        if one.calls and other.calls and one.is_plain and other.is_plain and one.answer.turn == other.answer.turn:
            yield one, other


def _same(one: tuple[EmittedCall, ...], other: tuple[EmittedCall, ...]) -> bool:
    """Calls that nobody can tell apart: equal as JSON, or of one tool and no object at all."""
    return len(one) == len(other) and all(map(_equal, one, other))


def _equal(one: EmittedCall, other: EmittedCall) -> bool:
    values = parse_json(one.arguments), parse_json(other.arguments)
    objects = all(isinstance(value, dict) for value in values)
    return one.name == other.name and (not objects or same_json(*values))


def _names(calls: tuple[EmittedCall, ...]) -> str:
    return ", ".join(repr(call.name) for call in calls)


def _behaviour(
    kind: MutationKind,
    text: str,
    step: Step,
    before: tuple[EmittedCall | str, ...],
    after: tuple[EmittedCall | str, ...],
    draft: Draft,
) -> Behaviour:
    told = [", ".join(one if isinstance(one, str) else call_text(one) for one in side) for side in (before, after)]
    return Behaviour(kind, text, step.answer, told[0], told[1], draft.finished())
