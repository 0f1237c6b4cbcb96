"""What is still running: `cancel_settled` after a cancel, `quiescence` at the last line of any run."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.cancel import DELIVERED, Window, was_cancelled, windows
from harness.checks.reading import at, two_doors
from harness.types.codes import CancelScope, ClockKind, Code, LimitKind, Origin, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import CancelDelivered, RunEnd, RunQuiescent, TurnEnd
from harness.types.messages import CallId
from harness.types.profile_run import CancelCause
from harness.types.reasons import Alive, Cancelled, Interrupted, LimitHit

_BODIES = (("tool/start", Origin.PROBE), ("tool/end", Origin.PROBE), ("run/quiescent", Origin.PROBE))


def running_bodies(trajectory: Trajectory) -> dict[int, Event]:
    """Bodies that started and never ended, by the seq of their start."""
    bodies: dict[int, Event] = {}
    for event in trajectory.events:
        if isinstance(event.fact, ToolStart):
            bodies[event.seq] = event
        elif isinstance(event.fact, ToolEnd):
            bodies.pop(event.fact.start, None)
    return bodies


def _last_line(trajectory: Trajectory) -> tuple[Event, RunQuiescent] | None:
    for event in reversed(trajectory.events):
        if isinstance(event.fact, RunQuiescent):
            return event, event.fact
    return None


def _unnamed(bodies: dict[int, Event], alive: tuple[Alive, ...]) -> list[Event]:
    """Running bodies that the last line does not name: by their start, else by one name each."""
    by_start = {one.start for one in alive if one.start is not None}
    by_name = [one.name for one in alive if one.start is None]
    unnamed = []
    for seq, event in bodies.items():
        name = event.fact.name if isinstance(event.fact, ToolStart) else ""
        if seq in by_start:
            continue
        if name in by_name:
            by_name.remove(name)
        else:
            unnamed.append(event)
    return unnamed


def _name(event: Event) -> str:
    return repr(event.fact.name) if isinstance(event.fact, ToolStart) else event.fact.TYPE


# ---------------------------------------------------------------- quiescence

_TIMES = (LimitKind.WALL_TIME, LimitKind.TURN_TIME)


def _quiescence(trajectory: Trajectory) -> Iterator[Found]:
    last = _last_line(trajectory)
    if last is None:
        yield found("no run/quiescent: nothing says what was still running", rule="conformance:76")
        return
    line, fact = last
    bodies = running_bodies(trajectory)
    for event in _unnamed(bodies, fact.alive):
        text = f"the body of {_name(event)}{at(event)} never ended and is not named at the last line"
        yield found(text, event, line, rule="conformance:76")
    for alive in fact.alive:
        if alive.start is not None and alive.start not in bodies:
            text = (
                f"the last line names {alive.name!r} (start {alive.start}) as running, which had ended or never began"
            )
            yield found(text, line, rule="conformance:76")
    if fact.alive and not _was_stopped(trajectory):
        names = ", ".join(repr(alive.name) for alive in fact.alive)
        text = f"left running although nothing was cancelled, timed out or out of time: {names}"
        yield found(text, line, rule="conformance:76")


def _was_stopped(trajectory: Trajectory) -> bool:
    """A cancel, a time-out, the limit on time, or the death of the process: why a body was given up."""
    for event in trajectory.events:
        match event.fact:
            case TurnEnd(reason=Interrupted()) | RunEnd(reason=Interrupted()):
                return True  # the process died: nobody saw how its bodies ended
            case CancelDelivered() | ToolResult(code=Code.TOOL_TIMEOUT) | ToolEnd(code=Code.TOOL_TIMEOUT):
                return True
            case TurnEnd(reason=LimitHit(which=which)) | RunEnd(reason=LimitHit(which=which)) if which in _TIMES:
                return True
            case _:
                pass
    return False


QUIESCENCE = BuiltCheck(
    name="quiescence",
    about="at the last line nothing that the run started is running, or it is named there",
    needs=_BODIES,
    rules=("conformance:56", "conformance:76", "conformance:77"),
    findings=_quiescence,
)


# ---------------------------------------------------------------- after a cancel


def _settled(trajectory: Trajectory) -> Iterator[Found]:
    last = _last_line(trajectory)
    alive = last[1].alive if last else ()
    unnamed = _unnamed(running_bodies(trajectory), alive)
    for window in windows(trajectory):
        yield from _told(trajectory, window)
        yield from _fabricated(trajectory, window)
        yield from _ran_on(trajectory, window, last)
        for event in unnamed:
            if event.seq < window.cancel.seq or event in window.events:
                text = (
                    f"the body of {_name(event)}{at(event)} neither settled after the cancel nor is it named at the end"
                )
                yield found(text, event, window.cancel, rule="conformance:76")


def _told(trajectory: Trajectory, window: Window) -> Iterator[Found]:
    """The cancelled turn, and the run where it was cancelled whole, end as cancelled."""
    met_a_turn = window.turn is not None
    for event in window.events:
        match event.fact:
            case TurnEnd(status=status, reason=reason) if event.agent == window.cancel.agent and met_a_turn:
                if status is not Status.CANCELLED:
                    yield found(
                        f"the turn was cancelled and ended {status}", window.cancel, event, rule="conformance:67"
                    )
                yield from _cause(trajectory, window, event, reason)
                met_a_turn = False
            case RunEnd(reason=Interrupted()) if window.turn is not None:
                pass  # its process died before it could say so; its turn does
            case RunEnd(status=status) if event.agent == window.cancel.agent and _ends_run(trajectory, window):
                if status is not Status.CANCELLED:
                    yield found(
                        f"the run was cancelled and ended {status}", window.cancel, event, rule="conformance:67"
                    )
            case _:
                pass


def _ran_on(trajectory: Trajectory, window: Window, last: tuple[Event, RunQuiescent] | None) -> Iterator[Found]:
    """Tasks of a loop's own that were still running when all that was owed to its cancel had had an hour.

    Bodies that do not end are the tools' affair, and are named; a loop of ours names what it gives up.
    """
    if last is None or not two_doors(trajectory) or trajectory.header.clock is not ClockKind.VIRTUAL:
        return
    for alive in last[1].alive:
        if alive.kind == "task":
            text = f"{alive.name!r}, a task of the loop's own, was still running at the last line after the cancel"
            yield found(text, window.cancel, last[0], rule="conformance:76")


def _ends_run(trajectory: Trajectory, window: Window) -> bool:
    """A cancel of the run that met work: an open turn, or (without turns) the run itself."""
    turns_known = any(isinstance(event.fact, TurnEnd) for event in trajectory.events)
    return window.delivered.scope is CancelScope.RUN and (window.turn is not None or not turns_known)


def _cause(trajectory: Trajectory, window: Window, event: Event, reason: object) -> Iterator[Found]:
    if not isinstance(reason, Cancelled) or trajectory.header.profile.cancel_cause is not CancelCause.FIRST:
        return
    earlier = [w for w in windows(trajectory) if w.cancel.seq < window.cancel.seq and event in w.events]
    if not earlier and reason.by is not window.delivered.by:
        text = f"the turn says cancelled by {reason.by}, the first cancel came from {window.delivered.by}"
        yield found(text, window.cancel, event, rule="conformance:80")


def _fabricated(trajectory: Trajectory, window: Window) -> Iterator[Found]:
    """Good results, after the cancel, of calls whose body never started."""
    started: set[CallId] = set()
    for event in trajectory.events:
        if isinstance(event.fact, ToolStart):
            if event.fact.call_id is None:
                return  # bodies cannot be told apart by call here
            started.add(event.fact.call_id)
    for event in window.events:
        if isinstance(event.fact, ToolResult) and not event.fact.is_error and event.fact.call_id not in started:
            text = f"call {event.fact.call_id!r} has a good result after the cancel, but its body never started"
            yield found(text, window.cancel, event, rule="conformance:71")


CANCEL_SETTLED = BuiltCheck(
    name="cancel_settled",
    about="what a cancel met has settled or is named, and the end says cancelled",
    needs=(*DELIVERED, ("run/end", None), *_BODIES),
    rules=("conformance:67", "conformance:71", "conformance:76", "conformance:80"),
    findings=_settled,
    applies=was_cancelled,
)
