"""What tools really did: effects as a ledger keeps them, and how many of them a scenario expects."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.types.messages import JsonText

EFFECTS_NOTE: Final = "effects"
"""Name of the note, written before the last line, that holds what the ledger of a run says."""
EFFECTS_FILE: Final = "effects.jsonl"
"""The ledger's name in a workspace."""


class EffectsPer(StrEnum):
    """What effects are counted for: the whole run, or each different set of arguments by itself."""

    RUN = "run"
    ARGUMENTS = "arguments"


@dataclass(frozen=True, slots=True)
class ExpectedEffects:
    """How often a tool may take effect in a run and those that it goes on from; exactly one number is given.

    ``when`` (JSON text of an object of matchers): only effects whose arguments include these count.
    """

    tool: str
    at_most: int | None = None
    exactly: int | None = None
    when: JsonText | None = None
    per: EffectsPer = EffectsPer.RUN


@dataclass(frozen=True, slots=True)
class Effect:
    """One line of a ledger: the tool, its arguments (canonical JSON text of an object), the call where it is known."""

    tool: str
    arguments: JsonText
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Effects:
    """What a ledger holds, in order, and how many of its lines cannot be read (cut off by a death)."""

    entries: tuple[Effect, ...] = ()
    unreadable: int = 0
