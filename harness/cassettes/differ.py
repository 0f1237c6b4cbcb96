"""Why no recording answers a request, in the model's terms: the prompt, a tool, a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Final

from harness.cassettes.bodies import MISSING, Missing, Path, differences, show_path
from harness.cassettes.index import Asked, Index
from harness.types.jsontext import canonical_json

_SYSTEM_ROLES: Final = ("system", "developer")
_EXCERPT: Final = 80
_MOST_PATHS: Final = 5


class Cause(StrEnum):
    """What changed since the recording, so that many failures with one cause read as one."""

    SYSTEM_PROMPT = "system prompt"
    TOOLS = "tools"
    MODEL = "model"
    PARAMETERS = "parameters"
    TASK = "task"
    TOOL_RESULT = "tool result"
    HISTORY = "model's history"
    ASKED_MORE_OFTEN = "asked more often than recorded"
    ADDRESS = "method or path"
    BODY = "body"


_ORDER: Final = tuple(Cause)


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where a request differs from a recording, and what that place is to the model."""

    cause: Cause
    place: str
    path: Path
    recorded: Any
    sent: Any

    @property
    def change(self) -> str:
        """What changed, in words that are the same in every recording that it changed."""
        line = _sides(self.recorded, self.sent, always=self.cause is Cause.SYSTEM_PROMPT)[0]
        match self.cause, self.path:
            case Cause.TOOLS, ("tools", _, "function", *inner) | ("tools", _, *inner):
                return f"{self.place} {show_path(tuple(inner))}{line}".replace(" parameters.properties.", " ").rstrip()
            case Cause.MODEL, _:
                return f"model {_short(self.recorded)} became {_short(self.sent)}"
            case Cause.TOOL_RESULT, _:
                return re.sub(r"message \d+ \((.*)\)", r"\1", self.place)
            case ((Cause.SYSTEM_PROMPT | Cause.TOOLS | Cause.PARAMETERS), _):
                return f"{self.place}{line}"
            case _:  # where it stands is another number in each recording
                return str(self.cause)

    def __str__(self) -> str:
        line, recorded, sent = _sides(self.recorded, self.sent, always=self.cause is Cause.SYSTEM_PROMPT)
        path = show_path(self.path)
        place = f"{self.place} ({path})" if self.place != path else path
        return f"{place}{line}: {recorded} was recorded, {sent} was sent"


@dataclass(frozen=True, slots=True)
class Miss:
    """A request that no recording answers. ``number`` and ``nearest`` count from 1."""

    number: int
    cause: Cause
    nearest: int | None
    differences: tuple[Difference, ...] = ()

    @property
    def change(self) -> str:
        """What changed, as of the first difference: what many recordings may share."""
        return self.differences[0].change if self.differences else str(self.cause)

    def __str__(self) -> str:
        if not self.differences:
            return f"{self.cause} (recorded request {self.nearest})" if self.nearest else str(self.cause)
        first, *others = self.differences
        text = f"{first}; nearest is recorded request {self.nearest}"
        if others:
            paths = ", ".join(show_path(one.path) or "body" for one in others[:_MOST_PATHS])
            rest = len(others) - _MOST_PATHS
            text += f"; also differs in {paths}" + (f" and {rest} more places" if rest > 0 else "")
        return text


def explain(request: Asked, number: int, index: Index) -> Miss:
    """Compare a request that was not found with the nearest recording; costs a look at each."""
    if index.was_recorded(request):
        same = next(at for at, one in enumerate(index.asked, 1) if one.key == request.key)
        return Miss(number, Cause.ASKED_MORE_OFTEN, same)
    unused = frozenset(index.unused())
    nearest = min(range(len(index.asked)), key=lambda at: (_distance(index.asked[at], request), at not in unused, at))
    found = sorted(_differences(index.asked[nearest], request), key=lambda one: _ORDER.index(one.cause))
    return Miss(number, found[0].cause, nearest + 1, tuple(found))


# ---------------------------------------------------------------- nearest


def _distance(recorded: Asked, sent: Asked) -> tuple[bool, int]:
    elsewhere = (recorded.method, recorded.path) != (sent.method, sent.path)
    left, right = recorded.body.value, sent.body.value
    if not isinstance(left, dict) or not isinstance(right, dict):
        return elsewhere, 0 if recorded.body == sent.body else 1_000_000
    n_fields = sum(left.get(key, MISSING) != right.get(key, MISSING) for key in {*left, *right} - {"messages"})
    pairs = zip_longest(_messages(left), _messages(right), fillvalue=MISSING)
    return elsewhere, n_fields + sum(one != other for one, other in pairs)


def _messages(body: dict[str, Any]) -> list[Any]:
    messages = body.get("messages")
    return messages if isinstance(messages, list) else [messages]


# ---------------------------------------------------------------- in the model's terms


def _differences(recorded: Asked, sent: Asked) -> Iterator[Difference]:
    for name, left, right in (("method", recorded.method, sent.method), ("path", recorded.path, sent.path)):
        if left != right:
            yield Difference(Cause.ADDRESS, f"the request's {name}", (name,), left, right)
    if recorded.body.value is None or sent.body.value is None:
        if recorded.body != sent.body:
            yield Difference(Cause.BODY, "the body", (), recorded.body.value, sent.body.value)
        return
    for path, old, new in differences(recorded.body.value, sent.body.value):
        cause, place = _describe(path, recorded.body.value, sent.body.value)
        yield Difference(cause, place, path, old, new)


def _describe(path: Path, recorded: Any, sent: Any) -> tuple[Cause, str]:
    match path:
        case ("messages", int(at), *_):
            return _describe_message(at, recorded["messages"], sent["messages"])
        case ("instructions", *_):
            return Cause.SYSTEM_PROMPT, "system prompt"
        case ("tools", int(at), *_):
            return Cause.TOOLS, _tool(at, recorded["tools"], sent["tools"])
        case ("tools" | "functions" | "tool_choice" | "parallel_tool_calls", *_):
            return Cause.TOOLS, show_path(path)
        case ("messages" | "input", *_):
            return Cause.TASK, show_path(path)
        case ("model",):
            return Cause.MODEL, "model"
        case ():
            return Cause.BODY, "the body"
        case _:
            return Cause.PARAMETERS, f"parameter {path[0]!r}"


def _tool(at: int, recorded: list[Any], sent: list[Any]) -> str:
    tool = recorded[at] if at < len(recorded) else sent[at]
    function = tool.get("function", tool) if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    return f"tool {name!r}" if isinstance(name, str) else f"tool {at + 1}"


def _describe_message(at: int, recorded: list[Any], sent: list[Any]) -> tuple[Cause, str]:
    history = recorded if at < len(recorded) else sent
    message = history[at] if isinstance(history[at], dict) else {}
    role = message.get("role")
    if role in _SYSTEM_ROLES:
        n_before = sum(one.get("role") in _SYSTEM_ROLES for one in history[:at] if isinstance(one, dict))
        return Cause.SYSTEM_PROMPT, "system prompt" if n_before == 0 else f"message {at + 1} ({role})"
    match role:
        case "user":
            return Cause.TASK, f"message {at + 1} (user)"
        case "tool":
            name = _tool_of(message.get("tool_call_id"), history[:at])
            return Cause.TOOL_RESULT, f"message {at + 1} (tool result{f' of {name}' if name else ''})"
        case _:
            return Cause.HISTORY, f"message {at + 1} ({role})"


def _tool_of(call_id: Any, before: list[Any]) -> str | None:
    for message in reversed(before):
        calls = message.get("tool_calls") if isinstance(message, dict) else None
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and call.get("id") == call_id and isinstance(call.get("function"), dict):
                name = call["function"].get("name")
                return name if isinstance(name, str) else None
    return None


# ---------------------------------------------------------------- both sides, short


def _sides(recorded: Any, sent: Any, *, always: bool) -> tuple[str, str, str]:
    if not isinstance(recorded, str) or not isinstance(sent, str):
        return "", _short(recorded), _short(sent)
    pairs = enumerate(zip_longest(recorded.split("\n"), sent.split("\n")), 1)
    number, (left, right) = next(pair for pair in pairs if pair[1][0] != pair[1][1])
    line = f", line {number}" if always or "\n" in recorded or "\n" in sent else ""
    if left is None or right is None:
        return line, "nothing" if left is None else _quoted(left, 0), "nothing" if right is None else _quoted(right, 0)
    at = next(
        (at for at, (one, other) in enumerate(zip(left, right, strict=False)) if one != other),
        min(len(left), len(right)),
    )
    return line, _quoted(left, at), _quoted(right, at)


def _quoted(text: str, at: int) -> str:
    start = max(0, at - _EXCERPT // 2) if len(text) > _EXCERPT else 0
    piece = text[start : start + _EXCERPT]
    shown = ("…" if start else "") + piece + ("…" if start + len(piece) < len(text) else "")
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r") + '"'


def _short(value: Any) -> str:
    if isinstance(value, Missing):
        return "nothing"
    if isinstance(value, str):
        return _quoted(value, 0)
    text = canonical_json(value)
    return text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…"
