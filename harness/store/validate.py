"""From parsed JSON to frozen values: pydantic-core validators, built on first use.

Strict throughout: no number becomes text, no text a number, no key is unknown. Arrays become tuples
and words become members of their enum, which strict validation of Python values would refuse.
"""

from __future__ import annotations

from typing import Any, assert_never

from pydantic_core import CoreSchema, SchemaValidator, ValidationError
from pydantic_core import core_schema as core

from harness.store.shapes import (
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
    by_class,
    record_of,
)

STRICT = core.CoreConfig(strict=True, extra_fields_behavior="forbid", allow_inf_nan=False)


@by_class
def validator_of(cls: type[Any]) -> SchemaValidator:
    """The validator of a dataclass; ``validate_python`` takes what a JSON parser gives."""
    return SchemaValidator(_core(record_of(cls)), STRICT)


def what_is_wrong(error: ValidationError) -> str:
    """The first complaints of a validation error, with the path of each, without the values."""
    found = [
        f"{'.'.join(map(str, item['loc'])) or 'the record'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return "; ".join(found[:3]) + (f"; and {len(found) - 3} more" if len(found) > 3 else "")


def _core(shape: Shape) -> CoreSchema:
    match shape:
        case Text():
            return core.str_schema(strict=True)
        case Whole():
            return core.int_schema(strict=True)
        case Flag():
            return core.bool_schema(strict=True)
        case Words(enum):
            return core.enum_schema(enum, list(enum), sub_type="str", strict=False)
        case Word(word):
            return core.literal_schema([word])
        case Maybe(inner):
            return core.nullable_schema(_core(inner))
        case Many(inner):
            return core.tuple_variable_schema(_core(inner), strict=False)
        case Row(items):
            return core.tuple_positional_schema([_core(item) for item in items], strict=False)
        case Table(inner):
            return core.dict_schema(core.str_schema(strict=True), _core(inner), strict=True)
        case Record():
            return _record(shape)
        case OneOf(tag, members):
            return core.tagged_union_schema({word: _record(record) for word, record in members}, tag)
        case Either(options):
            return core.union_schema([_core(option) for option in options], mode="left_to_right")
        case _:
            assert_never(shape)


def _record(record: Record) -> CoreSchema:
    names = [field.name for field in record.fields]
    fields = [
        core.dataclass_field(field.name, _filled(field), kw_only=True, validation_alias=field.key)
        for field in record.fields
    ]
    args = core.dataclass_args_schema(record.cls.__name__, fields)
    return core.dataclass_schema(record.cls, args, names, slots=True, frozen=True, strict=False, config=STRICT)


def _filled(field: Field) -> CoreSchema:
    schema = _core(field.shape)
    if field.required:
        return schema
    return core.with_default_schema(schema, default=None if isinstance(field.shape, Maybe) else field.default)
