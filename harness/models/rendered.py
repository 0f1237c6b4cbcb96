"""Messages as they are sent, each rendered once while a conversation grows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.types.messages import ChatMessage, Messages

_MOST_AGENTS: Final = 16

Render = Callable[[ChatMessage, dict[str, None]], Iterable[Mapping[str, Any]]]


@dataclass(slots=True)
class _Sent:
    view: Messages
    items: list[Mapping[str, Any]] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)


class RenderedMessages:
    """Keeps what the latest request of each agent showed; the next one renders only what is new.

    A history that was replaced is rendered anew. ``render`` gives the items of a message, and notes what it
    changed; the notes of a conversation are those of all its messages.
    """

    def __init__(self, render: Render) -> None:
        self._render = render
        self._sent: dict[str, _Sent] = {}

    def of(self, agent: str, messages: Messages) -> tuple[list[Mapping[str, Any]], dict[str, None]]:
        """The items of these messages, in order, and what was noted; both may be changed by the caller."""
        sent = self._sent.pop(agent, None)
        n_known = len(sent.view) if sent is not None and messages.extends(sent.view) else 0
        if sent is None or n_known == 0:
            sent = _Sent(messages)
        for index in range(n_known, len(messages)):
            sent.items.extend(self._render(messages[index], sent.notes))
        sent.view = messages
        self._sent[agent] = sent
        while len(self._sent) > _MOST_AGENTS:
            self._sent.pop(next(iter(self._sent)))
        return list(sent.items), dict(sent.notes)
