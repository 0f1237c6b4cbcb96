"""Collecting: paths to scenarios, in one order on every machine."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, Final

from harness.documents import read_document
from harness.errors import NothingToRunError, ScenarioError, UsageError
from harness.scenarios.loading import SUFFIXES, UNNAMED, finished, made_scenario
from harness.scenarios.roots import id_of
from harness.scenarios.selecting import selection
from harness.types.scenario import Scenario

PASSED_OVER: Final = frozenset(["node_modules", "__pycache__"])
_HEAD_BYTES: Final = 4_096
_FORMAT: Final = rb"""^[\s{]*["']?format["']?\s*:\s*["']?"""
MARK: Final = re.compile(_FORMAT + rb"harness-scenario/", re.MULTILINE)
_OTHER_MARK: Final = re.compile(_FORMAT + rb"harness-evaluation/", re.MULTILINE)


def collect(
    paths: Sequence[str | os.PathLike[str]], *, match: str | None = None, configured: Sequence[str] = ()
) -> tuple[Scenario, ...]:
    """The scenarios in files and folders: paths in the order given, inside a folder by name.

    A file named itself must be a scenario (YAML), or Python that holds some. In a folder under a
    ``configured`` path every YAML file must be one, or say ``format: harness-evaluation/1`` (and is then passed over);
    in other folders only files that say ``format: harness-scenario/1`` in their head are taken. Folders give YAML
    only; hidden folders and links to folders are passed over. ``match`` is a ``-k`` expression.

    Raises ScenarioError for a path that is not there, for what does not load and for two scenarios
    with one id; UsageError for a bad expression; NothingToRunError when nothing is left.
    """
    fits = selection(match) if match is not None else None
    found: dict[str, Scenario] = {}
    seen: set[str] = set()
    names = [os.fspath(path) for path in paths]
    for path in names:
        for scenario in _from_path(path, configured, seen):
            _add(found, scenario)
    if not found:
        raise NothingToRunError(f"no scenarios in {', '.join(map(repr, names)) or 'no path'}")
    chosen = tuple(scenario for scenario in found.values() if fits is None or fits(scenario))
    if not chosen:
        raise NothingToRunError(f"no scenarios of {len(found)} fit -k {match!r}")
    return chosen


def _add(found: dict[str, Scenario], scenario: Scenario) -> None:
    first = found.setdefault(scenario.id, scenario)
    if first is not scenario:
        raise ScenarioError(
            f"the id {scenario.id!r} is taken by {first.source!r}; give one of them an id of its own",
            file=scenario.source,
            line=scenario.line,
            field="id",
        )


def _from_path(path: str, configured: Sequence[str], seen: set[str]) -> Iterator[Scenario]:
    if os.path.isdir(path):
        files = list(_files_in(path, strict=_is_under(path, configured)))
        folder: str | None = path
    elif os.path.exists(path):
        files, folder = [path], None
    else:
        raise ScenarioError("there is no such file or folder", file=path)
    for file in files:
        real = os.path.realpath(file)
        if real not in seen:
            seen.add(real)
            yield from _from_file(file, id_of(file, roots=configured, folder=folder))


def _from_file(file: str, identity: str) -> Iterator[Scenario]:
    if file.endswith(".py"):
        yield from _from_python(file)
    elif file.endswith(SUFFIXES):
        yield made_scenario(read_document(file), identity)
    else:
        raise ScenarioError(f"is neither {', '.join(SUFFIXES)} nor .py; name a scenario file", file=file)


def _is_under(path: str, configured: Iterable[str]) -> bool:
    place = PurePath(os.path.abspath(path))
    roots = [PurePath(os.path.abspath(root)) for root in configured]
    return any(place == root or root in place.parents for root in roots)


def _files_in(folder: str, *, strict: bool) -> Iterator[str]:
    for place, folders, names in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in PASSED_OVER)
        for name in sorted(names):
            file = os.path.join(place, name)
            if name.endswith(SUFFIXES) and name[0] != "." and _is_taken(file, strict=strict):
                yield file


def holds_scenarios(path: str | os.PathLike[str]) -> bool:
    """Is this a file, or a folder in which a YAML file is a scenario because it lies there?

    Raises ScenarioError for what cannot be read.
    """
    if os.path.isdir(path):
        return any(True for _ in _files_in(os.fspath(path), strict=True))
    return os.path.lexists(path)


def _is_taken(file: str, *, strict: bool) -> bool:
    return not _is_marked(file, _OTHER_MARK) if strict else _is_marked(file)


def _unreadable(error: OSError) -> None:
    raise ScenarioError(f"cannot be read ({error.strerror})", file=str(error.filename)) from error


def _is_marked(file: str, mark: re.Pattern[bytes] = MARK) -> bool:
    try:
        with open(file, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError as error:
        raise ScenarioError(f"cannot be read ({error.strerror})", file=file) from error
    return mark.search(head.removeprefix(b"\xef\xbb\xbf")) is not None


# ---------------------------------------------------------------- Python


def _from_python(file: str) -> Iterator[Scenario]:
    """``SCENARIOS``, else every scenario that the module holds under a name of its own."""
    module = _imported(file)
    stem = Path(file).stem
    listed = getattr(module, "SCENARIOS", None)
    if listed is None:
        own = {name: value for name, value in vars(module).items() if isinstance(value, Scenario)}
        yield from (_named(value, f"{stem}/{name}", file) for name, value in own.items())
        return
    if not isinstance(listed, list | tuple):
        raise ScenarioError("must be a list of scenario(…)", file=file, field="SCENARIOS")
    for number, value in enumerate(listed):
        if not isinstance(value, Scenario):
            raise ScenarioError("must be a scenario(…)", file=file, field=f"SCENARIOS[{number}]")
        yield _named(value, f"{stem}/{number}", file)


def _named(value: Scenario, identity: str, file: str) -> Scenario:
    named = replace(value, id=identity) if value.id == UNNAMED else value
    return finished(named, source=file)


def _imported(file: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"harness_scenarios_in_{Path(file).stem}", file)
    if spec is None or spec.loader is None:
        raise ScenarioError("cannot be imported", file=file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # as an import would, for what looks itself up while it is imported
    try:
        spec.loader.exec_module(module)
    except UsageError:
        raise
    except Exception as error:  # a user's own module may raise anything
        raise ScenarioError(f"importing it failed: {type(error).__name__}: {error}", file=file) from error
    return module


def is_scenario_file(file: str) -> bool:
    """Whether a YAML file outside configured folders says that it is a scenario."""
    return file.endswith(SUFFIXES) and _is_marked(file)
