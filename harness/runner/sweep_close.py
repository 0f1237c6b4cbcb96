"""Tells apart what a loop that is cancelled through its tasks began in the tick in which the cancel was on its way.

A task that was ready in that tick runs before its parent is told; no loop can prevent that. What such a task begins is
*close* where it is stopped at once. Where it was done before anybody could stop it, the run is made again with the
tasks that are made from the cancel on held back until all who are to be told have been told: a loop that stops its
tasks begins nothing then, one that leaves them running is red.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Generator
from typing import Any, Final, TypeVar

from harness.clock import VirtualLoop
from harness.protocols import Subject, World
from harness.runner.stand_in import StandIn
from harness.runner.sweep_plan import SECOND, SWEPT
from harness.runner.sweep_runs import Observed
from harness.types.codes import Origin, ToolOutcome
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelRequest, ToolEnd
from harness.types.lifecycle import CancelDelivered, CancelRequested
from harness.types.records import Finding
from harness.types.scenario import Injection
from harness.types.sweeps import CellOutcome, SweepCell

_BEGUN: Final = frozenset({"cancel_no_tool_start", "cancel_no_model_request"})
_OURS: Final = (SWEPT, SECOND)
_HELD_S: Final = 0.001
T = TypeVar("T")


def found_in(
    injection: Injection,
    found: tuple[Finding, ...],
    run: Observed,
    delivered: Event | None,
    held: Callable[[], Observed],
    known: Collection[Finding],
) -> SweepCell:
    """The cell of a run with findings that are not ``known``: red, or close. ``held`` makes the run :class:`Held`."""
    red = SweepCell(injection, CellOutcome.RED, found)
    if delivered is None or not all(_began_at_once(one, run, delivered) for one in found):
        return red
    close = SweepCell(injection, CellOutcome.CLOSE, found)
    if all(_was_stopped(one, run) for one in found):
        return close
    again = held()
    told = _delivered(again)
    left = [one for one in again.findings() if one not in known]
    stopped = told is not None and all(_began_at_once(one, again, told) and _was_stopped(one, again) for one in left)
    cell = close if stopped else red
    return SweepCell(cell.injection, cell.outcome, cell.findings, n_runs=2)


def _began_at_once(finding: Finding, run: Observed, delivered: Event) -> bool:
    """Something began in the tick in which the cancel travels through the tasks of a loop."""
    told_by_tasks = dict(run.trajectory.header.observed).get("tool/result") is Origin.PROBE
    if not (told_by_tasks and run.ticks and finding.check in _BEGUN and finding.events):
        return False
    begun = run.trajectory.events[finding.events[-1]]
    at_once = begun.time == delivered.time and run.ticks[begun.seq] <= run.ticks[delivered.seq] + 1
    return at_once and _end_of(begun, run) is not None


def _end_of(begun: Event, run: Observed) -> Event | None:
    """The end of a body that was cancelled or over before any time passed; the request where nothing answers it."""
    later = run.trajectory.events[begun.seq + 1 :]
    if isinstance(begun.fact, ModelRequest):
        return None if any(isinstance(event.fact, AssistantMessage) for event in later) else begun
    end = next((one for one in later if isinstance(one.fact, ToolEnd) and one.fact.start == begun.seq), None)
    if end is None or not isinstance(end.fact, ToolEnd):
        return None
    return end if end.fact.outcome is ToolOutcome.CANCELLED or end.time == begun.time else None


def _was_stopped(finding: Finding, run: Observed) -> bool:
    """It came to nothing of its own."""
    end = _end_of(run.trajectory.events[finding.events[-1]], run)
    return end is not None and not (isinstance(end.fact, ToolEnd) and end.fact.outcome is not ToolOutcome.CANCELLED)


def _delivered(run: Observed) -> Event | None:
    facts = ((event, event.fact) for event in run.trajectory)
    ours = (event for event, fact in facts if isinstance(fact, CancelDelivered) and fact.reason in _OURS)
    return next(ours, None)


class Held(StandIn):
    """A subject whose new tasks begin late, from a sweep's cancel on: not before all are told who can be."""

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        self._cancelled = False

    async def run(self, world: World) -> None:
        """Run the subject. Under the system's clock its tasks are as they are."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop):
            world.log.listen(self._listen)
            loop.set_task_factory(self._task)
        await self._subject.run(world)

    def _listen(self, event: Event) -> None:
        fact = event.fact
        self._cancelled = self._cancelled or (isinstance(fact, CancelRequested) and fact.reason in _OURS)

    def _task(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T] | Generator[Any, None, T], **more: Any
    ) -> asyncio.Future[T]:
        late = _late(work) if self._cancelled and asyncio.iscoroutine(work) else work
        return asyncio.Task(late, loop=loop, **more)


async def _late(work: Coroutine[Any, Any, T]) -> T:
    """The work, once virtual time has passed: by then nothing is on its way any more."""
    try:
        await asyncio.sleep(_HELD_S)
    except BaseException:
        work.close()  # it never begins
        raise
    return await work
