"""Secrets: which values of an environment are one, and shapes of keys; finding and masking them.

A *known* secret is found in every spelling (:mod:`harness.redaction.spellings`), an unknown one by its
shape only.
Nothing here ever gives a secret back: what is found is described by kind.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from harness.redaction.spellings import cut_off, disguised, is_plain, spellings, standing
from harness.redaction.words import is_word

SECRET_MARK: Final = "<secret>"
_SIGNS: Final = (b"\\n", b"\\u", b"%", "…".encode())
"""Where none of these stands, nothing can disguise a plain secret."""
SHORTEST_KNOWN: Final = 8
"""Shorter values of an environment are not taken for secrets: they would mask ordinary words."""

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
    with the shape of a key, and the passwords of URLs; not paths, whole numbers, words of the
    trajectory format, nor values shorter than SHORTEST_KNOWN characters. A password of a URL counts as it
    stands there and decoded.
    """
    found: set[str] = set()
    for name, value in environ.items():
        plain = value.strip()
        named = bool(_NAMES.search(name)) and not _NO_SECRET.match(plain)
        if (named and "://" not in plain) or any(shape.search(plain) for _, shape in SHAPES[:-1]):
            found.add(plain)
        for match in _USERINFO.finditer(plain):
            password = match["userinfo"].partition(":")[2] or match["userinfo"]
            found.update((password, _percent_decoded(password)))
    return tuple(sorted(secret for secret in found if len(secret) >= SHORTEST_KNOWN and not is_word(secret)))


# ---------------------------------------------------------------- masking


def secret_mask(secrets: Collection[str]) -> Callable[[bytes], bytes] | None:
    """What takes known secrets, in any spelling, out of a line of JSON; None where there are none.

    The same object comes back where nothing was found. Free JSON is text inside JSON, so secrets are
    looked for under escapes of any depth too.
    """
    known = tuple(sorted(filter(None, secrets), key=lambda one: (-len(one), one)))
    texts = {text for secret in known for _, text in spellings(secret)}
    needles = tuple(text.encode("utf-8", "replace") for text in sorted(texts, key=lambda one: (-len(one), one)))
    if not needles:
        return None
    plain = all(map(is_plain, known))

    def mask(line: bytes) -> bytes:
        for needle in needles:
            if needle in line:
                line = line.replace(needle, SECRET_MARK.encode())
        if plain and not any(sign in line for sign in _SIGNS):
            return line  # nothing that could disguise one
        text = line.decode("utf-8", "replace")
        clean = _without(text, known, disguised)
        return line if clean is text else clean.encode("utf-8")

    return mask


def redact_secrets(text: str, secrets: Collection[str]) -> str:
    """The text with every spelling of each secret, and everything of a key's shape, masked."""
    text = _without(text, sorted(filter(None, secrets), key=lambda one: (-len(one), one)), standing)
    for name, shape in SHAPES:
        text = shape.sub(_keep_scheme if name.endswith("URL") else SECRET_MARK, text)
    return text


def _without(text: str, secrets: Iterable[str], seen: Callable[[str, str], Iterator[tuple[str, str]]]) -> str:
    for secret in secrets:
        for _, spelling in tuple(seen(text, secret)):
            text = text.replace(spelling, SECRET_MARK)
        for rest in tuple(cut_off(text, secret)):
            text = text.replace(rest, SECRET_MARK)
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
    return (f"known secret, {how}" for secret in secrets for how, _ in standing(view, secret))


def _views(text: str) -> Iterator[str]:
    for one in (text, *_joined_pieces(text)):
        yield one
        if "%" in one:
            yield _percent_decoded(one)
        if "\\" in one:
            yield _without_escapes(one)


def _percent_decoded(text: str) -> str:
    data = text.encode("utf-8", "replace")
    return _PERCENT.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), data).decode("utf-8", "replace")


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
        for path, piece in streamed_texts(frame, ""):
            pieces.setdefault(path, []).append(piece)
    for joined in pieces.values():
        yield "".join(joined)


def streamed_texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text of a chunk with its place: what stands at one place of several chunks belongs together."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from streamed_texts(item, f"{path}.{key}")
    elif isinstance(value, list):
        for position, item in enumerate(value):
            at = item.get("index", position) if isinstance(item, dict) else position
            yield from streamed_texts(item, f"{path}[{at}]")
