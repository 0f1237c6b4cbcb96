"""Records with a text in every field that can hold one, made from their types, so that no field is forgotten."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from harness.runner.review.side_by_side import side_by_side
from harness.types.aligned import AlignedRuns
from harness.types.codes import Origin
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import AssistantMessage, ToolCall, ToolEnd, ToolStart
from harness.types.facts import FACT_TYPES
from harness.types.jsontext import canonical_json, clean_text
from harness.types.messages import ChatMessage, JsonText, Messages
from harness.types.records import RunSummary, ScenarioComparison
from harness.types.review import Review

Text = Callable[[], str]
"""Gives the text of the next field."""


def variants(hint: Any, text: Text) -> list[Any]:
    """Values of a type that together have every field and every arm of a union filled."""
    if hint is JsonText:
        return [canonical_json({text(): [text()]})]
    hint = getattr(hint, "__supertype__", hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return [value for arm in args if arm is not NoneType for value in variants(arm, text)]
    if origin is tuple:
        return [_tuple(args, text)]
    if origin is Literal:
        return [args[0]]
    plain = {str: text, int: lambda: 7, bool: lambda: True, float: lambda: 0.5}
    if hint in plain:
        return [plain[hint]()]
    if hint is Messages:
        return [Messages.of(variants(ChatMessage, text))]
    return list(hint)[:3] if issubclass(hint, StrEnum) else _records(hint, text)


def _tuple(args: tuple[Any, ...], text: Text) -> tuple[Any, ...]:
    if args[1:] == (...,):
        return tuple(variants(args[0], text))
    return tuple(variants(arg, text)[0] for arg in args)


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls)


def _records(cls: type[Any], text: Text) -> list[Any]:
    hints = _hints(cls)
    fields = {field.name: variants(hints[field.name], text) for field in dataclasses.fields(cls)}
    n = max(map(len, fields.values()), default=1)
    return [cls(**{name: values[at % len(values)] for name, values in fields.items()}) for at in range(n)]


def trajectory(text: Text) -> Trajectory:
    """A run with every kind of fact, every field of it filled; an answer's calls are worked on under their own ids."""
    text = _at_the_door(text)
    facts = [fact for kind in FACT_TYPES.values() for fact in variants(kind, text)]
    header = dataclasses.replace(variants(Header, text)[0], limits=None, expectations=None)
    events: list[Event] = []
    for fact in facts:
        events.append(_event(len(events), fact))
        if isinstance(fact, AssistantMessage):
            for call in fact.tool_calls:
                events.append(_event(len(events), ToolCall(call.id, call.name, call.arguments)))
                start = ToolStart(call.id, text(), JsonText(text()), instead_of=text())
                events.append(_event(len(events), start))
                ended = variants(ToolEnd, text)[0]
                events.append(_event(len(events), dataclasses.replace(ended, start=len(events) - 1)))
    return Trajectory(header, tuple(events))


def _at_the_door(text: Text) -> Text:
    """Lone surrogates become U+FFFD wherever a text enters a run (INVARIANTS 19)."""
    return lambda: clean_text(text())


def _event(seq: int, fact: Any) -> Event:
    return Event(seq, fact, Origin.IMPORT, seq, "", 1, 1)


def row(text: Text, change: str = "worse") -> ScenarioComparison:
    """A row with everything filled; differences lie at event 7."""
    return dataclasses.replace(variants(ScenarioComparison, text)[0], change=change)


def review(text: Text, rows: tuple[ScenarioComparison, ...]) -> Review:
    """A review with everything filled, of these rows."""
    made: Review = variants(Review, text)[0]
    return dataclasses.replace(made, comparison=dataclasses.replace(made.comparison, scenarios=rows))


def summary(text: Text) -> RunSummary:
    """A summary with everything filled."""
    made: RunSummary = variants(RunSummary, text)[0]
    return made


def aligned(text: Text, row: ScenarioComparison) -> AlignedRuns:
    """Two runs with everything filled, side by side."""
    return side_by_side(trajectory(text), trajectory(text), row)
