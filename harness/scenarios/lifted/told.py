"""Rules of a scenario that a run shows by effects: visible tools, runtime context, an outcome's field, repairs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from harness.types.agents import VISIBLE_NOTE, VisibleRule, is_context
from harness.types.events import Event
from harness.types.exchange import UserMessage
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.lifecycle import Note, TurnEnd
from harness.types.messages import JsonText
from harness.types.outcome import OutcomeRules
from harness.types.reasons import FinalAnswer
from harness.types.tool_policy import NO_POLICY, REPAIRED_NOTE, Rung, ToolPolicy

_SAYS: Final = re.compile(r"the answer says (\S+): \S+\Z")
_CONTEXT: Final = "Runtime context: "


def visible_rules(events: Sequence[Event]) -> tuple[VisibleRule, ...]:
    """What the main agent was offered from which step on, as the file notes it."""
    found = []
    for event in events:
        if isinstance(event.fact, Note) and event.fact.name == VISIBLE_NOTE and not event.agent:
            names = parse_json(event.fact.data or "[]")
            if isinstance(names, list):
                found.append(VisibleRule(tuple(map(str, names)), event.turn or 1, event.step or 1))
    return tuple(found)


def runtime_context(events: Sequence[Event]) -> tuple[JsonText, ...]:
    """One value a turn, the last one stays; empty where nothing was told."""
    by_turn: dict[int, JsonText] = {}
    for event in events:
        fact = event.fact
        if isinstance(fact, UserMessage) and not event.agent and is_context(fact.message):
            text = str(fact.message.content).removeprefix(_CONTEXT)
            value = parse_json(text)
            if not isinstance(value, Refusal):
                by_turn[event.turn or 1] = canonical_json(value)
    if not by_turn:
        return ()
    first = by_turn[min(by_turn)]
    values = []
    for turn in range(1, max(by_turn) + 1):
        first = by_turn.get(turn, first)
        values.append(first)
    return tuple(values)


def outcome_of_answers(events: Sequence[Event]) -> OutcomeRules | None:
    """The field in which answers say what became of the task, where the file says so."""
    for event in events:
        reason = event.fact.reason if isinstance(event.fact, TurnEnd) else None
        found = _SAYS.match(reason.why or "") if isinstance(reason, FinalAnswer) else None
        if found:
            return OutcomeRules(status=found[1])
    return None


def repairs(events: Sequence[Event]) -> ToolPolicy:
    """The repairs of arguments that were made."""
    rungs: set[str] = set()
    for event in events:
        if isinstance(event.fact, Note) and event.fact.name == REPAIRED_NOTE:
            value = parse_json(event.fact.data or "{}")
            rungs |= set(value.get("rungs", ())) if isinstance(value, dict) else set()
    return ToolPolicy(repair=tuple(rung for rung in Rung if rung.value in rungs)) if rungs else NO_POLICY
