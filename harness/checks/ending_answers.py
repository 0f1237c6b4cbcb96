"""Answers at the end of a turn: a completed one needs a final answer, a cut one runs nothing."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.base import Found, found
from harness.checks.reading import at, has_substance, is_cut, sees
from harness.folds.imported import is_import
from harness.types.codes import Origin, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult, ToolStart
from harness.types.lifecycle import Note, RunEnd, TurnEnd, TurnStart
from harness.types.messages import CallId
from harness.types.profile import Profile
from harness.types.profile_loop import RewrittenToEmpty
from harness.types.profile_run import RemovedWake
from harness.types.reasons import FinalAnswer


def final_answer_findings(trajectory: Trajectory, events: list[Event]) -> Iterator[Found]:
    """Turns (or, without turns, the run) that are told completed without a final answer."""
    turns = sees(trajectory, TurnEnd.TYPE)
    answer: Event | None = None
    asked = False
    for event in events:
        match event.fact:
            case TurnStart():
                answer, asked = None, False
            case ModelRequest():
                asked = True
            case AssistantMessage():
                answer = event
            case TurnEnd(status=Status.COMPLETED, reason=FinalAnswer()):
                yield from _final_answer(trajectory, event, answer, asked=asked)
            case RunEnd(status=Status.COMPLETED, reason=FinalAnswer()) if not turns:
                yield from _final_answer(trajectory, event, answer, asked=asked)
            case _:
                pass


def _final_answer(trajectory: Trajectory, end: Event, answer: Event | None, *, asked: bool) -> Iterator[Found]:
    if answer is None or not isinstance(answer.fact, AssistantMessage):
        # Another product's file that shows neither request nor answer shows nothing of how that end came.
        if asked or not (is_import(trajectory) or _may_be_empty(trajectory.header.profile)):
            yield found(f"{end.fact.TYPE}{at(end)} says completed, but there is no answer", end, rule="conformance:99")
        return
    message = answer.fact
    if message.tool_calls:
        text = f"{end.fact.TYPE}{at(end)} says completed, but the last answer asks for {message.tool_calls[0].name!r}"
        yield found(text, answer, end, rule="conformance:91")
    elif not has_substance(message.content):
        yield found(
            f"{end.fact.TYPE}{at(end)} says completed, but the last answer is empty", answer, end, rule="conformance:99"
        )
    if is_cut(message) or _is_unfinished(trajectory, answer, message):
        why = "was interrupted" if message.interrupted else f"has finish reason {message.finish_reason or 'none'}"
        text = f"{end.fact.TYPE}{at(end)} says completed, but the last answer {why}"
        yield found(text, answer, end, rule="conformance:98")


def _may_be_empty(profile: Profile) -> bool:
    return (
        profile.rewritten_to_empty is RewrittenToEmpty.COMPLETED_WITHOUT_STEP
        or profile.removed_wake is RemovedWake.TURN_WITHOUT_STEPS
    )


def _is_unfinished(trajectory: Trajectory, event: Event, message: AssistantMessage) -> bool:
    """No finish reason at all; imports seldom hold any, and a note may say that none was expected (98)."""
    if message.finish_reason is not None or event.origin is Origin.IMPORT:
        return False
    for position in range(min(event.seq, len(trajectory)) - 1, -1, -1):
        other = trajectory.events[position]
        if other.agent == event.agent and isinstance(other.fact, ModelRequest):
            return True
        if isinstance(other.fact, Note) and "finish reason" in (other.fact.data or ""):
            return False
    return True


def cut_answer_findings(trajectory: Trajectory, events: list[Event]) -> Iterator[Found]:
    """Calls of cut, filtered, refused or unfinished answers that ran: their body started, or a good result says so."""
    forbidden: dict[CallId, Event] = {}
    for event in events:
        match event.fact:
            case AssistantMessage() as message:
                if is_cut(message) or _is_unfinished(trajectory, event, message):
                    forbidden.update((call.id, event) for call in message.tool_calls)
            case ToolStart(call_id=call_id) if call_id in forbidden:
                yield _ran(call_id, forbidden[call_id], event, "its body started")
            case ToolResult(call_id=call_id, is_error=False) if call_id in forbidden:
                yield _ran(call_id, forbidden[call_id], event, "it has a good result")
            case _:
                pass


def _ran(call_id: CallId, answer: Event, event: Event, evidence: str) -> Found:
    message = answer.fact
    finish = message.finish_reason if isinstance(message, AssistantMessage) else None
    text = f"call {call_id!r} of an answer with finish reason {finish or 'none'} ran: {evidence}"
    return found(text, answer, event, rule="conformance:94")
