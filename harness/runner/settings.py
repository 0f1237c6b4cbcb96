"""``[tool.harness]`` of a project's pyproject.toml. Light: the idle pytest plugin may read it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from harness.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Settings:
    """``[tool.harness]``: where scenarios and cassettes lie, and which loop is tested.

    ``scenarios`` are paths under which every YAML file must be a scenario; empty where none are named.
    """

    scenarios: tuple[str, ...] = ()
    cassettes: str = "cassettes"
    subject: str = "built-in"


def settings(folder: Path | None = None) -> Settings:
    """The settings of the project in the current folder. Raises ConfigurationError naming the key."""
    path = (folder or Path()) / "pyproject.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from None
    tool = data.get("tool", {})
    table = tool.get("harness", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: [tool.harness] must be a table, not {table!r}")
    known = {spec.name for spec in fields(Settings)}
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise ConfigurationError(f"{path}: [tool.harness] has no key {key!r}; known: {', '.join(sorted(known))}")
        values[key] = _value(path, key, value)
    return Settings(**values)


def _value(path: Path, key: str, value: Any) -> Any:
    if key == "scenarios":
        items = [value] if isinstance(value, str) else value
        if isinstance(items, list) and all(isinstance(item, str) for item in items):
            return tuple(items)
        raise ConfigurationError(f"{path}: [tool.harness] scenarios must be a path or a list of paths")
    if not isinstance(value, str):
        raise ConfigurationError(f"{path}: [tool.harness] {key} must be text")
    return value
