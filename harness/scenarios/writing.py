"""What writing documents shares: the parts that say something, are there, or differ from their default."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


def filled(**parts: Any) -> dict[str, Any]:
    """The parts that say something."""
    return {name: value for name, value in parts.items() if value}


def present(**parts: Any) -> dict[str, Any]:
    """The parts that are there; empty text and 0 are."""
    return {name: value for name, value in parts.items() if value is not None}


def changed(value: Any, default: Any) -> dict[str, Any]:
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {name: part for name, part in pairs if part != getattr(default, name)}
