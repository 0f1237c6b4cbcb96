"""The committed view: what two runs are compared on.

Without ignorable kinds, ``tool/start``, ``tool/end`` and attempts; children in the order of their calls; renumbered; no
times; ids by first appearance. Streaming (that it was asked for, too), completion order, of bodies and of children,
and failed attempts do not show in it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, lru_cache
from typing import Any, Final

from harness.folds.lanes import in_call_order
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    RequestHeader,
    ToolEnd,
    ToolStart,
)
from harness.types.facts import is_ignorable
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import InboxClaimed, InboxDiscarded, RunQuiescent
from harness.types.messages import ChatCall, ChatTool, JsonText, Messages
from harness.types.reasons import Alive, EmittedCall, QueuedMessage

_LEFT_OUT: Final = (ToolStart, ToolEnd, ModelFailed, ModelRetry)
_ID_FIELDS: Final = frozenset({"call_id", "id", "message_ids"})
_DROPPED_FIELDS: Final = frozenset({"attempt"})
STREAMING: Final = ("stream", "stream_options")
_AS_SENT: Final = (ChatCall, ChatTool)
_NAMED_MESSAGES: Final = (QueuedMessage, InboxClaimed, InboxDiscarded)
_COUNTED_NAME: Final = re.compile(r"^(Task|Thread)-\d+")


@dataclass(frozen=True, slots=True)
class Viewed:
    """An event of the committed view: kind, place, fields as plain values; ``seq`` is the file's.

    ``gave`` is what the bodies of a call came to, where a comparison asks for causes; it is not compared.
    """

    kind: str
    agent: str
    turn: int | None
    step: int | None
    fields: dict[str, Any]
    seq: int
    gave: tuple[Any, ...] | None = None

    @property
    def key(self) -> tuple[Any, ...]:
        """What is compared: everything but ``seq`` and ``gave``."""
        return (self.kind, self.agent, self.turn, self.step, self.fields)


class IdLabels:
    """Names ids by first appearance: ``id-1``, ``id-2``, ...

    Apart from them are those of messages (``message-1``), those that a provider gave or was sent (``sent-1``), and
    agents that no call made (``agent-1``).
    """

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {}

    def label(self, value: Any, kind: str = "id") -> Any:
        if isinstance(value, tuple):
            return [self.label(item, kind) for item in value]
        if not isinstance(value, str) or not value:
            return value
        names = self._names.setdefault(kind, {})
        return names.setdefault(value, f"{kind}-{len(names) + 1}")

    def agent(self, path: str) -> str:
        """An agent is named by the call that made it, whatever stands before that in its path; an id may hold a slash.

        One that no call made keeps the call above it in its path.
        """
        known = self._names.get("id", {})
        if not path or path in known:
            return str(self.label(path))
        cuts = (number for number in range(len(path) - 1, 0, -1) if path[number] == "/")
        cut = next((number for number in cuts if path[:number] in known), None)
        if cut is None:
            return "/".join(str(self.label(part, "agent")) for part in path.split("/"))
        above, own = path[:cut], path[cut + 1 :]
        return str(self.label(own)) if own in known else f"{self.label(above)}/{self.label(own, 'agent')}"


def committed_view(trajectory: Trajectory) -> tuple[Viewed, ...]:
    """The committed view of a trajectory, in order; equal for runs that differ only in noise."""
    return tuple(_viewed(trajectory.events))


def _viewed(events: tuple[Event, ...]) -> Iterator[Viewed]:
    labels = IdLabels()
    shown: dict[str, Messages] = {}
    places: dict[str, _Places] = {}
    for at, event in enumerate(_compared(events)):
        fact = event.fact
        agent = labels.agent(event.agent)
        if isinstance(fact, ModelRequest):
            content = _request(fact.messages, shown.get(event.agent), labels)
            shown[event.agent] = fact.messages
        else:
            content = _plain(fact, labels)
        if isinstance(fact, ContextReplaced):
            own = places.get(event.agent, _Places())
            content["start"], content["end"] = own.of(fact.start, at), own.of(fact.end, at)
        elif isinstance(fact, RequestHeader):
            content["parameters"] = without_streaming(fact.parameters)
        elif isinstance(fact, RunQuiescent):
            content = {"alive": [_still_alive(item) for item in fact.alive]}
        places.setdefault(event.agent, _Places()).add(event.seq, at)
        yield Viewed(fact.TYPE, agent, event.turn, event.step, content, event.seq)


def _compared(events: tuple[Event, ...]) -> Iterator[Event]:
    for event in in_call_order(events):
        fact = event.fact
        again = isinstance(fact, ModelRequest) and fact.attempt > 1
        if not (again or is_ignorable(fact) or isinstance(fact, _LEFT_OUT)):
            yield event


class _Places:
    """Where the events of one agent stand in the view, by their numbers in the file."""

    def __init__(self) -> None:
        self._seqs: list[int] = []
        self._places: list[int] = []

    def add(self, seq: int, place: int) -> None:
        self._seqs.append(seq)
        self._places.append(place)

    def of(self, seq: int, now: int) -> int:
        """The place of the agent's first event with that number or a higher one; ``now`` where that comes later."""
        at = bisect_left(self._seqs, seq)
        return self._places[at] if at < len(self._places) else now


@lru_cache(maxsize=64)
def without_streaming(parameters: JsonText) -> JsonText:
    """Request parameters without those that say how an answer is to come, whole or in pieces."""
    value = json.loads(parameters)
    if not isinstance(value, dict) or not any(name in value for name in STREAMING):
        return parameters
    return canonical_json({name: item for name, item in value.items() if name not in STREAMING})


def _still_alive(item: Alive) -> dict[str, str]:
    # A counted name (Task-12) says how many others the process made before, not what this one is.
    return {"kind": item.kind, "name": _COUNTED_NAME.sub(r"\1", item.name)}


def _request(messages: Messages, before: Messages | None, labels: IdLabels) -> dict[str, Any]:
    kept = _common_prefix(messages, before) if before is not None else 0
    return {"keep": kept, "append": [_plain(message, labels) for message in messages[kept:]]}


def _common_prefix(messages: Messages, before: Messages) -> int:
    if messages.extends(before):
        return len(before)
    pairs = enumerate(zip(messages, before, strict=False))
    return next((i for i, (now, then) in pairs if now != then), min(len(messages), len(before)))


@cache
def _compared_fields(cls: type[Any]) -> tuple[str, ...]:
    return tuple(spec.name for spec in fields(cls) if spec.name not in _DROPPED_FIELDS)


def _plain(value: Any, labels: IdLabels) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        kind = "message" if isinstance(value, _NAMED_MESSAGES) else "sent" if isinstance(value, _AS_SENT) else "id"
        result: dict[str, Any] = {}
        for name in _compared_fields(type(value)):
            item = getattr(value, name)
            result[name] = labels.label(item, kind) if name in _ID_FIELDS else _plain(item, labels)
        if isinstance(value, EmittedCall):  # who of two children used an id of the provider first took it for its own
            result["wire_id"] = labels.label(value.id if value.wire_id is None else value.wire_id, "sent")
        return result
    if isinstance(value, tuple):
        return [_plain(item, labels) for item in value]
    return value
