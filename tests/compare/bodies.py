"""Regular trajectories in which the harness saw bodies at the tools' door: what ran is open to change, call by call."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.types.codes import Code, Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult, ToolStart
from harness.types.jsontext import text_digest
from harness.types.messages import CallId, JsonText
from tests.compare.made import header, refund_run

OBSERVED = (("tool/start", Origin.PROBE), ("tool/end", Origin.PROBE), ("tool/result", Origin.SUBJECT))
LOOK_7, LOOK_8, REFUND = 0, 1, 2
"""The three calls of the run, in order."""


@dataclass(frozen=True)
class Ran:
    """One body: None stands for what its call says, and for the text of its result."""

    name: str | None = None
    arguments: str | None = None
    text: str | None = None
    outcome: ToolOutcome = ToolOutcome.OK
    code: Code | None = None
    named: bool = True


def seen_run(
    bodies: Mapping[int, Sequence[Ran]] | None = None, *, order: Sequence[int] = (0, 1, 2), **changes: Any
) -> Trajectory:
    """The refund run with bodies; ``bodies`` of a call instead of one, ``order`` of the calls in which they run."""
    changes.setdefault("head", header(observed=OBSERVED))
    run = refund_run(doors=False, **changes)
    results = [event.fact for event in run if isinstance(event.fact, ToolResult)]
    calls = [call for event in run if isinstance(event.fact, AssistantMessage) for call in event.fact.tool_calls]
    events: list[Event] = []
    for event in run:
        first = isinstance(event.fact, ToolResult) and not isinstance(events[-1].fact, ToolResult)
        if first:
            step = [n for n, call in enumerate(calls) if call.id.startswith(f"call_{event.step}_")]
            for n in sorted(step, key=list(order).index):
                for one in (bodies or {}).get(n, (Ran(),)):
                    events += _body(event, len(events), one, calls[n], results[n])
        events.append(dataclasses.replace(event, seq=len(events)))
    return dataclasses.replace(run, events=tuple(events))


def _body(beside: Event, seq: int, one: Ran, call: Any, result: ToolResult) -> tuple[Event, Event]:
    arguments = JsonText(one.arguments or call.arguments)
    start = ToolStart(CallId(call.id) if one.named else None, one.name or call.name, arguments)
    text = str(result.content) if one.text is None else one.text
    end = ToolEnd(seq, one.outcome, one.code, text_digest(text))
    return dataclasses.replace(beside, seq=seq, fact=start), dataclasses.replace(beside, seq=seq + 1, fact=end)
