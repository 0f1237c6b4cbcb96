"""Words of messages that several rooms write: lists of names, and texts that are too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MOST_NAMES: Final = 50


def listed(names: Sequence[str]) -> str:
    """Names for a message: at most fifty of them; ``none`` without any."""
    rest = [f"and {len(names) - _MOST_NAMES} more"] if len(names) > _MOST_NAMES else []
    return ", ".join([*names[:_MOST_NAMES], *rest]) or "none"


def shortened(text: str, longest: int) -> str:
    """The text, its middle left out where it has more than ``longest`` characters."""
    if len(text) <= longest:
        return text
    half = longest // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"
