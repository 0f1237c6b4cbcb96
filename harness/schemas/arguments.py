"""JSON Schemas of arguments: compiled once, and violations told with path, fault and what is allowed.

The validator runs on a linear-time regex engine (look-arounds are bounded), fetches nothing, and
coerces nothing: ``true`` is never 1, ``"5"`` never 5 (INVARIANTS 20).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Final, TypeAlias

import jsonschema_rs

from harness.errors import ConfigurationError, InvalidValueError
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText
from harness.types.wording import listed, shortened

_MASK: Final = "\N{LEFT WHITE SQUARE BRACKET}value\N{RIGHT WHITE SQUARE BRACKET}"
_MOST_ERRORS: Final = 5
_MOST_KEPT: Final = 512
"""Schemas that are kept compiled, at most."""
_LONGEST_VALUE: Final = 80
_LONGEST_ALLOWED: Final = 300

SchemaLike: TypeAlias = Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with arguments: at ``path`` (``a[0].b``; "" for the whole), and what would be allowed."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or 'arguments'}: {self.message}"


def schema_text(name: str, parameters: SchemaLike) -> JsonText:
    """Canonical JSON text of a schema given as an object or as text. Raises ConfigurationError."""
    return _text_of_text(name, parameters) if isinstance(parameters, str) else _text_of(name, parameters)


@lru_cache(maxsize=_MOST_KEPT)
def _text_of_text(name: str, text: str) -> JsonText:
    return _text_of(name, parse_json(text))


def _text_of(name: str, value: Any) -> JsonText:
    if isinstance(value, Refusal):
        raise ConfigurationError(f"tool {name!r}: the schema is not JSON: {value.message}")
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"tool {name!r}: the schema must be a JSON object, not {value!r:.60}")
    try:
        return canonical_json(value)
    except InvalidValueError as error:
        raise ConfigurationError(f"tool {name!r}: the schema is {error}") from None


class ArgumentSchema:
    """The compiled schema of one tool's arguments.

    ``closed``: properties that the schema does not name are refused even where the schema is silent
    about them, since the function behind it could not take them (CONFORMANCE 38).
    """

    def __init__(self, name: str, text: JsonText, *, closed: bool = False) -> None:
        self.value: dict[str, Any] = json.loads(text)
        if self.value.get("type", "object") != "object":
            raise ConfigurationError(
                f"tool {name!r}: arguments are always an object, but the schema's type is {self.value['type']!r}"
            )
        properties = self.value.get("properties")
        self.properties: dict[str, Any] | None = properties if isinstance(properties, dict) else None
        self._closed = closed and self.properties is not None
        self._validator = _compiled(name, text)

    def explain(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is allowed; None when nothing is."""
        said = self._extra(arguments) + [str(fault) for fault in self.faults(arguments)]
        return " ".join(said) or None

    def faults(self, arguments: Mapping[str, Any]) -> list[Fault]:
        """Where the arguments are not what the schema takes, the first five; empty: nowhere."""
        if self._validator.is_valid(arguments):
            return []
        return [self._fault(error) for error in islice(self._validator.iter_errors(arguments), _MOST_ERRORS)]

    def _extra(self, arguments: Mapping[str, Any]) -> list[str]:
        if not self._closed or self.value.get("additionalProperties") is False:
            return []
        extra = sorted(arguments.keys() - self.properties.keys()) if self.properties is not None else ()
        return [f"{listed([repr(key) for key in extra])}: not known; {self._known()}."] if extra else []

    def _known(self) -> str:
        return f"allowed properties: {listed(sorted(self.properties or ()))}"

    def _fault(self, error: jsonschema_rs.ValidationError) -> Fault:
        message = error.message.replace(_MASK, _shown(error.instance))
        return Fault(path_text(error.instance_path, root=""), f"{message}; {self._allowed(error)}.")

    def _allowed(self, error: jsonschema_rs.ValidationError) -> str:
        if not error.instance_path:
            return self._known()
        schema = self._schema_at(error.instance_path)
        return f"allowed: {shortened(json.dumps(schema, ensure_ascii=False), _LONGEST_ALLOWED)}"

    def _schema_at(self, path: Sequence[str | int]) -> Any:
        schema: Any = self.value
        for part in path:
            inner = _inner(self._followed(schema), part)
            if inner is None:
                break
            schema = inner
        return self._followed(schema)

    def _followed(self, schema: Any) -> Any:
        ref = schema.get("$ref", "") if isinstance(schema, dict) else ""
        target = self.value.get("$defs", {}).get(ref.removeprefix("#/$defs/"))
        return schema if target is None else target


def _inner(schema: Any, part: str | int) -> Any:
    if not isinstance(schema, dict):
        return None
    if isinstance(part, int):
        return schema.get("items")
    properties = schema.get("properties")
    return properties.get(part) if isinstance(properties, dict) else None


@lru_cache(maxsize=_MOST_KEPT)
def _compiled(name: str, text: JsonText) -> jsonschema_rs.Validator:
    """The validator of a schema, which holds nothing of one run; scenarios share it."""
    try:
        return jsonschema_rs.validator_for(json.loads(text), mask=_MASK, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        message = (getattr(error, "message", None) or str(error)).replace(_MASK, "the value")
        path = path_text(getattr(error, "instance_path", None) or [], root="the schema")
        raise ConfigurationError(f"tool {name!r}: no valid JSON Schema at {path}: {message}") from None


def path_text(path: Sequence[str | int], root: str = "arguments") -> str:
    """``["a", 0, "b"]`` as ``a[0].b``; the root's own name where the path is empty."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".") or root


def _shown(value: Any) -> str:
    return shortened(json.dumps(value, ensure_ascii=False, default=str), _LONGEST_VALUE)
