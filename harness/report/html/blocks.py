"""One block of a run as the page shows it: request, answer, calls, errors, approvals, notes and marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.folds import reason_text
from harness.report.html.calls import Work, call_plain, put_on_lanes, shown_text
from harness.report.html.cutting import Cutter, Plain, slim
from harness.report.html.marks import mark_of, note_of
from harness.report.html.model_time import asked_of, delays_of
from harness.report.html.requests import SideRequests
from harness.report.text import piece
from harness.types.aligned import RunBlock
from harness.types.events import Event
from harness.types.exchange import AssistantChunk, AssistantMessage, ModelFailed, ModelRetry, UserMessage
from harness.types.lifecycle import ApprovalAnswered, ApprovalAsked, RunEnd, TurnEnd
from harness.types.messages import CallId
from harness.types.reasons import Usage

_TITLE_CHARS: Final = 160
_MOST_NOTES: Final = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """What blocks of one side are made with: its requests, and its calls by the event that they belong to."""

    requests: SideRequests
    work: dict[int, list[Work]]
    cutter: Cutter
    sees_starts: bool = True
    """Whether a body that begins is seen to: only then is a call without one known never to have started."""


def block_plain(block: RunBlock, shown: Shown) -> Plain:
    """One block; see docs/html-report.md for its fields."""
    cutter, events = shown.cutter, block.events
    answer = _answer_of(events)
    work = [one for event in events for one in shown.work.get(event.seq, ())]
    put_on_lanes(body for one in work for body in one.bodies)
    requests = _requests(events, answer, shown)
    notes = [note for event in events if (note := note_of(event, cutter))]
    inputs = [event.fact.message for event in events if isinstance(event.fact, UserMessage)]
    return {
        "kind": "begin" if block.kind == "start" else block.kind,
        "agent": cutter.text(block.agent),
        "turn": block.turn,
        "step": block.step,
        "title": _title(block, answer, work),
        "seq": events[0].seq,
        "startMs": events[0].time,
        "endMs": events[-1].time,
        "request": requests[-1] if requests else None,
        "answer": _answer(answer, cutter) if answer else None,
        "calls": [call_plain(one, cutter, sees_starts=shown.sees_starts) for one in work],
        **slim({
            "seqs": _ranges(events),
            "requests": requests if len(requests) > 1 else None,
            "asked": asked_of(events) if block.kind == "step" else None,
            "delays": delays_of(events),
            "inputs": [shown.requests.pools.message(message) for message in inputs],
            "nChunks": sum(isinstance(event.fact, AssistantChunk) for event in events) or None,
            "errors": [_error(event, cutter) for event in events if isinstance(event.fact, ModelFailed | ModelRetry)],
            "approvals": _approvals(events, cutter),
            "notes": notes[:_MOST_NOTES],
            "nNotesLeftOut": max(0, len(notes) - _MOST_NOTES) or None,
            "marks": [mark for event in events if (mark := mark_of(event, shown.requests.pools))],
        }),
    }  # fmt: skip


def _answer_of(events: Sequence[Event]) -> AssistantMessage | None:
    """The whole answer of a block; the visible prefix of one where none became whole."""
    found = [event.fact for event in events if isinstance(event.fact, AssistantMessage)]
    whole = [answer for answer in found if not answer.interrupted]
    return whole[-1] if whole else found[-1] if found else None


def _requests(events: Sequence[Event], answer: AssistantMessage | None, shown: Shown) -> list[Plain]:
    """What each attempt showed the model, in order; tokens are those of the attempt that was answered."""
    found = [shown.requests.by_seq[event.seq] for event in events if event.seq in shown.requests.by_seq]
    tokens = answer.usage.input_tokens if answer and answer.usage else None
    attempt = answer.attempt if answer else None
    return [
        {**one, "contextTokens": tokens if one["attempts"] == attempt or len(found) == 1 else None} for one in found
    ]


def _ranges(events: Sequence[Event]) -> list[list[int]]:
    """Half-open ranges of the numbers of the events: those of another agent may lie between them."""
    ranges: list[list[int]] = []
    for event in events:
        if ranges and ranges[-1][1] == event.seq:
            ranges[-1][1] += 1
        else:
            ranges.append([event.seq, event.seq + 1])
    return ranges


def _answer(fact: AssistantMessage, cutter: Cutter) -> Plain:
    before = cutter.n_cut
    usage = fact.usage or Usage()
    made = slim({
        "content": cutter.content(fact.content),
        "reasoning": cutter.some(fact.reasoning),
        "refusal": cutter.some(fact.refusal),
        "finishReason": str(fact.finish_reason) if fact.finish_reason else None,
        "rawFinishReason": cutter.some(fact.raw_finish_reason),
        "model": cutter.some(fact.model),
        "fingerprint": cutter.some(fact.fingerprint),
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
        "cachedTokens": usage.cached_tokens,
        "reasoningTokens": usage.reasoning_tokens,
        "costMicroUsd": usage.cost_micro_usd,
        "attempt": fact.attempt,
        "interrupted": fact.interrupted,
        "extra": cutter.some(fact.extra),
    })  # fmt: skip
    return cutter.counted(made, before)


def _error(event: Event, cutter: Cutter) -> Plain:
    fact: Any = event.fact
    failed = isinstance(fact, ModelFailed)
    before = cutter.n_cut
    made = slim({
        "kind": "error" if failed else "retry",
        "code": str(fact.code),
        "message": cutter.text(fact.message) if failed else None,
        "attempt": fact.attempt,
        "timeMs": event.time,
        "delayMs": None if failed else fact.delay_ms,
        "seq": event.seq,
    })  # fmt: skip
    return cutter.counted(made, before)


def _approvals(events: Sequence[Event], cutter: Cutter) -> list[Plain]:
    """Questions with their answers; a question without one stands alone."""
    found: list[Plain] = []
    waiting: dict[CallId, Plain] = {}
    for event in events:
        match event.fact:
            case ApprovalAsked(call_id=call_id):
                asked: Plain = {"callId": cutter.text(call_id), "askedSeq": event.seq, "askedMs": event.time}
                waiting[call_id] = {**asked, "answeredMs": None, "outcome": None, "by": None}
                found.append(waiting[call_id])
            case ApprovalAnswered(call_id=call_id, outcome=outcome, by=by):
                nobody: Plain = {"callId": cutter.text(call_id), "askedSeq": None, "askedMs": None}
                known = waiting.pop(call_id, None)
                if known is None:
                    found.append(known := nobody)
                known.update(answeredSeq=event.seq, answeredMs=event.time, outcome=str(outcome), by=cutter.text(by))
            case _:
                pass
    return found


def _title(block: RunBlock, answer: AssistantMessage | None, work: Sequence[Work]) -> str:
    """One line: what was called, else what was said; the input; how it ended."""
    ends = [event.fact for event in block.events if isinstance(event.fact, RunEnd | TurnEnd)]
    said = [event.fact.message for event in block.events if isinstance(event.fact, UserMessage)]
    names = [one.call.name for one in work if one.call]
    if block.kind == "end" and ends:
        return piece(f"{ends[-1].status}: {reason_text(ends[-1].reason)}", _TITLE_CHARS)
    if names:
        return piece(", ".join(names), _TITLE_CHARS)
    if answer is not None:
        text = shown_text(answer.content) or answer.refusal or ""
        return piece(text, _TITLE_CHARS)
    return piece(" / ".join(shown_text(message.content) for message in said), _TITLE_CHARS)
