"""Carries out a scenario's injections: watches the log for boundaries, acts there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from harness.errors import UnsupportedError, UsageError
from harness.protocols import Controls, SendingControls
from harness.types.codes import Outcome
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.records import Finding, Verdict
from harness.types.scenario import (
    Boundary,
    BoundaryWhen,
    CancelAction,
    InjectAction,
    Injection,
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

    def __init__(self, injections: tuple[Injection, ...]) -> None:
        self._left = [_Watch(injection, injection.at.nth) for injection in injections]
        self._tools: dict[int, ToolStart] = {}
        self._controls: Controls | None = None
        self._unsent: list[Injection] = []
        self._refused: list[str] = []

    def attach(self, controls: Controls) -> None:
        """Take what can be steered. Raises UnsupportedError where input is to be sent and cannot be."""
        sends = [watch.injection for watch in self._left if isinstance(watch.injection.do, SendAction)]
        if sends and not isinstance(controls, SendingControls):
            at = boundary_text(sends[0].at)
            raise UnsupportedError(
                f"the scenario sends input at {at}, and this subject takes none while it runs "
                f"({type(controls).__name__} has no send()): run it with the built-in loop, or leave the send out"
            )
        self._controls = controls

    def __call__(self, event: Event) -> None:
        """Act at every boundary that this event completes. Raises ThrownByScenario where one says so."""
        if isinstance(event.fact, ToolStart):
            self._tools[event.seq] = event.fact
        for watch in self._left:
            watch.n_left -= self._fits(watch.injection.at, event)
        due = [watch.injection for watch in self._left if watch.n_left == 0]
        self._left = [watch for watch in self._left if watch.n_left > 0]
        for injection in sorted(due, key=lambda one: isinstance(one.do, ThrowAction)):
            self._act(injection)

    def _fits(self, at: Boundary, event: Event) -> bool:
        if getattr(event.fact, "TYPE", "") != at.kind:
            return False
        fact = self._tools.get(event.fact.start) if isinstance(event.fact, ToolEnd) else event.fact
        return (
            (at.tool is None or getattr(fact, "name", None) == at.tool)
            and (at.call is None or getattr(fact, "call_id", None) == at.call)
            and (at.agent is None or event.agent == at.agent)
            and (at.turn is None or event.turn == at.turn)
        )

    def _act(self, injection: Injection) -> None:
        if isinstance(injection.do, ThrowAction):
            raise ThrownByScenario(injection.do.message)
        act = self._sender(injection, injection.do) if isinstance(injection.do, SendAction) else self._cancel
        loop = asyncio.get_running_loop()
        if injection.at.after_ms is not None:
            loop.call_later(injection.at.after_ms / 1000, act, injection.do)
        elif injection.at.when is BoundaryWhen.NEXT_TICK:
            loop.call_soon(act, injection.do)
        else:
            act(injection.do)

    def _sender(self, injection: Injection, action: SendAction) -> Callable[[InjectAction], None]:
        """Sends, and keeps the run open until it has."""
        controls = self._controls
        assert isinstance(controls, SendingControls), "looked at when they were attached"
        release = controls.hold()
        self._unsent.append(injection)

        def send(_: InjectAction) -> None:
            self._unsent = [one for one in self._unsent if one is not injection]
            try:
                controls.send(action.text, queue=action.queue)
            except UsageError as error:
                self._refused.append(f"the {action.queue} sent at {boundary_text(injection.at)} was refused: {error}")
            finally:
                release()

        return send

    def _cancel(self, action: InjectAction) -> None:
        assert isinstance(action, CancelAction)
        assert self._controls is not None, "a subject attaches its controls before its first event"
        self._controls.cancel(by=action.by, scope=action.scope, queue=action.queue, reason=action.reason)

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """INVALID for every injection that never came or was refused: the scenario did not test it."""
        findings = tuple(
            Finding("inject", f"the boundary never came: {boundary_text(watch.injection.at)}") for watch in self._left
        )
        late = [f"the run ended before input was sent that {boundary_text(one.at)} announced" for one in self._unsent]
        findings += tuple(Finding("inject", text) for text in (*self._refused, *late))
        return (Verdict("inject", Outcome.INVALID, findings),) if findings else ()


def boundary_text(at: Boundary) -> str:
    """``tool/start of 'slow', number 2`` and the like."""
    parts = [at.kind]
    parts += [f"of {at.tool!r}"] if at.tool else []
    parts += [f"of call {at.call!r}"] if at.call else []
    parts += [f"in turn {at.turn}"] if at.turn else []
    return " ".join(parts) + (f", number {at.nth}" if at.nth > 1 else "")
