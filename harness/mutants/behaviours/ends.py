"""Other results and another end: a tool that fails, another answer, another status, a turn less, another memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from harness.checks import END_STATE_NOTE
from harness.folds import calls_of, expectations_from_json, reason_text, text_of
from harness.mutants.behaviours.base import Behaviour, final_answer, steps_of
from harness.mutants.behaviours.calls import other_text
from harness.mutants.behaviours.draft import Draft
from harness.mutants.behaviours.making import drop_chunks
from harness.types.codes import Code, FinishReason, Status, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ToolEnd, ToolResult, ToolStart, UserMessage
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json, parse_json
from harness.types.lifecycle import InboxClaimed, InboxQueued, Note, RunEnd, TurnEnd
from harness.types.messages import CallId
from harness.types.mutating import MutationKind
from harness.types.reasons import Failed, FinalAnswer, Reason

_NUMBER: Final = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_MAX_NUMBERS: Final = 3
WRITES_MEMORY: Final = "write_memory"
"""The built-in tool that remembers."""
_UNKNOWN: Final = "I do not know."
_WENT_WRONG: Final = f"{Code.TOOL_FAILED}: it did not work."


# ---------------------------------------------------------------- results


def other_results(run: Trajectory) -> Iterator[Behaviour]:
    """A good result is an error, an error or an empty result is a good one."""
    for event in run.events:
        fact = event.fact
        if not isinstance(fact, ToolResult) or any(other.agent.startswith(fact.call_id) for other in run.events):
            continue
        body = _body_of(run, event, fact.call_id)
        draft = Draft(run)
        if not fact.is_error and fact.code is None and _code(body) is None:
            draft.change(event, is_error=True, code=Code.TOOL_FAILED, content=_WENT_WRONG)
            outcome, code, before, after = ToolOutcome.ERROR, Code.TOOL_FAILED, "OK", str(Code.TOOL_FAILED)
        elif body is not None:
            draft.change(event, is_error=False, code=None, message=None, content="done")
            outcome, code, before, after = ToolOutcome.OK, None, str(fact.code or _code(body)), "OK"
        else:
            continue
        if body is not None:
            draft.change(body, outcome=outcome, code=code, digest=None)
        text = f"the result of {fact.name!r} is {after} instead of {before}"
        yield Behaviour(MutationKind.RESULTS, text, event, before, after, draft.finished())


def _code(body: Event | None) -> Code | None:
    return body.fact.code if body is not None and isinstance(body.fact, ToolEnd) else None


def _body_of(run: Trajectory, result: Event, call_id: CallId) -> Event | None:
    """The end of the last body of a call before its result."""
    starts = {
        event.seq
        for event in run.events[: result.seq]
        if isinstance(event.fact, ToolStart) and event.fact.call_id == call_id and event.agent == result.agent
    }
    ends = [
        event for event in run.events[: result.seq] if isinstance(event.fact, ToolEnd) and event.fact.start in starts
    ]
    return ends[-1] if ends else None


# ---------------------------------------------------------------- the answer


def other_answers(run: Trajectory) -> Iterator[Behaviour]:
    """The final answer knows nothing, has another number, or is empty."""
    event = final_answer(run)
    text = event.fact.content if event is not None and isinstance(event.fact, AssistantMessage) else None
    if event is None or not isinstance(text, str) or not text.strip():
        return
    told = [("the final answer says something else", _UNKNOWN), ("the final answer is empty", "")]
    for number in _claimed(run, event, text)[:_MAX_NUMBERS]:
        changed = re.sub(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", other_text(number), text)
        told.append((f"the final answer has another number than {number}", changed))
    for what, after in told:
        if after == text:
            continue
        draft = Draft(run)
        drop_chunks(draft, event)
        draft.change(event, content=after)
        yield Behaviour(MutationKind.ANSWER, what, event, text, after, draft.finished())


def _claimed(run: Trajectory, answer: Event, text: str) -> list[str]:
    """Numbers of an answer that nothing before it shows; where there are none, those that the input does not show."""
    earlier = [(event.fact, _said(event.fact)) for event in run.events[: answer.seq]]
    shown = set(_NUMBER.findall(" ".join(told for _, told in earlier)))
    asked = set(_NUMBER.findall(" ".join(told for fact, told in earlier if isinstance(fact, UserMessage))))
    numbers = list(dict.fromkeys(_NUMBER.findall(text)))
    return [one for one in numbers if one not in shown] or [one for one in numbers if one not in asked]


def _said(fact: Fact) -> str:
    """What a message says."""
    match fact:
        case UserMessage(message=message):
            return text_of(message.content)
        case ToolResult(content=content) | AssistantMessage(content=content):
            return text_of(content)
        case _:
            return ""


# ---------------------------------------------------------------- the end


def other_ends(run: Trajectory) -> Iterator[Behaviour]:
    """A completed run is judged incomplete or fails at its last request; a failed one fails otherwise or answers."""
    end = next((event for event in run.events if isinstance(event.fact, RunEnd) and not event.agent), None)
    if end is None or not isinstance(end.fact, RunEnd):
        return
    if end.fact.status is Status.COMPLETED and isinstance(end.fact.reason, FinalAnswer):
        draft = Draft(run)
        yield _ended(
            draft, end, "the run ends as incomplete", Status.INCOMPLETE, FinalAnswer(outcome=Status.INCOMPLETE)
        )
        yield from _fails(run, end)
    if isinstance(end.fact.reason, Failed):
        yield from _other_failure(run, end, end.fact.reason)


def _ended(draft: Draft, end: Event, text: str, status: Status, reason: Reason) -> Behaviour:
    """With another status of the run and of its last turn."""
    assert isinstance(end.fact, RunEnd)
    turns = [event for event in draft.events if isinstance(event.fact, TurnEnd) and not event.agent]
    for event in (*turns[-1:], end):
        draft.change(event, status=status, reason=reason)
    before = f"{end.fact.status} ({reason_text(end.fact.reason)})"
    after = f"{status} ({reason_text(reason)})"
    return Behaviour(MutationKind.END, text, end, before, after, draft.finished())


def _fails(run: Trajectory, end: Event) -> Iterator[Behaviour]:
    steps = steps_of(run)
    if not steps or steps[-1].calls:
        return
    answer, attempt = steps[-1].answer, steps[-1].message.attempt
    draft = Draft(run)
    drop_chunks(draft, answer)
    failed = draft.new(answer, ModelFailed(Code.SERVER, "the server is overloaded", attempt))
    draft.put(draft.place(answer), [failed])
    draft.drop([answer])
    reason = Failed(Code.SERVER, "the server is overloaded")
    yield _ended(draft, end, "the last request fails", Status.FAILED, reason)


def _other_failure(run: Trajectory, end: Event, reason: Failed) -> Iterator[Behaviour]:
    failures = [event for event in run.events if isinstance(event.fact, ModelFailed) and not event.agent]
    if not failures:
        return
    last = failures[-1]
    other = Code.SERVER if reason.code is not Code.SERVER else Code.AUTH
    draft = Draft(run)
    draft.change(last, code=other, message="something else")
    yield _ended(draft, end, f"the run fails with {other}", Status.FAILED, Failed(other, "something else"))
    draft = Draft(run)
    assert isinstance(last.fact, ModelFailed)
    answer = AssistantMessage(
        "Done.", finish_reason=FinishReason.STOP, raw_finish_reason="stop", attempt=last.fact.attempt
    )
    draft.put(draft.place(last), [draft.new(last, answer)])
    draft.drop([last])
    yield _ended(draft, end, "the last request is answered", Status.COMPLETED, FinalAnswer())


# ---------------------------------------------------------------- turns and state


def a_turn_less(run: Trajectory) -> Iterator[Behaviour]:
    """The last turn does not happen, and its input never came."""
    ends = [event for event in run.events if isinstance(event.fact, TurnEnd) and not event.agent]
    end = next((event for event in run.events if isinstance(event.fact, RunEnd) and not event.agent), None)
    if len(ends) < 2 or end is None:
        return
    gone = [event for event in run.events if event.turn is not None and event.turn == ends[-1].turn]
    claimed = {name for event in gone if isinstance(event.fact, InboxClaimed) for name in event.fact.message_ids}
    queued = [e for e in run.events if isinstance(e.fact, InboxQueued) and {m.id for m in e.fact.messages} <= claimed]
    draft = Draft(run)
    draft.drop([*gone, *queued])
    last = ends[-2].fact
    assert isinstance(last, TurnEnd)
    draft.change(end, status=last.status, reason=last.reason)
    text = "the last turn does not happen"
    yield Behaviour(MutationKind.TURNS, text, gone[0], f"{len(ends)} turns", f"{len(ends) - 1} turns", draft.finished())


def other_states(run: Trajectory) -> Iterator[Behaviour]:
    """What is remembered at the end is another value, or forgotten: what the run wrote, or all that is expected."""
    noted = [e for e in run.events if isinstance(e.fact, Note) and e.fact.name == END_STATE_NOTE]
    state = parse_json(noted[-1].fact.data or "{}") if noted and isinstance(noted[-1].fact, Note) else None
    if not isinstance(state, dict):
        return
    memory: dict[str, Any] = state.get("memory") or {}
    asked = expectations_from_json(run.header.expectations).end_state is not None
    for key, value in memory.items():
        if not asked and key not in _written(run):
            continue
        other = other_text(value) if isinstance(value, str) else "something"
        without = {name: kept for name, kept in memory.items() if name != key}
        for what, kept in ((other, {**memory, key: other}), (None, without)):
            draft = Draft(run)
            draft.change(noted[-1], data=canonical_json({**state, "memory": kept}))
            text = f"{key!r} is remembered otherwise" if what is not None else f"{key!r} is not remembered"
            after = canonical_json(what) if what is not None else "nothing"
            yield Behaviour(MutationKind.STATE, text, noted[-1], canonical_json(value), after, draft.finished())


def _written(run: Trajectory) -> set[str]:
    """The keys that calls wrote to."""
    given = [parse_json(trace.call.arguments) for trace in calls_of(run) if trace.call.name == WRITES_MEMORY]
    return {str(one.get("key")) for one in given if isinstance(one, dict)}
