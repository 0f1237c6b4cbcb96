"""What all fields of the format share: strictness, known names, closed choices, shapes.

One description gives both the loader and the published JSON Schema.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from harness.plugins import is_name, suggestion

LATER: Final = "comes later and is refused until it does its whole work"


def complaint(message: str, *, field: str | tuple[str | int, ...] | None = None) -> PydanticCustomError:
    """An error with our own words; ``field`` names what inside the value it is about (a path: a tuple)."""
    context: dict[str, Any] = {"message": message} if field is None else {"message": message, "field": field}
    return PydanticCustomError("complaint", "{message}", context)


class Fields(BaseModel):
    """A mapping of known fields: strict types, no unknown names, no field without a value."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, protected_namespaces=())
    later: ClassVar[tuple[str, ...]] = ()
    nullable: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = cls.known()
        for name, value in data.items():
            if name in cls.later:
                raise complaint(f"{name!r} {LATER}", field=name)
            if name not in known:
                raise complaint(f"unknown field {name!r}{suggestion(str(name), known)}", field=str(name))
            if value is None and name not in cls.nullable:
                raise complaint("has no value; give one, or remove the field", field=name)
        return data

    @classmethod
    def known(cls) -> tuple[str, ...]:
        """The fields as they are spelled in documents."""
        return tuple(info.alias or name for name, info in cls.model_fields.items())

    def given(self, *names: str) -> list[str]:
        """Which of these fields stand in the document, by their Python names."""
        return [name for name in names if name in self.model_fields_set]


@dataclass(frozen=True, slots=True)
class Choice:
    """Text out of a closed set; ``later`` are words that are known and not offered yet."""

    values: tuple[str, ...]
    later: tuple[str, ...] = ()

    def _check(self, value: str) -> str:
        if value in self.later:
            raise complaint(f"{value!r} {LATER}")
        if value not in self.values:
            raise complaint(f"unknown value {value!r}{suggestion(value, self.values)}")
        return value

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "enum": list(self.values)}


TEXT: Final = "<text>"
FIELDS: Final = "<fields>"
LIST: Final = "<list>"


def shape(value: Any) -> str | None:
    """The tag of a value that may be text, a mapping or a list. Tags never look like field names."""
    if isinstance(value, str):
        return TEXT
    if isinstance(value, dict):
        return FIELDS
    return LIST if isinstance(value, list) else None


def by_shape(what: str) -> Discriminator:
    """Choose a member of a union by the value's shape; ``what`` says which shapes there are."""
    return Discriminator(shape, custom_error_type="shape", custom_error_message=f"must be {what}")


def _check_name(text: str) -> str:
    if not is_name(text):
        raise complaint(f"{text!r} is no name of an object; write 'package.module:name'")
    return text


def _check_regex(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise complaint(f"{text!r} is no regular expression: {error}") from None
    return text


_OBJECT_SCHEMA: Final = {"type": "string", "pattern": r"^[^\s:/\\]+:[^\s:/\\]+$"}
ObjectName: TypeAlias = Annotated[str, AfterValidator(_check_name), WithJsonSchema(_OBJECT_SCHEMA)]
Regex: TypeAlias = Annotated[str, AfterValidator(_check_regex), WithJsonSchema({"type": "string", "format": "regex"})]


def _check_amount(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise complaint(f"must be a number, is {value!r:.40}")
    if value < 0:
        raise complaint(f"must be at least 0, is {value}")
    return value


Amount: TypeAlias = Annotated[Any, AfterValidator(_check_amount), WithJsonSchema({"type": "number", "minimum": 0})]
"""A number that is not negative, whole or not, as it was written."""


def _check_unique(values: list[Any]) -> list[Any]:
    double = next((value for number, value in enumerate(values) if value in values[:number]), None)
    if double is not None:
        raise complaint(f"has {double!r} twice; once is enough")
    return values


def _check_words(text: str) -> str:
    if not text.strip():
        raise complaint("must not be empty")
    return text


UNIQUE: Final = (AfterValidator(_check_unique), Field(json_schema_extra={"uniqueItems": True}))
"""What a list is annotated with that names nothing twice: ``Annotated[list[X], *UNIQUE]``."""
Words: TypeAlias = Annotated[
    str, AfterValidator(_check_words), Field(min_length=1, json_schema_extra={"pattern": r"\S"})
]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Positive: TypeAlias = Annotated[int, Field(ge=1)]
Filled: TypeAlias = Annotated[str, Field(min_length=1)]
