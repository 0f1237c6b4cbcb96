"""What the processes of a side import: nothing of the caller's work tree, however an interpreter would come to it.

Path entries are one way to a module; a finder of an editable installation, and a package whose parent folder holds the
repository, are others. So every module that is found is looked at by where it lies. It holds for every interpreter
that is begun with the path of the side: the side's own, its workers, and whatever its loops and tools begin.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn

from harness.errors import UsageError

_OURS: Final = "harness"
_FIRST: Final = "sitecustomize"
_TEXT: Final = """\
import sys

if sys.version_info >= (3, 11):
    from {here} import begin_interpreter

    begin_interpreter(__file__, {top!r}, {tree!r})
"""


def write_first_module(place: Path, top: Path, tree: Path) -> None:
    """Have every interpreter that is begun with the folder ``place`` on its path stay in the work tree of a side.

    ``top`` is the caller's work tree. The module is the one that Python imports first of all, where there is one.
    """
    text = _TEXT.format(here=__name__, top=os.path.realpath(top), tree=os.path.realpath(tree))
    (place / f"{_FIRST}.py").write_text(text, "utf-8", errors="surrogateescape")


def begin_interpreter(file: str, top: str, tree: str) -> None:
    """What the first module (``file``) does: run the one that it hides, if any, and stay in the side's work tree.

    The process ends where that cannot be had: what it did would be told of the wrong side.
    """
    try:
        _run_hidden(os.path.dirname(file))
    finally:
        try:
            stay_in_tree(top, tree)
        except UsageError as error:
            sys.stderr.write(f"error: {error}\n")
            sys.stderr.flush()
            os._exit(error.exit_code)


def _run_hidden(place: str) -> None:
    """Run the module of this name that comes next on the path, in the place of ours."""
    at = next((n for n, entry in enumerate(sys.path) if os.path.realpath(entry) == os.path.realpath(place)), -1)
    spec = PathFinder.find_spec(_FIRST, sys.path[at + 1 :])
    if spec is not None and spec.loader is not None:
        sys.modules[_FIRST] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_FIRST])


def stay_in_tree(top: str, tree: str) -> None:
    """From now on, import from a work tree what would come from the caller's (``top``); both are real paths.

    An environment inside of the caller's work tree stays: its libraries are those of both sides. Raises UsageError
    where a module of the caller's was imported before this could be said.
    """
    finder = _InTree(top, tree)
    sys.path[:] = [entry for entry in sys.path if not finder.is_callers(entry or os.curdir)]
    early = sorted(name for name, module in sys.modules.items() if finder.is_callers(_place_of(module)))
    early = [name for name in early if name.partition(".")[0] not in (_OURS, "__main__", "__mp_main__")]
    if early:
        raise UsageError(
            f"{early[0]!r} was imported from {_place_of(sys.modules[early[0]])} when the interpreter began, before the "
            "base's own could be: no path file (.pth) and no sitecustomize may import the project"
        )
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
        if not is_in(place, self.top) or is_in(place, self.tree):
            return False
        prefixes = {os.path.realpath(one) for one in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
        return not any(is_in(prefix, self.top) and is_in(place, prefix) for prefix in prefixes)

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


def is_in(place: str, folder: str) -> bool:
    """True for a path that is the folder, or inside of it; both are real paths."""
    return place == folder or place.startswith(folder.rstrip(os.sep) + os.sep)
