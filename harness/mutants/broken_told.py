"""The built-in loop, or another that tells all, with one fault each: false accounts, wrong limits, broken parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from harness.loop import Driver
from harness.mutants.seams import Seam, driver, instead, limits
from harness.types.codes import CancelBy, Code, InboxQueue, Mode, Status
from harness.types.exchange import AssistantMessage, ToolCall, ToolResult, UserMessage
from harness.types.facts import Fact
from harness.types.lifecycle import InboxClaimed, InboxQueued, RunEnd, RunStart, StepEnd, StepStart, TurnEnd, TurnStart
from harness.types.reasons import Cancelled, FinalAnswer


def _never(_: Fact) -> tuple[Fact, ...]:
    return ()


def _twice(fact: Fact) -> tuple[Fact, ...]:
    return (fact, fact)


def _ends(status: Status, reason: Any) -> Seam:
    """A turn and a run that tell another end."""

    def seam(world: Any) -> Any:
        for kind in (TurnEnd, RunEnd):
            world = instead(kind, lambda fact: (replace(fact, status=status, reason=reason),))(world)
        return world

    return seam


def _once(edit: Any) -> Any:
    """An edit of the first fact alone."""
    done: list[Fact] = []

    def first(fact: Fact) -> tuple[Fact, ...]:
        if done:
            return (fact,)
        done.append(fact)
        return tuple(edit(fact))

    return first


def _first(kind: type[Fact], edit: Any) -> Seam:
    return lambda world: instead(kind, _once(edit))(world)


# ---------------------------------------------------------------- broken parts of a driver


def _followups_reversed(it: Driver) -> None:
    inbox = it._desk.inbox
    due = inbox.due

    def newest(*, first: bool) -> Any:
        queued = inbox._queues[InboxQueue.FOLLOWUP]
        for name in reversed(list(queued)):
            queued[name] = queued.pop(name)
        return due(first=first)

    inbox.due = newest  # type: ignore[method-assign]


def _steering_lost(it: Driver) -> None:
    inbox = it._desk.inbox
    accept = inbox.accept

    def forgetful(message: Any, queue: InboxQueue, given: str | None = None) -> Any:
        queued = accept(message, queue, given)
        if queue is InboxQueue.STEER:
            inbox.take(queued.id)
        return queued

    inbox.accept = forgetful  # type: ignore[method-assign]


def _steering_joins_the_batch(it: Driver) -> None:
    """Steered text enters the history at once, between calls and their results."""
    inbox, desk = it._desk.inbox, it._desk
    accept = inbox.accept

    def eager(message: Any, queue: InboxQueue, given: str | None = None) -> Any:
        queued = accept(message, queue, given)
        if queue is InboxQueue.STEER and it._turn is not None:
            inbox.take(queued.id)
            desk.say(UserMessage(message), it._turn)
        return queued

    inbox.accept = eager  # type: ignore[method-assign]


def _queue_forgotten_at_cancel(it: Driver) -> None:
    clear = it._desk.inbox.clear
    it._desk.inbox.clear = lambda: clear()[:0]  # type: ignore[method-assign]


def _queue_used_after_cancel(it: Driver) -> None:
    """A cancel that is to drop what is queued leaves it there, and it runs."""
    inbox, cancel = it._desk.inbox, it._cancel
    inbox.clear = lambda: ()  # type: ignore[method-assign]
    inbox.park = lambda: None  # type: ignore[method-assign]

    def keeps(*given: Any) -> None:
        cancel(*given)
        it._stopped = None

    it._cancel = keeps  # type: ignore[method-assign, assignment]


def _deaf(it: Driver) -> None:
    """A cancel is told, and nobody obeys it."""
    begin = it._begin_turn

    def begun() -> Any:
        turn = begin()
        turn.stop.set = lambda reason: False  # type: ignore[method-assign]
        return turn

    it._begin_turn = begun  # type: ignore[method-assign]


def _stale_signal(it: Driver) -> None:
    """The second turn is begun with the signal of the first."""
    begin = it._begin_turn
    kept: list[Any] = []

    def begun() -> Any:
        turn = begin()
        kept.append(turn.stop)
        if len(kept) == 2:
            turn.stop = kept[0]
        return turn

    it._begin_turn = begun  # type: ignore[method-assign]


def _steps_never_begin_anew(it: Driver) -> None:
    """The second turn goes on counting where the first one ended."""
    begin = it._begin_turn
    last: list[Any] = []

    def begun() -> Any:
        turn = begin()
        turn.step = last[-1].step if last else 0
        last.append(turn)
        return turn

    it._begin_turn = begun  # type: ignore[method-assign]


def _barrier_ignored(it: Driver) -> None:
    it._desk.tools.mode_of = lambda name, arguments="": Mode.PARALLEL  # type: ignore[method-assign]


def _bodies_run_twice(it: Driver) -> None:
    door = it._desk.tools
    run = door.run

    async def twice(name: str, arguments: str, **rest: Any) -> Any:
        await run(name, arguments, **rest)
        return await run(name, arguments, **rest)

    door.run = twice  # type: ignore[method-assign]


def _arguments_emptied(it: Driver) -> None:
    door = it._desk.tools
    run = door.run
    door.run = lambda name, arguments, **rest: run(name, '{"x":0}', **rest)  # type: ignore[method-assign]


def _results_doubtful(it: Driver) -> None:
    """A body that succeeded is told as failed."""
    door = it._desk.tools
    run = door.run

    async def doubted(name: str, arguments: str, **rest: Any) -> Any:
        reply = await run(name, arguments, **rest)
        return replace(reply, is_error=True, code=Code.TOOL_FAILED, content="TOOL_FAILED: no")

    door.run = doubted  # type: ignore[method-assign]


def _everybody_may(world: Any) -> Any:
    tools = replace(world.scenario.tools, allowed=None)
    return replace(world, scenario=replace(world.scenario, tools=tools))


_W: Final = "two calls, then one"
_C: Final = "cancelled at work"
_L: Final = "never ends"
_T: Final = "two tasks"
BROKEN_TOLD: Final[tuple[tuple[str, str, Seam, str, str], ...]] = (
    ("misses_run_start", "the run's beginning is not told", instead(RunStart, _never), _W, ""),
    ("misses_run_end", "the run's end is not told", instead(RunEnd, _never), _W, ""),
    ("misses_turn_start", "a turn's beginning is not told", instead(TurnStart, _never), _W, ""),
    ("misses_turn_end", "a turn's end is not told", instead(TurnEnd, _never), _W, ""),
    ("misses_step_start", "a step's beginning is not told", instead(StepStart, _never), _W, ""),
    ("misses_step_end", "a step's end is not told", instead(StepEnd, _never), _W, ""),
    ("ends_twice", "the run ends twice", instead(RunEnd, _twice), _W, ""),
    ("turn_ends_twice", "a turn ends twice", instead(TurnEnd, _twice), _W, ""),
    ("tells_after_the_end", "a step begins behind the run's end", instead(RunEnd, lambda f: (f, StepStart())), _W, ""),
    ("keeps_a_call_to_itself", "a call of an answer is not told", _first(ToolCall, _never), _W, ""),
    ("keeps_an_answer_to_itself", "an answer is not told", _first(AssistantMessage, _never), _W, ""),
    ("keeps_a_result_to_itself", "a result is not told", _first(ToolResult, _never), _W, ""),
    ("commits_twice", "a result is told twice", _first(ToolResult, _twice), _W, ""),
    ("result_under_another_name", "a result names another tool", _first(ToolResult, lambda f: (replace(f, name="fly"),)), _W, ""),
    ("result_under_another_id", "a result's id is no call's", _first(ToolResult, lambda f: (replace(f, call_id="c9"),)), _W, ""),
    ("tells_failure_as_success", "a failed body's result is told as a good one",
     instead(ToolResult, lambda f: (replace(f, is_error=False, code=None, message=None),)), "a failure is told", ""),
    ("placeholder_for_a_result", "a result is told as a placeholder",
     _first(ToolResult, lambda f: (replace(f, content="(done)"),)), _W, ""),
    ("misnumbers_attempts", "the answer to a second attempt says that it is the first",
     instead(AssistantMessage, lambda f: (replace(f, attempt=1),)), "a rate limit", ""),
    ("cancelled_as_completed", "a cancelled run is told as completed", _ends(Status.COMPLETED, FinalAnswer()), _C, ""),
    ("completed_as_cancelled", "a completed run is told as cancelled",
     _ends(Status.CANCELLED, Cancelled(CancelBy.USER)), _W, ""),
    ("limit_as_completed", "a run that a limit ended is told as completed", _ends(Status.COMPLETED, FinalAnswer()), _L, ""),
    ("failed_as_completed", "a failed run is told as completed", _ends(Status.COMPLETED, FinalAnswer()), "the model fails", ""),
    ("run_unlike_its_turn", "the run tells another end than its last turn",
     instead(RunEnd, lambda f: (replace(f, status=Status.INCOMPLETE),)), _W, ""),
    ("claims_nothing", "input enters that nobody claimed", instead(InboxClaimed, _never), _W, ""),
    ("claims_twice", "input is claimed twice", instead(InboxClaimed, _twice), _W, ""),
    ("queues_nothing", "input comes from nowhere", instead(InboxQueued, _never), _W, ""),
    ("user_message_twice", "the user's message enters twice", instead(UserMessage, _twice), _W, ""),
    ("followups_reversed", "the newest follow-up runs first", driver(_followups_reversed), "three follow-ups", ""),
    ("steering_lost", "what steers is accepted and forgotten", driver(_steering_lost), "steered", ""),
    ("steering_in_the_batch", "what steers stands between calls and results", driver(_steering_joins_the_batch), "steered", ""),
    ("queue_forgotten", "what a cancel drops is not told", driver(_queue_forgotten_at_cancel), "cancelled with input waiting", ""),
    ("queue_used_after_cancel", "what waits when all is cancelled runs", driver(_queue_used_after_cancel), "cancelled with input waiting", ""),
    ("deaf_to_cancel", "a cancel is told and not obeyed", driver(_deaf), _C, ""),
    ("stale_signal", "the next turn has the signal of the one before", driver(_stale_signal), "the first of two tasks cancelled", ""),
    ("stale_step_count", "the next turn counts on from the one before", driver(_steps_never_begin_anew), _T, ""),
    ("barrier_ignored", "an exclusive tool runs beside others", driver(_barrier_ignored), "a barrier", ""),
    ("bodies_twice", "every body runs twice", driver(_bodies_run_twice), _W, ""),
    ("other_arguments", "bodies run with other arguments", driver(_arguments_emptied), _W, ""),
    ("success_as_failure", "a good result is told as failed", driver(_results_doubtful), "a failure is told", ""),
    ("everybody_may", "a tool runs that is not allowed", _everybody_may, "a forbidden tool", ""),
    ("everybody_may_write", "a tool writes that is not allowed", _everybody_may, "a forbidden write", ""),
    ("cap_ignored", "more bodies run at once than allowed", limits(lambda own: {"parallel_tools": 9}), "one at a time", ""),
    ("wall_clock_ignored", "the time that is allowed means nothing", limits(lambda own: {"wall_ms": 9_000_000}), "an endless tool", ""),
    ("one_step_more", "the limit of steps is off by one", limits(lambda own: {"steps": own.steps + 1}), _L, ""),
    ("one_step_less", "the limit of steps is off by one, the other way", limits(lambda own: {"steps": own.steps - 1}), _L, ""),
)  # fmt: skip
"""Name, what is wrong, the seam, the scenario that reveals it, and what that is swept with ("": it is run once)."""
