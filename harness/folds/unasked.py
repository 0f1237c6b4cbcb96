"""Which of a scenario's scripted answers no question has taken yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.types.events import Event
from harness.types.exchange import AssistantMessage
from harness.types.lifecycle import ApprovalAsked
from harness.types.policy import ScriptedApproval


def unasked(approvals: Sequence[ScriptedApproval], events: Iterable[Event]) -> tuple[tuple[int, ScriptedApproval], ...]:
    """Those left over with their places: each question takes the first that fits its tool and call."""
    left = list(enumerate(approvals))
    tools: dict[str, str] = {}
    for event in events:
        if isinstance(event.fact, AssistantMessage):
            tools.update((call.id, call.name) for call in event.fact.tool_calls)
        elif isinstance(event.fact, ApprovalAsked):
            call = event.fact.call_id
            taken = (one for one in left if one[1].call in (None, call) and one[1].tool in (None, tools.get(call)))
            given = next(taken, None)
            if given is not None:
                left.remove(given)
    return tuple(left)
