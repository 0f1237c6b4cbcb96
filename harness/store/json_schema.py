"""JSON Schema of a line of a trajectory file, from the same shapes as writer and reader."""

from __future__ import annotations

from functools import partial
from typing import Any, assert_never

from harness.store.encode import encoder_of
from harness.store.ondisk import HEADER_TYPE, LINE_CLASSES, HeaderLine
from harness.store.shapes import (
    NO_DEFAULT,
    Either,
    Field,
    Flag,
    Many,
    Maybe,
    OneOf,
    Record,
    Row,
    Shape,
    Table,
    Text,
    Whole,
    Word,
    Words,
    record_of,
)
from harness.types.codes import Origin
from harness.types.jsontext import parse_json

Schema = dict[str, Any]

_WHOLE: Schema = {"type": "integer"}
_ENVELOPE: Schema = {
    "seq": {"type": "integer", "minimum": 0},
    "time": {"type": "integer", "description": "whole milliseconds since the first event"},
    "origin": {"enum": [origin.value for origin in Origin]},
    "agent": {"type": "string", "minLength": 1, "description": "left out for the root"},
    "turn": {"type": "integer", "description": "from 1 in a run"},
    "step": {"type": "integer", "description": "from 1 in each turn"},
}


def trajectory_schema() -> Schema:
    """The schema of one line of ``harness-trajectory/1``: the header, or an event."""
    defs: dict[str, Schema] = {}
    header = _line(HEADER_TYPE, record_of(HeaderLine), {}, defs)
    kinds: list[Schema] = [header]
    for kind, cls in LINE_CLASSES.items():
        skippable = {"ignorable": {"const": True}} if getattr(cls, "IGNORABLE", False) else {}
        kinds.append(_line(kind, record_of(cls), {**_ENVELOPE, **skippable}, defs))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "a line of a harness-trajectory/1 file",
        "description": "Line 1 is the header, every other line an event; each ends in a line feed. A field that"
        " is null or equals its default is left out.",
        "oneOf": [*kinds, _unknown()],
        "$defs": {name: defs[name] for name in sorted(defs)},
    }


def _line(kind: str, record: Record, envelope: Schema, defs: dict[str, Schema]) -> Schema:
    own = _object(record, defs)
    required = ["type", *(key for key in ("seq", "origin", "ignorable") if key in envelope), *own["required"]]
    properties = {"type": {"const": kind}, **envelope, **own["properties"]}
    return {**own, "title": kind, "properties": properties, "required": required}


def _unknown() -> Schema:
    return {
        "title": "a kind of a later version that says it may be ignored",
        "type": "object",
        "properties": {
            "type": {"type": "string", "not": {"enum": [HEADER_TYPE, *LINE_CLASSES]}},
            **_ENVELOPE,
            "ignorable": {"const": True},
        },
        "required": ["type", "seq", "origin", "ignorable"],
    }


def _object(record: Record, defs: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {field.key: _member(field, defs) for field in record.fields},
        "required": [field.key for field in record.fields if field.required],
        "additionalProperties": False,
    }


def _member(field: Field, defs: dict[str, Schema]) -> Schema:
    schema = schema_of(field.shape, defs)
    if field.default is NO_DEFAULT or field.default is None:
        return schema
    return {**schema, "default": parse_json(encoder_of(field.shape)(field.default))}


def schema_of(shape: Shape, defs: dict[str, Schema]) -> Schema:
    """The schema of a shape; records go into ``defs`` by the name of their class."""
    inner_schema = partial(schema_of, defs=defs)
    match shape:
        case Text():
            return {"type": "string"}
        case Whole():
            return dict(_WHOLE)
        case Flag():
            return {"type": "boolean"}
        case Words(enum):
            return {"enum": [member.value for member in enum]}
        case Word(word):
            return {"const": word}
        case Maybe(inner):
            return inner_schema(inner)
        case Many(inner):
            return {"type": "array", "items": inner_schema(inner)}
        case Row(items):
            prefix = list(map(inner_schema, items))
            return {"type": "array", "prefixItems": prefix, "items": False, "minItems": len(items)}
        case Table(inner):
            return {"type": "object", "additionalProperties": inner_schema(inner)}
        case Record():
            return _reference(shape, defs)
        case OneOf(members=members):
            return {"oneOf": [_reference(record, defs) for _, record in members]}
        case Either(options):
            return {"oneOf": list(map(inner_schema, options))}
        case _:
            assert_never(shape)


def _reference(record: Record, defs: dict[str, Schema]) -> Schema:
    name = record.cls.__name__
    if name not in defs:
        defs[name] = {}
        defs[name] = _object(record, defs)
    return {"$ref": f"#/$defs/{name}"}
