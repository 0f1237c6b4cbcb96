"""The published JSON Schema of the format, generated from the fields that the loader uses."""

from __future__ import annotations

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema

from harness.scenarios.base import Fields
from harness.scenarios.fields import ScenarioFields

SCHEMA_FILE: Final = "scenario.schema.json"
"""The golden copy in this package; editors may be pointed at it."""


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``format: harness-scenario/1``.

    It refuses all that the loader refuses by shape; what it cannot say (regular expressions, that
    ``otherwise`` comes last, sizes) the loader still checks.
    """
    return schema_of(ScenarioFields)


def schema_of(fields: type[Fields]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a format by the fields of its documents."""
    schema = fields.model_json_schema(by_alias=True, schema_generator=_Generator)
    return {"$schema": GenerateJsonSchema.schema_dialect, **schema}


class _Generator(GenerateJsonSchema):
    """Fields are left out, not null; and no titles, which would only repeat the names."""

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def tagged_union_schema(self, schema: Any) -> dict[str, Any]:
        generated = super().tagged_union_schema(schema)  # the loader chooses; members may overlap in form
        return {"anyOf": generated.pop("oneOf"), **generated}

    def default_schema(self, schema: Any) -> dict[str, Any]:
        generated = super().default_schema(schema)
        if generated.get("default", ...) is None:
            del generated["default"]
        return generated

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False
