"""One diagram of where two runs part: the candidate around that place, and what the base did there (ARTICLES 13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from harness.folds import text_of, where_text
from harness.report.mermaid import Cast, arrows, both_ends, label
from harness.report.text import counted
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolCall
from harness.types.records import Divergence, ScenarioComparison

MOST_ARROWS: Final = 40
LIMIT_BYTES: Final = 4_000
"""So that a page of 10,000 has room for more than the diagram."""
_BEFORE: Final = 10
_NOTES: Final = 3
MOST_NOTES: Final = 4 + _NOTES
"""Where they part, calls of the base and how many more it made, what was left out before and behind."""


def trace(scenario: ScenarioComparison, base: Trajectory, candidate: Trajectory) -> str:
    """The sequence diagram of the shown pair: about ten arrows before it parts, then as many as there is room for.

    At most MOST_ARROWS of the candidate's arrows and notes, and beside them MOST_NOTES of what the base did and of what
    was left out; at most LIMIT_BYTES, in UTF-8. Runs that were set up differently part before the first. Empty where
    the pair does not differ.
    """
    found = scenario.explanation.shown if scenario.explanation else scenario.divergence
    if found is None:
        return ""
    cast = Cast(candidate)
    drawn = [(event.seq, line) for event in candidate for line in arrows(event, cast)]
    parts = _place(found, [seq for seq, _ in drawn])
    notes = [f"Note over U,T: here they part, {label(where_text(found))}"]
    notes += [f"Note over U,T: base: {label(text)}" for text in _of_base(found.base, found.base_seq, base)]
    first = max(0, parts - _BEFORE)
    last = min(len(drawn), first + MOST_ARROWS)
    while True:
        lines = list(_window(drawn, notes, (first, parts, last)))
        who = {name for line in lines for name in both_ends(line)}
        text = "\n".join([*cast.head(who), *(f"    {line}" for line in lines)])
        if len(text.encode()) <= LIMIT_BYTES or last - first <= 1:
            return text
        # What lies far from the place goes first, on the longer side.
        first, last = (first + 1, last) if parts - first > last - parts else (first, last - 1)


def _place(found: Divergence, seqs: Sequence[int]) -> int:
    """Before which of the drawn events they part: the first where neither has an event, none where it is not there."""
    at = found.candidate_seq
    if at is None:
        return 0 if found.base_seq is None else len(seqs)
    return next((i for i, seq in enumerate(seqs) if seq >= at), len(seqs))


def no_trace(why: str) -> str:
    """The diagram where the runs cannot be read again."""
    return f"sequenceDiagram\n    participant A as Agent\n    Note over A: the runs cannot be read again: {label(why)}"


def _window(drawn: list[tuple[int, str]], notes: list[str], place: tuple[int, int, int]) -> Iterator[str]:
    first, parts, last = place
    if first:
        yield f"Note over U,T: {counted(first, 'arrow')} before"
    yield from (line for _, line in drawn[first:parts])
    yield from notes
    yield from (line for _, line in drawn[parts:last])
    if last < len(drawn):
        yield f"Note over U,T: {counted(len(drawn) - last, 'arrow')} more"


def _of_base(told: str | None, seq: int | None, base: Trajectory) -> Iterator[str]:
    """What the base did in the step where it parts: its calls, else its answer, else what the divergence says."""
    event = next((event for event in base if event.seq == seq), None)
    said = _answer_of(event, base) if event else None
    if said is None:
        yield "(nothing)" if told is None else told or "(empty)"
    elif not said.tool_calls:
        yield text_of(said.content) or said.refusal or "(empty)"
    else:
        yield from (f"{call.name} {call.arguments}" for call in said.tool_calls[:_NOTES])
        if len(said.tool_calls) > _NOTES:
            yield f"and {counted(len(said.tool_calls) - _NOTES, 'call')} more"


def _answer_of(event: Event, base: Trajectory) -> AssistantMessage | None:
    """The answer that an event is, or that asked for the call it is; None for what no model said."""
    if isinstance(event.fact, AssistantMessage):
        return event.fact
    call = event.fact.call_id if isinstance(event.fact, ToolCall) else None
    answers = (one.fact for one in base if isinstance(one.fact, AssistantMessage))
    return next((fact for fact in answers if any(one.id == call for one in fact.tool_calls)), None)
