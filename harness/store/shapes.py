"""The shapes of what is on disk, read once from the type hints of the ground's dataclasses.

Writer, reader and JSON Schema are three walks over the same tree, so they cannot disagree. One rule
says which fields are written (**wire**): a field that is null or equals its default is left out;
the word that tells the members of a union apart is always there.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from harness.types.messages import camel

NO_DEFAULT: Final = object()
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number of any size; never a boolean."""


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True)
class Words:
    """One word of a closed set."""

    enum: type[StrEnum]


@dataclass(frozen=True, slots=True)
class Word:
    """Exactly this word."""

    word: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """The inner shape, or nothing."""

    inner: Shape


@dataclass(frozen=True, slots=True)
class Many:
    """A tuple of any length; an array on disk."""

    inner: Shape


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple of fixed length; an array on disk."""

    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A dictionary with text keys; an object on disk."""

    inner: Shape


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its name in Python, its key on disk, its default (NO_DEFAULT where it has none)."""

    name: str
    key: str
    shape: Shape
    default: Any

    @property
    def required(self) -> bool:
        """True when every line must have it: no default, and null is no value of it."""
        return self.default is NO_DEFAULT and not isinstance(self.shape, Maybe)


@dataclass(frozen=True, slots=True)
class Record:
    """A dataclass; an object on disk."""

    cls: type[Any]
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class OneOf:
    """Records told apart by the word under ``tag``."""

    tag: str
    members: tuple[tuple[str, Record], ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Text, or parts: shapes that JSON's own types tell apart."""

    options: tuple[Shape, ...]


Shape: TypeAlias = Text | Whole | Flag | Words | Word | Maybe | Many | Row | Table | Record | OneOf | Either


def by_class(build: Callable[[type[Any]], T]) -> Callable[[type[Any]], T]:
    """Keep what is built for a class (``functools.cache`` does not take types for hashable)."""
    built: dict[type[Any], T] = {}

    def get(cls: type[Any]) -> T:
        if cls not in built:
            built[cls] = build(cls)
        return built[cls]

    return get


@by_class
def record_of(cls: type[Any]) -> Record:
    """The shape of a dataclass. Raises TypeError for a field that has no place on disk."""
    hints = get_type_hints(cls)
    return Record(cls, tuple(_field(field, hints[field.name]) for field in dataclasses.fields(cls)))


def _field(field: dataclasses.Field[Any], hint: Any) -> Field:
    shape = shape_of(hint)
    default: Any = NO_DEFAULT
    if field.default is not dataclasses.MISSING:
        default = field.default
    elif field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    return Field(field.name, camel(field.name), shape, NO_DEFAULT if isinstance(shape, Word) else default)


def shape_of(hint: Any) -> Shape:
    """The shape of a type hint. Raises TypeError for one that has no place on disk."""
    hint = getattr(hint, "__supertype__", hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _union(args)
    if origin is tuple:
        return Many(shape_of(args[0])) if args[1:] == (...,) else Row(tuple(map(shape_of, args)))
    if origin is dict and args[0] is str:
        return Table(shape_of(args[1]))
    if origin is Literal and len(args) == 1:
        return Word(args[0])
    if isinstance(hint, type):
        return _plain(hint)
    raise TypeError(f"{hint!r} has no place on disk")


def _plain(hint: type[Any]) -> Shape:
    if hint is str:
        return Text()
    if hint is bool:
        return Flag()
    if hint is int:
        return Whole()
    if issubclass(hint, StrEnum):
        return Words(hint)
    if dataclasses.is_dataclass(hint):
        return record_of(hint)
    raise TypeError(f"{hint!r} has no place on disk")


def _union(args: tuple[Any, ...]) -> Shape:
    inner = tuple(arg for arg in args if arg is not NoneType)
    shapes = tuple(map(shape_of, inner))
    shape = shapes[0] if len(shapes) == 1 else _choice(shapes)
    return Maybe(shape) if len(inner) < len(args) else shape


def _choice(shapes: tuple[Shape, ...]) -> Shape:
    records = tuple(shape for shape in shapes if isinstance(shape, Record))
    if len(records) < len(shapes):
        return Either(shapes)
    tags = {field.key for field in records[0].fields if isinstance(field.shape, Word)}
    (tag,) = tags
    return OneOf(tag, tuple((_word(record, tag), record) for record in records))


def _word(record: Record, tag: str) -> str:
    for field in record.fields:
        if field.key == tag and isinstance(field.shape, Word):
            return field.shape.word
    raise TypeError(f"{record.cls.__name__} has no word under {tag!r}")
