"""Where scenarios are written, for reports that point at a line. Files are read; nothing is imported or run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Final

from harness.documents import read_document
from harness.errors import ScenarioError
from harness.report.fates import is_told, rows_of, worst_first
from harness.runner.settings import settings
from harness.scenarios import SUFFIXES, id_of
from harness.types.review import Review, SourceLine

MOST_SOURCES: Final = 200
"""So many scenarios are looked up, those that are told first."""
MOST_FILES: Final = 5_000
_FORMAT: Final = "harness-scenario/"
_OWN_ID: Final = re.compile(rb"""^[\s{]*["']?id["']?\s*:""", re.MULTILINE)
_PASSED_OVER: Final = frozenset(["node_modules", "__pycache__"])


def with_sources(review: Review, scenarios: Sequence[Path] | None = None) -> Review:
    """The review, with the lines of those scenarios that reports name first.

    They are looked for in ``scenarios``, else where ``[tool.harness]`` says, else in the folder ``scenarios``.
    Raises ConfigurationError.
    """
    told = [row.scenario for row in worst_first(rows_of(review)) if is_told(row)]
    names = [some.scenario for row in told if (some := row.candidate or row.base) and some.scenario]
    configured = settings().scenarios
    paths = scenarios or [Path(path) for path in configured or ("scenarios",)]
    return replace(review, sources=sources_of(names, paths, configured=configured, root=project_root(Path())))


def sources_of(
    wanted: Sequence[str], paths: Iterable[str | os.PathLike[str]], *, configured: Sequence[str] = (), root: Path
) -> tuple[SourceLine, ...]:
    """Where scenarios are written, in the order ``wanted``; those that no YAML file under ``paths`` holds are left out.

    Files are given from ``root`` with ``/``; what lies outside it has no place in a report. A file whose name gives
    the id is read first, others only while an id is still looked for, so that a scenario with an ``id`` of its
    own is found too.
    """
    left = dict.fromkeys(wanted[:MOST_SOURCES])
    if not left:
        return ()
    files = [(file, id_of(file, roots=configured, folder=folder)) for file, folder in _files(paths)][:MOST_FILES]
    found: dict[str, SourceLine] = {}
    named = [one for one in files if one[1] in left]
    others = (one for one in files if one not in named and _names_itself(one[0]))
    for file, identity in chain(named, others):
        if not left:
            break
        source = _source(file, identity, root)
        if source is not None and source.scenario in left:
            del left[source.scenario]
            found[source.scenario] = source
    return tuple(found[name] for name in dict.fromkeys(wanted) if name in found)


def project_root(folder: Path) -> Path:
    """The nearest folder above (or this one) that a repository begins in; this folder where there is none."""
    here = folder.resolve()
    return next((one for one in (here, *here.parents) if (one / ".git").exists()), here)


def _names_itself(file: str) -> bool:
    try:
        return _OWN_ID.search(Path(file).read_bytes()) is not None
    except OSError:  # as below
        return False


def _source(file: str, identity: str, root: Path) -> SourceLine | None:
    path = Path(file).resolve()
    if not path.is_relative_to(root):
        return None
    try:
        document = read_document(file)
    except ScenarioError:  # it does not load: `harness run` says so, and a comparison of runs needs no scenario
        return None
    value = document.value
    if not isinstance(value, dict) or not str(value.get("format")).startswith(_FORMAT):
        return None
    own = value.get("id")
    key = "id" if isinstance(own, str) else next(iter(value))
    name = own if isinstance(own, str) else identity
    return SourceLine(name, path.relative_to(root).as_posix(), document.line_of((key,)))


def _files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[tuple[str, str | None]]:
    """YAML files, each with the folder that it was found under; those in folders only where they are scenarios."""
    for given in paths:
        path = os.fspath(given)
        if os.path.isfile(path):
            if path.endswith(SUFFIXES):
                yield path, None
            continue
        for place, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name[0] != "." and name not in _PASSED_OVER)
            for name in sorted(names):
                if name.endswith(SUFFIXES) and name[0] != ".":
                    yield os.path.join(place, name), path
