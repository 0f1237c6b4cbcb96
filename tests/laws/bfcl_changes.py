"""A value of an answer to BFCL with one thing changed, in every way that its rules may tell apart."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from tests.laws.bfcl_text import Raw, Retouched


def other_values(value: Any) -> Iterator[tuple[str, Any]]:
    """The value with one thing changed, and what it was."""
    if not isinstance(value, (Raw, Retouched)):
        yield from (("in a list", [value]), ("as text", value if isinstance(value, str) else json.dumps(value)))
    yield from (("null", None), ("beyond every float", 10**400), ("not a number", float("nan")), ("lone surrogate", "\ud800"))
    yield from (("empty text", ""), ("true", True), ("one", 1), ("empty list", []), ("empty object", {}))
    match value:
        case Raw() | Retouched():
            return
        case bool():
            yield from (("bool turned", not value), ("bool as int", int(value)), ("bool as float", float(value)))
        case int() if abs(value) >= 10**300:
            yield ("int as text", str(value))
        case int():
            yield from (("int plus one", value + 1), ("int as float", float(value)), ("int near", value + 0.5), ("int as bool", bool(value)))
        case float():
            yield from (("float plus one", value + 1), ("float negated", -value - 1), ("float near", value * 1.0000001 + 1e-9))
            yield from (("float as int", int(value) if math.isfinite(value) else 0), ("float as text", str(value)))
        case str():
            yield from _other_texts(value)
        case list():
            yield from _other_lists(value)
        case dict():
            yield from _other_objects(value)
        case _:
            return


def _other_texts(value: str) -> Iterator[tuple[str, Any]]:
    yield from (("upper case", value.upper()), ("title case", value.title()), ("spaces around", f" {value} "))
    yield from (("spaces out", value.replace(" ", "")), ("hyphens for spaces", value.replace(" ", "-")), ("punctuated", f"{value}._^*/"))
    yield from (("tab behind", f"{value}\t"), ("letter behind", f"{value}x"), ("letter lost", value[:-1]), ("other quotes", value.replace("'", '"')))
    yield from (("single quotes", f"'{value}'"), ("double quotes", f'"{value}"'), ("word lost", " ".join(value.split()[1:])), ("exclaimed", f"{value}!"))
    yield from (("colon", value.replace(" ", ": ")), ("as characters", list(value)), ("non-breaking", value.replace(" ", "\u00a0")))


def _other_lists(value: list[Any]) -> Iterator[tuple[str, Any]]:
    yield from (("list reversed", value[::-1]), ("list longer", [*value, *value[-1:]]), ("list and null", [*value, None]), ("list and text", [*value, "x"]))
    yield from (("list shorter", value[:-1]), ("list as object", {str(i): part for i, part in enumerate(value)}), ("joined", ", ".join(map(str, value))))
    for i in range(min(len(value), 3)):
        for name, other in other_values(value[i]):
            yield f"in list: {name}", [*value[:i], other, *value[i + 1 :]]


def _other_objects(value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from (("key more", {**value, "unexpected": 1}), ("keys turned", dict(reversed(value.items()))), ("object as list", list(value.values())))
    for key in list(value)[:4]:
        rest = {name: part for name, part in value.items() if name != key}
        yield from (("key lost", rest), ("key in upper case", {**rest, key.upper(): value[key]}), ("key lost and one more", {**rest, "unexpected": 1}))
        for name, other in other_values(value[key]):
            yield f"in object: {name}", {**value, key: other}
