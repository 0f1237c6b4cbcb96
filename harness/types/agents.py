"""Child agents of a scenario: each is offered to others as a tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.types.limits import Limits

MAX_DEPTH: Final = 3
"""How deep agents may call agents: the main one is at depth 0."""
CHILD_ROLE: Final = "child:"
"""What stands before an agent's name in the role of its model; without such a role the main model answers."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent that others call as a tool with one argument, ``task``.

    ``tools`` names what it may use of the scenario's tools and agents; ``limits`` are its own (None: the
    scenario's, each agent counting for itself).
    """

    name: str
    description: str
    system: str | None = None
    tools: tuple[str, ...] = ()
    limits: Limits | None = None
