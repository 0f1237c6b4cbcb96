"""Fields of ``faults``: what goes wrong on the wire between a loop and the scripted server, by request."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import ConfigDict, Field, Tag, model_validator

from harness.scenarios.base import FIELDS, TEXT, Choice, Count, Fields, Filled, Positive, by_shape, complaint
from harness.scenarios.script_fields import FAILURES, FailFields
from harness.scenarios.writing import changed, filled
from harness.types.faults import FaultKind, WireFault
from harness.types.script import ScriptFailure

_SAID: Final = ("EMPTY_RESPONSE", "NO_FINISH_REASON", "UNKNOWN")
"""Codes of an answer that came, or that no server says: they belong into the script."""
WIRE_FAILURES: Final = tuple(code for code in FAILURES if code not in _SAID)
_KINDS: Final = tuple(kind.value for kind in FaultKind if kind is not FaultKind.DELAY)
_AFTER: Final = (FaultKind.CUT_AFTER, FaultKind.MALFORMED_AFTER, FaultKind.STALL_AFTER)
_OF_A_STATUS: Final = ("message", "retry_after_ms")


class WireFailFields(FailFields):
    """A failure as the API tells it."""

    code: Annotated[str, Choice(WIRE_FAILURES)]


Fail: TypeAlias = Annotated[
    Annotated[Annotated[str, Choice(WIRE_FAILURES)], Tag(TEXT)] | Annotated[WireFailFields, Tag(FIELDS)],
    by_shape("a code, or {code, message, retry_after_ms}"),
]


def _one_kind(schema: dict[str, Any]) -> None:
    alone = {"required": ["delay_ms"], "not": {"anyOf": [{"required": [kind]} for kind in _KINDS]}}
    schema["dependentRequired"] = {name: ["status"] for name in _OF_A_STATUS}
    schema["oneOf"] = [*({"required": [kind]} for kind in _KINDS), alone]


class FaultFields(Fields):
    """What happens to one request."""

    model_config = ConfigDict(json_schema_extra=_one_kind)
    request: Positive
    fail: Fail | None = None
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    message: Filled | None = None
    retry_after_ms: Count | None = None
    reset: Literal[True] | None = None
    cut_after: Count | None = None
    malformed_after: Count | None = None
    stall_after: Count | None = None
    empty: Literal[True] | None = None
    content_type: Filled | None = None
    delay_ms: Count = 0

    @model_validator(mode="after")
    def _one_fault(self) -> FaultFields:
        kinds = self.given(*_KINDS)
        if len(kinds) > 1 or not (kinds or self.delay_ms):
            has = " and ".join(kinds) or "none"
            raise complaint(f"must be one fault, has {has}; give delay_ms, or one of {', '.join(_KINDS)}")
        lost = [] if self.status is not None else self.given(*_OF_A_STATUS)
        if lost:
            raise complaint(f"{lost[0]!r} belongs to a 'status'", field=lost[0])
        return self

    def made(self) -> WireFault:
        kinds = self.given(*_KINDS)
        kind = FaultKind(kinds[0]) if kinds else FaultKind.DELAY
        fail = ScriptFailure(self.fail) if isinstance(self.fail, str) else self.fail and self.fail.made()
        return WireFault(
            self.request,
            kind,
            fail=fail or None,
            status=self.status,
            message=self.message or "",
            retry_after_ms=self.retry_after_ms,
            after=getattr(self, kind.value) if kind in _AFTER else 0,
            content_type=self.content_type or "",
            delay_ms=self.delay_ms,
        )


def made_faults(faults: list[FaultFields]) -> tuple[WireFault, ...]:
    """The values, in the order of their requests. Raises a complaint for two of one request."""
    numbers = [fault.request for fault in faults]
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        raise complaint(f"request {twice} has two faults; give it one", field="faults")
    return tuple(sorted((fault.made() for fault in faults), key=lambda fault: fault.request))


def fault_document(fault: WireFault) -> dict[str, Any]:
    """The fields of one fault, as :class:`FaultFields` takes them."""
    kind = fault.kind
    value: Any = True
    if kind in _AFTER:
        value = fault.after
    elif kind is FaultKind.STATUS:
        value = fault.status
    elif kind is FaultKind.CONTENT_TYPE:
        value = fault.content_type
    elif kind is FaultKind.FAIL and fault.fail is not None:
        more = changed(fault.fail, ScriptFailure(fault.fail.code))
        value = {"code": fault.fail.code, **more} if more else fault.fail.code
    written = {"request": fault.request} | ({} if kind is FaultKind.DELAY else {kind.value: value})
    pause = {} if fault.retry_after_ms is None else {"retry_after_ms": fault.retry_after_ms}
    return written | filled(message=fault.message) | pause | filled(delay_ms=fault.delay_ms)
