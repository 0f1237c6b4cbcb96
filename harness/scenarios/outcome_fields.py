"""Fields of how a final answer is judged: its outcome; read, and written back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pydantic import ConfigDict, Field, model_validator

from harness.scenarios.base import Fields, Filled, ObjectName, complaint
from harness.types.outcome import OutcomeRules


class OutcomeFields(Fields):
    """Who says what a final answer came to."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    status: Filled | None = None
    fields_: list[Filled] = Field(default_factory=list, alias="fields")
    verifier: ObjectName | None = None

    @model_validator(mode="after")
    def _judges(self) -> OutcomeFields:
        if not (self.status or self.fields_ or self.verifier):
            raise complaint("judges nothing; give 'status', 'fields' or 'verifier'")
        return self

    def made(self) -> OutcomeRules:
        return OutcomeRules(self.status, tuple(self.fields_), self.verifier)


def rules_document(rules: OutcomeRules | None) -> dict[str, Any]:
    """The fields of the rules in a document; empty for none."""
    pairs = ((spec.name, getattr(rules, spec.name)) for spec in fields(rules)) if rules else ()
    return {name: list(value) if isinstance(value, tuple) else value for name, value in pairs if value}
