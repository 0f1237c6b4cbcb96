"""Packages of the repository that are installed as copies: no side imports its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness.runner.bases.in_tree import is_in
from harness.types.jsontext import Refusal, parse_json


def copies_of(top: Path, roots: Sequence[str]) -> Iterator[str]:
    """Warnings for packages of the repository that are installed as copies: both sides import the one copy.

    ``roots`` are the folders that a side imports from before what is installed.
    """
    for one in metadata.distributions():
        place = _installed_from(one)
        if place is None or not is_in(os.path.realpath(place), os.path.realpath(top)):
            continue
        names = {file.parts[0].removesuffix(".py") for file in one.files or () if file.suffix == ".py"}
        alone = sorted(name for name in names if name.isidentifier() and not _has(roots, name))
        if alone:
            yield (
                f"{', '.join(alone)}: installed as a copy of what was in {place}, so both sides run that copy and not "
                "their own code; install it editable (pip install -e)"
            )


def _installed_from(one: metadata.Distribution) -> str | None:
    """The folder that a distribution was installed from as a copy, where it says so (PEP 610)."""
    text = one.read_text("direct_url.json")
    said = parse_json(text) if text else None
    if isinstance(said, Refusal) or not isinstance(said, dict):
        return None
    about, url = said.get("dir_info"), urlsplit(str(said.get("url", "")))
    if url.scheme != "file" or not isinstance(about, dict) or about.get("editable") is True:
        return None
    return unquote(url.path)


def _has(roots: Sequence[str], name: str) -> bool:
    return any(os.path.isdir(f"{root}/{name}") or os.path.isfile(f"{root}/{name}.py") for root in roots)
