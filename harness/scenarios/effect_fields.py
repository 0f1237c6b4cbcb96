"""Fields of ``expect.effects``: how often tools may take effect; read, and written back."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from pydantic import ConfigDict, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, LIST, Choice, Count, Fields, Filled, by_shape, complaint
from harness.scenarios.matchers import Matchers
from harness.types.effects import EffectsPer, ExpectedEffects
from harness.types.jsontext import canonical_json

_NUMBERS: Final = ("at_most", "exactly")
_PER: Final = tuple(per.value for per in EffectsPer)


class OneEffectFields(Fields):
    """How often a tool takes effect."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": [name]} for name in _NUMBERS]})
    at_most: Count | None = None
    exactly: Count | None = None
    when: Matchers | None = None
    per: Annotated[str, Choice(_PER)] = EffectsPer.RUN.value

    @model_validator(mode="after")
    def _one_number(self) -> OneEffectFields:
        given = self.given(*_NUMBERS)
        if len(given) != 1:
            raise complaint(f"must have one of {', '.join(_NUMBERS)}, has {' and '.join(given) or 'neither'}")
        if self.exactly == 0 and self.per == EffectsPer.ARGUMENTS.value:
            raise complaint("cannot fail: no set of arguments occurs without an effect; leave 'per' out", field="per")
        return self

    def made(self, tool: str) -> ExpectedEffects:
        when = None if self.when is None else canonical_json(self.when)
        return ExpectedEffects(tool, self.at_most, self.exactly, when, EffectsPer(self.per))


EffectsFields: TypeAlias = dict[
    Filled,
    Annotated[
        Annotated[OneEffectFields, Tag(FIELDS)]
        | Annotated[Annotated[list[OneEffectFields], Field(min_length=1)], Tag(LIST)],
        by_shape("{at_most: 1}, {exactly: 1}, or a list of such"),
    ],
]


def effects_made(fields: EffectsFields) -> tuple[ExpectedEffects, ...]:
    """What is expected of each tool, by name, in order."""
    listed = ((tool, given if isinstance(given, list) else [given]) for tool, given in sorted(fields.items()))
    return tuple(one.made(tool) for tool, given in listed for one in given)


def effects_document(effects: tuple[ExpectedEffects, ...]) -> dict[str, Any]:
    """The fields that say something."""
    by_tool: dict[str, list[dict[str, Any]]] = {}
    for one in effects:
        by_tool.setdefault(one.tool, []).append(_written(one))
    return {tool: given[0] if len(given) == 1 else given for tool, given in by_tool.items()}


def _written(one: ExpectedEffects) -> dict[str, Any]:
    number = {"exactly": one.exactly} if one.exactly is not None else {"at_most": one.at_most}
    when = {} if one.when is None else {"when": json.loads(one.when)}
    return {**number, **when, **({} if one.per is EffectsPer.RUN else {"per": one.per.value})}
