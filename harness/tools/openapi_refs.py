"""References inside one OpenAPI document: followed where they are local, refused where they are not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from harness.errors import ConfigurationError
from harness.tools.replies import shortened

_LONGEST_CHAIN: Final = 50
_LONGEST_REF: Final = 200


class Refs:
    """A document and what its references lead to; ``label`` names it in messages."""

    def __init__(self, document: Mapping[str, Any], label: str) -> None:
        self._document = document
        self._label = label
        self._direct: dict[str, frozenset[str]] = {}
        self._recursive: dict[str, bool] = {}

    def at(self, ref: str) -> Any:
        """What a reference leads to. Raises ConfigurationError for a remote one, and for one that leads nowhere."""
        shown = shortened(ref, _LONGEST_REF)
        if not ref.startswith("#"):
            raise ConfigurationError(
                f"{self._label}: the reference {shown!r} leads out of the document, and nothing is fetched; bundle it "
                "into one file"
            )
        value: Any = self._document
        for part in _parts(ref):
            value = _inner(value, part)
            if value is _NOTHING:
                raise ConfigurationError(f"{self._label}: the reference {shown!r} leads nowhere (at {part!r})")
        return value

    def followed(self, value: Any, what: str) -> Mapping[str, Any]:
        """A mapping, its references followed to the end. ``what`` names it. Raises ConfigurationError."""
        for _ in range(_LONGEST_CHAIN):
            if not isinstance(value, Mapping):
                raise ConfigurationError(
                    f"{self._label}: {what} is a mapping, not {shortened(repr(value), _LONGEST_REF)}"
                )
            ref = value.get("$ref")
            if not isinstance(ref, str):
                return value
            value = self.at(ref)
        raise ConfigurationError(f"{self._label}: {what} is a reference that leads to itself")

    def is_recursive(self, ref: str) -> bool:
        """Whether what a reference leads to holds, by whatever way, the same reference again."""
        if ref not in self._recursive:
            self._recursive[ref] = self._reaches_itself(ref)
        return self._recursive[ref]

    def _reaches_itself(self, ref: str) -> bool:
        seen: set[str] = set()
        open_refs = list(self._refs_below(ref))
        while open_refs:
            one = open_refs.pop()
            if one == ref:
                return True
            if one not in seen:
                seen.add(one)
                open_refs += self._refs_below(one)
        return False

    def _refs_below(self, ref: str) -> frozenset[str]:
        if ref not in self._direct:
            try:
                self._direct[ref] = frozenset(_refs_in(self.at(ref)))
            except ConfigurationError:  # told when it is followed
                self._direct[ref] = frozenset()
        return self._direct[ref]


_NOTHING: Final = object()


def _parts(ref: str) -> list[str]:
    pointer = unquote(ref[1:])
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def _inner(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part, _NOTHING)
    if isinstance(value, list) and part.isdecimal() and len(part) < 7 and int(part) < len(value):
        return value[int(part)]
    return _NOTHING


def _refs_in(value: Any) -> Iterator[str]:
    """All references in a value, without recursion of our own."""
    open_values = [value]
    while open_values:
        one = open_values.pop()
        if isinstance(one, Mapping):
            ref = one.get("$ref")
            if isinstance(ref, str):
                yield ref
            open_values += one.values()
        elif isinstance(one, list):
            open_values += one
