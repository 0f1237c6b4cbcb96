"""The cases of an evaluation: written into it, in files of lines, or both; one sequence with unique ids."""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count, pairwise
from typing import Final, NoReturn, TypeAlias

from harness.errors import ScenarioError
from harness.scenarios.evaluation_case_fields import CaseFields, slug
from harness.scenarios.evaluation_document import case_line
from harness.scenarios.evaluation_lines import CaseLines
from harness.types.evaluation import Case, Split

_GIVEN: Final = 1
_HELD_OUT: Final = 2
_GROUPED: Final = 4
_PARTS: Final = 16

Check: TypeAlias = Callable[[CaseFields, str, int | None], None]
"""Raises ScenarioError for a case that does not fit the rest; its file and line."""


class WrittenCases:
    """Cases that stand in the document itself, each with its line there."""

    def __init__(self, name: str, found: Iterable[tuple[CaseFields, int | None]]) -> None:
        self.name = name
        self._found = tuple(found)

    def __len__(self) -> int:
        return len(self._found)

    def scan(self) -> Iterator[tuple[CaseFields, int | None]]:
        return iter(self._found)

    def __iter__(self) -> Iterator[tuple[CaseFields, int | None]]:
        return iter(self._found)

    def read(self, at: int) -> tuple[CaseFields, int | None]:
        return self._found[at]


Part: TypeAlias = WrittenCases | CaseLines


class LoadedCases:
    """All cases in order. Of those in files only places are kept; each is read anew when it is asked for.

    Equal to others with the same digest: the sha256 of their canonical lines (:func:`case_line`), in order.
    """

    def __init__(self, parts: Sequence[Part], check: Check) -> None:
        """Looks through all parts once. Raises ScenarioError for the first that is wrong."""
        self._parts = tuple(parts)
        self._numbers: array[int] = array("I")
        marks = _Marks()
        digest = hashlib.sha256()
        self._starts: list[int] = []
        for part in self._parts:
            self._starts.append(len(marks))
            for fields, line in part.scan():
                check(fields, part.name, line)
                marks.add(fields)
                digest.update(case_line(fields.made(_base(fields))))
        self._settle(marks)
        if any(self._numbers):
            digest = hashlib.sha256()
            for case in self:
                digest.update(case_line(case))
        self._digest = digest.hexdigest()
        self.splits = frozenset(Split.HELD_OUT if flags & _HELD_OUT else Split.DEV for flags in set(marks.flags))

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> Case:
        if not -len(self) <= index < len(self):
            raise IndexError(f"case {index} of {len(self)}")
        at = index % len(self)
        fields, line = self._fields(at)
        part = self._parts[bisect_right(self._starts, at) - 1]
        return fields.made(self._id(at, fields), line, _file_of_lines(part))

    def __iter__(self) -> Iterator[Case]:
        places = ((part, found) for part in self._parts for found in part)
        for at, (part, (fields, line)) in enumerate(places):
            yield fields.made(self._id(at, fields), line, _file_of_lines(part))

    def __eq__(self, other: object) -> bool:
        return self._digest == other._digest if isinstance(other, LoadedCases) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._digest)

    @property
    def digest(self) -> str:
        """The sha256 of the canonical lines of all cases."""
        return self._digest

    def _fields(self, at: int) -> tuple[CaseFields, int | None]:
        part = bisect_right(self._starts, at) - 1
        while not len(self._parts[part]):
            part -= 1
        return self._parts[part].read(at - self._starts[part])

    def _id(self, at: int, fields: CaseFields) -> str:
        number = self._numbers[at]
        return f"{_base(fields)}-{number}" if number else _base(fields)

    # ------------------------------------------------------------ ids and groups

    def _settle(self, marks: _Marks) -> None:
        """Give each case its id. Raises ScenarioError for ids that come twice, and groups that mean two things."""
        self._numbers = array("I", bytes(4 * len(marks)))
        for same in marks.repeated():
            given = [at for at in same if marks.flags[at] & _GIVEN]
            if len(given) > 1:
                self._refuse(given[1], "id", f"id {{id!r}} is taken by {self._place(given[0])}; give each its own")
            self._number(marks, [at for at in same if at not in given], taken=bool(given))
        self._check_groups(marks)

    def _number(self, marks: _Marks, same: list[int], *, taken: bool) -> None:
        name = _base(self._fields(same[0])[0])
        numbers = (n for n in count(2) if not marks.has(f"{name}-{n}"))
        for at in same if taken else same[1:]:
            self._numbers[at] = next(numbers)

    def _check_groups(self, marks: _Marks) -> None:
        clash = marks.group_in_two_splits()
        if clash is not None:
            one, other = clash
            what = "group {group!r} is in both splits ({place}): what was looked at is not held out; use one split"
            self._refuse(other, "split", what.replace("{place}", f"see {self._place(one)}"))
        clash = marks.group_called_like_a_case()
        if clash is not None:
            one, other = clash
            what = f"group {{group!r}} is called like the case of {self._place(one)}, which is not in it; rename one"
            self._refuse(other, "group", what)

    def _place(self, at: int) -> str:
        _, line = self._fields(at)
        name = self._parts[bisect_right(self._starts, at) - 1].name
        return f"{name}:{line}" if line else f"case {at + 1}"

    def _refuse(self, at: int, field: str, what: str) -> NoReturn:
        fields, line = self._fields(at)
        name = self._parts[bisect_right(self._starts, at) - 1].name
        words = what.replace("{id!r}", repr(fields.id)).replace("{group!r}", repr(fields.group))
        raise ScenarioError(words, file=name, line=line, field=field)


class _Marks:
    """Of each case a hash of its id, one of its group, and what matters about them: 17 bytes a case."""

    def __init__(self) -> None:
        self.ids: array[int] = array("Q")
        self.groups: array[int] = array("Q")
        self.flags = bytearray()
        self._sorted: array[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, fields: CaseFields) -> None:
        self.ids.append(_hash(_base(fields)))
        self.groups.append(_hash(fields.group or ""))
        grouped = _GROUPED if fields.group is not None else 0
        held_out = _HELD_OUT if fields.split == Split.HELD_OUT.value else 0
        self.flags.append((_GIVEN if fields.id is not None else 0) | held_out | grouped)

    def repeated(self) -> list[list[int]]:
        """The cases that share a name, for each name that several have, in order."""
        twice: set[int] = set()
        for part in range(_PARTS):  # sorted piece by piece: a list of all would be the peak of a large file
            ordered = sorted(name for name in self.ids if name % _PARTS == part)
            twice.update(one for one, other in pairwise(ordered) if one == other)
        if not twice:
            return []
        self._sorted = array("Q", sorted(self.ids))
        found: dict[int, list[int]] = {}
        for at, name in enumerate(self.ids):
            if name in twice:
                found.setdefault(name, []).append(at)
        return list(found.values())

    def has(self, name: str) -> bool:
        ordered, wanted = self._sorted or array("Q"), _hash(name)
        place = bisect_left(ordered, wanted)
        return place < len(ordered) and ordered[place] == wanted

    def group_in_two_splits(self) -> tuple[int, int] | None:
        first: dict[int, int] = {}
        if not any(flags & _HELD_OUT for flags in set(self.flags)):
            return None
        for at, flags in enumerate(self.flags):
            if flags & _GROUPED:
                before = first.setdefault(self.groups[at], at)
                if (self.flags[before] ^ flags) & _HELD_OUT:
                    return before, at
        return None

    def group_called_like_a_case(self) -> tuple[int, int] | None:
        names = {self.groups[at]: at for at, flags in enumerate(self.flags) if flags & _GROUPED}
        alone = (at for at, flags in enumerate(self.flags) if not flags & _GROUPED and self.ids[at] in names)
        at = next(alone, None)
        return None if at is None else (at, names[self.ids[at]])


def _file_of_lines(part: Part) -> str | None:
    return part.name if isinstance(part, CaseLines) else None


def _hash(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _base(fields: CaseFields) -> str:
    """The id that was given, else some words of what is asked."""
    if fields.id is not None:
        return fields.id
    asked = [fields.ask, *(message.user for message in reversed(fields.history) if hasattr(message, "user"))]
    return next((name for text in asked if (name := slug(text))), "case")
