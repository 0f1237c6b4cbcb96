"""Every way in which a known secret may stand in a text.

As it stands, in base64 (both alphabets, at any place in a longer text, also wrapped into lines), in
hexadecimal, percent-encoded in part or whole, and under the escapes of JSON, at any depth of JSON
inside JSON and whichever of its characters are escaped.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_SHORTEST_ENCODED: Final = 8
_SHORTEST_REST: Final = 12
"""Shorter pieces of a secret may be what a provider shows of it on purpose."""
_CUT: Final = "…"
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
_ESCAPES: Final = r"\\\\{0,63}"
"""Backslashes before one character: text inside text six times over has so many."""
_CONTROLS: Final = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f"}
_LINE_END: Final = rf"(?:\s|{_ESCAPES}[rn])*+"


@lru_cache(maxsize=256)
def spellings(secret: str) -> tuple[tuple[str, str], ...]:
    """(how, text) of each plain way a secret may stand in a text, longest first; () for no text at all."""
    if not secret:
        return ()
    data = secret.encode("utf-8", "replace")
    escaped = json.dumps(secret)[1:-1]
    every_byte = "".join(f"%{byte:02X}" for byte in data)
    ways = [("percent-encoded", _percent_encoded(data)), ("percent-encoded", every_byte)]
    ways += [("percent-encoded", _lower_escapes(text)) for _, text in tuple(ways)]
    ways += [("hexadecimal", data.hex()), ("hexadecimal", data.hex().upper())]
    ways += [("JSON-escaped", escaped), ("JSON-escaped", escaped.replace("/", "\\/"))]
    ways += [("base64", core) for core in base64_cores(secret)]
    unique = {text: how for how, text in reversed(ways) if len(text) >= _SHORTEST_ENCODED}
    unique[secret] = "as it stands"
    return tuple(sorted(((how, text) for text, how in unique.items()), key=lambda way: -len(way[1])))


def base64_cores(secret: str) -> tuple[str, ...]:
    """What of a secret's base64 does not depend on what stands around it, at each of three places."""
    data = secret.encode("utf-8", "replace")
    found: list[str] = []
    for shift, n_foreign in ((0, 0), (1, 2), (2, 3)):
        n_own = (shift + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.append(encode(b"\0" * shift + data).decode("ascii")[n_foreign:n_own])
    return tuple(core for core in dict.fromkeys(found) if len(core) >= _SHORTEST_ENCODED)


def _percent_encoded(data: bytes) -> str:
    # By hand: the checks use this room and must not reach urllib.
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)


def _lower_escapes(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text)


# ---------------------------------------------------------------- under escapes


@lru_cache(maxsize=256)
def is_plain(secret: str) -> bool:
    """True where neither JSON nor a URL has to escape any character of a secret."""
    return all(byte in _UNRESERVED for byte in secret.encode("utf-8", "replace"))


@lru_cache(maxsize=256)
def escaped(secret: str) -> re.Pattern[str]:
    """Matches a secret, each of its characters as it is, percent-encoded or escaped at any depth.

    Every alternative begins with a letter of its own, so that a text is passed over quickly. A run of
    backslashes counts as one and is taken whole, so that none of them can be shared out in many ways.
    """
    chars = re.sub(r"\\+", r"\\", secret)
    start = r"(?<!\\)(?<!005[Cc])(?<!%5[Cc])" if chars.startswith("\\") else ""
    return re.compile(
        start + "".join(_character(char, before) for before, char in zip(" " + chars, chars, strict=False))
    )


def _character(char: str, before: str) -> str:
    if char == "\\":
        return r"(?:\\++|(?:%5[Cc])++|(?:\\++u005[Cc])++)"
    ways = [_percent(char), _unicode(char)]
    if before == "\\":  # whose run has taken this one's backslashes
        ways.append(_unicode(char).removeprefix(_ESCAPES))
    if char in _CONTROLS:
        ways.append(_ESCAPES + _CONTROLS[char])
    elif char == " ":
        ways.append(r"\+")
    elif not char.isalnum():
        ways.append(_ESCAPES + re.escape(char))
    return f"(?:{re.escape(char)}|{'|'.join(ways)})"


def _percent(char: str) -> str:
    return "".join(f"%{_either_case(f'{byte:02x}')}" for byte in char.encode("utf-8", "replace"))


def _unicode(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(rf"{_ESCAPES}u{_either_case(units[at : at + 4])}" for at in range(0, len(units), 4))


def _either_case(digits: str) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits)


@lru_cache(maxsize=256)
def wrapped(secret: str) -> re.Pattern[str] | None:
    """Matches the base64 of a secret with line ends, escaped or not, anywhere in it."""
    cores = base64_cores(secret)
    if not cores:
        return None
    return re.compile("|".join(_LINE_END.join(map(re.escape, core)) for core in cores))


@lru_cache(maxsize=1)  # each secret is looked for in the same text
def unwrapped(text: str) -> str:
    """The text without white space and line ends, escaped or not: where wrapped base64 shows."""
    for mark in ("\\r", "\\n", "\\"):
        text = text.replace(mark, "")
    return "".join(text.split())


def standing(text: str, secret: str) -> Iterator[tuple[str, str]]:
    """(how, what) of a secret in a text as far as it is there; each ``what`` is to be taken out."""
    for how, spelling in spellings(secret):
        if spelling in text:
            yield how, spelling
    yield from disguised(text, secret)


def cut_off(text: str, secret: str) -> Iterator[str]:
    """What is left of a secret where somebody cut the text: its beginning before "…", or its end behind it."""
    at = text.find(_CUT)
    while at >= 0:
        for length in range(len(secret) - 1, _SHORTEST_REST - 1, -1):
            if text.endswith(secret[:length], 0, at):
                yield secret[:length]
                break
            if text.startswith(secret[-length:], at + 1):
                yield secret[-length:]
                break
        at = text.find(_CUT, at + 1)


def disguised(text: str, secret: str) -> Iterator[tuple[str, str]]:
    """As :func:`standing`, without the plain spellings."""
    if "\\u" in text or "%" in text or (not is_plain(secret) and ("\\" in text or "+" in text)):
        yield from (("escaped", match[0]) for match in escaped(secret).finditer(text))
    lines = wrapped(secret)
    if lines is not None and ("\n" in text or "\\n" in text) and _shows(unwrapped(text), secret):
        yield from (("base64", match[0]) for match in lines.finditer(text))


def _shows(text: str, secret: str) -> bool:
    return any(core in text for core in base64_cores(secret))
