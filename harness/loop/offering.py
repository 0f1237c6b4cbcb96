"""What a step offers and tells beside the conversation: the tools of now, and the runtime context of now."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from harness.protocols import ToolDoor
from harness.types.agents import VISIBLE_NOTE, context_message, is_context
from harness.types.codes import Code, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.exchange import UserMessage
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import Note
from harness.types.messages import JsonText, Messages
from harness.types.reasons import Reason

if TYPE_CHECKING:
    from harness.loop.turn import Desk, Turn

Visible: TypeAlias = Callable[[Messages, int, int], Collection[str] | None]
"""Called with the history, turn and step (from 1) before each request: the names to offer; None: all."""
Told: TypeAlias = Callable[[int], str | None]
"""Called with the turn before each step: the runtime context of now, None for none."""


@dataclass(frozen=True, slots=True)
class Offering:
    """The host's word on visible tools and on the runtime context; without one, all tools and no context."""

    visible: Visible | None = None
    context: Told | None = None


NO_OFFERING: Final = Offering()


class VisibleDoor:
    """A tool door that knows only the tools of one step; a call of another one is of no tool (ARTICLES 26)."""

    def __init__(self, door: ToolDoor, names: tuple[str, ...]) -> None:
        self._door = door
        self._names = names
        self.offered = _offered(door.offered, names)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._door, name)

    def refuse(self, name: str, arguments: str) -> ToolReply | None:
        """UNKNOWN_TOOL for what is not visible, else what the door behind says."""
        if name in self._names:
            return self._door.refuse(name, arguments)
        text = f"there is no tool {name!r}. Allowed tools: {', '.join(self._names) or 'none'}."
        code = Code.UNKNOWN_TOOL
        return ToolReply(f"Error ({code}): {text}", ToolOutcome.ERROR, is_error=True, code=code, message=text)


@lru_cache(maxsize=256)
def _offered(tools: JsonText, names: tuple[str, ...]) -> JsonText:
    entries = parse_json(tools)
    return canonical_json([e for e in entries if e["name"] in names] if isinstance(entries, list) else [])


def door_of(desk: Desk, turn: Turn) -> ToolDoor:
    """The tool door of the open step, with a note where it shows other tools than the step before.

    Raises what the host's rule raises.
    """
    rule = desk.policies.offering.visible
    names = None if rule is None else rule(desk.history.messages, turn.number, turn.step)
    shown = None if names is None else tuple(sorted(set(names)))
    if shown != desk.visible:
        desk.visible = shown
        desk.say(Note(VISIBLE_NOTE, canonical_json(shown)), turn)
    door: Any = desk.tools if shown is None else VisibleDoor(desk.tools, shown)
    checked: ToolDoor = door
    return checked


def tell_context(desk: Desk, turn: Turn) -> Reason | None:
    """Show the runtime context of now where the conversation shows another one, behind all results and input.

    The reason that ends the turn where a listener stopped it, else None.
    """
    told = desk.policies.offering.context
    text = None if told is None else told(turn.number)
    if text is not None:
        message = context_message(text)
        shown = next((one for one in reversed(desk.history.messages) if is_context(one)), None)
        if shown != message:
            desk.say(UserMessage(message), turn)
    return turn.stop.reason
