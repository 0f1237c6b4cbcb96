"""``schemas:``: tools as a list of name, description and JSON Schema, in the document or in a file beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness import plugins
from harness.documents import read_document, shortened
from harness.errors import ConfigurationError
from harness.tools.sources import Found, RawTool, finished
from harness.types.evaluation import ToolSource
from harness.types.jsontext import Refusal, parse_json

LARGEST_FILE: Final = 33_554_432
"""Bytes of a file of tools, at most (32 MiB)."""
_SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema")
_KNOWN: Final = ("name", "description", *_SCHEMA_KEYS, "read_only")
_IGNORED: Final = frozenset(
    {"type", "strict", "cache_control", "title", "annotations", "outputSchema", "icons", "_meta"}
)


def schemas_tools(source: ToolSource, *, base: Path) -> Found:
    """The tools of a list: ``{name, description, parameters}``, or as a provider's request or an MCP server has them.

    Raises ConfigurationError and ScenarioError (file, line) for everything else.
    """
    if source.inline is not None:
        label, value = "schemas of the document", _inline(source.inline)
    else:
        label, value = f"schemas {source.location!r}", read_value(base / source.location, source.location)
    entries = value.get("tools") if isinstance(value, Mapping) else value
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise ConfigurationError(f"{label}: a list of tools was expected, each with 'name' and 'parameters'")
    if not entries:
        raise ConfigurationError(f"{label}: the list of tools is empty")
    return finished([_raw(entry, f"{label}[{index}]") for index, entry in enumerate(entries)], source, label)


def read_value(path: Path, name: str, *, any_keys: bool = False) -> Any:
    """The value of a JSON file (``.json``, strictly) or of a YAML file. Raises ConfigurationError and ScenarioError.

    ``any_keys``: keys that are numbers or words like ``on`` count as text, and more and larger YAML is read
    (descriptions of interfaces are written so).
    """
    if "\0" in name:
        raise ConfigurationError(f"{name!r} is no name of a file")
    if path.suffix.lower() != ".json":
        if any_keys:
            return read_document(path, max_bytes=LARGEST_FILE, max_nodes=2_000_000, any_keys=True).value
        return read_document(path).value
    value = parse_json(_text(path, name))
    if isinstance(value, Refusal):
        raise ConfigurationError(f"{name!r} is not JSON: {shortened(value.message)}")
    return value


def _text(path: Path, name: str) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ConfigurationError(f"{name!r} cannot be read ({reason}); check the name and who may read it") from None
    if len(data) > LARGEST_FILE:
        raise ConfigurationError(f"{name!r} is larger than {LARGEST_FILE:,} bytes")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{name!r} is not UTF-8; save it as UTF-8") from None


def _inline(text: str) -> Any:
    value = parse_json(text)
    if isinstance(value, Refusal):
        raise ConfigurationError(f"schemas of the document: not JSON: {shortened(value.message)}")
    return value


def _raw(entry: Any, where: str) -> RawTool:
    if not isinstance(entry, Mapping):
        raise ConfigurationError(f"{where}: a tool is a mapping with 'name', 'description' and 'parameters'")
    inner = entry.get("function", entry)
    if not isinstance(inner, Mapping):
        raise ConfigurationError(f"{where}: 'function' is a mapping with 'name', 'description' and 'parameters'")
    unknown = sorted(set(inner) - set(_KNOWN) - _IGNORED)
    if unknown:
        raise ConfigurationError(shortened(f"{where}: unknown field {unknown[0]!r}{_hint(unknown[0])}"))
    name = inner.get("name")
    if not isinstance(name, str) or not name:
        raise ConfigurationError(f"{where}: a tool needs a 'name', text that is not empty")
    return RawTool(name, _description(inner, where), _schema(inner, where), read_only=_read_only(inner, where))


def _hint(name: str) -> str:
    return plugins.suggestion(name, _KNOWN)


def _description(entry: Mapping[str, Any], where: str) -> str:
    text = entry.get("description")
    if text is not None and not isinstance(text, str):
        raise ConfigurationError(f"{where}: 'description' is text, not {type(text).__name__}")
    return text or ""


def _schema(entry: Mapping[str, Any], where: str) -> Any:
    given = [key for key in _SCHEMA_KEYS if entry.get(key) is not None]
    if len(given) > 1:
        raise ConfigurationError(f"{where}: give one of {given[0]!r} and {given[1]!r}")
    return entry[given[0]] if given else {}


def _read_only(entry: Mapping[str, Any], where: str) -> bool | None:
    value = entry.get("read_only")
    if value is not None and not isinstance(value, bool):
        raise ConfigurationError(f"{where}: 'read_only' is true or false")
    return value
