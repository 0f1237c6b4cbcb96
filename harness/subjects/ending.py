"""How a user's function says that it ended, and what that comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from harness.folds import Budget
from harness.folds.budget import hit
from harness.protocols import World
from harness.types.codes import CancelBy, Code, LimitKind, Status
from harness.types.exchange import AssistantMessage
from harness.types.reasons import Blocked, Cancelled, Failed, FinalAnswer, Interrupted, LimitHit, Reason, Waiting

_VALUES: Final = {
    LimitKind.STEPS: "steps",
    LimitKind.TOOL_CALLS: "tool_calls",
    LimitKind.TOKENS: "tokens",
    LimitKind.COST: "cost_micro_usd",
    LimitKind.CONTEXT: "context_tokens",
    LimitKind.WALL_TIME: "wall_ms",
    LimitKind.TURN_TIME: "turn_wall_ms",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """What a loop may return to say how it ended, where a plain answer does not tell.

    ``status`` is one of the statuses; without it the run completed. ``limit`` says which one ended it with
    ``limit_reached``: ``steps``, ``tool-calls``, ``tokens``, ``cost``, ``context``, ``repeats``.
    """

    status: Status | str = Status.COMPLETED
    answer: str | None = None
    limit: LimitKind | str = LimitKind.STEPS


def stopped(reason: Reason) -> Status:
    """The status of a loop that was stopped from outside."""
    if isinstance(reason, Failed):
        return Status.FAILED
    return Status.CANCELLED if isinstance(reason, Cancelled) else Status.LIMIT_REACHED


def ending_of(value: Any, world: World) -> tuple[Status, Reason]:
    """The status that a loop's return gives it.

    A plain return completes the run, unless the model's last answer asked for tools: then the loop
    gave up, and does not say so by itself (return an Ending to say how).
    """
    if isinstance(value, Ending):
        status = Status(value.status)
        return status, _reason_for(status, LimitKind(value.limit), world)
    last = next((e.fact for e in reversed(world.log.events) if isinstance(e.fact, AssistantMessage)), None)
    if last is not None and last.tool_calls:
        return Status.INCOMPLETE, Interrupted()
    return Status.COMPLETED, FinalAnswer()


def _reason_for(status: Status, limit: LimitKind, world: World) -> Reason:
    match status:
        case Status.COMPLETED:
            return FinalAnswer()
        case Status.LIMIT_REACHED:
            return _limit(limit, world)
        case Status.WAITING_FOR_USER:
            return Waiting()
        case Status.CANCELLED:
            return Cancelled(CancelBy.USER)
        case Status.BLOCKED:
            return Blocked("the loop says that it was blocked")
        case Status.FAILED:
            return Failed(Code.UNKNOWN, "the loop says that it failed")
        case Status.INCOMPLETE:
            return Interrupted()


def _limit(which: LimitKind, world: World) -> LimitHit:
    """The limit with its value; of tokens and money also what was seen to be used up."""
    if which is LimitKind.REPEATS:
        return LimitHit(which, (world.limits.repeats.same if world.limits.repeats else None) or 0)
    value: int = getattr(world.limits, _VALUES[which]) or 0
    budget = Budget(world.limits).catch_up(world.log.events)
    used = {LimitKind.TOKENS: budget.n_tokens, LimitKind.COST: budget.micro_usd}
    return hit(which, value, used.get(which, value))
