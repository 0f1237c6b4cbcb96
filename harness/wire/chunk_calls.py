"""Calls of a streamed answer: which call a piece belongs to, and what it adds to it.

Real streams leave out indexes and ids, send them late, send one id for every call, send names in pieces
or again with each piece. Each cure for one of these breaks another (INVARIANTS 2), so the order of the
rules matters; every one that decides anything but the documented case leaves a note.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.types.doors import AnsweredCall
from harness.types.jsontext import clean_text, parse_json
from harness.wire.messages import arguments_text
from harness.wire.shape import bad_shape, json_text, kind_of

_NO_INDEX: Final = "a piece of a call without an index was placed by its id, or by the call opened last"
_INDEX_AGAIN: Final = "an index came for another call: a new one was opened"
_ID_AGAIN: Final = "an id came for another call: a new one was opened"
_OTHER_ID: Final = "a call got a second id: the first counts"
_OTHER_NAME: Final = "a call got another name after its arguments began: the first counts"
_NAME_PIECES: Final = "a name came in pieces, which were joined"


@dataclass(slots=True)
class _Open:
    """A call as far as it has come. ``id`` and ``name`` None: nothing came yet."""

    index: int | None
    id: str | None = None
    name: str | None = None
    type: str | None = None
    arguments: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Its arguments are an object already, so more of them would spoil it."""
        text = "".join(self.arguments)
        return text.rstrip().endswith("}") and isinstance(parse_json(text), Mapping)

    @property
    def has_arguments(self) -> bool:
        return any(self.arguments)


@dataclass(frozen=True, slots=True)
class _Piece:
    """What one delta says of a call, in plain values."""

    index: int | None
    id: str | None
    name: str | None
    type: str | None
    arguments: str | None


class StreamedCalls:
    """Collects the calls of one answer. ``notes`` holds each rule that was used, once."""

    def __init__(self, notes: dict[str, None]) -> None:
        self._calls: list[_Open] = []
        self._notes = notes
        self._named: list[_Open] = []

    def take(self, deltas: Any, where: str) -> None:
        """The call deltas of one chunk. Raises ModelError for what is no array of objects."""
        if not isinstance(deltas, list):
            bad_shape(where, f"is {kind_of(deltas)}, not an array")
        self._named = []
        for position, delta in enumerate(deltas):
            if not isinstance(delta, Mapping):
                bad_shape(f"{where}[{position}]", f"is {kind_of(delta)}, not an object")
            self._add(_piece(delta, f"{where}[{position}]"))

    def answered(self) -> tuple[AnsweredCall, ...]:
        """The calls as they would stand in a whole answer, in the order of their indexes where they have some."""
        ordered = self._calls
        if all(call.index is not None for call in ordered):
            ordered = sorted(ordered, key=lambda call: call.index or 0)  # stable: equal indexes keep their order
        return tuple(
            AnsweredCall(
                _clean(call.name),
                clean_text("".join(call.arguments)) if call.arguments else None,
                _clean(call.id),
                None if call.type == "function" else _clean(call.type),
            )
            for call in ordered
        )

    def _add(self, piece: _Piece) -> None:
        call = self._place(piece)
        if call is None:
            call = _Open(piece.index)
            self._calls.append(call)
        if piece.name:
            self._named.append(call)
        self._identify(call, piece)
        if piece.arguments is not None:
            call.arguments.append(piece.arguments)

    def _place(self, piece: _Piece) -> _Open | None:
        """The open call that a piece belongs to; None for a new one."""
        if piece.index is not None:
            return self._at_index(piece)
        self._notes[_NO_INDEX] = None
        if piece.id:
            known = next((call for call in reversed(self._calls) if call.id == piece.id), None)
            if known is not None and piece.name and (known.is_whole or known in self._named):
                self._notes[_ID_AGAIN] = None
                return None
            return known
        last = self._calls[-1] if self._calls else None
        if last is not None and piece.name and (last.is_whole or last in self._named or _is_another(last, piece.name)):
            return None
        return last

    def _at_index(self, piece: _Piece) -> _Open | None:
        known = next((call for call in reversed(self._calls) if call.index == piece.index), None)
        if known is None or not piece.name:
            return known
        other_id = bool(piece.id and known.id and piece.id != known.id)
        if other_id or (piece.arguments and known.is_whole):
            self._notes[_INDEX_AGAIN] = None
            return None
        return known

    def _identify(self, call: _Open, piece: _Piece) -> None:
        """Id, type and name are set once, and a repeat changes nothing; only names may come in pieces."""
        if piece.id and call.id and piece.id != call.id:
            self._notes[_OTHER_ID] = None
        elif piece.id is not None:
            call.id = call.id or piece.id
        call.type = call.type or piece.type
        if piece.name is None or piece.name == call.name:
            return
        if not call.name:
            call.name = piece.name
        elif piece.name and call.has_arguments:
            self._notes[_OTHER_NAME] = None
        elif piece.name:
            call.name += piece.name
            self._notes[_NAME_PIECES] = None


def _clean(text: str | None) -> str | None:
    return text and clean_text(text)


def _is_another(call: _Open, name: str) -> bool:
    """A name behind the first arguments of a call without id or index can only begin another call."""
    return call.has_arguments and call.name is not None and name != call.name


def _piece(delta: Mapping[str, Any], where: str) -> _Piece:
    index, given, kind = delta.get("index"), delta.get("id"), delta.get("type")
    custom, function = delta.get("custom"), delta.get("function")
    function = function if isinstance(function, Mapping) else None
    is_custom = isinstance(custom, Mapping) and (kind == "custom" or function is None)
    body: Mapping[str, Any] = custom if isinstance(custom, Mapping) and is_custom else function or {}
    name = body.get("name")
    arguments = arguments_text(body.get("input" if is_custom else "arguments"), where)
    return _Piece(
        index=index if isinstance(index, int) and not isinstance(index, bool) and index >= 0 else None,
        id=given if given is None or isinstance(given, str) else json_text(given, f"{where}.id"),
        name=name if isinstance(name, str) else None,
        type=kind if isinstance(kind, str) and kind else None,
        arguments=arguments,
    )
