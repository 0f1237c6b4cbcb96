"""The ``expect`` block of a scenario's text: found by its lines, put in anew, all else as it was."""

from __future__ import annotations

from typing import Any, Final

from harness.documents import dump_yaml, load_document
from harness.errors import ScenarioError, UsageError

_KEY: Final = "expect:"
_INSIDE: Final = (" ", "\t", "]", "}", "\r")


def expect_of(text: str, file: str) -> dict[str, Any]:
    """What the text expects, as it is written. Raises ScenarioError."""
    value = load_document(text, file).value
    found: dict[str, Any] = value.get("expect") or {}
    return found


def with_block(text: str, expect: dict[str, Any], file: str) -> str:
    """The text with another ``expect`` block (at its end where it had none), in the text's own line ends.

    Comments inside the old block go with it. Raises UsageError where the block cannot be replaced
    without a change to anything else.
    """
    newline = "\r\n" if "\r\n" in text else "\n"
    block = dump_yaml({"expect": expect}).replace("\n", newline)
    new = _replaced(text, block, newline)
    wanted = {**load_document(text, file).value, "expect": expect}
    try:
        same = load_document(new, file).value == wanted
    except ScenarioError:
        same = False
    if not same:
        raise UsageError(f"{file}: its expect block does not stand alone; change it by hand:\n{block}")
    return new


def _replaced(text: str, block: str, newline: str) -> str:
    lines = text.split("\n")
    start = next((i for i, line in enumerate(lines) if line.startswith(_KEY)), None)
    if start is None:
        return text + ("" if text.endswith("\n") else newline) + block
    end = _end(lines, start)
    before, after = lines[:start], lines[end:]
    if not after:  # the block ended the text without a line end
        return "\n".join([*before, block.removesuffix(newline)])
    return "\n".join([*before, block.removesuffix("\n"), *after])


def _end(lines: list[str], start: int) -> int:
    """The line behind the block: blank lines and comments at its end belong to what follows."""
    end = start + 1
    while end < len(lines) and (not lines[end] or lines[end].startswith((*_INSIDE, "#"))):
        end += 1
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return end
