"""Mutants of cancels, and of what is left running."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from harness.mutants.editing import (
    Mutant,
    change,
    changed,
    drop,
    find,
    followed_by,
    moved_behind,
    on,
    on_both,
    repeated_behind,
)
from harness.types.codes import Code, Origin, QueueDisposition
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolEnd, ToolResult, ToolStart, UserMessage
from harness.types.lifecycle import (
    CancelDelivered,
    InboxClaimed,
    InboxDiscarded,
    RunQuiescent,
    StepEnd,
    TurnEnd,
)
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Alive


def _alive(*, name: str = "look", start: int | None = None) -> Callable[[Trajectory, Event], Trajectory]:
    return changed(alive=(Alive("tool", name, start),))


def _left_running(trajectory: Trajectory) -> Trajectory | None:
    end, line = find(trajectory, ToolEnd), find(trajectory, RunQuiescent)
    if end is None or line is None or not isinstance(end.fact, ToolEnd):
        return None
    return drop(change(trajectory, line, alive=(Alive("tool", "look", end.fact.start),)), end)


_NEVER_STARTED: Final = Code.ABORTED_BEFORE_DISPATCH

STOPPING: Final = (
    Mutant("body_after_cancel", "a body starts after the cancel", on_both(ToolStart, CancelDelivered, repeated_behind)),
    Mutant(
        "sibling_after_cancel",
        "the next call starts after the cancel",
        on(CancelDelivered, followed_by(ToolStart(CallId("c2"), "look", JsonText('{"q":"b"}')), Origin.PROBE)),
    ),
    Mutant(
        "body_in_new_turn_after_cancel",
        "a body starts after the cancelled turn",
        on_both(ToolStart, TurnEnd, repeated_behind),
    ),
    Mutant(
        "request_after_cancel",
        "a request is made after the cancel",
        on_both(ModelRequest, CancelDelivered, repeated_behind),
    ),
    Mutant(
        "request_in_cleanup",
        "a request is made while the cancelled step ends",
        on_both(ModelRequest, ToolResult, repeated_behind),
    ),
    Mutant(
        "step_goes_on_after_cancel",
        "a request is made when the cancelled step has ended",
        on_both(ModelRequest, StepEnd, repeated_behind),
    ),
    Mutant(
        "input_claimed_after_cancel",
        "queued input is claimed after the cancel",
        on_both(InboxClaimed, CancelDelivered, repeated_behind),
    ),
    Mutant(
        "input_enters_after_cancel",
        "queued input enters the transcript after the cancel",
        on_both(UserMessage, CancelDelivered, repeated_behind),
    ),
    Mutant(
        "kept_queue_dropped",
        "the cancel says keep, the queue is dropped",
        on(CancelDelivered, changed(queue=QueueDisposition.KEEP)),
    ),
    Mutant("queue_vanishes", "the cancel drops the queue, and nothing says so", on(InboxDiscarded, drop)),
    Mutant(
        "good_result_without_body",
        "a call that never started has a good result",
        on(ToolResult, changed(is_error=False, code=None), lambda fact: fact.code is _NEVER_STARTED),
    ),
    Mutant("body_never_ends", "a body neither ends nor is named", on(ToolEnd, drop)),
    Mutant("ended_body_named", "the last line names a body that had ended", on(RunQuiescent, _alive(start=0))),
    Mutant("left_running", "a body is left running, and named", _left_running),
    Mutant("result_behind_last_line", "a result behind the last line", on_both(ToolResult, RunQuiescent, moved_behind)),
)
