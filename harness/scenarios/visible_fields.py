"""Fields of what is offered by turn and step, and of runtime context; read, and written back."""

from __future__ import annotations

import json
from typing import Annotated, Any, TypeAlias

from pydantic import Field, Tag

from harness.scenarios.base import FIELDS, LIST, Fields, Filled, Positive, by_shape
from harness.types.agents import VisibleRule
from harness.types.jsontext import canonical_json
from harness.types.messages import JsonText


class VisibleFields(Fields):
    """What is offered from a turn and a step on, both counted from 1."""

    tools: list[Filled]
    from_turn: Positive = 1
    from_step: Positive = 1

    def made(self) -> VisibleRule:
        return VisibleRule(tuple(self.tools), self.from_turn, self.from_step)


def made_rules(rules: list[VisibleFields]) -> tuple[VisibleRule, ...]:
    """The values, in their order."""
    return tuple(rule.made() for rule in rules)


def rules_document(rules: tuple[VisibleRule, ...]) -> list[dict[str, Any]]:
    """Each rule as it is written."""
    return [_rule(rule) for rule in rules]


def _rule(rule: VisibleRule) -> dict[str, Any]:
    since = {"from_turn": rule.from_turn, "from_step": rule.from_step}
    return {"tools": list(rule.tools), **{name: number for name, number in since.items() if number > 1}}


Context: TypeAlias = Annotated[
    Annotated[dict[str, Any], Tag(FIELDS)] | Annotated[list[dict[str, Any]], Field(min_length=1), Tag(LIST)],
    by_shape("a mapping, or a list of mappings, one a turn"),
]


def made_context(context: dict[str, Any] | list[dict[str, Any]] | None) -> tuple[JsonText, ...]:
    """Canonical JSON texts, one a turn; none where nothing is said."""
    values = [context] if isinstance(context, dict) else context or []
    return tuple(canonical_json(value) for value in values)


def told_document(values: tuple[JsonText, ...]) -> Any:
    """One mapping where one is enough to say it."""
    written = [json.loads(text) for text in values]
    return written[0] if len(written) == 1 and written[0] else written
