"""`steps_and_limits`: answered requests against the limits in the header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, limits_of
from harness.types.codes import LimitKind, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, UserMessage
from harness.types.lifecycle import RunEnd, TurnEnd
from harness.types.reasons import LimitHit
from harness.types.scenario import Limits


@dataclass(slots=True)
class _Count:
    """Answered steps since the turn began; by turn where turns are known, else by user message.

    A user message between results and the next request is a remark of the loop's own, no new turn, unless
    the steps were used up.
    """

    turn: int | None = None
    n_answered: int = 0
    latest: Event | None = None
    ended: Event | None = None


def _steps_and_limits(trajectory: Trajectory) -> Iterator[Found]:
    limits = limits_of(trajectory)
    for agent, events in by_agent(trajectory).items():
        count = _Count()
        for event in events:
            yield from _look(count, event, limits[agent])


def _look(count: _Count, event: Event, limits: Limits | None) -> Iterator[Found]:
    if event.turn is not None and event.turn != count.turn:
        count.turn, count.n_answered, count.ended = event.turn, 0, None
    match event.fact:
        case UserMessage() if event.turn is None and not _goes_on(count, limits):
            count.n_answered, count.ended = 0, None
        case AssistantMessage(interrupted=False):
            count.n_answered += 1
            count.latest = event
        case ModelRequest():
            yield from _request(count, event, limits)
        case TurnEnd(reason=LimitHit() as reason) | RunEnd(reason=LimitHit() as reason):
            yield from _limit_hit(count, event, reason, limits)
            count.ended = event
        case _:
            pass


def _goes_on(count: _Count, limits: Limits | None) -> bool:
    """The last answer asked for tools, and steps are left."""
    latest = count.latest.fact if count.latest else None
    asks = isinstance(latest, AssistantMessage) and bool(latest.tool_calls)
    return asks and (limits is None or limits.steps is None or count.n_answered < limits.steps)


def _request(count: _Count, event: Event, limits: Limits | None) -> Iterator[Found]:
    if limits is not None and limits.steps is not None and count.n_answered >= limits.steps:
        text = f"a request{at(event)} after {count.n_answered} answered steps, the limit is {limits.steps}"
        yield found(text, count.latest, event, rule="conformance:89")
    if count.ended is not None:
        yield found(f"a request{at(event)} after the limit ended the turn", count.ended, event, rule="conformance:89")


def _limit_hit(count: _Count, event: Event, reason: LimitHit, limits: Limits | None) -> Iterator[Found]:
    declared = _declared(reason.which, limits)
    if declared is not None and reason.value != declared:
        text = f"the reason names {reason.which} {reason.value}, the limit is {declared}"
        yield found(text, event, rule="conformance:90")
    if reason.which is LimitKind.STEPS and count.n_answered != reason.value and _is_countable(event, reason, count):
        text = f"the step limit of {reason.value} is said to be reached after {count.n_answered} answered steps"
        yield found(text, count.latest, event, rule="conformance:89")


def _is_countable(event: Event, reason: LimitHit, count: _Count) -> bool:
    """Another product's file may not tell which number its limit was, or which of its answers are of one turn."""
    return event.origin is not Origin.IMPORT or (reason.value > 0 and count.turn is not None)


def _declared(which: LimitKind, limits: Limits | None) -> int | None:
    if limits is None:
        return None
    return {
        LimitKind.STEPS: limits.steps,
        LimitKind.WALL_TIME: limits.wall_ms,
        LimitKind.TURN_TIME: limits.turn_wall_ms,
    }.get(which)


def _has_limits(trajectory: Trajectory) -> str:
    if trajectory.header.limits is not None:
        return ""
    ends = (event.fact for event in trajectory.events if isinstance(event.fact, TurnEnd | RunEnd))
    if any(isinstance(end.reason, LimitHit) for end in ends):
        return ""
    return "no limits are declared, and none ended the run"


STEPS_AND_LIMITS = BuiltCheck(
    name="steps_and_limits",
    about="at most as many answered requests a turn as the limit says, and a limit that is told as it is",
    needs=(("assistant/message", None),),
    rules=tuple(f"conformance:{n}" for n in (89, 90, 91, 92)),
    findings=_steps_and_limits,
    applies=_has_limits,
)
