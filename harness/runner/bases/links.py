"""Links that are committed, in the work tree of a base: none leads to the caller's files where the base has its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harness.runner.bases.in_tree import is_in
from harness.runner.bases.repository import LONG_S, Repository, as_text, git

_LINK: Final = "120000"
"""The mode that git keeps a link under."""
MOST: Final = 5


def keep_links_inside(here: Repository, tree: Path) -> tuple[str, ...]:
    """Turn links of a base's work tree that lead into the caller's to the same place of the base's own.

    Gives at most so many lines on those that lead out of it nevertheless: the base has not what they lead to.
    """
    out = [as_text(f"{name!r} leads to {place}") for name, place in _leading_out(here, tree)]
    told = [f"the base's link {text}, out of its work tree: that is as it lies there now" for text in out[:MOST]]
    return (*told, f"and {len(out) - MOST} more links") if len(out) > MOST else tuple(told)


def _leading_out(here: Repository, tree: Path) -> Iterator[tuple[str, str]]:
    top, base = os.path.realpath(here.top), os.path.realpath(tree)
    for name in _links(tree):
        link = tree / name
        place = os.path.realpath(link)
        if is_in(place, base):
            continue
        own = os.path.normpath(os.path.join(base, os.path.relpath(place, top)))
        if is_in(place, top) and os.path.lexists(own):
            link.unlink()
            link.symlink_to(own)
        else:
            yield name, place


def _links(tree: Path) -> Iterator[str]:
    for line in os.fsdecode(git(tree, "ls-files", "--stage", "-z", timeout_s=LONG_S).stdout).split("\0"):
        about, _, name = line.partition("\t")
        if about.startswith(_LINK) and os.path.islink(tree / name):
            yield name
