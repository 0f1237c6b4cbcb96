"""Secrets: which values of an environment are one, every spelling of them, and shapes of keys.

A *known* secret is found as it stands and as base64 (both alphabets, at any place in a longer
text), hexadecimal, percent-encoding and JSON escapes. An unknown one is found by its shape only.
Nothing here ever gives a secret back: what is found is described by kind.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

SECRET_MARK: Final = "<secret>"
SHORTEST_KNOWN: Final = 8
"""Shorter values of an environment are not taken for secrets: they would mask ordinary words."""

_SHORTEST_ENCODED: Final = 8
_UNRESERVED: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_NAMES = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PWD|PAT|CREDENTIALS?|AUTH|AUTHORIZATION|BEARER|COOKIE"
    r"|ORGANIZATION|DSN|WEBHOOK_URL)(?:_|$|\d)"
    r"|(?:KEY|TOKEN|SECRET|PASSWORD)$",
    re.IGNORECASE,
)
_USERINFO = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://(?P<userinfo>[^\s/?#@\"'<>]+)@")
_NO_SECRET = re.compile(r"^(?:[./~]|[A-Za-z]:[\\/]).*|^\d+$", re.DOTALL)

SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        (
            "private key",
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----(?:(?:[^-]|-(?!----))*-----END [A-Z ]{0,30}PRIVATE KEY-----)?",
        ),
        ("key 'sk-…'", r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{16,}"),
        ("bearer token", r"(?i:\bbearer)[ \t]+(?:[\w.~+/=-]{24,}|(?=[A-Za-z._~+/=-]*\d)[\w.~+/=-]{8,})"),
        ("GitHub token", r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
        ("GitLab token", r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}"),
        ("AWS key id", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("Slack token", r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}"),
        ("Google key", r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"),
        ("Hugging Face token", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
        ("JSON web token", r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
        (
            "user and password in a URL",
            r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#@:\"'<>]*:[^\s/?#@\"'<>]+@",
        ),
    )
)
"""Shapes of keys by name. Each needs a prefix that prose has not and a length that words have not."""


def known_secrets(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of an environment that must never be written, sorted, each once.

    Taken are values of variables whose name says so (…KEY, …TOKEN, SECRET, PASSWORD, …), values
    with the shape of a key, and the passwords of URLs; not paths, whole numbers, nor values
    shorter than SHORTEST_KNOWN characters.
    """
    found: set[str] = set()
    for name, value in environ.items():
        plain = value.strip()
        named = bool(_NAMES.search(name)) and not _NO_SECRET.match(plain)
        if (named and "://" not in plain) or any(shape.search(plain) for _, shape in SHAPES[:-1]):
            found.add(plain)
        for match in _USERINFO.finditer(plain):
            found.add(match["userinfo"].partition(":")[2] or match["userinfo"])
    return tuple(sorted(secret for secret in found if len(secret) >= SHORTEST_KNOWN))


# ---------------------------------------------------------------- spellings of a known secret


@lru_cache(maxsize=256)
def spellings(secret: str) -> tuple[tuple[str, str], ...]:
    """(how, text) of each way a secret may stand in a text, longest first; () for no text at all."""
    if not secret:
        return ()
    data = secret.encode("utf-8", "replace")
    escaped = json.dumps(secret)[1:-1]
    every_byte = "".join(f"%{byte:02X}" for byte in data)
    ways = [("percent-encoded", _percent_encoded(data)), ("percent-encoded", every_byte)]
    ways += [("percent-encoded", _lower_escapes(text)) for _, text in tuple(ways)]
    ways += [("hexadecimal", data.hex()), ("hexadecimal", data.hex().upper())]
    ways += [("JSON-escaped", escaped), ("JSON-escaped", escaped.replace("/", "\\/"))]
    ways += [("base64", core) for core in _base64_cores(data)]
    unique = {text: how for how, text in reversed(ways) if len(text) >= _SHORTEST_ENCODED}
    unique[secret] = "as it stands"
    return tuple(sorted(((how, text) for text, how in unique.items()), key=lambda way: -len(way[1])))


def _percent_encoded(data: bytes) -> str:
    # By hand, like its inverse: the checks use this room and must not reach urllib.
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in data)


def _percent_decoded(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return _PERCENT.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), data).decode("utf-8", "replace")


def _lower_escapes(text: str) -> str:
    return re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), text)


def _base64_cores(data: bytes) -> Iterator[str]:
    for shift, n_foreign in ((0, 0), (1, 2), (2, 3)):
        n_own = (shift + len(data)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(b"\0" * shift + data).decode("ascii")[n_foreign:n_own]


def secret_mask(secrets: Collection[str]) -> Callable[[bytes], bytes] | None:
    """What takes known secrets, in any spelling, out of a line of JSON; None where there are none.

    The same object comes back where nothing was found. Free JSON is text inside JSON, so a secret is
    also looked for as it stands there.
    """
    texts = {text for secret in secrets for _, text in spellings(secret)}
    texts |= {json.dumps(json.dumps(secret)[1:-1])[1:-1] for secret in secrets}
    needles = tuple(text.encode("utf-8", "replace") for text in sorted(texts, key=lambda one: (-len(one), one)))
    if not needles:
        return None

    def mask(line: bytes) -> bytes:
        if not any(needle in line for needle in needles):
            return line
        for needle in needles:
            line = line.replace(needle, SECRET_MARK.encode())
        return line

    return mask


def redact_secrets(text: str, secrets: Collection[str]) -> str:
    """The text with every spelling of each secret, and everything of a key's shape, masked."""
    for secret in sorted(secrets, key=lambda one: (-len(one), one)):
        for _, spelling in spellings(secret):
            if spelling in text:
                text = text.replace(spelling, SECRET_MARK)
    for name, shape in SHAPES:
        text = shape.sub(_keep_scheme if name.endswith("URL") else SECRET_MARK, text)
    return text


def _keep_scheme(match: re.Match[str]) -> str:
    return match[0].partition("://")[0] + "://" + SECRET_MARK + "@"


# ---------------------------------------------------------------- finding


def find_secrets(data: bytes, secrets: Collection[str]) -> tuple[str, ...]:
    """What secrets these bytes hold, described by kind (never shown), sorted, each once.

    ``data`` is searched as it stands and with percent-encoding, JSON escapes and white space
    undone; of an event stream (lines ``data: {…}``) also the pieces of text that belong together,
    joined, so that a secret split over two chunks is found (RELIABILITY P5).
    """
    text = data.decode("utf-8", "replace")
    found: set[str] = set()
    for view in _views(text):
        found.update(_known_in(view, secrets))
        found.update(f"shape of a {name}" for name, shape in SHAPES if shape.search(view))
    # Wrapped base64 shows with its line ends taken out; shapes are not searched there, where words join.
    found.update(_known_in("".join(text.split()), secrets))
    return tuple(sorted(found))


def _known_in(view: str, secrets: Collection[str]) -> Iterator[str]:
    return (f"known secret, {how}" for secret in secrets for how, text in spellings(secret) if text in view)


def _views(text: str) -> Iterator[str]:
    for one in (text, *_joined_pieces(text)):
        yield one
        if "%" in one:
            yield _percent_decoded(one)
        if "\\" in one:
            yield _without_escapes(one)


_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|([\"\\/bfnrt]))")
_SIMPLE: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _without_escapes(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _SIMPLE.get(match[2], match[2]), text)


def _joined_pieces(text: str) -> Iterator[str]:
    if "data:" not in text:
        return
    pieces: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if not line.startswith("data:"):
            continue
        try:
            frame = json.loads(line[5:])
        except (ValueError, RecursionError):
            continue  # "[DONE]", or a damaged frame: its bytes are searched as they stand
        for path, piece in _texts(frame, ""):
            pieces.setdefault(path, []).append(piece)
    for joined in pieces.values():
        yield "".join(joined)


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{path}.{key}")
    elif isinstance(value, list):
        for position, item in enumerate(value):
            at = item.get("index", position) if isinstance(item, dict) else position
            yield from _texts(item, f"{path}[{at}]")
