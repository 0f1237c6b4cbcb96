"""Carries out a scenario's injections: watches the log for boundaries, acts there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.clock import VirtualLoop
from harness.errors import ModelError, ToolError, UnsupportedError, UsageError
from harness.folds import Places, place_text
from harness.protocols import Controls, Emit, Log, Model, SendingControls, Signal
from harness.types.codes import ClockKind, Code, Origin, Outcome
from harness.types.doors import Answer, ModelCall
from harness.types.events import Event
from harness.types.exchange import ModelRequest
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import FAULT_NOTE, Note
from harness.types.records import Finding, Verdict
from harness.types.scenario import (
    Boundary,
    BoundaryWhen,
    CancelAction,
    FaultAction,
    Injection,
    Scenario,
    SendAction,
    ThrowAction,
)


class ThrownByScenario(Exception):
    """What a ``throw`` injection raises inside a listener."""


@dataclass(slots=True)
class _Watch:
    injection: Injection
    n_left: int


class Injector:
    """A listener. ``attach`` it to the subject's controls before the first event."""

    def __init__(self, injections: tuple[Injection, ...], log: Log) -> None:
        self._left = [_Watch(one, one.at.nth) for one in injections if one.at.tick is None]
        self._ticks = [one for one in injections if one.at.tick is not None]
        self._begun = False
        self._log = log
        self._places = Places()
        self._controls: Controls | None = None
        self._unsent: list[Injection] = []
        self._refused: list[str] = []
        self._bodies: dict[int, Exception] = {}
        self._request: Exception | None = None

    def skip(self, past: Iterable[Event]) -> None:
        """Injections whose boundary came in an earlier run were carried out there; its ticks are over."""
        for event in past:
            self._begun = True
            self._ticks = []
            self._places.follow(event)
            for watch in self._left:
                watch.n_left -= self._places.fits(watch.injection.at, event)
            self._left = [watch for watch in self._left if watch.n_left > 0]

    def attach(self, controls: Controls) -> None:
        """Take what can be steered. Raises UnsupportedError where input is to be sent and cannot be."""
        sends = [watch.injection for watch in self._left if isinstance(watch.injection.do, SendAction)]
        if sends and not isinstance(controls, SendingControls):
            at = place_text(sends[0].at)
            raise UnsupportedError(
                f"the scenario sends input at {at}, and this subject takes none while it runs "
                f"({type(controls).__name__} has no send()): run it with the built-in loop, or leave the send out"
            )
        self._controls = controls

    def __call__(self, event: Event) -> None:
        """Act at every boundary that this event completes. Raises ThrownByScenario where one says so."""
        if not self._begun:
            self._begun = True
            self._count_ticks()
        self._places.follow(event)
        if isinstance(event.fact, ModelRequest):
            self._request = None  # the one before was never asked
        for watch in self._left:
            watch.n_left -= self._places.fits(watch.injection.at, event)
        due = [watch.injection for watch in self._left if watch.n_left == 0]
        self._left = [watch for watch in self._left if watch.n_left > 0]
        for injection in sorted(due, key=lambda one: isinstance(one.do, ThrowAction)):
            self._act(injection, event)

    def _count_ticks(self) -> None:
        loop = asyncio.get_running_loop()
        for injection in self._ticks:
            assert isinstance(loop, VirtualLoop), "check_ticks lets nothing else through"
            loop.at_tick(loop.n_ticks + (injection.at.tick or 0), partial(self._at_tick, injection))

    def _at_tick(self, injection: Injection) -> None:
        self._ticks.remove(injection)
        if isinstance(injection.do, CancelAction):
            self._cancel(injection.do)

    def _act(self, injection: Injection, event: Event) -> None:
        match injection.do:
            case ThrowAction(message=message):
                raise ThrownByScenario(message)
            case FaultAction():
                self._fail(injection.do, event)
            case CancelAction():
                _when_due(injection.at, partial(self._cancel, injection.do))
            case SendAction():
                _when_due(injection.at, self._sender(injection, injection.do))

    def _fail(self, fault: FaultAction, event: Event) -> None:
        if isinstance(event.fact, ModelRequest):
            self._request = ModelError(fault.message, code=fault.code or Code.SERVER)
        else:
            self._bodies[event.seq] = ToolError(fault.message, code=fault.code or Code.TOOL_FAILED)
        note = Note(FAULT_NOTE, canonical_json({"at": event.seq, "message": fault.message}))
        self._log.record(note, origin=Origin.PROBE, agent=event.agent, turn=event.turn, step=event.step)

    def fault(self, start: int) -> Exception | None:
        """What the body that began with event ``start`` raises instead of running; None: it runs."""
        return self._bodies.pop(start, None)

    def faulty(self, model: Model) -> Model:
        """The model, failing where an injection says so."""
        fails = any(isinstance(watch.injection.do, FaultAction) for watch in self._left)
        return FaultyModel(model, self) if fails else model

    def request_fault(self) -> Exception | None:
        """What the request that was recorded last fails with instead of being asked; None: it is asked."""
        fault, self._request = self._request, None
        return fault

    def _sender(self, injection: Injection, action: SendAction) -> Callable[[], None]:
        """Sends, and keeps the run open until it has."""
        controls = self._controls
        assert isinstance(controls, SendingControls), "looked at when they were attached"
        release = controls.hold()
        self._unsent.append(injection)

        def send() -> None:
            self._unsent = [one for one in self._unsent if one is not injection]
            try:
                controls.send(action.text, queue=action.queue)
            except UsageError as error:
                self._refused.append(f"the {action.queue} sent at {place_text(injection.at)} was refused: {error}")
            finally:
                release()

        return send

    def _cancel(self, action: CancelAction) -> None:
        assert self._controls is not None, "a subject attaches its controls before its first event"
        self._controls.cancel(by=action.by, scope=action.scope, queue=action.queue, reason=action.reason)

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """INVALID for every injection that never came or was refused: the scenario did not test it."""
        left = [*(watch.injection for watch in self._left), *self._ticks]
        findings = tuple(Finding("inject", f"the boundary never came: {place_text(one.at)}") for one in left)
        late = [f"the run ended before input was sent that {place_text(one.at)} announced" for one in self._unsent]
        findings += tuple(Finding("inject", text) for text in (*self._refused, *late))
        return (Verdict("inject", Outcome.INVALID, findings),) if findings else ()


def _when_due(at: Boundary, act: Callable[[], None]) -> None:
    """Now, in the next tick, or that long after."""
    loop = asyncio.get_running_loop()
    if at.after_ms is not None:
        loop.call_later(at.after_ms / 1000, act)
    elif at.when is BoundaryWhen.NEXT_TICK:
        loop.call_soon(act)
    else:
        act()


@dataclass(frozen=True, slots=True)
class FaultyModel:
    """A model that fails where the injector says so, before it is asked; what it does not have is the model's."""

    model: Model
    injector: Injector

    @property
    def name(self) -> str:
        """The model's own."""
        return self.model.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """The model's answer. Raises the fault that is due."""
        fault = self.injector.request_fault()
        if fault is not None:
            raise fault
        return await self.model.answer(call, signal=signal, emit=emit)


def check_ticks(scenario: Scenario, kind: ClockKind) -> None:
    """Raise UnsupportedError where a boundary is a tick and the clock is not virtual."""
    if kind is not ClockKind.VIRTUAL and any(one.at.tick is not None for one in scenario.inject):
        raise UnsupportedError(
            f"scenario {scenario.id!r}: ticks are counted under virtual time only, and this run takes the system's "
            "clock (a tool in a thread or subprocess, or a live model); name an event as the boundary"
        )
