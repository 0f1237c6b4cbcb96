"""`budgets`: calls, tokens, money, context and repeats against the limits in the header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, limits_of
from harness.folds import Budget
from harness.types.codes import LimitKind
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolStart
from harness.types.lifecycle import TurnEnd
from harness.types.limits import Limits
from harness.types.reasons import LimitHit

_JUDGED: Final = (LimitKind.TOOL_CALLS, LimitKind.TOKENS, LimitKind.COST, LimitKind.CONTEXT, LimitKind.REPEATS)
_RULE: Final = "conformance:100"
_REPEATS: Final = "conformance:61"


def _budgets(trajectory: Trajectory) -> Iterator[Found]:
    """Of each agent whose limits are told, tokens and money of its own children included."""
    for agent, limits in limits_of(trajectory).items():
        if limits is None or not _has_some(limits):
            continue
        budget = Budget(limits, agent)
        for event in trajectory.events:
            if event.agent == agent:
                yield from _look(budget, event)
            budget.apply(event)


def _has_some(limits: Limits) -> bool:
    others = (limits.tool_calls, limits.tokens, limits.cost_micro_usd, limits.context_tokens, limits.repeats)
    return any(limit is not None for limit in others)


def _look(budget: Budget, event: Event) -> Iterator[Found]:
    match event.fact:
        case ModelRequest(messages=messages, attempt=attempt):
            big = budget.too_big(messages) if attempt == 1 else None
            for limit in (budget.spent(), big, budget.in_circles()):
                if limit is not None:
                    yield _late("a request", event, limit)
        case ToolStart():
            most = budget.limits.tool_calls
            of_a_call = event.fact.attempt == 1 and event.fact.within is None
            if most is not None and budget.n_bodies >= most and of_a_call:
                yield _late("a body", event, LimitHit(LimitKind.TOOL_CALLS, most))
            for limit in (budget.spent(), budget.in_circles(results=False)):
                if limit is not None:
                    yield _late("a body", event, limit)
        case TurnEnd(reason=LimitHit() as reason) if reason.which in _JUDGED:
            yield from _told(budget, event, reason)
        case _:
            pass


def _late(what: str, event: Event, limit: LimitHit) -> Found:
    reached = limit.value if limit.reached is None else limit.reached
    text = f"{what}{at(event)} began although the limit {limit.which} {limit.value} was reached ({reached})"
    return found(text, event, rule=_REPEATS if limit.which is LimitKind.REPEATS else _RULE)


def _told(budget: Budget, event: Event, reason: LimitHit) -> Iterator[Found]:
    """What is told is declared, was reached, and by as much as it says."""
    if reason.value not in _declared(reason.which, budget.limits):
        yield found(f"the reason names {reason.which} {reason.value}, which is not declared", event, rule=_RULE)
        return
    counted = _counted(budget, reason.which)
    told = reason.value if reason.reached is None else reason.reached
    exact = reason.which in (LimitKind.TOKENS, LimitKind.COST) and not budget.n_unknown
    if counted is not None and (counted < reason.value or (exact and counted != told)):
        text = f"the reason says {reason.which} {reason.value}, reached {told}; the events show {counted}"
        yield found(text, event, rule=_RULE)


def _declared(which: LimitKind, limits: Limits) -> tuple[int | None, ...]:
    repeats = limits.repeats
    circles = (repeats.same, repeats.alternating, repeats.same_result) if repeats else ()
    return {
        LimitKind.TOOL_CALLS: (limits.tool_calls,),
        LimitKind.TOKENS: (limits.tokens,),
        LimitKind.COST: (limits.cost_micro_usd,),
        LimitKind.CONTEXT: (limits.context_tokens,),
    }.get(which, circles)


def _counted(budget: Budget, which: LimitKind) -> int | None:
    """What the events show; None where they cannot (the request that was not made any more)."""
    if which is LimitKind.TOOL_CALLS:
        return budget.n_bodies
    if which in (LimitKind.TOKENS, LimitKind.COST):
        if budget.n_unknown:
            return None
        return budget.n_tokens if which is LimitKind.TOKENS else budget.micro_usd
    if which is LimitKind.REPEATS and budget.circles is not None:
        circles = budget.circles
        return max(circles.n_same, circles.n_rounds, circles.n_same_result)
    return None


def _has_budgets(trajectory: Trajectory) -> str:
    told = [limits for limits in limits_of(trajectory).values() if limits is not None]
    if not told:
        return "no limits are declared"
    limited = [limits for limits in told if _has_some(limits)]
    if not limited:
        return "no limit on calls, tokens, cost, context or repeats is declared"
    if any(limits.tool_calls is not None or limits.context_tokens or limits.repeats for limits in limited):
        return ""
    answers = [event.fact for event in trajectory.events if isinstance(event.fact, AssistantMessage)]
    if answers and all(answer.usage is None for answer in answers):
        return "tokens or cost are limited, and no answer reports its usage"
    return ""


BUDGETS = BuiltCheck(
    name="budgets",
    about="nothing begins once a limit on calls, tokens, cost, context or repeats is reached, and it is told as it is",
    needs=(("assistant/message", None), ("model/request", None), ("tool/start", None)),
    rules=("conformance:61", "conformance:62", "conformance:93", "conformance:100", "article:22", "article:32"),
    findings=_budgets,
    applies=_has_budgets,
)
