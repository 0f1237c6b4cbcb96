"""What built-in tools are given: a scenario's files, memory and options, and its workspace."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from harness.errors import ConfigurationError, ToolError
from harness.protocols import Tool
from harness.tools.replies import listed
from harness.types.scenario import ToolsSpec

FILES = "files"
MEMORY = "memory.json"


@dataclass(frozen=True)
class Fixtures:
    """A scenario's fixtures; ``workspace`` is the folder that its tools may use."""

    spec: ToolsSpec
    workspace: Path

    def options(self, tool: str, *known: str) -> dict[str, Any]:
        """The options of a tool. Raises ConfigurationError for one that it does not know."""
        value = json.loads(dict(self.spec.options).get(tool, "{}"))
        unknown = sorted(set(value) - set(known)) if isinstance(value, dict) else ["(not an object)"]
        if unknown:
            raise ConfigurationError(f"options of tool {tool!r}: unknown {listed(unknown)}; known are {listed(known)}")
        result: dict[str, Any] = value
        return result

    def files(self) -> Mapping[str, str]:
        """The scenario's files by relative path."""
        return dict(self.spec.files)

    def folder(self) -> Path:
        """The folder that holds the scenario's files on disk; written on the first call."""
        root = self.workspace / FILES
        root.mkdir(parents=True, exist_ok=True)
        for name, text in self.spec.files:
            _write_fixture(root, name, text)
        return root


Factory: TypeAlias = Callable[[Fixtures], Tool]


def _write_fixture(root: Path, name: str, text: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ConfigurationError(f"fixture file {name!r}: allowed are relative paths without '..'")
    target = root / path
    if target.exists():
        return  # what a run wrote before in this workspace stands
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8", newline="")


def confined(root: Path, name: str) -> Path:
    """The file of that name under ``root``, if it is inside (ARTICLES 9).

    Raises ToolError for absolute paths, ``..``, and symbolic links anywhere on the way.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise ToolError(
            f"the path {name!r} leaves the workspace; allowed: relative paths without '..'", code="PERMISSION_DENIED"
        )
    target = root
    for part in path.parts:
        target = target / part
        if target.is_symlink():
            raise ToolError(
                f"the path {name!r} goes through a symbolic link; allowed: files of the workspace itself",
                code="PERMISSION_DENIED",
            )
    return target


def store_of(fixtures: Fixtures) -> dict[str, Any]:
    """The memory of now: what the scenario starts with, below what was written to the workspace."""
    seed = {key: json.loads(text) for key, text in fixtures.spec.memory}
    try:
        written = json.loads((fixtures.workspace / MEMORY).read_text("utf-8"))
    except FileNotFoundError:
        return seed  # nothing was written yet
    return {**seed, **written}


def write_store(fixtures: Fixtures, values: Mapping[str, Any]) -> None:
    """Write the whole memory, whole or not at all."""
    fixtures.workspace.mkdir(parents=True, exist_ok=True)
    unfinished = fixtures.workspace / f"{MEMORY}.part"
    unfinished.write_text(json.dumps(values, ensure_ascii=False, sort_keys=True), "utf-8")
    os.replace(unfinished, fixtures.workspace / MEMORY)
