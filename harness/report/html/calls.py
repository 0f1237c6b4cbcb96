"""The calls of a run with the bodies that ran for them, on lanes: bodies that overlap lie on different ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import inf
from typing import Final

from harness.folds import text_of
from harness.report.html.cutting import Cutter, Plain, slim
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult, ToolStart
from harness.types.messages import Content, ImagePart, TextPart
from harness.types.reasons import EmittedCall

_DID_NOT_END: Final = "did not end"
_NEVER_STARTED: Final = "never started"
_NOT_SEEN: Final = "no result was seen"


@dataclass(slots=True)
class Body:
    """A body that began; ``end`` None: it was not seen to end. ``lane`` is set per block."""

    start: Event
    fact: ToolStart
    end: Event | None = None
    lane: int = 0


@dataclass(slots=True)
class Work:
    """A call with its bodies and its result; ``call`` None: none names them. ``at`` is the event it belongs to.

    ``again``: a result beyond the first of a call that the model made.
    """

    call: EmittedCall | None
    at: Event
    bodies: list[Body] = field(default_factory=list)
    result: Event | None = None
    again: bool = False


def work_of(trajectory: Trajectory) -> list[Work]:
    """All calls in the order in which they were emitted; bodies and results that no call names where they came."""
    found: list[Work] = []
    named: dict[tuple[str, str], list[Work]] = {}
    bodies: dict[int, Body] = {}
    for event in trajectory.events:
        match event.fact:
            case AssistantMessage(tool_calls=calls):
                for call in calls:
                    found.append(Work(call, event))
                    named.setdefault((event.agent, call.id), []).append(found[-1])
            case ToolStart() as fact:
                body = bodies[event.seq] = Body(event, fact)
                mine = _of_body(named.get((event.agent, fact.call_id or ""), ()), fact)
                if mine is None:
                    mine = Work(None, event)
                    found.append(mine)
                mine.bodies.append(body)
            case ToolEnd(start=start) if start in bodies:
                bodies[start].end = event
            case ToolResult(call_id=call_id):
                calls_of_it = named.get((event.agent, call_id), ())
                waiting = [one for one in calls_of_it if one.result is None]
                if not waiting:
                    found.append(Work(None, event, again=bool(calls_of_it)))
                (waiting or found[-1:])[0].result = event
    return found


def _of_body(calls: Iterable[Work], fact: ToolStart) -> Work | None:
    """The first call under that id that still waits for a body; of another attempt the last that has one."""
    known = list(calls)
    if fact.attempt == 1:
        waiting = next((one for one in known if not one.bodies and one.result is None), None)
        if waiting is not None:
            return waiting
    return next((one for one in reversed(known) if one.bodies), known[-1] if known else None)


def put_on_lanes(bodies: Iterable[Body]) -> int:
    """Give each body the lowest lane that is free when it begins; returns how many lanes there are.

    By the numbers of events, which are exact where many things happen in one millisecond or no times are known.
    """
    free_at: list[float] = []
    for body in sorted(bodies, key=lambda one: one.start.seq):
        lane = next((at for at, until in enumerate(free_at) if until < body.start.seq), len(free_at))
        if lane == len(free_at):
            free_at.append(0)
        free_at[lane] = body.end.seq if body.end is not None else inf
        body.lane = lane
    return len(free_at)


def call_plain(work: Work, cutter: Cutter, *, sees_starts: bool = True) -> Plain:
    """One call: what was asked, when its bodies ran, what came of it.

    Without an ``outcome``, ``unended`` says what is known: it did not end, never started, or nothing was seen of it.
    """
    before = cutter.n_cut
    first, last = (work.bodies[0], work.bodies[-1]) if work.bodies else (None, None)
    ended = last.end if last is not None else None
    made: Plain = {
        **_asked(work, cutter),
        "startMs": first.start.time if first else None,
        "endMs": ended.time if ended else None,
        "startSeq": first.start.seq if first else None,
        "endSeq": ended.seq if ended else None,
        "lane": first.lane if first else None,
        "outcome": _outcome(work, ended),
        **_result(work.result, cutter),
    }
    if made["outcome"] is None:
        made["unended"] = _DID_NOT_END if work.bodies else _NEVER_STARTED if sees_starts else _NOT_SEEN
    if len(work.bodies) > 1 or any(_differs(body, work.call) for body in work.bodies):
        made["bodies"] = [_body(body, work.call, cutter) for body in work.bodies]
    return cutter.counted(slim(made), before)


def _asked(work: Work, cutter: Cutter) -> Plain:
    """What was called: as the model said it, else as the body or the result names it."""
    call, body = work.call, work.bodies[0].fact if work.bodies else None
    if call is not None:
        return {
            "id": cutter.text(call.id),
            "wireId": cutter.some(call.wire_id),
            "type": cutter.some(call.type),
            "name": cutter.text(call.name),
            "arguments": cutter.text(call.arguments),
        }
    result = work.result.fact if work.result is not None else None
    told = body or (result if isinstance(result, ToolResult) else None)
    return {
        "id": None,
        "again": work.again,
        "callId": cutter.some(told.call_id) if told else None,
        "name": cutter.text(told.name) if told else "",
        "arguments": cutter.text(body.arguments) if body else None,
    }


def _outcome(work: Work, ended: Event | None) -> str | None:
    """That of the last body; without one what the result says: error or ok."""
    if ended is not None and isinstance(ended.fact, ToolEnd):
        return str(ended.fact.outcome)
    if work.bodies or work.result is None or not isinstance(work.result.fact, ToolResult):
        return None
    return "error" if work.result.fact.is_error else "ok"


def _result(event: Event | None, cutter: Cutter) -> Plain:
    if event is None or not isinstance(event.fact, ToolResult):
        return {}
    fact = event.fact
    return {
        "resultSeq": event.seq,
        "result": cutter.content(fact.content),
        "isError": fact.is_error,
        "code": str(fact.code) if fact.code else None,
        "message": cutter.some(fact.message),
        "truncated": fact.truncated,
    }


def shown_text(content: Content | None) -> str:
    """All of a content as text: text parts joined, other parts in brackets or as their JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [part for part in content if not isinstance(part, TextPart)]
    others = [f"[image {part.digest}]" if isinstance(part, ImagePart) else part.json for part in parts]
    return "\n".join(one for one in (text_of(content), *others) if one)


def _differs(body: Body, call: EmittedCall | None) -> bool:
    """Whether a body has something to tell that its call has not."""
    fact = body.fact
    if call is None:
        return fact.within is not None
    return (fact.name, fact.arguments) != (call.name, call.arguments) or fact.instead_of is not None


def _body(body: Body, call: EmittedCall | None, cutter: Cutter) -> Plain:
    fact, ended = body.fact, body.end
    end = ended.fact if ended is not None and isinstance(ended.fact, ToolEnd) else None
    same = call is not None and call.arguments == fact.arguments
    return slim({
        "name": cutter.text(fact.name),
        "attempt": fact.attempt,
        "startSeq": body.start.seq,
        "endSeq": ended.seq if ended else None,
        "startMs": body.start.time,
        "endMs": ended.time if ended else None,
        "outcome": str(end.outcome) if end else None,
        "unended": None if end else _DID_NOT_END,
        "code": str(end.code) if end and end.code else None,
        "arguments": None if same else cutter.text(fact.arguments),
        "insteadOf": cutter.some(fact.instead_of),
        "within": fact.within,
        "lane": body.lane,
    })  # fmt: skip
