"""Child agents, what an agent is offered when, and the runtime context that it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.types.jsontext import canonical_json, parse_json
from harness.types.limits import Limits
from harness.types.messages import ChatMessage, ChatUser, JsonText

MAX_DEPTH: Final = 4
"""Agents below the root; at the deepest level no agent is offered any more."""
AGENT_NOTE: Final = "agent/begins"
"""Name of the first line of a child agent: its name and its limits."""
VISIBLE_NOTE: Final = "tools/visible"
"""Name of the note before the first request that offers other tools than before: their names."""
CHILD_ROLE: Final = "child:"
"""Before an agent's name: the role of the model that answers it."""
_CONTEXT_MARK: Final = JsonText('{"name":"runtime_context"}')


@dataclass(frozen=True, slots=True)
class VisibleRule:
    """Which tools are offered from a turn and a step on (both from 1); the last rule that holds decides."""

    tools: tuple[str, ...]
    from_turn: int = 1
    from_step: int = 1


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent that others may call as the tool ``name(task)``.

    ``tools`` are names of the scenario's tools and agents (None: all its tools, no agents); ``limits`` None: those of
    the run, counted for itself, and the default number of steps. Its model is the one of the role ``child:<name>``,
    else the main one.
    """

    name: str
    description: str
    system: str | None = None
    tools: tuple[str, ...] | None = None
    visible: tuple[VisibleRule, ...] = ()
    limits: Limits | None = None


def visible_at(rules: tuple[VisibleRule, ...], *, turn: int, step: int) -> tuple[str, ...] | None:
    """The names that are offered in a step; None: all there are."""
    holding = [rule for rule in rules if turn >= rule.from_turn and step >= rule.from_step]
    return tuple(sorted(set(holding[-1].tools))) if holding else None


def context_at(values: tuple[JsonText, ...], *, turn: int) -> str | None:
    """The runtime context of a turn in words: one value a turn, the last one stays; None without any."""
    return f"Runtime context: {values[min(turn, len(values)) - 1]}" if values else None


def context_message(text: str) -> ChatUser:
    """Runtime context as the model is shown it: a user message that its ``name`` tells apart."""
    return ChatUser(text, extra=_CONTEXT_MARK)


def is_context(message: ChatMessage) -> bool:
    """True for a message that tells runtime context, which nobody said (ARTICLES 25)."""
    return isinstance(message, ChatUser) and message.extra == _CONTEXT_MARK


def begin_note(name: str, limits: JsonText) -> JsonText:
    """The data of ``agent/begins``; ``limits`` as in a header."""
    return canonical_json({"name": name, "limits": parse_json(limits)})


def child_path(agent: str, call_id: str) -> str:
    """The path of the agent that a call of ``agent`` starts; a generated id holds its agent's path already."""
    return call_id if not agent or call_id.startswith(f"{agent}/") else f"{agent}/{call_id}"
