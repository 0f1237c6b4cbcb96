"""The words of the trajectory format itself. They hide nothing: a value of an environment that is one of them,
or a part of one, cannot be told from the format, and masking it would break every line."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache
from types import ModuleType
from typing import Final

from harness.types import (
    codes,
    events,
    exchange,
    facts,
    lifecycle,
    messages,
    profile,
    profile_loop,
    profile_run,
    profile_tools,
    reasons,
)
from harness.types.messages import camel

_MODULES: Final = (
    codes, events, exchange, facts, lifecycle, messages, profile, profile_loop, profile_run, profile_tools, reasons,
)  # fmt: skip
_ENVELOPE: Final = ("trajectory/header", "type", "format", "origin", "ignorable", "keep", "append", events.FORMAT)


@lru_cache(maxsize=1)
def format_words() -> frozenset[str]:
    """Every key, kind and word of a closed set that a line of a trajectory may hold."""
    return frozenset((*_ENVELOPE, *(word for module in _MODULES for word in _words_of(module))))


def _words_of(module: ModuleType) -> Iterator[str]:
    for value in vars(module).values():
        if not isinstance(value, type):
            continue
        if issubclass(value, StrEnum):
            yield from (member.value for member in value)
        elif dataclasses.is_dataclass(value):
            yield str(getattr(value, "TYPE", ""))
            for field in dataclasses.fields(value):
                yield camel(field.name)
                if isinstance(field.default, str):
                    yield field.default


def is_word(text: str) -> bool:
    """True for a word of the format, or a part of one."""
    return any(text in word for word in format_words())
