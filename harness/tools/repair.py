"""The ladder of repairs for arguments that cannot be read: named rungs, off by default (ARTICLES 31).

Each rung changes one thing or nothing, in the order that the host names; the first text that gives an object is used.
What was not an object of values never becomes ``{}``, and of several objects none is chosen (INVARIANTS 17, 20).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from harness.protocols import Tool
from harness.schemas import read_arguments
from harness.tools.call import Admitted, Call
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.tool_policy import Rung


class Repaired(NamedTuple):
    """Arguments after repairs: values, canonical text, and the rungs that changed something, in order."""

    values: Mapping[str, Any]
    text: JsonText
    rungs: tuple[Rung, ...]


def repaired(raw: str, rungs: Sequence[Rung], tool: Tool) -> Repaired | None:
    """What the ladder makes of arguments that cannot be read; None where it does not reach."""
    text, used = raw, []
    for rung in rungs:
        changed = _RUNGS[rung](text, tool)
        if changed is None or changed == text:
            continue
        text = changed
        used.append(rung)
        read = read_arguments(text)
        if not isinstance(read, Refusal):
            return Repaired(*read, tuple(used)) if read[0] else None
    return None


def repair_note(call: Call, admitted: Admitted) -> JsonText:
    """What was repaired: as it came, by which rungs, and as it is used."""
    rungs = [rung.value for rung in admitted.rungs]
    return canonical_json({"callId": call.call_id, "raw": call.arguments, "rungs": rungs, "used": admitted.text})


_TEXT: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_COMMA: Final = re.compile(r"(?<=[^\s,\[{(:])\s*,(?=\s*[}\]])")


def _trailing_comma(text: str, tool: Tool) -> str | None:
    """Leave out one comma before a closing bracket, outside of texts."""
    del tool
    parts, end = [], 0
    for found in _TEXT.finditer(text):
        parts += [text[end : found.start()], found[0]]
        end = found.end()
    parts.append(text[end:])
    quoted = {f"\0{i}\0": part for i, part in enumerate(parts) if i % 2}
    if "\0" in text:
        return None
    plain = "".join(f"\0{i}\0" if i % 2 else part for i, part in enumerate(parts))
    plain = _COMMA.sub("", plain)
    return re.sub("\0\\d+\0", lambda found: quoted[found[0]], plain)


def _single_quotes(text: str, tool: Tool) -> str | None:
    """Texts in single quotes become texts in double quotes; None where a quote could be an apostrophe."""
    del tool
    out: list[str] = []
    place = 0
    while place < len(text):
        if text[place] == '"':
            found = _TEXT.match(text, place)
            if found is None:
                return None
            out.append(found[0])
            place = found.end()
        elif text[place] == "'":
            end = _closing(text, place)
            if end is None or not _stands_apart(text, place, end):
                return None
            out.append(_doubled(text[place + 1 : end]))
            place = end + 1
        else:
            out.append(text[place])
            place += 1
    return "".join(out)


def _closing(text: str, start: int) -> int | None:
    place = start + 1
    while place < len(text) and text[place] != "'":
        place += 2 if text[place] == "\\" else 1
    return place if place < len(text) else None


def _stands_apart(text: str, start: int, end: int) -> bool:
    before, after = text[:start].rstrip()[-1:], text[end + 1 :].lstrip()[:1]
    return before in ("", "{", "[", ",", ":") and after in ("", "}", "]", ",", ":")


def _doubled(inner: str) -> str:
    return '"' + re.sub(r"\\'|\"|\\.", lambda found: {"\\'": "'", '"': '\\"'}.get(found[0], found[0]), inner) + '"'


def _lone_string(text: str, tool: Tool) -> str | None:
    """A text alone is the value of a tool's only parameter, where that takes text."""
    value = parse_json(text)
    schema = json.loads(tool.parameters)
    properties = schema.get("properties")
    if not isinstance(value, str) or not isinstance(properties, dict) or len(properties) != 1:
        return None
    ((name, described),) = properties.items()
    if not isinstance(described, dict) or described.get("type") != "string":
        return None
    return canonical_json({name: value})


_RUNGS: Final[Mapping[Rung, Callable[[str, Tool], str | None]]] = {
    Rung.TRAILING_COMMA: _trailing_comma,
    Rung.SINGLE_QUOTES: _single_quotes,
    Rung.LONE_STRING: _lone_string,
}
