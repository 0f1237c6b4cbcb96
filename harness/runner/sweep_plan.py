"""What a sweep injects: every cancel and fault that its reference has a boundary for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice, permutations, product
from typing import Final

from harness.errors import UsageError
from harness.folds import boundaries_of
from harness.types.codes import CancelScope, Code, InboxQueue, QueueDisposition
from harness.types.events import Trajectory
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.messages import CallId
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
from harness.types.sweeps import SweepAxis, SweepKind, SweepLevel

SWEPT: Final = "a sweep"
"""The reason of its cancels, by which they are told from those of the scenario."""
SECOND: Final = "a second injection of a sweep"
"""The reason of the second cancel of a pair."""
FAULT_TEXT: Final = "a fault of the sweep"
"""The message of its faults."""
SENT_TEXT: Final = "One more thing, sent by the sweep."
"""What it sends."""
MOST_ORDERS: Final = 24
"""Completion orders of one batch: all of four bodies."""
_FAULTS: Final = (
    (SweepKind.TOOL_ERROR, "tool/start", None),
    (SweepKind.MODEL_ERROR, "model/request", None),
    (SweepKind.MODEL_ERROR, "model/request", Code.INVALID_REQUEST.value),
)
"""Kind, place and code; a client retries a SERVER error by itself, an INVALID_REQUEST reaches the loop."""


def kinds_of(names: Iterable[SweepKind | str]) -> tuple[SweepKind, ...]:
    """Kinds by their names, each once, in their order; all of them where none is named. Raises UsageError."""
    named = {str(name) for name in names}
    unknown = sorted(named - set(SweepKind))
    if unknown:
        raise UsageError(f"nothing is swept under the name {unknown[0]!r}; there are {', '.join(SweepKind)}")
    return tuple(kind for kind in SweepKind if kind in named or not named)


def axes_of(names: Iterable[SweepAxis | str]) -> tuple[SweepAxis, ...]:
    """Axes by their names, each once, in their order. Raises UsageError."""
    named = {str(name) for name in names}
    unknown = sorted(named - set(SweepAxis))
    if unknown:
        raise UsageError(f"no axis is named {unknown[0]!r}; there are {', '.join(SweepAxis)}")
    return tuple(axis for axis in SweepAxis if axis in named)


def injections(
    reference: Trajectory, kinds: Collection[SweepKind], level: SweepLevel, *, n_tasks: int, n_ticks: int
) -> Iterator[Injection]:
    """Every injection of a sweep, by kind, then by when and what, then in the order of the run.

    ``n_ticks`` is the number of ticks of the event loop from the first event to the last (0 where they are
    not counted). A cancel of the turn is swept where turns are seen, a kept queue where there is one.
    """
    places = boundaries_of(reference)
    if SweepKind.CANCEL in kinds:
        told = dict(reference.header.observed)
        scopes = (CancelScope.RUN, CancelScope.TURN) if "turn/start" in told else (CancelScope.RUN,)
        queues = (QueueDisposition.DROP, QueueDisposition.KEEP) if n_tasks > 1 else (QueueDisposition.DROP,)
        ticks = n_ticks if level is SweepLevel.TICKS else 0
        for where, scope, queue in product(_cancel_places(places, ticks), scopes, queues):
            action = CancelAction(scope=scope, queue=queue, reason=SWEPT)
            yield from (Injection(at, action) for at in where)
    for kind, event, code in _FAULTS:
        if kind in kinds:
            fault = FaultAction(code, FAULT_TEXT)
            yield from (Injection(at, fault) for at in places if at.kind == event)
    if SweepKind.THROW in kinds:
        yield from (Injection(at, ThrowAction(FAULT_TEXT)) for at in places)
    if SweepKind.SEND in kinds and "inbox/queued" in dict(reference.header.observed):
        for to, when in product((InboxQueue.FOLLOWUP, InboxQueue.STEER), BoundaryWhen):
            yield from (Injection(replace(at, when=when), SendAction(SENT_TEXT, to)) for at in places)


def orders_to_sweep(reference: Trajectory, kinds: Collection[SweepKind]) -> Iterator[tuple[CallId, ...]]:
    """Orders in which the bodies of one answer may end that all began before one of them ended; the first
    ``MOST_ORDERS`` of each answer, and the reversed one.
    """
    if SweepKind.ORDER not in kinds:
        return
    for together in _together(reference):
        orders = list(islice(permutations(together), MOST_ORDERS))
        yield from dict.fromkeys((*orders, together[::-1]))


def nothing_of(kinds: Iterable[SweepKind], swept: Collection[SweepKind], scenario: Scenario) -> Iterator[str]:
    """Why there is nothing to inject of each of the kinds that is not ``swept``; limits and kills have reasons of
    their own.
    """
    timed = "the scenario injects something or says in which order bodies end, and what comes at a time meets others"
    whys = {
        SweepKind.CANCEL: "the run has no event at which it could come",
        SweepKind.TOOL_ERROR: "no body of a tool began in the undisturbed run",
        SweepKind.MODEL_ERROR: "no request was made in the undisturbed run",
        SweepKind.THROW: "the run has no event at which it could come",
        SweepKind.SEND: "the loop takes no input while it runs",
        SweepKind.ORDER: timed if scenario.inject or scenario.release else "no two bodies of one answer overlap",
        SweepKind.PAIR: "no first injection has a place behind it",
    }
    yield from (f"{kind} is not swept: {whys[kind]}" for kind in kinds if kind in whys and kind not in swept)


def _together(reference: Trajectory) -> Iterator[tuple[CallId, ...]]:
    """Calls whose bodies overlap, by batch; every call once in the run, else an order would not say which."""
    ids = Counter(e.fact.call_id for e in reference if isinstance(e.fact, ToolStart))
    begun: dict[str, list[CallId]] = {}
    agents: dict[int, str] = {}
    for event in reference:
        fact = event.fact
        if isinstance(fact, ToolStart) and fact.call_id is not None and fact.within is None:
            agents[event.seq] = event.agent
            begun.setdefault(event.agent, []).append(fact.call_id)
        elif isinstance(fact, ToolEnd) and fact.start in agents:
            together = begun.pop(agents[fact.start], [])
            if len(together) > 1 and all(ids[call] == 1 for call in together):
                yield tuple(together)


def _cancel_places(places: tuple[Boundary, ...], n_ticks: int) -> Iterator[tuple[Boundary, ...]]:
    yield places
    yield tuple(replace(at, when=BoundaryWhen.NEXT_TICK) for at in places)
    yield tuple(Boundary("", tick=number) for number in range(1, n_ticks + 1))
