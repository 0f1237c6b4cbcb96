"""Records as plain values and back: camelCase keys, defaults left out."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from harness.errors import InvalidValueError
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText, camel
from harness.types.scenario import Expectations, Limits

T = TypeVar("T")
_ALWAYS = ("steps", "tool_timeout_ms")


def to_plain(value: Any) -> Any:
    """Dataclasses as objects without fields that equal their default, tuples as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        result = {}
        for spec in fields(value):
            item = getattr(value, spec.name)
            if spec.default is not MISSING and item == spec.default and type(item) is type(spec.default):
                continue
            if spec.default_factory is not MISSING and item == spec.default_factory():
                continue
            result[camel(spec.name)] = to_plain(item)
        return result
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    return value


@cache
def _hints(cls: type[Any]) -> dict[str, Any]:
    return get_type_hints(cls)


def from_plain(cls: type[T], data: Any) -> T:
    """The record that :func:`to_plain` wrote. Raises InvalidValueError for anything else."""
    if not isinstance(data, Mapping):
        raise InvalidValueError(f"a {cls.__name__} is an object, not {type(data).__name__}")
    hints = _hints(cls)  # type: ignore[arg-type]
    names = {camel(spec.name): spec for spec in fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(set(data) - set(names))
    if unknown:
        raise InvalidValueError(f"a {cls.__name__} has no field {unknown[0]!r}")
    for key, spec in names.items():
        if key not in data and spec.default is MISSING and spec.default_factory is MISSING:
            raise InvalidValueError(f"a {cls.__name__} needs the field {key!r}")
    values = {
        names[key].name: _revive(hints[names[key].name], item, f"{cls.__name__}.{key}") for key, item in data.items()
    }
    return cls(**values)


def _revive(hint: Any, value: Any, place: str) -> Any:
    hint = getattr(hint, "__supertype__", hint)
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in get_args(hint):
            return None
        return _revive(next(arm for arm in get_args(hint) if arm is not type(None)), value, place)
    if origin is tuple:
        return _revive_items(get_args(hint), value, place)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        if value not in tuple(hint):
            raise InvalidValueError(f"{place}: {value!r} is not one of {', '.join(hint)}")
        return hint(value)
    if is_dataclass(hint) and isinstance(hint, type):
        return from_plain(hint, value)
    if type(value) is not hint:
        raise InvalidValueError(f"{place}: {value!r} is not of type {hint.__name__}")
    return value


def _revive_items(arms: tuple[Any, ...], value: Any, place: str) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidValueError(f"{place}: {value!r} is not a list")
    if len(arms) == 2 and arms[1] is Ellipsis:
        return tuple(_revive(arms[0], item, place) for item in value)
    if len(arms) != len(value):
        raise InvalidValueError(f"{place}: {value!r} has {len(value)} items, not {len(arms)}")
    return tuple(_revive(arm, item, place) for arm, item in zip(arms, value, strict=True))


def _parsed(text: JsonText | None) -> Any:
    value = parse_json(text or "{}")
    if isinstance(value, Refusal):
        raise InvalidValueError(f"not JSON: {value.message}")
    return value


def expectations_to_json(expectations: Expectations) -> JsonText:
    """Expectations as a header keeps them."""
    return canonical_json(to_plain(expectations))


def expectations_from_json(text: JsonText | None) -> Expectations:
    """The expectations of a header; none where it has none."""
    return from_plain(Expectations, _parsed(text))


def limits_to_json(limits: Limits) -> JsonText:
    """Limits as a header keeps them: all that have a default number, since that may change, and all that are set."""
    values = {spec.name: to_plain(getattr(limits, spec.name)) for spec in fields(limits)}
    return canonical_json(
        {camel(name): value for name, value in values.items() if value is not None or name in _ALWAYS}
    )


def limits_from_json(text: JsonText | None) -> Limits | None:
    """The limits of a header; None where it has none (imports)."""
    return None if text is None else from_plain(Limits, _parsed(text))
