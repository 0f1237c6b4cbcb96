"""Cutting a long result: on a character boundary, marked, and saying how much is missing (CONFORMANCE 60, PB-030)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.types.codes import Code
from harness.types.doors import ToolReply
from harness.types.jsontext import canonical_json
from harness.types.messages import CallId, JsonText
from harness.types.tool_policy import ResultLimit, ResultUnit

_LONGEST_CLUSTER: Final = 32
_JOINER: Final = "\N{ZERO WIDTH JOINER}"
_ESCAPE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,4})?)\Z")
_ESCAPE_CHARS: Final = 6


def fits(text: str, limit: ResultLimit) -> bool:
    """Whether a text may stay whole."""
    return _measure(limit)(text) <= limit.most


def fitted(reply: ToolReply, limit: ResultLimit) -> ToolReply:
    """The reply, its content cut where it is too long: the beginning, then a notice; both within the limit.

    A good result then has the code TRUNCATED, beside ``is_error`` false and ``truncated`` true; any other code stays.
    """
    text = reply.content
    if not isinstance(text, str) or fits(text, limit):
        return reply
    content = cut(text, limit)
    return replace(reply, content=content, code=reply.code or Code.TRUNCATED, truncated=True)


def cut(text: str, limit: ResultLimit) -> str:
    """The beginning of a text that is too long, and what it is the beginning of."""
    n_bytes = len(text.encode("utf-8", "surrogatepass"))
    room = limit.most - len(_notice(len(text), len(text), n_bytes))
    end = room if limit.unit is ResultUnit.CHARS else _within_bytes(text, room)
    end = boundary_before(text, end)
    return text[:end] + _notice(end, len(text), n_bytes)


def _notice(n_kept: int, n_chars: int, n_bytes: int) -> str:
    return f"\n[TRUNCATED: the first {n_kept} of {n_chars} characters; {n_bytes} bytes in all]"


def _measure(limit: ResultLimit) -> Callable[[str], int]:
    return len if limit.unit is ResultUnit.CHARS else lambda text: len(text.encode("utf-8", "surrogatepass"))


def _within_bytes(text: str, n_bytes: int) -> int:
    """How many whole characters fit into that many bytes."""
    return len(text[:n_bytes].encode("utf-8", "surrogatepass")[:n_bytes].decode("utf-8", "ignore"))


def boundary_before(text: str, end: int) -> int:
    """The last place at or before ``end`` that is inside nothing a reader sees as one.

    That is a letter with its marks, a joined or coloured emoji, a flag, CR LF, or an escape of JSON text. It goes
    back by at most 32 characters: behind more marks than that, it cuts among them.
    """
    escape = _ESCAPE.search(text[max(0, end - 4 * _LONGEST_CLUSTER) : end])
    if escape is not None and not _is_whole(escape[1]):
        end -= len(escape[1])
    place = end
    while place > max(0, end - _LONGEST_CLUSTER) and _belongs(text, place):
        place -= 1
    return end if _belongs(text, place) else place


def _is_whole(escape: str) -> bool:
    return len(escape) == _ESCAPE_CHARS


def _belongs(text: str, place: int) -> bool:
    """Whether the character at ``place`` is one with that before it."""
    if not 0 < place < len(text):
        return False
    before, here = text[place - 1], text[place]
    if unicodedata.category(here).startswith("M") or _JOINER in (before, here):
        return True
    if "\U0001f3fb" <= here <= "\U0001f3ff" or (before, here) == ("\r", "\n"):
        return True
    return _is_flag(here) and _flags_before(text, place) % 2 == 1


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    start = place
    while start > max(0, place - 2 * _LONGEST_CLUSTER) and _is_flag(text[start - 1]):
        start -= 1
    return place - start


def cut_note(call_id: CallId | None, whole: str, limit: ResultLimit) -> JsonText:
    """What is kept of the whole result: its lengths and its sha256 (of UTF-8)."""
    data = whole.encode("utf-8", "surrogatepass")
    return canonical_json(
        {
            "callId": call_id,
            "chars": len(whole),
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "most": limit.most,
            "unit": limit.unit.value,
        }
    )
