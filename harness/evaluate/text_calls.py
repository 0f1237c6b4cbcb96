"""A call that sits in the text of an answer, where no endpoint reads it. It is looked for, never run."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any, Final

from harness.types.jsontext import MAX_DEPTH

_NAME_KEYS: Final = ("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name")
_LONGEST: Final = 100_000
_MOST_OBJECTS: Final = 200
_DECODER: Final = json.JSONDecoder()
_TAGS: Final = re.compile(
    r"<\|?(?:tool_calls?|function(?:_call)?|invoke|python_tag)\b|\[TOOL_CALLS\]|<\|tool_call", re.I
)
_PLAIN_WORD: Final = re.compile(r"[a-z]+")


def call_in_text(content: str | None, names: Collection[str]) -> str | None:
    """The offered name that a text calls, or None: as JSON (alone, in a fence, in prose), behind a tag such as
    ``<tool_call>``, as ``name(arguments)``, or as the bare name that is the whole text.
    """
    text = (content or "")[:_LONGEST]
    if not text.strip() or not names:
        return None
    bare = text.strip().strip("`'\"*.() \n")
    if bare in names:
        return bare
    return _in_json(text, names) or _behind_a_tag(text, names) or _as_a_function(text, names)


def _in_json(text: str, names: Collection[str]) -> str | None:
    for value in _objects(text):
        for name in _called_by(value):
            if name in names:
                return name
    return None


def _objects(text: str) -> Iterator[Any]:
    """Values of JSON objects and arrays in a text, outermost first; at most 200."""
    place = 0
    for _ in range(_MOST_OBJECTS):
        start = min((at for at in (text.find("{", place), text.find("[", place)) if at >= 0), default=-1)
        if start < 0:
            return
        try:
            value, place = _DECODER.raw_decode(text, start)
            yield value
        except (ValueError, RecursionError):  # no JSON from here on, or deeper than a reader goes
            place = start + 1


def _called_by(value: Any, depth: int = 0) -> Iterator[str]:
    """Names that a value may call: under a usual key, or as its one key with an object of arguments."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _called_by(item, depth + 1)
    elif isinstance(value, dict):
        for key in _NAME_KEYS:
            if isinstance(value.get(key), str):
                yield value[key].removeprefix("functions.")
        if len(value) == 1:
            (key, inner), *_ = value.items()
            if isinstance(inner, dict):
                yield key
        for inner in value.values():
            if isinstance(inner, dict | list):
                yield from _called_by(inner, depth + 1)


def _behind_a_tag(text: str, names: Collection[str]) -> str | None:
    for tag in _TAGS.finditer(text):
        found = _whole_word(tuple(sorted(names, key=len, reverse=True))).search(text, tag.start(), tag.end() + 300)
        if found:
            return found.group()
    return None


def _as_a_function(text: str, names: Collection[str]) -> str | None:
    for name in sorted(names):
        if _as_call(name).search(text):
            return name
    return None


@lru_cache(maxsize=128)
def _whole_word(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<![\w.-])(?:" + "|".join(map(re.escape, names)) + r")(?![\w-])")


@lru_cache(maxsize=512)
def _as_call(name: str) -> re.Pattern[str]:
    """``name(…)``; a plain word only where it begins a line, since prose has brackets too."""
    before = r"^[\s`>\[*-]*" if _PLAIN_WORD.fullmatch(name) else r"(?<![\w.])"
    return re.compile(before + re.escape(name) + r"\([^()]*(?:\([^()]*\)[^()]*)*\)", re.M)
