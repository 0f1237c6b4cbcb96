"""From lines to header and events: strict, in order, with the reason for every refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final

from jiter import from_json

from harness.store.deltas import Rebuilder
from harness.store.ondisk import HEADER_TYPE, LINE_CLASSES, HeaderLine, RequestLine, header_from_line
from harness.types.codes import Origin
from harness.types.events import FORMAT, ROOT_AGENT, Event, Header, make_event
from harness.types.exchange import ModelRequest, RequestHeader
from harness.types.facts import FACT_TYPES
from harness.types.jsontext import Refusal, parse_json
from harness.types.lifecycle import UnknownFact
from harness.types.messages import JsonText

LONGEST_WHY: Final = 600
"""Characters of a reason, at most: a message never repeats a hostile file."""

ORIGINS: Final = {origin.value: origin for origin in Origin}
_SKIPPABLE: Final = frozenset(kind for kind, cls in FACT_TYPES.items() if getattr(cls, "IGNORABLE", False))


class BadLine(Exception):
    """Why a line cannot be read; ``is_json`` tells a wrong record from torn or damaged text."""

    def __init__(self, why: str, *, is_json: bool = True) -> None:
        super().__init__(why if len(why) <= LONGEST_WHY else f"{why[:LONGEST_WHY]}... (cut)")
        self.is_json = is_json


@cache
def _validator(kind: str) -> Callable[[Any], Any]:
    from harness.store.validate import validator_of

    return validator_of(HeaderLine if kind == HEADER_TYPE else LINE_CLASSES[kind]).validate_python


def parse_object(line: bytes) -> dict[str, Any]:
    """The JSON object of a line. Raises BadLine, also for duplicate keys, NaN and bad UTF-8."""
    try:
        value = from_json(line, allow_inf_nan=False, catch_duplicate_keys=True, cache_mode="keys")
    except ValueError as error:
        raise BadLine(f"not JSON: {error}", is_json="duplicate key" in str(error)) from None
    if not isinstance(value, dict):
        raise BadLine(f"not a JSON object but {type(value).__name__}")
    return value


def parse_header(line: bytes) -> Header:
    """The header of a trajectory. Raises BadLine."""
    record = parse_object(line)
    if record.pop("type", None) != HEADER_TYPE:
        raise BadLine(f"no trajectory: the first line must be of type {HEADER_TYPE!r}")
    if record.get("format") != FORMAT:
        raise BadLine(f"format {record.get('format')!r} is not {FORMAT!r}, which this version reads")
    try:
        header = header_from_line(_validator(HEADER_TYPE)(record))
    except ValueError as error:
        raise _bad(HEADER_TYPE, error) from None
    _check_json(HEADER_TYPE, _texts_of(header))
    return header


def _texts_of(header: Header) -> Iterator[tuple[str, str]]:
    for name, text in (("expectations", header.expectations), ("limits", header.limits)):
        yield name, "null" if text is None else text
    yield from ((f"tools.{n}.parameters", tool.parameters) for n, tool in enumerate(header.tools))
    versions = header.volatile.versions
    yield "volatile.versions", "null" if versions is None else versions


def _check_json(kind: str, texts: Iterable[tuple[str, str]]) -> None:
    """Texts that the harness wrote as JSON are JSON: what reads them later has no file to name. Raises BadLine."""
    for name, text in texts:
        found = parse_json(text)
        if isinstance(found, Refusal):
            raise BadLine(f"{kind!r}: {name}: not the JSON text that belongs here: {found.message}")


class EventReader:
    """Turns the lines of one trajectory into events, in order (requests build on those before)."""

    __slots__ = ("_plain", "_rebuilder", "next_seq")

    def __init__(self) -> None:
        self._plain: dict[str, Callable[[Any], Any]] = {}
        self._rebuilder = Rebuilder()
        self.next_seq = 0

    def event(self, line: bytes) -> Event:
        """The event of a line. Raises BadLine."""
        record = parse_object(line)
        take = record.pop
        kind, seq, time, origin = take("type", None), take("seq", None), take("time", None), take("origin", None)
        agent, turn, step = take("agent", None), take("turn", None), take("step", None)
        usual = type(seq) is type(time) is type(turn) is type(step) is int and agent is None
        saw = ORIGINS.get(origin) if type(origin) is str else None
        if type(kind) is not str or saw is None or not (usual or _fits(seq, time, agent, turn, step)):
            raise BadLine(_fault(kind, seq, time, origin, agent))
        if seq != self.next_seq:
            raise BadLine(f"{kind!r} has seq {seq}, expected was {self.next_seq}")
        validate = self._plain.get(kind)
        if validate is None or "ignorable" in record:
            fact = self._rare(kind, record, line)
        else:
            try:
                fact = validate(record)
            except ValueError as error:
                raise _bad(kind, error) from None
        if type(fact) is RequestLine:
            fact = self._request(fact, agent or ROOT_AGENT)
        elif type(fact) is RequestHeader:
            _check_json(kind, (("tools", fact.tools), ("parameters", fact.parameters)))
        self.next_seq = seq + 1
        return make_event(seq, fact, saw, time, agent or ROOT_AGENT, turn, step)

    def _rare(self, kind: str, record: dict[str, Any], line: bytes) -> Any:
        """The fact of a line that may be skipped, or is the first of its kind: that kind's validator is kept."""
        ignorable = record.pop("ignorable", False)
        if kind not in LINE_CLASSES:
            return _unknown(kind, ignorable, line)
        if ignorable is not (kind in _SKIPPABLE):
            raise BadLine(f"{kind!r} has a wrong envelope: ignorable must be {kind in _SKIPPABLE}")
        validate = _validator(kind)
        if kind not in _SKIPPABLE:
            self._plain[kind] = validate
        try:
            return validate(record)
        except ValueError as error:
            raise _bad(kind, error) from None

    def _request(self, line: RequestLine, agent: str) -> ModelRequest:
        try:
            return self._rebuilder.request_of(line, agent)
        except ValueError as error:
            raise BadLine(str(error)) from None


def _bad(kind: str, error: ValueError) -> BadLine:
    """Pydantic's ValidationError, which is a ValueError, as a reason."""
    from pydantic_core import ValidationError

    from harness.store.validate import what_is_wrong

    if not isinstance(error, ValidationError):
        raise error
    return BadLine(f"{kind!r}: {what_is_wrong(error)}")


def _unknown(kind: str, ignorable: object, line: bytes) -> UnknownFact:
    if ignorable is not True:
        raise BadLine(f"unknown type {kind!r}, and the line does not say that it may be ignored")
    text = line.rstrip(b"\n").decode("utf-8")
    refused = parse_json(text)
    if isinstance(refused, Refusal):
        raise BadLine(f"{kind!r}: {refused.message}")
    return UnknownFact(kind, JsonText(text))


def _fits(seq: object, time: object, agent: object, turn: object, step: object) -> bool:
    return (
        type(seq) is int
        and (time is None or type(time) is int)
        and (turn is None or type(turn) is int)
        and (step is None or type(step) is int)
        and (agent is None or (type(agent) is str and agent != ROOT_AGENT))
    )


def _fault(kind: object, seq: object, time: object, origin: object, agent: object) -> str:
    if not isinstance(kind, str):
        return "the line has no type"
    return f"{kind!r} has a wrong envelope: {_envelope_fault(seq, time, origin, agent)}"


def _envelope_fault(seq: object, time: object, origin: object, agent: object) -> str:
    if not _fits(seq, None, None, None, None):
        return f"seq must be a whole number, not {seq!r}"
    if not isinstance(origin, str) or origin not in ORIGINS:
        return f"origin must be one of {', '.join(ORIGINS)}"
    if not _fits(0, time, None, None, None):
        return f"time must be a whole number, not {time!r}"
    if not _fits(0, None, agent, None, None):
        return "agent must be text that is not empty"
    return "turn and step must be whole numbers"
