"""Schemas of an OpenAPI document (3.0 and 3.1) as JSON Schema that stands alone, as a request may carry it.

References are written out; recursive, very deep and very many ones stand in ``$defs``. What only the server sets
(``readOnly``) is left out, ``nullable`` becomes the type ``null``, ``example`` becomes ``examples``, and what a model
has no use for (``xml``, ``discriminator``, ``x-…``) goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.errors import ConfigurationError
from harness.tools.openapi_refs import Refs
from harness.tools.replies import shortened

_DEEPEST: Final = 150
_DEEPEST_INLINE: Final = 8
_MOST_INLINE: Final = 1_000
"""Schemas in one tool before further references are kept in ``$defs``."""
_MOST_NODES: Final = 20_000
"""Schemas in one tool, at most."""

_MAPS: Final = frozenset({"properties", "patternProperties", "dependentSchemas"})
_LISTS: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_SINGLE: Final = frozenset(
    {
        "additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
        "unevaluatedProperties", "contentSchema",
    }
)  # fmt: skip
_SAME_OBJECT: Final = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else"})
_PLAIN: Final = frozenset(
    {
        "type", "enum", "const", "default", "title", "description", "format", "pattern", "minLength", "maxLength",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
        "uniqueItems", "minProperties", "maxProperties", "required", "deprecated", "examples", "minContains",
        "maxContains", "dependentRequired", "contentEncoding", "contentMediaType",
    }
)  # fmt: skip
_BESIDE_REF: Final = frozenset({"description", "default", "deprecated", "title", "example", "examples"})
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")


class SchemaReader:
    """Reads the schemas of one tool; what they share is in :attr:`defs` once :meth:`finish` was called."""

    def __init__(self, refs: Refs, *, where: str, is_30: bool) -> None:
        self._refs = refs
        self._where = where
        self._is_30 = is_30
        self._n_nodes = 0
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []
        self.defs: dict[str, Any] = {}

    def read(self, schema: Any) -> Any:
        """A schema, ready for a tool. Raises ConfigurationError for what is none."""
        return self._read(schema, 0, 0, frozenset())

    def finish(self) -> dict[str, Any]:
        """Read what is referred to from ``$defs``, by name."""
        while self._waiting:
            ref = self._waiting.pop()
            self.defs[self._names[ref]] = self._read(self._refs.at(ref), 0, 0, frozenset())
        return dict(sorted(self.defs.items()))

    def is_read_only(self, schema: Any) -> bool:
        """Whether the server alone sets the value, by the schema itself or what it refers to."""
        if not isinstance(schema, Mapping):
            return False
        if schema.get("readOnly") is True:
            return True
        return isinstance(schema.get("$ref"), str) and self._refs.followed(schema, "a schema").get("readOnly") is True

    # ------------------------------------------------------------ reading

    def _read(self, schema: Any, depth: int, inlined: int, hidden: frozenset[str]) -> Any:
        self._count(depth)
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, Mapping):
            raise self._refusal(f"{shortened(repr(schema), 100)} is no schema; a mapping was expected")
        ref = schema.get("$ref")
        if isinstance(ref, str):
            return self._read_ref(ref, schema, depth, inlined, hidden)
        hidden = hidden | frozenset(self._read_only_names(schema))
        read: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _MAPS or key in _LISTS or key in _SINGLE:
                read[key] = self._below(key, value, depth, inlined, hidden)
            elif key in _PLAIN:
                read[key] = value
        return _as_json_schema(read, schema, hidden, is_30=self._is_30)

    def _below(self, key: str, value: Any, depth: int, inlined: int, hidden: frozenset[str]) -> Any:
        inner = hidden if key in _SAME_OBJECT else frozenset[str]()
        if key in _MAPS:
            if not isinstance(value, Mapping):
                raise self._refusal(f"{key!r} is a mapping of schemas")
            shown = {name: one for name, one in value.items() if key != "properties" or not self.is_read_only(one)}
            return {name: self._read(one, depth + 1, inlined, inner) for name, one in shown.items()}
        if key in _LISTS:
            if not isinstance(value, list) or not value:
                raise self._refusal(f"{key!r} is a list of schemas")
            return [self._read(one, depth + 1, inlined, inner) for one in value]
        return self._read(value, depth + 1, inlined, inner)

    def _read_ref(self, ref: str, schema: Mapping[str, Any], depth: int, inlined: int, hidden: frozenset[str]) -> Any:
        target = self._refs.at(ref)
        many = self._n_nodes > _MOST_INLINE or inlined >= _DEEPEST_INLINE
        if many or self._refs.is_recursive(ref):
            read: Any = {"$ref": f"#/$defs/{self._def_name(ref)}"}
        else:
            read = self._read(target, depth + 1, inlined + 1, hidden)
        # 3.0 ignores what stands beside a reference; descriptions and nullable are written there all the same.
        allowed = _BESIDE_REF if self._is_30 else schema.keys() - {"$ref"}
        beside = {key: value for key, value in schema.items() if key in allowed}
        if self._is_30 and schema.get("nullable") is True:
            read = {"anyOf": [read, {"type": "null"}]}
        more = self._read(beside, depth + 1, inlined, hidden) if beside else {}
        return _joined(read, more)

    def _def_name(self, ref: str) -> str:
        if ref not in self._names:
            name = _UNSAFE.sub("_", ref.rsplit("/", 1)[-1]) or "schema"
            taken, number = set(self._names.values()), 2
            while name in taken:
                name, number = f"{name.rsplit('-', 1)[0]}-{number}", number + 1
            self._names[ref] = name
            self._waiting.append(ref)
        return self._names[ref]

    def _read_only_names(self, schema: Mapping[str, Any]) -> Iterator[str]:
        """Names of properties that the server sets, here and in all parts of the same object."""
        seen: set[str] = set()
        parts: list[Any] = [schema]
        while parts:
            part = parts.pop()
            if not isinstance(part, Mapping):
                continue
            ref = part.get("$ref")
            if isinstance(ref, str) and ref not in seen:
                seen.add(ref)
                parts.append(self._refs.at(ref))
            properties, wholes = part.get("properties"), part.get("allOf")
            if isinstance(properties, Mapping):
                yield from (name for name, one in properties.items() if self.is_read_only(one))
            parts += wholes if isinstance(wholes, list) else []

    def _count(self, depth: int) -> None:
        self._n_nodes += 1
        if depth > _DEEPEST:
            raise self._refusal(f"schemas nested deeper than {_DEEPEST} levels")
        if self._n_nodes > _MOST_NODES:
            raise self._refusal(f"more than {_MOST_NODES:,} schemas; leave the operation out with 'only'")

    def _refusal(self, what: str) -> ConfigurationError:
        return ConfigurationError(f"{self._where}: {what}")


def _joined(read: Any, more: dict[str, Any]) -> Any:
    """A schema and what stands beside its reference: words beside it, rules as a second schema."""
    if not more:
        return read
    if isinstance(read, Mapping) and more.keys() <= _BESIDE_REF:
        return {**read, **more}
    own = more.pop("allOf", [])
    return {**more, "allOf": [read, *own]}


# ---------------------------------------------------------------- one schema


def _as_json_schema(
    read: dict[str, Any], schema: Mapping[str, Any], hidden: frozenset[str], *, is_30: bool
) -> dict[str, Any]:
    _clean_required(read, hidden)
    _clean_words(read)
    if "example" in schema:
        given = read.get("examples")
        read["examples"] = [schema["example"], *(given if isinstance(given, list) else [])]
    elif "examples" in read and not isinstance(read["examples"], list):
        del read["examples"]
    kinds = read.get("type")
    if isinstance(kinds, list):  # the word null without quotes is no word
        read["type"] = ["null" if kind is None else kind for kind in kinds]
    _clean_bounds(read)
    return _nullable(read) if is_30 and schema.get("nullable") is True else read


def _clean_required(read: dict[str, Any], hidden: frozenset[str]) -> None:
    if "required" not in read:
        return
    names = read.pop("required")
    kept = [name for name in names if isinstance(name, str) and name not in hidden] if isinstance(names, list) else []
    if kept:
        read["required"] = sorted(set(kept))


def _clean_words(read: dict[str, Any]) -> None:
    for key in ("title", "description"):
        if key in read and not isinstance(read[key], str):
            del read[key]
    if "deprecated" in read and read["deprecated"] is not True:
        del read["deprecated"]


def _clean_bounds(read: dict[str, Any]) -> None:
    """The bounds of 3.0: ``exclusiveMinimum: true`` says how ``minimum`` is meant."""
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(read.get(exclusive), bool):
            is_exclusive = read.pop(exclusive)
            if is_exclusive and bound in read:
                read[exclusive] = read.pop(bound)


def _nullable(read: dict[str, Any]) -> dict[str, Any]:
    kind = read.get("type")
    if isinstance(kind, str):
        if isinstance(read.get("enum"), list) and None not in read["enum"]:
            read["enum"] = [*read["enum"], None]
        return {**read, "type": [kind, "null"]}
    if any(key in read for key in ("allOf", "anyOf", "oneOf")):
        return {"anyOf": [read, {"type": "null"}]}
    return read
