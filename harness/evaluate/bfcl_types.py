"""Which Python type a declared type of BFCL stands for when values are compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from harness.types.bfcl import LIST_TYPES, Language

_TYPES: Final[Mapping[Language, Mapping[str, type]]] = {
    Language.PYTHON: {
        "string": str,
        "any": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
    },
    Language.JAVA: {
        **dict.fromkeys(("String", "any", "char"), str),
        **dict.fromkeys(("byte", "short", "integer", "long"), int),
        **dict.fromkeys(("float", "double"), float),
        "boolean": bool,
        **dict.fromkeys(("Array", "ArrayList"), list),
        "HashMap": dict,
    },
    Language.JAVASCRIPT: {
        **dict.fromkeys(("String", "any"), str),
        **dict.fromkeys(("integer", "Bigint"), int),
        "float": float,
        "Boolean": bool,
        "array": list,
        "dict": dict,
    },
}


@dataclass(frozen=True, slots=True)
class Expected:
    """A declared type, and what is in it (lists only), by name and as the Python types they stand for."""

    declared: str
    outer: type
    items: str | None = None
    inner: type | None = None


def expected_of(language: Language, schema: Mapping[str, Any]) -> Expected:
    """What a parameter's schema, in the benchmark's form, asks of a value. One level of what is in a list counts."""
    declared = schema["type"]
    if declared not in LIST_TYPES:
        return Expected(declared, _TYPES[language][declared])
    items = schema["items"]["type"]
    return Expected(declared, _TYPES[language][declared], items, _TYPES[language][items])
