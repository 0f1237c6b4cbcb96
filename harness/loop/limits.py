"""What ends a turn by limit, in the declared order, and what a body that may not start is told.

Of what holds at one look, the first is told (CONFORMANCE 101): cancel, time of the run, time of the turn (all
three by the turn's signal), steps, tool calls, tokens, cost, context, repeats. It is looked at before each
request and before each body (100); what was counted is a fold over the log, never kept beside it.
"""

from __future__ import annotations

from harness.folds import Budget
from harness.loop.intake import queue_input
from harness.loop.turn import Desk, Turn
from harness.types.codes import Code, InboxQueue, LimitKind, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.reasons import EmittedCall, LimitHit


def _budget(desk: Desk) -> Budget:
    return desk.budget.catch_up(desk.log.events)


def before_request(desk: Desk, turn: Turn) -> LimitHit | None:
    """The limit that allows no further request of this turn, or None."""
    steps = desk.limits.steps
    if steps is not None and turn.step >= steps:
        return LimitHit(LimitKind.STEPS, steps)
    budget = _budget(desk)
    return budget.spent() or budget.too_big(desk.shown) or budget.in_circles()


def before_body(desk: Desk, turn: Turn, call: EmittedCall) -> ToolReply | None:
    """The reply to a call whose body may not start any more, or None; the turn ends when its batch has."""
    budget, most = _budget(desk), desk.limits.tool_calls
    if turn.limit is None and most is not None and budget.n_bodies >= most:
        turn.limit = LimitHit(LimitKind.TOOL_CALLS, most, most)
    turn.limit = turn.limit or budget.spent() or budget.in_circles(results=False)
    if turn.limit is None:
        return None
    turn.n_skipped += 1
    why = f"the limit {turn.limit.which} {turn.limit.value} is reached, so this call was not run"
    if turn.limit.message:
        why = f"{why} ({turn.limit.message})"
    text = f"{Code.SKIPPED}: {call.name!r}: {why}."
    return ToolReply(text, ToolOutcome.CANCELLED, is_error=True, code=Code.SKIPPED, message=why)


def reached(turn: Turn) -> LimitHit | None:
    """The limit that kept a body of the turn from starting; calls that were not run count as asked for."""
    limit = turn.limit
    if limit is None or limit.which is not LimitKind.TOOL_CALLS:
        return limit
    return LimitHit(limit.which, limit.value, limit.value + turn.n_skipped)


def remind(desk: Desk) -> None:
    """Tell the model that it repeats itself, where the limits ask for that (ARTICLES 32)."""
    circles = _budget(desk).circles
    if circles is not None and desk.limits.repeats is not None and circles.n_same in desk.limits.repeats.remind:
        text = f"You have asked the same {circles.n_same} times in a row: {circles.in_words()}. Use what you have."
        queue_input(desk, text, InboxQueue.INJECT)
