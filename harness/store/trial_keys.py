"""Which trials are there: a set of keys in a few bytes each, so that a million of them cost little memory."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable
from typing import Final

from harness.types.trials import TrialKey

_EMPTY: Final = 0
_FIRST_SIZE: Final = 1 << 10


class TrialKeys:
    """A set of trial keys by 64-bit digests, in one array (open addressing, at most two thirds full).

    Two of a million keys share a digest with a probability of 3 in 100 million.
    """

    __slots__ = ("_n", "_slots")

    def __init__(self, keys: Iterable[TrialKey] = ()) -> None:
        self._slots = array("Q", bytes(8 * _FIRST_SIZE))
        self._n = 0
        for key in keys:
            self.add(key)

    def add(self, key: TrialKey) -> bool:
        """Take a key; False where it was there."""
        if 3 * (self._n + 1) > 2 * len(self._slots):
            self._grow()
        if not _put(self._slots, _digest(key)):
            return False
        self._n += 1
        return True

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, TrialKey):
            return False
        digest, slots = _digest(key), self._slots
        at = digest & (len(slots) - 1)
        while slots[at] != _EMPTY:
            if slots[at] == digest:
                return True
            at = (at + 1) & (len(slots) - 1)
        return False

    def __len__(self) -> int:
        return self._n

    def _grow(self) -> None:
        slots = array("Q", bytes(16 * len(self._slots)))
        for digest in self._slots:
            if digest != _EMPTY:
                _put(slots, digest)
        self._slots = slots


def _put(slots: array[int], digest: int) -> bool:
    at = digest & (len(slots) - 1)
    while slots[at] != _EMPTY:
        if slots[at] == digest:
            return False
        at = (at + 1) & (len(slots) - 1)
    slots[at] = digest
    return True


def _digest(key: TrialKey) -> int:
    """Never 0, which marks an empty place."""
    text = f"{len(key.case)}:{key.case}{len(key.arm)}:{key.arm}{key.trial}"
    found = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "big") or 1
