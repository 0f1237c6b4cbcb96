"""What a run is doing, in a few words for a person who waits (ARTICLES 40)."""

from __future__ import annotations

from collections.abc import Iterable

from harness.types.codes import Status
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelRequest, ModelRetry, ToolEnd, ToolStart
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    RunEnd,
    TurnEnd,
    TurnStart,
)

_ENDED = {
    Status.COMPLETED: "done",
    Status.WAITING_FOR_USER: "waiting for the user",
    Status.INCOMPLETE: "ended, not complete",
    Status.LIMIT_REACHED: "ended by a limit",
    Status.BLOCKED: "blocked",
    Status.FAILED: "failed",
    Status.CANCELLED: "cancelled",
}


class State:
    """Follows a run event by event; ``text`` says what it is doing now."""

    def __init__(self) -> None:
        self._doing = "not begun"
        self._running: dict[int, str] = {}
        self._asked: dict[str, None] = {}
        self._cancelling = False

    @property
    def text(self) -> str:
        """``asking the model (step 2)``, ``running read_file``, ``waiting for confirmation of call c1``, ``done``."""
        if self._asked:
            return f"waiting for confirmation of call {next(iter(self._asked))}"
        doing = f"running {', '.join(dict.fromkeys(self._running.values()))}" if self._running else self._doing
        return f"stopping: {doing}" if self._cancelling else doing

    def follow(self, event: Event) -> None:
        """Take the next event into account."""
        match event.fact:
            case TurnStart() if not event.agent:
                self._doing, self._cancelling = "preparing", False
            case ModelRequest():
                self._doing = "asking the model" + (f" (step {event.step})" if event.step is not None else "")
            case AssistantMessage():
                self._doing = "reading the answer"
            case ModelRetry(delay_ms=delay_ms):
                self._doing = f"waiting {delay_ms} ms before asking again"
            case ToolStart(name=name):
                self._running[event.seq] = name
                self._doing = "going on with what the tools said"
            case ToolEnd(start=start):
                self._running.pop(start, None)
            case ApprovalAsked(call_id=call_id):
                self._asked[call_id] = None
            case ApprovalAnswered(call_id=call_id):
                self._asked.pop(call_id, None)
            case CancelDelivered():
                self._cancelling = True
            case TurnEnd(status=status) | RunEnd(status=status) if not event.agent:
                self._doing, self._cancelling = _ENDED[status], False
                if status is not Status.WAITING_FOR_USER:  # a parked call still waits for its answer
                    self._asked.clear()
            case _:
                pass


def state_text(events: Iterable[Event]) -> str:
    """What a run was doing at the last of these events."""
    state = State()
    for event in events:
        state.follow(event)
    return state.text
