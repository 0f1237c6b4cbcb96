"""From header and events to lines (**wire**).

A line is one flat JSON object and a line feed: ``type``, the envelope (seq, time, origin, agent,
turn, step, ignorable; what is unknown or the root agent is left out), then the fact's own fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from harness.errors import InvalidValueError
from harness.store.deltas import Deltas
from harness.store.encode import Encoder, members_encoder, quote
from harness.store.ondisk import HEADER_TYPE, LINE_CLASSES, HeaderLine, header_to_line
from harness.types.codes import Origin
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import ModelRequest
from harness.types.jsontext import Refusal, canonical_json, clean_text, parse_json
from harness.types.lifecycle import UnknownFact

UNWRITABLE: Final = (TypeError, ValueError, KeyError, AttributeError, RecursionError)
"""What the encoders raise for a value of a wrong type."""

IGNORABLE: Final = ',"ignorable":true'
ENVELOPE_KEYS: Final = ("seq", "time", "origin", "agent", "turn", "step", "ignorable")
_ORIGINS: Final = {origin: origin.value for origin in Origin}
_MOST_PLACES: Final = 64
_Place: TypeAlias = tuple[Origin, str, int | None, int | None]


def header_bytes(header: Header) -> bytes:
    """The header's line. Raises InvalidValueError for a header that cannot be written."""
    try:
        members = members_encoder(HeaderLine)(header_to_line(header))
    except UNWRITABLE as error:
        raise InvalidValueError(f"the header holds what has no place on disk: {error!r}") from error
    return encoded(f'{{"type":"{HEADER_TYPE}"{members}}}\n')


class EventWriter:
    """Turns the events of one trajectory into lines, in order (requests build on those before)."""

    __slots__ = ("_deltas", "_places")

    def __init__(self) -> None:
        self._deltas = Deltas()
        self._places: dict[_Place, str] = {}

    def line(self, event: Event) -> bytes:
        """The event's line. Raises InvalidValueError for an event that cannot be written."""
        fact = event.fact
        cls = type(fact)
        if cls is UnknownFact and isinstance(fact, UnknownFact):
            return encoded(_unknown_line(event, fact))
        try:
            head, ignorable, members = _KINDS.get(cls) or _kind_of(cls)
            if cls is ModelRequest and isinstance(fact, ModelRequest):
                body = members(self._deltas.line_of(fact, event.agent))
            else:
                body = members(fact)
            place = (event.origin, event.agent, event.turn, event.step)
            where = self._places.get(place) or self._place(place)
            time = "" if event.time is None else f',"time":{event.time:d}'
            text = f'{head},"seq":{event.seq:d}{time}{where}{ignorable}{body}}}\n'
            return text.encode("utf-8")
        except UnicodeEncodeError:
            return encoded(text)
        except UNWRITABLE as error:
            raise InvalidValueError(
                f"event {event.seq!r} ({type(fact).__name__}) holds what has no place on disk: {error!r}"
            ) from error

    def remember(self, event: Event) -> None:
        """Take note of an event that is in the file already."""
        if isinstance(event.fact, ModelRequest):
            self._deltas.remember(event.fact, event.agent)

    def _place(self, place: _Place) -> str:
        """All of the envelope but number and time, which is the same for the events of one step; it is kept."""
        if len(self._places) >= _MOST_PLACES:
            self._places.clear()
        text = self._places[place] = _place(*place)
        return text


_KINDS: Final[dict[type[Any], tuple[str, str, Encoder]]] = {}


def _kind_of(cls: type[Any]) -> tuple[str, str, Encoder]:
    """How a line of this kind begins, its mark where it may be skipped, and what writes its fields; it is kept."""
    kind: str = cls.TYPE  # an unknown class fails here, and is reported
    ignorable = IGNORABLE if getattr(cls, "IGNORABLE", False) else ""
    found = _KINDS[cls] = f'{{"type":"{kind}"', ignorable, members_encoder(LINE_CLASSES[kind])
    return found


def envelope(event: Event) -> str:
    """The envelope's members behind ``type``, each with a leading comma."""
    time = "" if event.time is None else f',"time":{event.time:d}'
    return f',"seq":{event.seq:d}{time}{_place(event.origin, event.agent, event.turn, event.step)}'


def _place(origin: Origin, agent: str, turn: int | None, step: int | None) -> str:
    text = f',"origin":{quote(_ORIGINS[origin])}'
    if agent:
        text += f',"agent":{quote(agent)}'
    if turn is not None:
        text += f',"turn":{turn:d}'
    if step is not None:
        text += f',"step":{step:d}'
    return text


def _unknown_line(event: Event, fact: UnknownFact) -> str:
    """The line as it came, or with a new envelope where the event was moved."""
    value = parse_json(fact.line)
    if isinstance(value, Refusal) or not isinstance(value, dict) or "\n" in fact.line:
        raise InvalidValueError(f"event {event.seq} ({fact.kind}): its line is no JSON object on one line")
    came = tuple(value.get(key) for key in ENVELOPE_KEYS[:-1])
    now = (event.seq, event.time, event.origin.value, event.agent or None, event.turn, event.step)
    if came == now and value.get("type") == fact.kind:
        return fact.line + "\n"
    members = {key: item for key, item in value.items() if key not in ("type", *ENVELOPE_KEYS)}
    rest = canonical_json(members)[1:-1]
    body = f",{rest}" if rest else ""
    return f'{{"type":{quote(fact.kind)}{envelope(event)}{IGNORABLE}{body}}}\n'


def encoded(text: str) -> bytes:
    """UTF-8; what cannot be encoded (lone surrogates) becomes U+FFFD."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        return clean_text(text).encode("utf-8")


def lines_of(trajectory: Trajectory) -> Iterator[bytes]:
    """Header and events as lines. Raises InvalidValueError for what cannot be written."""
    yield header_bytes(trajectory.header)
    line: Callable[[Event], bytes] = EventWriter().line
    for event in trajectory.events:
        yield line(event)


def dump_trajectory(trajectory: Trajectory) -> bytes:
    """The whole file in memory. Raises InvalidValueError for what cannot be written."""
    return b"".join(lines_of(trajectory))
