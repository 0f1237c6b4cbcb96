"""Answers to the items of BFCL: right ones, and right ones with one thing changed. Seeded, so always the same."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.evaluate.bfcl import BfclNames
from harness.types.bfcl import LIST_TYPES, BfclItem, Language, language_of

Arguments = dict[str, Any]
Calls = list[tuple[str, Arguments]]


@dataclass(frozen=True)
class Made:
    """A call as a grader takes it."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Answer:
    """One answer to one item; ``change`` names what was done to a right one."""

    item: BfclItem
    change: str
    names: BfclNames
    calls: tuple[Made, ...]


@dataclass(frozen=True)
class Raw:
    """A value that goes out as it is, where others of its language become text."""

    value: Any


@dataclass(frozen=True)
class Retouched:
    """A value that is changed after it has become text, where its language makes text of it."""

    value: Any
    change: str


# ---------------------------------------------------------------- right answers


def right(item: BfclItem, how: str, rng: random.Random) -> Calls:
    """Calls that the ground truth names. ``how``: "first" (of each list), "short" (what may be left out is), "any"."""
    calls = []
    for call in item.truth:
        chosen = {key: _chosen(choices, how, rng) for key, choices in json.loads(call.answers).items()}
        calls.append((call.name, {key: value for key, value in chosen.items() if value is not GONE}))
    return calls


GONE = object()


def _chosen(choices: Any, how: str, rng: random.Random) -> Any:
    if not isinstance(choices, list):
        return choices
    there = [choice for choice in choices if choice != ""]
    if "" in choices and (not there or how == "short" or (how == "any" and rng.random() < 0.5)):
        return GONE
    if not there:
        return []
    return _unfolded(rng.choice(there) if how == "any" else there[0], how, rng)


def _unfolded(value: Any, how: str, rng: random.Random) -> Any:
    """Objects of a ground truth have a list of choices at each key."""
    if isinstance(value, list):
        return [_unfolded(part, how, rng) if isinstance(part, dict) else part for part in value]
    if isinstance(value, dict):
        chosen = {key: _chosen(choices, how, rng) for key, choices in value.items()}
        return {key: part for key, part in chosen.items() if part is not GONE}
    return value


# ---------------------------------------------------------------- changes of a value


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


RETOUCHES: dict[str, Callable[[str], str]] = {
    "first character lost": lambda text: text[1:],
    "last character lost": lambda text: text[:-1],
    "spaces around": lambda text: f"  {text} ",
    "line feed behind": lambda text: f"{text}\n",
    "line feed at a comma": lambda text: text.replace(",", ",\n", 1),
    "line feed at a brace": lambda text: text.replace("{", "{\n", 1),
    "n behind": lambda text: f"{text}n",
    "L behind": lambda text: f"{text}L",
    "f behind": lambda text: f"{text}f",
    "zero behind a point": lambda text: f"{text}.0",
    "exponent": lambda text: f"{text}e1",
    "plus": lambda text: f"+{text}",
    "double quotes around": lambda text: f'"{text}"',
    "single quotes around": lambda text: f"'{text}'",
    "a lone quote": lambda text: f"'{text}",
    "in brackets": lambda text: f"[{text}]",
    "in braces": lambda text: f"{{{text}}}",
    "as an array": lambda text: f"new Array({text})",
    "as an object array": lambda text: f"new Object[]{{{text}}}",
    "as a list": lambda text: f"new ArrayList<Object>(Arrays.asList({text}))",
    "semicolon behind": lambda text: f"{text};",
    "comma behind": lambda text: f"{text},",
    "comma inside": lambda text: f"{text[:-1]},{text[-1:]}",
    "something behind": lambda text: f"{text} and more",
    "something before": lambda text: f"x = {text}",
    "upper case": str.upper,
    "twice": lambda text: f"{text}{text}",
    "quotes exchanged": lambda text: text.translate({34: 39, 39: 34}),
    "empty": lambda text: "",
    "a word": lambda text: "undefined",
    "new in two lines": lambda text: text.replace("new ", "new\n ", 1),
    "bracket behind": lambda text: f"{text}]",
    "brace behind": lambda text: f"{text}}}",
    "colon inside": lambda text: f"{text[:-1]}:{text[-1:]}",
}
"""What is done to the text of a Java or JavaScript value."""


# ---------------------------------------------------------------- changes of a call, and of all


def other_arguments(arguments: Arguments, language: Language) -> Iterator[tuple[str, Arguments]]:
    """The arguments of a call with one thing changed; text is retouched only where a language makes text of values."""
    for change, other in _other_arguments(arguments):
        if language is not Language.PYTHON or not change.startswith("text: "):
            yield change, other


def _other_arguments(arguments: Arguments) -> Iterator[tuple[str, Arguments]]:
    yield from (("argument more", {**arguments, "unexpected_one": 1}), ("no arguments", {}), ("arguments turned", dict(reversed(arguments.items()))))
    for key, value in arguments.items():
        rest = {name: part for name, part in arguments.items() if name != key}
        yield from (("argument lost", rest), ("argument renamed", {**rest, f"{key}_": value}), ("not as text", {**rest, key: Raw(value)}))
        for name, other in other_values(value):
            yield name, {**arguments, key: other}
        for name in RETOUCHES:
            yield f"text: {name}", {**arguments, key: Retouched(value, name)}


def other_calls(calls: Calls, item: BfclItem) -> Iterator[tuple[str, Calls]]:
    """All calls of an answer with one thing changed."""
    yield from (("no call", []), ("calls turned", calls[::-1]), ("every call twice", calls * 2), ("first call twice", [calls[0], *calls]))
    yield from (("last call lost", calls[:-1]), ("first call in place of all", calls[:1] * len(calls)))
    yield from (("call more", [*calls, ("unheard_of", {})]), ("name unheard of", [("unheard_of", calls[0][1]), *calls[1:]]))
    yield from (("name in upper case", [(calls[0][0].upper(), calls[0][1]), *calls[1:]]), ("names exchanged", _exchanged(calls)))
    for function in item.functions:
        if function.name != calls[0][0]:
            yield "another function", [(function.name, calls[0][1]), *calls[1:]]
    yield "calls rotated", calls[1:] + calls[:1]


def _exchanged(calls: Calls) -> Calls:
    names = [name for name, _ in calls]
    return [(name, arguments) for name, (_, arguments) in zip(names[1:] + names[:1], calls, strict=True)]


def answers(item: BfclItem, rng: random.Random, most: int) -> Iterator[Answer]:
    """Right answers to an item, then at most ``most`` others, in an order drawn by ``rng``."""
    if not item.truth:
        yield from _answers_without_truth(item, rng)
        return
    for how in ("first", "short", "any", "any"):
        for names in BfclNames:
            yield _answer(item, f"right: {how}", names, right(item, how, rng), rng)
    changed: list[tuple[str, Calls]] = []
    for how in ("first", "any"):
        base = right(item, how, rng)
        changed += other_calls(base, item)
        for i, (name, arguments) in enumerate(base):
            others = other_arguments(arguments, language_of(item.category))
            changed += ((change, [*base[:i], (name, other), *base[i + 1 :]]) for change, other in others)
    for change, calls in rng.sample(changed, min(most, len(changed))):
        yield _answer(item, change, rng.choice(list(BfclNames)), calls, rng)
    for _ in range(most // 6):
        yield _answer(item, "two changes", rng.choice(list(BfclNames)), _changed_twice(item, rng), rng)
    yield from _said_badly(item, right(item, "first", rng), rng)


def _changed_twice(item: BfclItem, rng: random.Random) -> Calls:
    calls = right(item, "any", rng)
    for _ in range(2):
        i = rng.randrange(len(calls))
        name, arguments = calls[i]
        _, other = rng.choice(list(other_arguments(arguments, language_of(item.category))))
        calls[i] = (name, other)
    return calls


def _answers_without_truth(item: BfclItem, rng: random.Random) -> Iterator[Answer]:
    calls: Calls = [(item.functions[0].name, {})] if item.functions else [("unheard_of", {})]
    for change, made in (("no call", []), ("one call", calls), ("two calls", calls * 2), ("unheard of", [("unheard_of", {"a": 1})])):
        yield _answer(item, change, rng.choice(list(BfclNames)), made, rng)
    yield from _said_badly(item, calls, rng)


def _said_badly(item: BfclItem, calls: Calls, rng: random.Random) -> Iterator[Answer]:
    """Calls whose arguments are no object, no JSON, or whose names have the other spelling."""
    good = _answer(item, "", BfclNames.UNDERSCORED, calls, rng)
    for change, text in (("cut JSON", '{"a": '), ("no JSON", ""), ("a list", "[]"), ("a number", "7"), ("null", "null"), ("text", '"{}"')):
        yield Answer(item, f"arguments: {change}", good.names, (*good.calls[:-1], Made(good.calls[-1].name, text)))
    yield Answer(item, "names of the other spelling", BfclNames.AS_WRITTEN, good.calls)
    dotted = _answer(item, "", BfclNames.AS_WRITTEN, calls, rng)
    yield Answer(item, "names of the other spelling", BfclNames.UNDERSCORED, dotted.calls)


def _answer(item: BfclItem, change: str, names: BfclNames, calls: Calls, rng: random.Random) -> Answer:
    made = []
    for name, arguments in calls:
        said = name.replace(".", "_") if names is BfclNames.UNDERSCORED else name
        made.append(Made(said, json.dumps(_sent(item, name, arguments, rng), ensure_ascii=rng.random() < 0.5)))
    return Answer(item, change, names, tuple(made))


# ---------------------------------------------------------------- values as text


def _sent(item: BfclItem, name: str, arguments: Arguments, rng: random.Random) -> Arguments:
    language = language_of(item.category)
    if language is Language.PYTHON:
        return {key: _unwrapped(value) for key, value in arguments.items()}
    function = next((function for function in item.functions if function.name == name), item.functions[0])
    declared = json.loads(function.parameters)["properties"]
    write = _java if language is Language.JAVA else _javascript

    def sent(key: str, value: Any) -> Any:
        if isinstance(value, Raw):
            return _unwrapped(value)
        if isinstance(value, Retouched):
            return RETOUCHES[value.change](str(sent(key, value.value)))
        return write(value, declared.get(key, {"type": "any"}), rng)

    return {key: sent(key, value) for key, value in arguments.items()}


def _unwrapped(value: Any) -> Any:
    while isinstance(value, (Raw, Retouched)):
        value = value.value
    return value


def _javascript(value: Any, schema: dict[str, Any], rng: random.Random) -> str:
    kind = schema["type"]
    if isinstance(value, str):
        return rng.choice((value, value, f'"{value}"', f"'{value}'")) if kind == "String" else value
    if kind == "Bigint" and isinstance(value, int):
        return f"{value}n"
    if isinstance(value, list) and rng.random() < 0.3:
        return f"new Array({', '.join(_js_literal(part, rng) for part in value)})"
    return _js_literal(value, rng)


def _js_literal(value: Any, rng: random.Random) -> str:
    gap = rng.choice((" ", "", "  "))
    if isinstance(value, list):
        return "[" + f",{gap}".join(_js_literal(part, rng) for part in value) + "]"
    if isinstance(value, dict):
        quote = rng.choice(("", '"', "'"))
        return "{" + f",{gap}".join(f"{quote}{key}{quote}:{gap}{_js_literal(part, rng)}" for key, part in value.items()) + "}"
    if isinstance(value, str):
        return rng.choice((f'"{value}"', f"'{value}'", value))
    if isinstance(value, float) and value.is_integer() and rng.random() < 0.5:
        return str(int(value))
    return json.dumps(value)


_JAVA_NUMBERS: dict[str, Callable[[Any], str]] = {"long": lambda value: f"{value}L", "float": lambda value: f"{value}f"}


def _java(value: Any, schema: dict[str, Any], rng: random.Random) -> str:
    kind = schema["type"]
    inner = schema["items"]["type"] if kind in LIST_TYPES else "any"
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [_java_literal(part, inner, rng) for part in value]
        if kind == "Array":
            return f"new Object[]{{{', '.join(parts)}}}"
        if rng.random() < 0.5 or not parts:
            return f"new ArrayList<Object>(Arrays.asList({', '.join(parts)}))" if parts else "new ArrayList<>()"
        return f"new ArrayList<Object>() {{{{ {' '.join(f'add({part});' for part in parts)} }}}}"
    if isinstance(value, dict):
        puts = " ".join(f'put("{key}", {_java_literal(part, "", rng)});' for key, part in value.items())
        return f"new HashMap<String, Object>() {{{{ {puts} }}}}" if puts else "new HashMap<>()"
    return _java_literal(value, kind, rng)


def _java_literal(value: Any, kind: str, rng: random.Random) -> str:
    if isinstance(value, str):
        return value if kind == "any" or rng.random() < 0.4 else f'"{value}"'
    if kind in _JAVA_NUMBERS and not isinstance(value, (bool, type(None))) and rng.random() < 0.9:
        return _JAVA_NUMBERS[kind](value)
    return json.dumps(value)
