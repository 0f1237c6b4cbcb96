"""Host details: absolute paths and tracebacks, in texts that a model or a reader will see.

The rule. An absolute path is masked as ``<path>`` only when it begins

- with one of the roots given (home, working folder, temporary folder, the interpreter's own), or
- as paths of a host do: ``/home/x``, ``/Users/x``, ``/root``, ``/tmp``, ``/opt``, ``/mnt``,
  ``/srv``, ``/nix/store``, ``/proc/self`` or a number, ``/private/…``, ``/var/{cache,folders,lib,
  log,run,spool,tmp}``, ``/usr/{bin,lib,lib64,libexec,local,sbin,share}``; ``C:\\…``, ``C:/…``,
  ``\\\\server\\share``; ``file://…``;

and only where a path can begin: not inside a word, a URL or a relative path. So ``and/or``,
``1/2``, ``/v1/orders``, ``docs/tmp/a.txt`` and ``https://shop.test/home/bob`` stay
(a host path as a value in a URL's query goes). ``/etc`` stays:
every machine has it, and models name it by themselves. Of a traceback the frames go and the last
line (what was raised) stays; addresses of objects (``at 0x7f…>``) go.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from harness.redaction.secrets import SHAPES, known_secrets, redact_secrets

PATH_MARK: Final = "<path>"
TRACEBACK_MARK: Final = "<traceback>"
FRAME_MARK: Final = "<frame>"
ADDRESS_MARK: Final = "<address>"

_HOST_ROOTS: Final = (
    r"/(?:home|Users)/[^\s/'\"<>:;,|)\]}]+",
    r"/(?:root|tmp|opt|mnt|srv|nix/store|proc/(?:self|\d+)|private/(?:tmp|var|etc))",
    r"/var/(?:cache|folders|lib|log|run|spool|tmp)",
    r"/usr/(?:bin|lib|lib64|libexec|local|sbin|share)",
)
_NOT_INSIDE: Final = r"(?<![\w.~%/$@#?&*+>)\]}\\-])"
_REST: Final = r"(?:/(?:[^\s'\"<>:;,|)\]}\\]|\\ )*)?(?![\w-])"
_QUOTED_REST: Final = r"(?:/[^'\"<>\r\n]*/[^'\"<>\s/]*(?=['\"]))"
_WINDOWS: Final = (
    r"(?<![A-Za-z0-9_])[A-Za-z]:(?:\\{1,2}|/(?=[A-Za-z0-9_.$~-]+[\\/]))[^\s'\"<>:;,|)\]}]*",
    r"(?<![\w\\])\\\\{1,3}[A-Za-z0-9_.$-]{2,}\\{1,2}[^\s'\"<>:;,|)\]}]+",
)
_FILE_URL = re.compile(r"(?i:\bfile):/{1,3}(?:[^\s'\"<>:,;|)\]}]|:(?=/))*")
_TRACEBACK = re.compile(
    r"(?:[ \t|+-]{0,80}Exception Group )?Traceback \(most recent call last\):(?:\r?\n[ \t|+][^\r\n]*)*"
)
_FRAME = re.compile(r"File (?P<quote>\\?[\"'])[^\"'\r\n]*(?P=quote), line \d+(?:, in [\w.<>]+)?")
_ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]{6,16}(?=>)")


@dataclass(frozen=True, slots=True)
class HostDetails:
    """What this host must keep to itself: roots of its paths, and its secrets."""

    roots: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    @classmethod
    def of(cls, environ: Mapping[str, str], roots: Collection[str] = ()) -> HostDetails:
        """From an environment (its secrets, and home and temporary folders) and further roots."""
        named = (environ.get(name, "") for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "VIRTUAL_ENV"))
        return cls(roots=tuple(sorted({*named, *roots} - {""})), secrets=known_secrets(environ))

    def redact(self, text: str) -> str:
        """The text as it may leave this host; see :func:`redact_text`."""
        return redact_text(text, secrets=self.secrets, roots=self.roots)


def redact_text(text: str, *, secrets: Collection[str] = (), roots: Collection[str] = ()) -> str:
    """The text without host paths, traceback frames, known secrets and keys.

    What is masked is told by the rule above; everything else stays as it is. Applying it twice
    changes nothing more (INVARIANTS 28).
    """
    text = redact_secrets(text, secrets)
    text = _TRACEBACK.sub(TRACEBACK_MARK, text)
    text = _FRAME.sub(FRAME_MARK, text)
    text = _FILE_URL.sub(PATH_MARK, text)
    text = _paths(_usable(roots)).sub(PATH_MARK, text)
    return _ADDRESS.sub(f" at {ADDRESS_MARK}", text)


def host_details_in(text: str, *, roots: Collection[str] = ()) -> tuple[str, ...]:
    """What a text tells of the host, in order of kind; () for a clean text.

    Each is a phrase such as ``host path '/home/x/a.py'``, ``Python traceback`` or ``shape of a
    key 'sk-…'``; keys themselves are not shown.
    """
    found = [f"shape of a {name}" for name, shape in SHAPES if shape.search(text)]
    if _TRACEBACK.search(text) or _FRAME.search(text):
        found.append("Python traceback")
    for pattern in (_FILE_URL, _paths(_usable(roots))):
        found.extend(f"host path {match[0]!r}" for match in pattern.finditer(text))
    if _ADDRESS.search(text):
        found.append("address of an object")
    return tuple(dict.fromkeys(found))


def _usable(roots: Collection[str]) -> tuple[str, ...]:
    """Roots longest first, without a closing slash; "/" and relative ones would mask everything."""
    trimmed = {root.rstrip("/\\") for root in roots}
    absolute = {root for root in trimmed if re.match(r"[\\/]|[A-Za-z]:[\\/]", root)}
    return tuple(sorted(absolute, key=lambda root: (-len(root), root)))


@lru_cache(maxsize=64)
def _paths(roots: tuple[str, ...]) -> re.Pattern[str]:
    posix = [re.escape(root) for root in roots if root.startswith("/")]
    other = [re.escape(root) + r"[^\s'\"<>:;,|)\]}]*" for root in roots if not root.startswith("/")]
    heads = "|".join([*posix, *_HOST_ROOTS])
    return re.compile(
        "|".join([*other, rf"(?<=['\"])(?:{heads}){_QUOTED_REST}", rf"{_NOT_INSIDE}(?:{heads}){_REST}", *_WINDOWS])
    )
