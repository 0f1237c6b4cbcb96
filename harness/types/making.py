"""Frozen records that are made many times a step, made at half the price."""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, Final, TypeVar

T = TypeVar("T")
_SET_CLASS: Final = object.__dict__["__class__"].__set__


def quickly_made(cls: type[T]) -> type[T]:
    """The same frozen dataclass with slots, whose ``__init__`` sets the fields first and freezes them by the class.

    What ``dataclass`` makes goes through ``object.__setattr__`` for every field, which was an eighth of the price of
    a step (``make bench``). Like its own, this ``__init__`` is made from source that holds nothing but the names of
    fields. Raises TypeError for a class that has more to it: a ``__post_init__``, factories, fields that are no slots
    or no parameters.
    """
    mine = fields(cls)  # type: ignore[arg-type]
    plain = all(field.init and field.default_factory is MISSING for field in mine)
    if not plain or hasattr(cls, "__post_init__") or "__slots__" not in vars(cls):
        raise TypeError(f"{cls.__name__}: only plain frozen dataclasses with slots can be made quickly")
    opened = type(f"Open{cls.__name__}", cls.__bases__, {"__slots__": vars(cls)["__slots__"]})
    names: dict[str, Any] = {f"_{field.name}": field.default for field in mine}
    names.update(_set_class=_SET_CLASS, _open=opened, _frozen=cls)
    lines = [f"def __init__(self, {_parameters(mine)}):", " _set_class(self, _open)"]
    lines += [f" self.{field.name} = {field.name}" for field in mine]
    lines += [" self.__class__ = _frozen"]
    exec("\n".join(lines), names)  # noqa: S102 - as in dataclasses; no text from outside comes near it
    made = names["__init__"]
    made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    made.__annotations__ = cls.__init__.__annotations__
    cls.__init__ = made  # type: ignore[method-assign]
    return cls


def _parameters(mine: tuple[Field[Any], ...]) -> str:
    texts = [field.name if field.default is MISSING else f"{field.name}=_{field.name}" for field in mine]
    named = [text for text, field in zip(texts, mine, strict=True) if field.kw_only]
    others = [text for text, field in zip(texts, mine, strict=True) if not field.kw_only]
    return ", ".join([*others, "*", *named] if named else others)
