"""The committed view: what two runs are compared on.

Without ignorable kinds, ``tool/start``, ``tool/end`` and attempts; renumbered; no times; ids by
first appearance. Streaming, completion order and failed attempts do not show in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Final

from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelFailed, ModelRequest, ModelRetry, ToolEnd, ToolStart
from harness.types.facts import is_ignorable
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import Messages

_LEFT_OUT: Final = (ToolStart, ToolEnd, ModelFailed, ModelRetry, RunQuiescent)
_ID_FIELDS: Final = frozenset({"call_id", "wire_id", "id", "message_ids"})
_DROPPED_FIELDS: Final = frozenset({"attempt"})


@dataclass(frozen=True, slots=True)
class Viewed:
    """An event of the committed view: kind, place, fields as plain values; ``seq`` is the file's."""

    kind: str
    agent: str
    turn: int | None
    step: int | None
    fields: dict[str, Any]
    seq: int

    @property
    def key(self) -> tuple[Any, ...]:
        """What is compared: everything but ``seq``."""
        return (self.kind, self.agent, self.turn, self.step, self.fields)


class _Labels:
    """Names ids by first appearance: ``id-1``, ``id-2``, ..."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def label(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return [self.label(item) for item in value]
        if not isinstance(value, str) or not value:
            return value
        return self._names.setdefault(value, f"id-{len(self._names) + 1}")


def committed_view(trajectory: Trajectory) -> tuple[Viewed, ...]:
    """The committed view of a trajectory, in order. Its own normal form: applying it twice is once."""
    return tuple(_viewed(trajectory.events))


def _viewed(events: tuple[Event, ...]) -> Iterator[Viewed]:
    labels = _Labels()
    shown: dict[str, Messages] = {}
    for event in events:
        fact = event.fact
        if is_ignorable(fact) or isinstance(fact, _LEFT_OUT):
            continue
        if isinstance(fact, ModelRequest):
            if fact.attempt > 1:
                continue
            content = _request(fact.messages, shown.get(event.agent), labels)
            shown[event.agent] = fact.messages
        else:
            content = _plain(fact, labels)
        yield Viewed(fact.TYPE, event.agent, event.turn, event.step, content, event.seq)


def _request(messages: Messages, before: Messages | None, labels: _Labels) -> dict[str, Any]:
    kept = _common_prefix(messages, before) if before is not None else 0
    return {"keep": kept, "append": [_plain(message, labels) for message in messages[kept:]]}


def _common_prefix(messages: Messages, before: Messages) -> int:
    if messages.extends(before):
        return len(before)
    pairs = enumerate(zip(messages, before, strict=False))
    return next((i for i, (now, then) in pairs if now != then), min(len(messages), len(before)))


def _plain(value: Any, labels: _Labels) -> Any:
    if is_dataclass(value):
        result: dict[str, Any] = {}
        for spec in fields(value):
            if spec.name in _DROPPED_FIELDS:
                continue
            item = getattr(value, spec.name)
            result[spec.name] = labels.label(item) if spec.name in _ID_FIELDS else _plain(item, labels)
        return result
    if isinstance(value, tuple):
        return [_plain(item, labels) for item in value]
    return value
