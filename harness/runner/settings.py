"""``[tool.harness]`` of a project's pyproject.toml. Light: the idle pytest plugin may read it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from harness.errors import ConfigurationError
from harness.types.limits import Prices


@dataclass(frozen=True, slots=True)
class Settings:
    """``[tool.harness]``: where scenarios and cassettes lie, which loop is tested, and what models cost.

    ``scenarios`` are paths under which every YAML file must be a scenario; empty where none are named. ``prices``
    are by name of model: ``[tool.harness.prices] small = {input = 150000, output = 600000}`` in micro-dollars per
    million tokens.
    """

    scenarios: tuple[str, ...] = ()
    cassettes: str = "cassettes"
    subject: str = "built-in"
    prices: Mapping[str, Prices] = field(default_factory=dict)


def settings(folder: Path | None = None) -> Settings:
    """The settings of the project in the current folder. Raises ConfigurationError naming the key."""
    path = (folder or Path()) / "pyproject.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Settings()
    except (ValueError, RecursionError, OSError) as error:  # too many digits, too deep
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
    if key == "prices":
        return _prices(path, value)
    if not isinstance(value, str):
        raise ConfigurationError(f"{path}: [tool.harness] {key} must be text")
    return value


def _prices(path: Path, value: Any) -> Mapping[str, Prices]:
    where = f"{path}: [tool.harness.prices]"
    if not isinstance(value, dict):
        raise ConfigurationError(f"{where} must be a table of models, not {value!r}")
    return {name: _price(f"{where} {name!r}", one) for name, one in value.items()}


def _price(where: str, value: Any) -> Prices:
    numbers = value if isinstance(value, dict) else {}
    if set(numbers) != {"input", "output"} or not all(type(one) is int and one >= 0 for one in numbers.values()):
        raise ConfigurationError(
            f"{where} must be {{input = 150000, output = 600000}}: whole micro-dollars per million tokens"
        )
    return Prices(numbers["input"], numbers["output"])
