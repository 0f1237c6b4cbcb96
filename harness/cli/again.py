"""Words of a command that makes something again."""

from __future__ import annotations

from pathlib import Path


def as_argument(path: Path) -> str:
    """A path as a word that no command line takes for an option."""
    text = str(path)
    return f"./{text}" if text.startswith("-") else text
