"""Carries out a scenario's injections: watches the log for boundaries, acts there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from harness.protocols import Controls
from harness.types.codes import Outcome
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.records import Finding, Verdict
from harness.types.scenario import Boundary, BoundaryWhen, CancelAction, Injection, ThrowAction


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

    def attach(self, controls: Controls) -> None:
        """Take what can be steered."""
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
        loop = asyncio.get_running_loop()
        if injection.at.after_ms is not None:
            loop.call_later(injection.at.after_ms / 1000, self._cancel, injection.do)
        elif injection.at.when is BoundaryWhen.NEXT_TICK:
            loop.call_soon(self._cancel, injection.do)
        else:
            self._cancel(injection.do)

    def _cancel(self, action: CancelAction) -> None:
        assert self._controls is not None, "a subject attaches its controls before its first event"
        self._controls.cancel(by=action.by, scope=action.scope, queue=action.queue, reason=action.reason)

    def closing_verdicts(self) -> tuple[Verdict, ...]:
        """INVALID for every injection whose boundary never came: the scenario did not test it."""
        findings = tuple(
            Finding("inject", f"the boundary never came: {boundary_text(watch.injection.at)}") for watch in self._left
        )
        return (Verdict("inject", Outcome.INVALID, findings),) if findings else ()


def boundary_text(at: Boundary) -> str:
    """``tool/start of 'slow', number 2`` and the like."""
    parts = [at.kind]
    parts += [f"of {at.tool!r}"] if at.tool else []
    parts += [f"of call {at.call!r}"] if at.call else []
    parts += [f"in turn {at.turn}"] if at.turn else []
    return " ".join(parts) + (f", number {at.nth}" if at.nth > 1 else "")
