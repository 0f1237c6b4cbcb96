"""Answers to the items of BFCL: right ones, and right ones with one thing changed. Seeded, so always the same."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.evaluate.bfcl import BfclNames
from harness.types.bfcl import BfclItem, Language, language_of
from tests.laws.bfcl_changes import other_values
from tests.laws.bfcl_text import RETOUCHES, Arguments, Raw, Retouched, sent_arguments

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
        made.append(Made(said, json.dumps(sent_arguments(item, name, arguments, rng), ensure_ascii=rng.random() < 0.5)))
    return Answer(item, change, names, tuple(made))
