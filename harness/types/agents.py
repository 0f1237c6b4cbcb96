"""Child agents of a scenario: each is offered to others as a tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.types.jsontext import canonical_json, parse_json
from harness.types.limits import Limits
from harness.types.messages import ChatMessage, ChatUser, JsonText

MAX_DEPTH: Final = 3
"""How deep agents may call agents: the main one is at depth 0."""
CHILD_ROLE: Final = "child:"
"""What stands before an agent's name in the role of its model; without such a role the main model answers."""

AGENT_NOTE: Final = "agent/begins"
"""Name of a child's first line: its name and its limits, which no header holds."""
VISIBLE_NOTE: Final = "tools/visible"
"""Name of the note behind a ``step/start`` that offers other tools than the step before: their names."""
_CONTEXT_MARK: Final = JsonText('{"name":"runtime_context"}')


@dataclass(frozen=True, slots=True)
class VisibleRule:
    """What is offered from a turn and a step on (both from 1); the last rule that holds decides."""

    tools: tuple[str, ...]
    from_turn: int = 1
    from_step: int = 1


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent that others call as a tool with one argument, ``task``.

    ``tools`` names what it may use of the scenario's tools and agents; ``limits`` are its own (None: the
    scenario's with the default number of steps, each agent counting for itself). ``visible_from`` are rules that
    narrow ``tools`` by turn and step.
    """

    name: str
    description: str
    system: str | None = None
    tools: tuple[str, ...] = ()
    limits: Limits | None = None
    visible_from: tuple[VisibleRule, ...] = ()


def visible_at(rules: tuple[VisibleRule, ...], *, turn: int, step: int) -> tuple[str, ...] | None:
    """The names that the rules offer in a step, by name; None: all there are."""
    holding = [rule for rule in rules if turn >= rule.from_turn and step >= rule.from_step]
    return tuple(sorted(set(holding[-1].tools))) if holding else None


def context_at(values: tuple[JsonText, ...], *, turn: int) -> ChatUser | None:
    """The runtime context of a turn as the model is told it (one value a turn, the last one stays), or None.

    A user message, which providers take anywhere behind results; its ``name`` tells it apart (ARTICLES 25).
    """
    if not values:
        return None
    text = f"Runtime context: {values[min(max(turn, 1), len(values)) - 1]}"
    return ChatUser(text, extra=_CONTEXT_MARK)


def is_context(message: ChatMessage) -> bool:
    """True for a message that tells runtime context, which nobody said."""
    return isinstance(message, ChatUser) and message.extra == _CONTEXT_MARK


def begin_note(name: str, limits: JsonText) -> JsonText:
    """The data of ``agent/begins``; ``limits`` as in a header."""
    return canonical_json({"name": name, "limits": parse_json(limits)})


def child_path(parent: str, call_id: str) -> str:
    """A child's path: that of its parent, then its call; a generated id has the parent's path in it already."""
    return call_id if not parent or call_id.startswith(f"{parent}/") else f"{parent}/{call_id}"
