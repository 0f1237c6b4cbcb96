"""Chance that is none: the same seed gives the same order on every machine."""

from __future__ import annotations

import random
from collections.abc import MutableSequence
from typing import Any


def shuffle(items: MutableSequence[Any], seed: str) -> None:
    """Put ``items`` into an order that their number and ``seed`` alone decide, in place."""
    random.Random(seed).shuffle(items)
