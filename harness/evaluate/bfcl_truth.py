"""Rows of BFCL that cannot be answered rightly by the benchmark's own rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.evaluate.bfcl_types import expected_of
from harness.evaluate.bfcl_values import LEFT_OUT, refusal_of_value
from harness.types.bfcl import BfclCall, BfclItem, Language, language_of


def defects_of(item: BfclItem) -> tuple[str, ...]:
    """Why no answer to this item is valid, a sentence for each parameter; empty: there is one."""
    return tuple(why for call in item.truth for why in _defects(item, call))


def _defects(item: BfclItem, call: BfclCall) -> Iterator[str]:
    properties, required = _declared(item, call)
    answers = json.loads(call.answers)
    for key in required:
        if key not in answers:
            yield f"{call.name}.{key} is required, and nothing is accepted for it"
    for key, choices in answers.items():
        if LEFT_OUT in choices and key not in required:
            continue
        if not any(_accepted(language_of(item.category), properties.get(key), choice, choices) for choice in choices):
            why = "is expected and not declared" if key not in properties else "takes no value that its rules accept"
            yield f"{call.name}.{key} {why}"


def _declared(item: BfclItem, call: BfclCall) -> tuple[Mapping[str, Any], Sequence[str]]:
    function = next(function for function in item.functions if function.name == call.name)
    schema = json.loads(function.parameters)
    return schema["properties"], schema.get("required", [])


def _accepted(language: Language, schema: Mapping[str, Any] | None, choice: Any, choices: Sequence[Any]) -> bool:
    """Whether a value that the choice stands for is accepted: as it is, or with what may be left out left out."""
    if schema is None:
        return False
    expected = expected_of(language, schema)
    value = float(choice) if expected.outer is float and type(choice) is int else choice
    return any(refusal_of_value(one, expected, choices) is None for one in _meant(value))


def _meant(choice: Any) -> Iterator[Any]:
    """The values that one acceptable value stands for: an object has a list of acceptable values at each key."""
    if isinstance(choice, dict):
        yield _unfolded(choice, short=False)
        yield _unfolded(choice, short=True)
    elif isinstance(choice, list) and any(isinstance(part, dict) for part in choice):
        for short in (False, True):
            yield [_unfolded(part, short=short) if isinstance(part, dict) else part for part in choice]
    else:
        yield choice


def _unfolded(choice: Mapping[str, Any], *, short: bool) -> dict[str, Any]:
    meant = {}
    for key, choices in choice.items():
        there = [one for one in choices if one != LEFT_OUT]
        if there and not (short and LEFT_OUT in choices):
            meant[key] = there[0]
    return meant
