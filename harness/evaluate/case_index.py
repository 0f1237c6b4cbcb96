"""The cases of an evaluation as numbers: read once, a few bytes a case, found again by id."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

from harness.errors import InvalidValueError
from harness.types.evaluation import Case, Cases, Split, Wanted
from harness.types.messages import ChatUser

_CAP: Final = 255


def _hashed(text: str) -> int:
    """64 bits of a digest: two of a million ids share one with a chance below one in ten millions."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def needed_calls(case: Case) -> int:
    """The fewest calls that an acceptable decision makes; 0 where none, or a question, is right."""
    return min((len(accept.calls) if accept.wanted is Wanted.CALLS else 0 for accept in case.accept), default=0)


def past_turns(case: Case) -> int:
    """How many pieces of user input the conversation had before the question."""
    return sum(isinstance(message, ChatUser) for message in case.history)


class CaseIndex:
    """Where each case is, and what insight parts cases by. Memory: about 40 bytes a case.

    ``unit[i]`` is the number of the unit of case i; ``needed``, ``history`` (both capped at 255), ``held_out`` and
    ``has_never`` are one byte a case; ``tags`` the numbers of the cases that carry each.
    Raises InvalidValueError where two cases share an id (INVARIANTS 33).
    """

    def __init__(self, cases: Cases) -> None:
        self.cases = cases
        self.unit = array("L")
        self.held_out, self.has_never = bytearray(), bytearray()
        self.needed, self.history = bytearray(), bytearray()
        self.tags: dict[str, array[int]] = {}
        hashes = array("Q")
        groups: dict[int, int] = {}
        self.n_units = 0
        for i, case in enumerate(cases):
            hashes.append(_hashed(case.id))
            self._note(i, case, groups)
        order = sorted(range(len(hashes)), key=hashes.__getitem__)
        self._hashes = array("Q", (hashes[i] for i in order))
        self._place = array("L", order)
        self._refuse_twins()

    def __len__(self) -> int:
        return len(self.unit)

    def _note(self, i: int, case: Case, groups: dict[int, int]) -> None:
        unit = self.n_units
        if case.group is not None:
            unit = groups.setdefault(_hashed(case.group), self.n_units)
        self.n_units += unit == self.n_units
        self.unit.append(unit)
        self.held_out.append(case.split is Split.HELD_OUT)
        self.has_never.append(bool(case.never))
        self.needed.append(min(needed_calls(case), _CAP))
        self.history.append(min(past_turns(case), _CAP))
        for tag in sorted(set(case.tags)):
            self.tags.setdefault(tag, array("L")).append(i)

    def _refuse_twins(self) -> None:
        for at in range(1, len(self._hashes)):
            if self._hashes[at] == self._hashes[at - 1]:
                first, second = sorted((self._place[at - 1], self._place[at]))
                name = self.cases[first].id
                raise InvalidValueError(
                    f"cases {first + 1} and {second + 1} of the evaluation share the id {name!r}: ids must differ, "
                    f"since a trial is found by its case's; rename one"
                )

    def number(self, case_id: str) -> int | None:
        """The number (from 0) of a case by its id, or None where the evaluation has no such case."""
        key = _hashed(case_id)
        at = bisect_left(self._hashes, key)
        found = at < len(self._hashes) and self._hashes[at] == key
        return self._place[at] if found else None

    def in_split(self, split: Split | None) -> Sequence[int]:
        """The numbers of the cases of a split; of all cases for None."""
        if split is None:
            return range(len(self))
        wanted = split is Split.HELD_OUT
        return array("L", (i for i in range(len(self)) if bool(self.held_out[i]) is wanted))
