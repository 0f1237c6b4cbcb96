"""One stated rule how a tool's value becomes what the model sees (ARTICLES 5, CONFORMANCE 40).

========================================  ==============================================
value                                     content
========================================  ==============================================
``str``                                   the text as it is
``None``, bool, int, float, list, dict    canonical JSON (``None`` is ``null``)
tuple, dataclass, pydantic model          canonical JSON of the list or of the fields
enum member                               that of its value
date, time, datetime                      ISO 8601 text
anything else (also inside), NaN, cycles  refused: the call's result is INVALID_TOOL_OUTPUT
========================================  ==============================================

Lone surrogates become U+FFFD. ``None``, ``""``, ``[]`` and ``{}`` found nothing: the result carries
the code EMPTY and is no error (ARTICLES 6); ``0`` and ``False`` are values like any other.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
from collections.abc import Mapping
from typing import Any

from harness.errors import InvalidValueError
from harness.types.jsontext import MAX_DEPTH, canonical_json, clean_text
from harness.types.making import quickly_made
from harness.types.messages import Content


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Output:
    """A value already turned into content.

    ``empty`` says that nothing was found, ``concludes`` that the turn has nothing more to do; ``context``
    are texts that the model is to see besides, as user messages behind all results of the answer.
    """

    content: str
    empty: bool = False
    concludes: bool = False
    context: tuple[str, ...] = ()


def nothing(message: str) -> Output:
    """What a tool returns that searched and found nothing, with a text that says so."""
    return Output(message, empty=True)


def conclude(value: Any) -> Any:
    """What a tool returns that concludes the turn: no further request is made, unless steering is pending.

    The value becomes content by the rule of this page (CONFORMANCE 17). One that cannot is given back as it
    is: its call is then refused like any other, and concludes nothing.
    """
    try:
        return dataclasses.replace(output_of(value), concludes=True)
    except InvalidValueError:
        return value


def with_context(value: Any, *texts: str) -> Any:
    """What a tool returns that has more to tell than its result: each text becomes a user message.

    They come behind all results of the same answer, in model order (CONFORMANCE 55). A value that cannot
    become content is given back as it is, as in :func:`conclude`.
    """
    try:
        output = output_of(value)
    except InvalidValueError:
        return value
    return dataclasses.replace(output, context=(*output.context, *map(clean_text, texts)))


def content_of(value: Any) -> Content:
    """The content of a tool's value. Raises InvalidValueError, which names the type at fault."""
    return output_of(value).content


def output_of(value: Any) -> Output:
    """The content of a tool's value, and whether it is empty. Raises InvalidValueError."""
    if isinstance(value, Output):
        return dataclasses.replace(value, content=clean_text(value.content))
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return Output(clean_text(str.__str__(value)), empty=value == "")
    plain = _plain(value, 0)
    if isinstance(plain, str):
        return Output(clean_text(plain), empty=plain == "")
    return Output(canonical_json(plain), empty=plain is None or plain in ([], {}))


def _plain(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise InvalidValueError(f"nested deeper than {MAX_DEPTH} levels, or a cycle")
    if isinstance(value, enum.Enum):
        return _plain(value.value, depth + 1)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidValueError(f"the number {value!r}")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        return {_key(key): _plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return _fields(value, depth)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    raise InvalidValueError(f"an object's key of type {type(key).__name__}: {key!r:.100}")


def _fields(value: Any, depth: int) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: _plain(getattr(value, name), depth + 1) for name in names}
    dump = getattr(type(value), "model_dump", None)
    if dump is not None and hasattr(type(value), "model_fields"):
        return _plain(dump(value), depth + 1)
    raise InvalidValueError(f"a value of type {type(value).__name__}")
