"""Mutants of results: a text that the body of the call did not give, told and shown alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Final, TypeAlias

from harness.mutants.editing import Mutant, Mutate, with_events
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolEnd, ToolResult, ToolStart
from harness.types.messages import CallId, ChatMessage, ChatTool, Messages

Texts: TypeAlias = dict[CallId, str]
"""What results show instead, by call."""


def _retold(trajectory: Trajectory, texts: Texts) -> Trajectory:
    """With other texts of results, also wherever a request shows them."""
    return replace(trajectory, events=tuple(_with(event, texts) for event in trajectory.events))


def _with(event: Event, texts: Texts) -> Event:
    fact = event.fact
    if isinstance(fact, ToolResult) and fact.call_id in texts:
        return replace(event, fact=replace(fact, content=texts[fact.call_id]))
    if isinstance(fact, ModelRequest) and any(_shows(message, texts) for message in fact.messages):
        messages = Messages.of([_edited(message, texts) for message in fact.messages])
        return replace(event, fact=replace(fact, messages=messages))
    return event


def _shows(message: ChatMessage, texts: Texts) -> bool:
    return isinstance(message, ChatTool) and message.call_id in texts


def _edited(message: ChatMessage, texts: Texts) -> ChatMessage:
    if isinstance(message, ChatTool) and message.call_id in texts:
        return replace(message, content=texts[CallId(message.call_id)])
    return message


def _good_pair(trajectory: Trajectory) -> tuple[ToolResult, ToolResult] | None:
    """Two good results of one step that stand behind one another."""
    good = [
        (event, event.fact)
        for event in trajectory.events
        if isinstance(event.fact, ToolResult) and not event.fact.is_error
    ]
    for (one, first), (two, second) in pairwise(good):
        if (one.agent, one.turn, one.step) == (two.agent, two.turn, two.step):
            return first, second
    return None


def _of_a_pair(edit: Callable[[str, str], tuple[str, str]]) -> Mutate:
    def mutate(trajectory: Trajectory) -> Trajectory | None:
        pair = _good_pair(trajectory)
        if pair is None or not _digested(trajectory, pair[0]):
            return None
        one, two = edit(str(pair[0].content), str(pair[1].content))
        return _retold(trajectory, {pair[0].call_id: one, pair[1].call_id: two})

    return mutate


def _of_the_first(edit: Callable[[str], str]) -> Mutate:
    def mutate(trajectory: Trajectory) -> Trajectory | None:
        good = (e.fact for e in trajectory.events if isinstance(e.fact, ToolResult) and not e.fact.is_error)
        first = next((fact for fact in good if _digested(trajectory, fact)), None)
        return None if first is None else _retold(trajectory, {first.call_id: edit(str(first.content))})

    return mutate


def _bodies(trajectory: Trajectory, call_id: CallId) -> set[int]:
    return {e.seq for e in trajectory.events if isinstance(e.fact, ToolStart) and e.fact.call_id == call_id}


def _digested(trajectory: Trajectory, result: ToolResult) -> bool:
    starts = _bodies(trajectory, result.call_id)
    ends = (e.fact for e in trajectory.events if isinstance(e.fact, ToolEnd) and e.fact.start in starts)
    return any(end.digest is not None for end in ends)


def _without_body(trajectory: Trajectory) -> Trajectory | None:
    """The first of two good results of a step is told although nothing ran."""
    pair = _good_pair(trajectory)
    if pair is None or not _digested(trajectory, pair[1]):
        return None
    gone = _bodies(trajectory, pair[0].call_id)
    gone |= {e.seq for e in trajectory.events if isinstance(e.fact, ToolEnd) and e.fact.start in gone}
    return with_events(trajectory, (e for e in trajectory.events if e.seq not in gone))


def _without_any_body(trajectory: Trajectory) -> Trajectory | None:
    """Good results are told, and nothing ran in the whole run: no digest is there to hold them against."""
    good = any(isinstance(event.fact, ToolResult) and not event.fact.is_error for event in trajectory.events)
    kept = [event for event in trajectory.events if not isinstance(event.fact, ToolStart | ToolEnd)]
    return with_events(trajectory, kept) if good and len(kept) < len(trajectory.events) else None


RESULTS: Final = (
    Mutant("results_exchanged", "two results show each other's texts", _of_a_pair(lambda one, two: (two, one))),
    Mutant("result_of_another", "two results show the text of the last", _of_a_pair(lambda one, two: (two, two))),
    Mutant("result_invented", "a result shows what no body gave", _of_the_first(lambda text: f"{text} and more")),
    Mutant("result_lost", "a placeholder stands for what a body gave", _of_the_first(lambda text: "(no output)")),
    Mutant("result_without_body", "a result is told, and no body ran for its call", _without_body),
    Mutant("nothing_ran", "results are told as good, and no body ran in the whole run", _without_any_body),
)
