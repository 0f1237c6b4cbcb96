"""What the process of a side imports: nothing of the caller's work tree, however this interpreter would come to it.

Path entries are one way to a module; a finder of an editable installation, and a package whose parent folder holds the
repository, are others. So every module that is found is looked at by where it lies.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn
from urllib.parse import unquote, urlsplit

from harness.errors import UsageError
from harness.types.jsontext import Refusal, parse_json

TOP: Final = "HARNESS_SIDE_TOP"
TREE: Final = "HARNESS_SIDE_TREE"
"""What the processes of a side know it by: the caller's work tree, and that of the side."""
_OURS: Final = "harness"


def stay_in_tree() -> None:
    """In a process of a side: from now on, import from its work tree what would come from the caller's.

    Nothing happens in any other process, nor for the side that is the caller's work tree. An environment inside of the
    work tree stays: its libraries are those of both sides. Raises UsageError where a module of the caller's was
    imported before this could be said.
    """
    top, tree = (os.environ.get(name, "") for name in (TOP, TREE))
    if not top or os.path.realpath(top) == os.path.realpath(tree):
        return
    finder = _InTree(os.path.realpath(top), os.path.realpath(tree))
    sys.path[:] = [entry for entry in sys.path if not finder.is_callers(entry or os.curdir)]
    early = sorted(name for name, module in sys.modules.items() if finder.is_callers(_place_of(module)))
    early = [name for name in early if name.partition(".")[0] not in (_OURS, "__main__", "__mp_main__")]
    if early:
        raise UsageError(
            f"{early[0]!r} was imported from {_place_of(sys.modules[early[0]])} when the interpreter began, before the "
            "base's own could be: no path file (.pth) and no sitecustomize may import the project"
        )
    if not any(isinstance(one, _InTree) for one in sys.meta_path):
        sys.meta_path.insert(0, finder)


def _place_of(module: ModuleType | None) -> str:
    file = getattr(module, "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""


@dataclass(frozen=True, slots=True)
class _InTree:
    """A finder before all others: it asks them, and what lies in the caller's work tree it finds in the side's."""

    top: str
    tree: str

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Where a module is to be loaded from; None where no other finder knows it.

        Raises ModuleNotFoundError for one that only the caller's work tree has.
        """
        if name.partition(".")[0] == _OURS:
            return None  # both sides are run by this harness
        found = self._asked(name, path, target)
        if found is None:
            return None
        if found.has_location and found.origin:
            return self._spec(name, found.origin) if self.is_callers(found.origin) else found
        folders = [*(found.submodule_search_locations or ())]
        if not any(map(self.is_callers, folders)):
            return found
        parts = [self._there(folder) if self.is_callers(folder) else folder for folder in folders]
        space = ModuleSpec(name, None, is_package=True)
        space.submodule_search_locations = [part for part in parts if os.path.isdir(part)]
        return space if space.submodule_search_locations else self._missing(name, folders[0])

    def is_callers(self, place: str) -> bool:
        """True for what lies in the caller's work tree, and neither in the side's nor in an environment."""
        place = os.path.realpath(place) if place else ""
        if not _is_in(place, self.top) or _is_in(place, self.tree):
            return False
        prefixes = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
        return not any(_is_in(prefix, self.top) and _is_in(place, prefix) for prefix in prefixes)

    def _asked(self, name: str, path: Sequence[str] | None, target: Any) -> ModuleSpec | None:
        for finder in sys.meta_path:
            find = None if isinstance(finder, _InTree) else getattr(finder, "find_spec", None)
            found: ModuleSpec | None = None if find is None else find(name, path, target)
            if found is not None:
                return found
        return None

    def _there(self, place: str) -> str:
        return os.path.normpath(os.path.join(self.tree, os.path.relpath(os.path.realpath(place), self.top)))

    def _spec(self, name: str, origin: str) -> ModuleSpec:
        """The module at the same place of the side's work tree, whether it is a file or a package there."""
        there = self._there(origin)
        package = os.path.basename(there).startswith("__init__.")
        folder = os.path.dirname(there) if package else os.path.splitext(there)[0]
        if os.path.basename(folder) == name.rpartition(".")[2]:
            found = PathFinder.find_spec(name, [os.path.dirname(folder)])
        elif os.path.isfile(there):  # it is imported under another name than its folder has
            found = spec_from_file_location(name, there, submodule_search_locations=[folder] if package else None)
        else:
            found = None
        return found or self._missing(name, origin)

    def _missing(self, name: str, place: str) -> NoReturn:
        why = f"No module named {name!r} in the code of this side: {place} is the caller's"
        raise ModuleNotFoundError(why, name=name)


def _is_in(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)


def copies_of(top: Path, roots: Sequence[str]) -> Iterator[str]:
    """Warnings for packages of the repository that are installed as copies: both sides import the one copy.

    ``roots`` are the folders that a side imports from before what is installed.
    """
    for one in metadata.distributions():
        place = _installed_from(one)
        if place is None or not _is_in(os.path.realpath(place), os.path.realpath(top)):
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
