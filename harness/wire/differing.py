"""Why two requests are not the same, in the model's terms: the prompt, a tool, a message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any, Final

from harness.types.jsontext import canonical_json
from harness.wire.differences import Missing, Path, differences, show_path

_SYSTEM_ROLES: Final = ("system", "developer")
_EXCERPT: Final = 80


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


ORDER: Final = tuple(Cause)
"""Causes in the order in which they are told."""


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
        line = self._sides[0]
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

    @property
    def where(self) -> str:
        """The place, with its path and the first line that differs."""
        line, _, _ = self._sides
        path = show_path(self.path)
        return (f"{self.place} ({path})" if self.place != path else path) + line

    @property
    def texts(self) -> tuple[str, str]:
        """What was recorded and what was sent there, short, around the first character that differs."""
        return self._sides[1:]

    @property
    def _sides(self) -> tuple[str, str, str]:
        return _sides(self.recorded, self.sent, always=self.cause is Cause.SYSTEM_PROMPT)

    def __str__(self) -> str:
        recorded, sent = self.texts
        return f"{self.where}: {recorded} was recorded, {sent} was sent"


def body_differences(recorded: Any, sent: Any) -> Iterator[Difference]:
    """Every place where two request bodies (JSON values) differ, and what that place is to the model."""
    for path, old, new in differences(recorded, sent):
        cause, place = _describe(path, recorded, sent)
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
    if recorded == sent:  # they differ in what is hidden
        return "", _quoted(recorded, 0), _quoted(sent, 0)
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
