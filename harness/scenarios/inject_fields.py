"""Fields of a scenario's injections: at which boundary, and what happens there."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Discriminator, Tag, model_validator

from harness.scenarios.base import (
    FIELDS,
    TEXT,
    Choice,
    Count,
    Fields,
    Filled,
    Positive,
    by_shape,
    complaint,
    shape,
)
from harness.scenarios.script_fields import FAILURES
from harness.types.codes import BODY_CODES, CancelBy, CancelScope, InboxQueue, QueueDisposition
from harness.types.facts import FACT_TYPES
from harness.types.scenario import (
    Boundary,
    BoundaryWhen,
    CancelAction,
    FaultAction,
    InjectAction,
    Injection,
    SendAction,
    ThrowAction,
)

KINDS: Final = tuple(FACT_TYPES)
ACTIONS: Final = ("cancel", "throw", "fault")
ACTIONS_LATER: Final = ("kill",)
TICK: Final = "<tick>"
FAULT_PLACES: Final = {"tool/start": tuple(sorted(code.value for code in BODY_CODES)), "model/request": FAILURES}
"""Where something can fail, and the codes it may fail with."""
FAULT_CODES: Final = tuple(sorted({code for codes in FAULT_PLACES.values() for code in codes}))


class AfterFields(Fields):
    """That long after the event, on the run's clock."""

    after_ms: Count


class TickFields(Fields):
    """The beginning of a tick of the event loop, counted from 1 after the run's first event."""

    tick: Positive

    def made(self) -> Boundary:
        return Boundary("", tick=self.tick)


class AtFields(Fields):
    """The nth event of a kind."""

    kind: Annotated[str, Choice(KINDS)]
    tool: Filled | None = None
    call: Filled | None = None
    agent: str | None = None
    turn: Positive | None = None
    nth: Positive = 1
    when: Annotated[
        Annotated[Annotated[str, Choice(tuple(BoundaryWhen))], Tag(TEXT)] | Annotated[AfterFields, Tag(FIELDS)],
        by_shape("inside, next-tick or {after_ms: n}"),
    ] = BoundaryWhen.INSIDE.value

    def made(self) -> Boundary:
        after_ms = self.when.after_ms if isinstance(self.when, AfterFields) else None
        when = BoundaryWhen(self.when) if isinstance(self.when, str) else BoundaryWhen.INSIDE
        return Boundary(self.kind, self.tool, self.call, self.agent, self.turn, self.nth, when, after_ms)


class CancelFields(Fields):
    """Who cancels what."""

    by: Annotated[str, Choice(tuple(CancelBy))] = CancelBy.USER.value
    scope: Annotated[str, Choice(tuple(CancelScope))] = CancelScope.RUN.value
    queue: Annotated[str, Choice(tuple(QueueDisposition))] = QueueDisposition.DROP.value
    reason: str | None = None

    def made(self) -> CancelAction:
        return CancelAction(CancelBy(self.by), CancelScope(self.scope), QueueDisposition(self.queue), self.reason)


class FaultFields(Fields):
    """How a tool's body or a model request fails."""

    code: Annotated[str, Choice(FAULT_CODES)] | None = None
    message: str = FaultAction().message

    def made(self) -> FaultAction:
        return FaultAction(self.code, self.message)


class SendFields(Fields):
    """What is sent to which queue."""

    text: str
    queue: Annotated[str, Choice(tuple(InboxQueue))] = InboxQueue.FOLLOWUP.value

    def made(self) -> SendAction:
        return SendAction(self.text, InboxQueue(self.queue))


class DoFields(Fields):
    """One action with its details."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})
    later = ACTIONS_LATER
    cancel: CancelFields | None = None
    throw: str | None = None
    fault: FaultFields | None = None
    send: SendFields | None = None

    @model_validator(mode="after")
    def _one_form(self) -> DoFields:
        if len(self.model_fields_set) != 1:
            raise complaint("must be one action: cancel, throw, fault or send")
        return self

    def made(self) -> InjectAction:
        if self.cancel is not None:
            return self.cancel.made()
        if self.fault is not None:
            return self.fault.made()
        if self.send is not None:
            return self.send.made()
        return ThrowAction(self.throw or "")


def _form_of_place(value: Any) -> str | None:
    return TICK if isinstance(value, dict) and "tick" in value else shape(value)


_SHORT: Final[dict[str, InjectAction]] = {"cancel": CancelAction(), "throw": ThrowAction(), "fault": FaultAction()}


class InjectFields(Fields):
    """Do something at a boundary."""

    at: Annotated[
        Annotated[Annotated[str, Choice(KINDS)], Tag(TEXT)]
        | Annotated[AtFields, Tag(FIELDS)]
        | Annotated[TickFields, Tag(TICK)],
        Discriminator(
            _form_of_place,
            custom_error_type="shape",
            custom_error_message="must be a kind of event, or {kind, tool, call, turn, nth, when}, or {tick: n}",
        ),
    ]
    do: Annotated[
        Annotated[Annotated[str, Choice(ACTIONS, ACTIONS_LATER)], Tag(TEXT)] | Annotated[DoFields, Tag(FIELDS)],
        by_shape("cancel, throw, fault, or {cancel: {…}}, {throw: message}, {fault: {…}}, {send: {text, queue}}"),
    ]

    @model_validator(mode="after")
    def _possible_there(self) -> InjectFields:
        made = self.made()
        if isinstance(made.do, FaultAction):
            _check_fault(made.at, made.do)
        if isinstance(made.do, ThrowAction) and made.at.tick is not None:
            raise complaint("no listener is called at a tick, so none can throw; name a kind of event", field="at")
        if isinstance(made.do, SendAction) and made.at.tick is not None:
            raise complaint("input is sent at an event, not at a tick; name a kind of event", field="at")
        return self

    def made(self) -> Injection:
        at = Boundary(self.at) if isinstance(self.at, str) else self.at.made()
        return Injection(at, self.do.made() if isinstance(self.do, DoFields) else _SHORT[self.do])


def _check_fault(at: Boundary, fault: FaultAction) -> None:
    codes = FAULT_PLACES.get(at.kind)
    if codes is None or at.when is not BoundaryWhen.INSIDE or at.after_ms is not None:
        raise complaint(f"a fault is possible inside {' and '.join(FAULT_PLACES)} only", field="at")
    if fault.code is not None and fault.code not in codes:
        raise complaint(f"code {fault.code!r} does not fit {at.kind}; allowed: {', '.join(codes)}", field="do")
