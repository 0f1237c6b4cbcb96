"""Values as the Java and JavaScript categories of BFCL want them: text, and what can be done to it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.types.bfcl import LIST_TYPES, BfclItem, Language, language_of

Arguments = dict[str, Any]


@dataclass(frozen=True)
class Raw:
    """A value that goes out as it is, where others of its language become text."""

    value: Any


@dataclass(frozen=True)
class Retouched:
    """A value that is changed after it has become text, where its language makes text of it."""

    value: Any
    change: str


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


def sent_arguments(item: BfclItem, name: str, arguments: Arguments, rng: random.Random) -> Arguments:
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
