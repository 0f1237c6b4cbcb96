"""Ids from paths: ``<family>/<name>`` below the root of a collection."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from pathlib import PurePath
from typing import Final

ROOT_NAME: Final = "scenarios"
"""Without a configured root, the nearest folder of this name above a file is its root."""


def id_of(file: str, *, roots: Iterable[str] = (), folder: str | None = None) -> str:
    """The id of a scenario file: its path below its root, with ``/`` and without suffix.

    The root is the innermost of the configured ``roots`` above the file, else the nearest folder
    called ``scenarios``, else ``folder`` (the one that was asked for), else the file's own. So one
    file has one id, whether it is named itself, by its family's folder or by all of them.
    """
    path = PurePath(os.path.abspath(file))
    parents = path.parents
    configured = {PurePath(os.path.abspath(root)) for root in roots}
    root = next((parent for parent in parents if parent in configured), None)
    if root is None:
        root = next((parent for parent in parents if parent.name == ROOT_NAME), None)
    if root is None and folder is not None:
        asked = PurePath(os.path.abspath(folder))
        root = asked if asked in parents else None
    relative = path.relative_to(root or path.parent)
    return unicodedata.normalize("NFC", path_text(relative.with_suffix("").as_posix()))


def path_text(path: str) -> str:
    """A path as text: what a locale other than UTF-8 could not decode is decoded here (PB-048)."""
    try:
        return os.fsencode(path).decode("utf-8", "replace")
    except UnicodeEncodeError:  # the locale cannot even name it, so it came as text already
        return path
