"""Scripts and styles inside the page: files of this package in a fixed order, each named in the policy by its hash."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from harness.errors import InvalidValueError

LIBRARIES: Final = (
    "preact.min.umd.js",
    "preact-hooks.umd.js",
    "htm.umd.js",
    "diff.min.js",
    "d3.min.js",
    "plot.umd.min.js",
)
"""Libraries as they were published, in ``vendor/``; ``<name>.LICENSE`` lies beside each."""
FIRST: Final = "base.js"
LAST: Final = "main.js"
"""Of our own scripts (``app/``): the one that all others use, and the one that starts the page. Others by name."""
_FORBIDDEN: Final = ("</script", "<!--", "</style", "\0")
"""What would end a script or style, or make the parser read it differently."""

_CONTROL: Final = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")
"""What a strict parser of HTML refuses. Minifiers leave it in strings, where an escape means the same."""


@dataclass(frozen=True, slots=True)
class Asset:
    """The text of one script or style (LF line ends). Raises InvalidValueError for what cannot stand inside a page."""

    name: str
    text: str

    def __post_init__(self) -> None:
        found = next((piece for piece in _FORBIDDEN if piece in self.text.lower()), None)
        if found is not None or "\r" in self.text:
            raise InvalidValueError(f"{self.name}: holds {found or chr(13)!r}, which cannot stand inside a page")

    @property
    def policy(self) -> str:
        """The source expression of a Content Security Policy that allows exactly this text."""
        return policy_of(self.text)


def policy_of(text: str) -> str:
    """``'sha256-…'`` of an inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True)
class Assets:
    """All scripts and styles of a page, in the order in which they stand there."""

    scripts: tuple[Asset, ...]
    styles: tuple[Asset, ...]


@cache
def shipped_assets() -> Assets:
    """The libraries, then our own scripts; all of our styles by name."""
    home = files("harness.report.html")
    vendor, app = home / "vendor", home / "app"
    names = sorted(one.name for one in app.iterdir())
    scripts = [_read(vendor, name) for name in LIBRARIES]
    scripts += [_read(app, name) for name in own_scripts(names)]
    return Assets(tuple(scripts), tuple(_read(app, name) for name in names if name.endswith(".css")))


def own_scripts(names: list[str]) -> list[str]:
    """The scripts among some names in their order: ``base.js``, the others by name, ``main.js``."""
    found = {name for name in names if name.endswith(".js")}
    return [FIRST, *sorted(found - {FIRST, LAST}), LAST]


def _read(folder: Traversable, name: str) -> Asset:
    text = (folder / name).read_bytes().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return Asset(name, _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text))
