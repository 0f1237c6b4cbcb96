"""Small items of a public benchmark, and answers to them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harness.types.bfcl import BfclCall, BfclCategory, BfclFunction, BfclItem
from harness.types.jsontext import canonical_json

Schema = dict[str, Any]


@dataclass(frozen=True)
class Called:
    name: str
    arguments: str


def call(name: str = "f", **arguments: Any) -> Called:
    """A call with these arguments, in this order."""
    return Called(name, json.dumps(arguments))


def function(name: str = "f", required: tuple[str, ...] = (), **properties: Schema | str) -> BfclFunction:
    """A function; a property that is text is of that type."""
    declared = {key: {"type": one} if isinstance(one, str) else one for key, one in properties.items()}
    parameters = {"type": "dict", "properties": declared, "required": list(required)}
    return BfclFunction(name, f"What {name} does.", canonical_json(parameters))


def expected(name: str = "f", **answers: list[Any]) -> BfclCall:
    """A call of the ground truth, with its acceptable values."""
    return BfclCall(name, canonical_json(answers))


def item(
    *truth: BfclCall,
    functions: tuple[BfclFunction, ...] | BfclFunction,
    category: BfclCategory = BfclCategory.SIMPLE_PYTHON,
) -> BfclItem:
    """An item of a category."""
    several = functions if isinstance(functions, tuple) else (functions,)
    return BfclItem(f"{category}_1", category, (), several, truth)


def array(of: str) -> Schema:
    """A list of this type."""
    return {"type": "array", "items": {"type": of}}
