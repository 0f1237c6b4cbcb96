"""The plain values inside expected arguments, each with the part of the schema that is about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.evaluate.arms_tools import referred

_ONE_OF: Final = "$one_of"
_OPTIONAL: Final = "$optional"
_SUBSET: Final = "$subset"
_MOST_STEPS: Final = 50


@dataclass(frozen=True, slots=True)
class Place:
    """What an expectation asks for at a path (``a.b[0]``): one of these values, and the schema that it has to meet."""

    values: tuple[Any, ...]
    schema: Mapping[str, Any]
    path: str


def is_literal(matcher: Any) -> bool:
    """Whether nothing in it is a matcher, so that one value alone meets it."""
    if isinstance(matcher, dict):
        return not any(key.startswith("$") for key in matcher) and all(map(is_literal, matcher.values()))
    return all(map(is_literal, matcher)) if isinstance(matcher, list) else True


def inner_matchers(matcher: Any, schema: Any, root: Any, path: str = "") -> Iterator[Place]:
    """Every plain value that the matcher asks for; not what can be many values (patterns, anything) or left out."""
    schema = _resolved(schema, root)
    if schema is None:
        return
    if path and is_literal(matcher):
        yield Place((matcher,), schema, path)
    elif isinstance(matcher, dict):
        yield from _of_object(matcher, schema, root, path)
    elif isinstance(matcher, list):
        for at, item in enumerate(matcher):
            yield from inner_matchers(item, schema.get("items"), root, f"{path}[{at}]")


def _of_object(matcher: dict[str, Any], schema: Mapping[str, Any], root: Any, path: str) -> Iterator[Place]:
    name = next(iter(matcher), "")
    if len(matcher) == 1 and name.startswith("$"):
        yield from _of_operator(name, matcher[name], schema, root, path)
        return
    required = _required(schema)
    for key, value in matcher.items():
        held = value[_OPTIONAL] if key in required and _is_optional(value) else value
        yield from inner_matchers(held, _property(schema, key), root, f"{path}.{key}" if path else key)


def _of_operator(name: str, value: Any, schema: Mapping[str, Any], root: Any, path: str) -> Iterator[Place]:
    if name == "$equal":
        yield Place((value,), schema, path)
    elif name == _SUBSET and isinstance(value, dict):
        yield from _of_object(value, schema, root, path)
    elif name == _ONE_OF and isinstance(value, list) and all(map(is_literal, value)):
        yield Place(tuple(value), schema, path)


def optional_though_required(matcher: Any, schema: Any, root: Any, path: str = "") -> Iterator[str]:
    """The paths of properties that ``$optional`` lets be left out, and that the schema requires."""
    schema = _resolved(schema, root)
    if schema is None:
        return
    if isinstance(matcher, list):
        for at, item in enumerate(matcher):
            yield from optional_though_required(item, schema.get("items"), root, f"{path}[{at}]")
    elif isinstance(matcher, dict) and len(matcher) == 1 and next(iter(matcher)) in (_SUBSET, _OPTIONAL):
        yield from optional_though_required(next(iter(matcher.values())), schema, root, path)
    elif isinstance(matcher, dict):
        required = _required(schema)
        for key, value in matcher.items():
            place = f"{path}.{key}" if path else key
            if key in required and _is_optional(value):
                yield place
            yield from optional_though_required(value, _property(schema, key), root, place)


def _is_optional(matcher: Any) -> bool:
    return isinstance(matcher, dict) and len(matcher) == 1 and _OPTIONAL in matcher


def _required(schema: Mapping[str, Any]) -> list[Any]:
    required = schema.get("required")
    return required if isinstance(required, list) else []


def _property(schema: Mapping[str, Any], name: str) -> Any:
    properties = schema.get("properties")
    return properties.get(name) if isinstance(properties, dict) else None


def _resolved(schema: Any, root: Any) -> Mapping[str, Any] | None:
    for _ in range(_MOST_STEPS):
        if not (isinstance(schema, dict) and isinstance(schema.get("$ref"), str)):
            break
        schema = referred(schema, root)
    return schema if isinstance(schema, dict) else None
