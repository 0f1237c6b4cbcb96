"""The two records that look different on disk: the header's tables and a request's ranges (**wire**)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Final, Literal

from harness.errors import InvalidValueError
from harness.types.codes import ClockKind, Origin
from harness.types.events import Header, OfferedTool, Parent, ScenarioRef, Volatile
from harness.types.exchange import ModelRequest
from harness.types.facts import FACT_TYPES
from harness.types.making import quickly_made
from harness.types.messages import ChatMessage, JsonText, OnDisk, RunId
from harness.types.profile import Profile

HEADER_TYPE: Final = "trajectory/header"


@quickly_made
@dataclass(frozen=True, slots=True)
class RequestLine(OnDisk):
    """``model/request`` on disk: the request's messages are the ``keep`` ranges, then ``append``.

    ``keep`` are half-open ranges, counted from 0, of the messages of the same agent's previous
    request; they rise and do not overlap.
    """

    TYPE: ClassVar[str] = ModelRequest.TYPE
    keep: tuple[tuple[int, int], ...] = ()
    append: tuple[ChatMessage, ...] = ()
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class HeaderLine(OnDisk):
    """``trajectory/header`` on disk: ``models`` and ``observed`` are objects, ``volatile`` is last."""

    format: Literal["harness-trajectory/1"] = field(default="harness-trajectory/1", kw_only=True)
    version: str
    run_id: RunId
    subject: str
    scenario: ScenarioRef | None = None
    expectations: JsonText | None = None
    limits: JsonText | None = None
    tools: tuple[OfferedTool, ...] = ()
    profile: Profile = field(default_factory=Profile)
    models: dict[str, str] = field(default_factory=dict)
    arm: str = "default"
    trial: int = 1
    clock: ClockKind = ClockKind.UNKNOWN
    seed: int | None = None
    observed: dict[str, Origin] = field(default_factory=dict)
    parent: Parent | None = None
    volatile: Volatile = field(default_factory=Volatile)


LINE_CLASSES: Final[dict[str, type[Any]]] = {**FACT_TYPES, RequestLine.TYPE: RequestLine}
"""The class that says how each kind of event looks on disk."""

_NAMES: Final = tuple(item.name for item in fields(Header))


def header_to_line(header: Header) -> HeaderLine:
    """The header as it is written. Raises InvalidValueError for a role or kind named twice."""
    values = {name: getattr(header, name) for name in _NAMES}
    for table in ("models", "observed"):
        pairs: tuple[tuple[str, Any], ...] = values[table]
        values[table] = dict(pairs)
        if len(values[table]) < len(pairs):
            raise InvalidValueError(f"the header names one key of {table!r} twice: {pairs!r}")
    return HeaderLine(**values)


def header_from_line(line: HeaderLine) -> Header:
    """The header as it was before it was written."""
    values = {name: getattr(line, name) for name in _NAMES}
    return Header(**{**values, "models": tuple(line.models.items()), "observed": tuple(line.observed.items())})
