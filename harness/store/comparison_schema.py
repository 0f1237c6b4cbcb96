"""JSON Schema of ``harness-comparison/1``, the JSON of a review, from the records it is made of."""

from __future__ import annotations

from harness.folds import EXIT_CODES
from harness.store.json_schema import Schema, schema_of
from harness.store.shapes import NO_DEFAULT, Either, Many, Maybe, OneOf, Record, Row, Shape, Table, record_of
from harness.types.review import COMPARISON_FORMAT, Review


def comparison_schema() -> Schema:
    """The schema of the document that ``harness compare --json`` prints."""
    defs: dict[str, Schema] = {}
    review = record_of(Review)
    schema_of(review, defs)
    for record in _records(review, {}).values():
        _say_null(record, defs[record.cls.__name__])
    own = defs.pop("Review")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"a review of two sets of runs, {COMPARISON_FORMAT}",
        "description": "A field that equals its default is left out. Money is in micro-dollars, times are in ms.",
        **own,
        "properties": {
            "format": {"const": COMPARISON_FORMAT},
            "exitCode": {"enum": sorted({*EXIT_CODES.values()})},
            **own["properties"],
        },
        "required": ["format", "exitCode", *own["required"]],
        "$defs": {name: defs[name] for name in sorted(defs)},
    }


def _records(shape: Shape, found: dict[str, Record]) -> dict[str, Record]:
    """All records that a shape holds, by the name of their class."""
    match shape:
        case Record(cls=cls, fields=fields) if cls.__name__ not in found:
            found[cls.__name__] = shape
            for field in fields:
                _records(field.shape, found)
        case Maybe(inner) | Many(inner) | Table(inner):
            _records(inner, found)
        case Row(items) | Either(items):
            for item in items:
                _records(item, found)
        case OneOf(members=members):
            for _, member in members:
                _records(member, found)
    return found


def _say_null(record: Record, schema: Schema) -> None:
    """What may be missing and has no default is written as null here, where a trajectory leaves it out."""
    for field in record.fields:
        if field.default is NO_DEFAULT and isinstance(field.shape, Maybe):
            inner = schema["properties"][field.key]
            schema["properties"][field.key] = {"anyOf": [inner, {"type": "null"}]}
            schema["required"] = [*schema["required"], field.key]
