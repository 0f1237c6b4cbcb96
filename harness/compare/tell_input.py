"""What a model was given: user input, system prompt, tools, parameters, messages."""

from __future__ import annotations

from typing import Any, Final

from harness.compare.described import Described, of_content, of_values
from harness.compare.essence import essence
from harness.compare.offered import tools_difference
from harness.compare.place import Place, Views, messages_shown
from harness.compare.plain import Difference, first_difference
from harness.compare.texts import call_text, in_short
from harness.types.codes import DivergenceKind

Fields = dict[str, Any]

_BEHIND_MESSAGE: Final = {"tool": DivergenceKind.TOOL, "assistant": DivergenceKind.LOOP}


def tell_input(_: Place, base: Fields, candidate: Fields) -> Described | None:
    """The user's own words; None where something else differs."""
    one, other = _user_content(base), _user_content(candidate)
    return of_content(DivergenceKind.INPUT, "user input", one, other) if one != other else None


def _user_content(fields: Fields) -> Any:
    if "message" in fields:
        return fields["message"]["content"]
    contents = [queued["message"]["content"] for queued in fields["messages"]]
    return contents[0] if len(contents) == 1 else contents


def tell_header(_: Place, base: Fields, candidate: Fields) -> Described | None:
    """The system prompt by its line, then tools by name, then request parameters."""
    kind = DivergenceKind.INPUT
    return (
        system_difference(base["system"], candidate["system"])
        or tools_difference(base["tools"], candidate["tools"])
        or of_values(kind, "request parameter ", base["parameters"], candidate["parameters"])
    )


def headers_around(place: Place) -> tuple[Fields, Fields] | None:
    """Where one side is given a header anew: the base's and the candidate's, one of them that of until now."""
    base, candidate = place.base, place.candidate
    if candidate is not None and candidate.kind == "request/header":
        last = _last_header(place.right, place.index, candidate.agent)
        return (last, essence(candidate)) if last else None
    if base is not None and base.kind == "request/header":
        last = _last_header(place.left, place.index, base.agent)
        return (essence(base), last) if last else None
    return None


def _last_header(view: Views, index: int, agent: str) -> Fields | None:
    before = (one for one in reversed(view[:index]) if one.kind == "request/header" and one.agent == agent)
    last = next(before, None)
    return essence(last) if last else None


def system_difference(base: list[Fields], candidate: list[Fields]) -> Described | None:
    """The line where two system prompts part; None for equal ones."""
    kind = DivergenceKind.INPUT
    if len(base) == len(candidate) == 1 and base[0]["content"] != candidate[0]["content"]:
        return of_content(kind, "system prompt", base[0]["content"], candidate[0]["content"])
    return of_values(kind, "system prompt", base, candidate)


def tell_request(place: Place, base: Fields, candidate: Fields) -> Described | None:
    """The first message that differs, counted from 1 behind the system messages."""
    one, other = messages_shown(place.left, place.index), messages_shown(place.right, place.index)
    found = first_difference(one, other)
    if found is None:
        return None
    n = int(found.path[0])
    moved = _left_out(n, one, other)
    if moved:
        return moved
    if n >= len(one) or n >= len(other):
        counts = (f"{len(messages)} messages" for messages in (one, other))
        return Described(DivergenceKind.LOOP, "length of the request", *counts)
    return _message(n, found, one[n], other[n])


def _left_out(n: int, base: list[Fields], candidate: list[Fields]) -> Described | None:
    """Messages from the nth on (from 0) that one side left out, where it goes on with those behind them."""
    for longer, shorter in ((base, candidate), (candidate, base)):
        n_out = len(longer) - len(shorter)
        if n_out > 0 and n < len(shorter) and longer[n + n_out] == shorter[n]:
            name = f"message {n + 1}" if n_out == 1 else f"messages {n + 1} to {n + n_out}"
            text = in_short(", ".join(map(_short_message, longer[n : n + n_out])))
            return Described(DivergenceKind.LOOP, name, *((text, None) if longer is base else (None, text)))
    return None


def _short_message(message: Fields) -> str:
    calls, content = message.get("tool_calls") or (), message.get("content")
    said = ", ".join(map(call_text, calls)) or (in_short(content) if isinstance(content, str) else "")
    return f"{message['role']} {said}".strip()


def _message(n: int, found: Difference, base: Fields, candidate: Fields) -> Described | None:
    name = f"message {n + 1} ({base['role']})"
    if base["role"] != candidate["role"]:
        return Described(DivergenceKind.LOOP, f"role of message {n + 1}", base["role"], candidate["role"])
    kind = _BEHIND_MESSAGE.get(base["role"], DivergenceKind.INPUT)
    if found.path[1:] == ("content",):
        return of_content(kind, f"{name} content", found.base, found.candidate)
    return of_values(kind, f"{name} ", base, candidate)
