"""One expected value against one actual value.

JSON's notion of same: 1 and 1.0 are one number, true is not a number, whole numbers are exact
(INVARIANTS 18, 20). A matcher is plain JSON (equal), or an object with one of these keys, at any
depth of plain JSON:

- ``{"$any": true}``: anything that is there;
- ``{"$equal": value}``: that value, nothing in it read as a matcher;
- ``{"$one_of": [a, b]}``: what one of these (again matchers) matches;
- ``{"$regex": "..."}``: text in which Python's ``re.search`` finds the pattern: ``$`` stands also before a newline
  that ends the text, ``\\Z`` at its very end only;
- ``{"$subset": {...}}``: an object with at least these properties (each again a matcher);
- ``{"$near": {"value": x, "tolerance": t}}``: a number at most ``t`` away, reckoned without rounding on the numbers
  as they are written in decimals: 0.2 and 0.4 are 0.1 away from 0.3;
- ``{"$contains": x}``: text that holds the text ``x``, or a list with an element that ``x`` matches;
- ``{"$optional": x}``: as the value of a property, which may be left out; where it is there, ``x`` matches it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Final

from harness.errors import InvalidValueError, UsageError
from harness.types.jsontext import canonical_json

_SHOWN: Final = 80
_OPTIONAL: Final = "$optional"


class Differs(StrEnum):
    """How an actual value differs: another value, a property that is not there, or one that should not be."""

    VALUE = "value"
    LEFT_OUT = "left out"
    SURPLUS = "surplus"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Where an actual value is not what was expected.

    ``path`` is ``a.b[0]`` from the value matched, "" for the value itself; ``message`` says what
    was expected and what was there.
    """

    path: str
    message: str
    how: Differs = Differs.VALUE

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def match_value(matcher: Any, actual: Any) -> list[Mismatch]:
    """Every place where ``actual`` is not what ``matcher`` asks for; empty: it matches.

    Both are plain JSON values. Raises UsageError for a matcher that is none (unknown ``$`` key,
    bad pattern): such an expectation could not fail for the right reason.
    """
    problems = matcher_problems(matcher)
    if problems:
        raise UsageError(f"not a matcher: {problems[0]}")
    return differences(matcher, actual)


def differences(matcher: Any, actual: Any) -> list[Mismatch]:
    """As :func:`match_value`, of one in which :func:`matcher_problems` finds nothing: it is not looked at again."""
    return list(_differences(matcher, actual, ""))


def exactly(value: Any) -> Any:
    """A matcher that this JSON value meets and no other: itself, unless something in it reads like a matcher."""
    return {"$equal": value} if _reads_like_one(value) else value


def _reads_like_one(value: Any) -> bool:
    if isinstance(value, dict):
        return any(key.startswith("$") or _reads_like_one(item) for key, item in value.items())
    return isinstance(value, list) and any(map(_reads_like_one, value))


def same_json(one: Any, other: Any) -> bool:
    """Equal as JSON: objects without regard to order, numbers by value, true never a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float):
        return isinstance(other, int | float) and one == other
    if isinstance(one, dict):
        same_keys = isinstance(other, dict) and one.keys() == other.keys()
        return same_keys and all(same_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same_json, one, other))
    return type(one) is type(other) and bool(one == other)


def matcher_problems(matcher: Any, path: str = "") -> list[Mismatch]:
    """What is wrong with a matcher itself, for whoever loads it; empty: nothing."""
    try:
        canonical_json(matcher)
    except InvalidValueError as error:
        return [Mismatch(path, str(error))]
    return _problems(matcher, path)


def _problems(matcher: Any, path: str) -> list[Mismatch]:
    if isinstance(matcher, list):
        return [found for i, item in enumerate(matcher) for found in _problems(item, f"{path}[{i}]")]
    if not isinstance(matcher, dict):
        return []
    operators = [key for key in matcher if key.startswith("$")]
    if not operators:
        return [found for key, item in matcher.items() for found in _problems(item, _under(path, key))]
    name = operators[0]
    if name not in _OPERATORS:
        known = ", ".join(sorted(_OPERATORS))
        return [Mismatch(path, f"unknown matcher {name!r}; known are {known}")]
    if len(matcher) > 1:
        return [Mismatch(path, f"{name!r} stands alone in its object; found {len(matcher)} keys")]
    wrong = _ARGUMENTS[name](matcher[name])
    if wrong:
        return [Mismatch(path, f"{name!r} {wrong}")]
    return [] if name == "$equal" else _problems(matcher[name], _under(path, name))


# ---------------------------------------------------------------- differences


def _differences(matcher: Any, actual: Any, path: str) -> Iterator[Mismatch]:
    if isinstance(matcher, dict):
        if len(matcher) == 1:
            (name,) = matcher
            if name in _OPERATORS:
                yield from _OPERATORS[name](matcher[name], actual, path)
                return
        yield from _object_differences(matcher, actual, path, closed=True)
    elif isinstance(matcher, list):
        yield from _list_differences(matcher, actual, path)
    elif not same_json(matcher, actual):
        yield _unlike(matcher, actual, path)


def _object_differences(matcher: dict[str, Any], actual: Any, path: str, *, closed: bool) -> Iterator[Mismatch]:
    if not isinstance(actual, dict):
        yield _unlike(matcher, actual, path)
        return
    for key, value in matcher.items():
        if key in actual:
            yield from _differences(value, actual[key], _under(path, key))
        elif not _may_be_absent(value):
            yield Mismatch(_under(path, key), f"expected {_shown(value)}, was left out", Differs.LEFT_OUT)
    for key, value in actual.items() if closed else ():
        if key not in matcher:
            yield Mismatch(_under(path, key), f"expected nothing, was {_shown(value)}", Differs.SURPLUS)


def _may_be_absent(matcher: Any) -> bool:
    return isinstance(matcher, dict) and len(matcher) == 1 and _OPTIONAL in matcher


def _list_differences(matcher: list[Any], actual: Any, path: str) -> Iterator[Mismatch]:
    if not isinstance(actual, list):
        yield _unlike(matcher, actual, path)
        return
    if len(matcher) != len(actual):
        yield Mismatch(path, f"expected {len(matcher)} elements, were {len(actual)}")
    for index, (value, found) in enumerate(zip(matcher, actual, strict=False)):
        yield from _differences(value, found, f"{path}[{index}]")


# ---------------------------------------------------------------- operators


def _equal(value: Any, actual: Any, path: str) -> Iterator[Mismatch]:
    if not same_json(value, actual):
        yield _unlike(value, actual, path)


def _regex(pattern: str, actual: Any, path: str) -> Iterator[Mismatch]:
    if not isinstance(actual, str) or not re.search(pattern, actual):
        yield Mismatch(path, f"expected text with a match of {pattern!r}, was {_shown(actual)}")


def _subset(properties: dict[str, Any], actual: Any, path: str) -> Iterator[Mismatch]:
    return _object_differences(properties, actual, path, closed=False)


def _one_of(choices: list[Any], actual: Any, path: str) -> Iterator[Mismatch]:
    if all(any(_differences(choice, actual, "")) for choice in choices):
        yield Mismatch(path, f"expected one of {_shown(choices)}, was {_shown(actual)}")


def _near(near: dict[str, Any], actual: Any, path: str) -> Iterator[Mismatch]:
    value, tolerance = near["value"], near.get("tolerance", 0)
    if _is_number(actual) and _distance(value, actual) <= _as_written(tolerance):
        return
    yield Mismatch(path, f"expected a number within {tolerance} of {value}, was {_shown(actual)}")


def _distance(one: float, other: float) -> Fraction:
    """How far apart two numbers are as they are written. Whole floats beyond 2^53 are not written out: between whole
    numbers the exact distance counts too, so that equal ones are none apart.
    """
    written = abs(_as_written(one) - _as_written(other))
    if one == int(one) and other == int(other):
        return min(written, Fraction(abs(int(one) - int(other))))
    return written


def _as_written(number: float) -> Fraction:
    """The number of its shortest decimals, not the binary fraction next to it."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def _contains(part: Any, actual: Any, path: str) -> Iterator[Mismatch]:
    if isinstance(actual, str):
        found = isinstance(part, str) and part in actual
    else:
        found = isinstance(actual, list) and any(not list(_differences(part, item, "")) for item in actual)
    if not found:
        yield Mismatch(path, f"expected something that holds {_shown(part)}, was {_shown(actual)}")


_OPERATORS: Final[dict[str, Callable[[Any, Any, str], Iterator[Mismatch]]]] = {
    "$any": lambda _, __, ___: iter(()),
    "$equal": _equal,
    "$one_of": _one_of,
    "$regex": _regex,
    "$subset": _subset,
    "$near": _near,
    "$contains": _contains,
    _OPTIONAL: _differences,
}


# ---------------------------------------------------------------- what operators take


def _bad_pattern(value: Any) -> str:
    if not isinstance(value, str):
        return "takes a pattern (text)"
    try:
        re.compile(value)
    except re.error as error:
        return f"takes a regular expression; {value!r} is none: {error}"
    return ""


def _bad_subset(value: Any) -> str:
    if not isinstance(value, dict):
        return "takes an object"
    odd = next((key for key in value if key.startswith("$")), None)
    return "" if odd is None else f"takes an object of properties; {odd!r} is none: matchers stand at their values"


def _bad_near(value: Any) -> str:
    if isinstance(value, dict) and "value" in value and set(value) <= {"value", "tolerance"}:
        tolerance = value.get("tolerance", 0)
        if _is_number(value["value"]) and _is_number(tolerance) and tolerance >= 0:
            return ""
    return "takes an object of two numbers, 'value' and 'tolerance' (0 or more)"


_ARGUMENTS: Final[dict[str, Callable[[Any], str]]] = {
    "$any": lambda value: "" if value is True else "takes true",
    "$equal": lambda _: "",
    "$one_of": lambda value: "" if isinstance(value, list) and value else "takes a list with at least one value",
    "$regex": _bad_pattern,
    "$subset": _bad_subset,
    "$near": _bad_near,
    "$contains": lambda _: "",
    _OPTIONAL: lambda _: "",
}


# ---------------------------------------------------------------- words


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unlike(expected: Any, actual: Any, path: str) -> Mismatch:
    return Mismatch(path, f"expected {_shown(expected)}, was {_shown(actual)}")


def _shown(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _under(path: str, key: str) -> str:
    name = key if re.fullmatch(r"[\w$-]+", key) else f"[{canonical_json(key)}]"
    return f"{path}.{name}" if path and not name.startswith("[") else f"{path}{name}"
