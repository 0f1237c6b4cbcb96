"""Names to objects: entry points of installed distributions, and ``package.module:name``.

Code runs only from names that somebody wrote down; nothing is looked up in files or folders here.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Collection
from importlib import metadata
from typing import Any, Final

from harness.errors import ConfigurationError, UnknownNameError

CHECKS: Final = "harness.checks"
MODELS: Final = "harness.models"
SUBJECTS: Final = "harness.subjects"

_NAME: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def entry_point_names(group: str) -> tuple[str, ...]:
    """Names in a group of entry points, sorted; nothing is imported.

    Raises ConfigurationError where two distributions give one name.
    """
    return tuple(sorted(_by_name(group)))


def entry_point_modules(group: str) -> dict[str, str]:
    """The module behind each name in a group; nothing is imported. Raises as :func:`entry_point_names`."""
    return {name: point.module for name, point in _by_name(group).items()}


def load_entry_point(group: str, name: str) -> Any:
    """The object behind one name of a group; only its distribution is imported.

    Raises UnknownNameError for a name that is not there (with those that are) or does not import.
    """
    known = _by_name(group)
    if name not in known:
        raise UnknownNameError(f"no {name!r} in {group!r}{suggestion(name, known)}")
    return _loaded(known[name], group)


def entry_points(group: str) -> dict[str, Any]:
    """All objects of a group by name, in the order of their names. Raises as ``load_entry_point``."""
    return {name: _loaded(point, group) for name, point in sorted(_by_name(group).items())}


def _by_name(group: str) -> dict[str, metadata.EntryPoint]:
    found: dict[str, metadata.EntryPoint] = {}
    for point in metadata.entry_points(group=group):
        first = found.setdefault(point.name, point)
        if first.value != point.value:
            raise ConfigurationError(
                f"{point.name!r} in {group!r} is given twice: {first.value!r} by {_giver(first)} and "
                f"{point.value!r} by {_giver(point)}; uninstall or rename one"
            )
    return found


def _giver(point: metadata.EntryPoint) -> str:
    return repr(point.dist.name) if point.dist else "an unknown distribution"


def _loaded(point: metadata.EntryPoint, group: str) -> Any:
    try:
        return point.load()
    except (Exception, SystemExit) as error:  # importing somebody else's module may raise anything
        raise UnknownNameError(
            f"{point.name!r} in {group!r} ({point.value!r} of {_giver(point)}) cannot be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def resolve(name: str) -> Any:
    """The object behind ``package.module:name`` (dots after the colon reach into it).

    Raises UnknownNameError for another form, a module that is missing or does not import, and a
    name that the module does not have.
    """
    if not is_name(name):
        raise UnknownNameError(
            f"{name!r} is no name of an object; write 'package.module:name' (files are named only on the command line)"
        )
    module_name, _, path = name.partition(":")
    found = _module(module_name, name)
    at = module_name
    for part in path.split("."):
        if not hasattr(found, part):
            known = [other for other in dir(found) if not other.startswith("_")]
            raise UnknownNameError(f"{name!r}: {at!r} has no {part!r}{suggestion(part, known)}")
        found = getattr(found, part)
        at = f"{at}.{part}"
    return found


def is_name(name: str) -> bool:
    """Whether a text has the form ``package.module:name``."""
    return _NAME.fullmatch(name) is not None and ".py:" not in name


def _module(module_name: str, name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        raise UnknownNameError(
            f"{name!r}: there is no module {missing!r}; install it, or put its folder on the import path"
        ) from error
    except (Exception, SystemExit) as error:  # importing somebody else's module may raise anything
        raise UnknownNameError(
            f"{name!r}: importing {module_name!r} failed: {type(error).__name__}: {error}"
        ) from error


def suggestion(name: str, known: Collection[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known name, else the list of them (at most 20)."""
    if not known:
        return "; there are none"
    ordered = sorted(map(str, known))  # a word of ours shows itself, not which class it is of
    near = difflib.get_close_matches(name, ordered, n=1, cutoff=0.6)
    if near:
        return f"; did you mean {near[0]!r}?"
    shown = ", ".join(map(repr, ordered[:20]))
    return f"; there are {shown}" + (f" and {len(ordered) - 20} more" if len(ordered) > 20 else "")
