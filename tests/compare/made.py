"""Regular trajectories made by hand: what a sane loop would leave, with every word of it open to change."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.folds import History, limits_to_json
from harness.types.codes import (
    ClockKind,
    Code,
    FinishReason,
    HeaderWhy,
    InboxQueue,
    Origin,
    Outcome,
    Status,
    ToolOutcome,
)
from harness.types.events import Event, Header, ScenarioRef, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ModelRequest,
    RequestHeader,
    ToolCall,
    ToolEnd,
    ToolResult,
    ToolStart,
    UserMessage,
)
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import (
    InboxClaimed,
    InboxQueued,
    RunEnd,
    RunQuiescent,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import CallId, ChatSystem, ChatUser, JsonText, MessageId, RunId
from harness.types.reasons import EmittedCall, FinalAnswer, QueuedMessage, Reason, Usage
from harness.types.records import RunSummary, Verdict
from harness.types.scenario import Limits

SYSTEM = "You refund orders.\nLook first.\nBe short."
TOOLS: tuple[Mapping[str, Any], ...] = (
    {"name": "lookup_order", "description": "Look an order up.", "parameters": {"properties": {"id": {}}}},
    {"name": "refund", "description": "Refund an order.", "parameters": {"properties": {"order": {}}}},
)
PARAMETERS = JsonText('{"temperature":0}')
FINAL = FinalAnswer()
Call = tuple[str, str]
Turns = Sequence[tuple[Sequence[Call], str | None]]
ANSWERS: Turns = (
    ([("lookup_order", '{"id":7}'), ("lookup_order", '{"id":8}')], "I look."),
    ([("refund", '{"order":7,"why":"late"}')], None),
    ([], "Refunded."),
)
RESULTS = ('{"id":7,"total":19.9}', '{"id":8,"total":5}', "ok")


def header(**changes: Any) -> Header:
    """The header of the run below."""
    fields: dict[str, Any] = {
        "version": "1",
        "run_id": RunId("shop/refund@default#1"),
        "subject": "built-in",
        "scenario": ScenarioRef("shop/refund", "d1"),
        "models": (("main", "scripted"),),
        "clock": ClockKind.VIRTUAL,
        "limits": limits_to_json(Limits()),
    }
    return Header(**{**fields, **changes})


class Maker:
    """Adds facts with their places; ``history`` gives the messages of the next request."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.history = History()

    def add(self, fact: Fact, turn: int | None = None, step: int | None = None) -> Event:
        event = Event(len(self.events), fact, Origin.SUBJECT, len(self.events), "", turn, step)
        self.events.append(event)
        self.history.apply(event)
        return event


def refund_run(
    *,
    system: str = SYSTEM,
    task: str = "Refund order 7, please.",
    tools: Sequence[Mapping[str, Any]] = TOOLS,
    parameters: JsonText = PARAMETERS,
    answers: Turns = ANSWERS,
    results: Sequence[str] = RESULTS,
    status: Status = Status.COMPLETED,
    reason: Reason = FINAL,
    ids: Callable[[int, int], str] = "call_{}_{}".format,
    doors: bool = True,
    more_tokens: int = 0,
    head: Header | None = None,
) -> Trajectory:
    """Two look-ups, a refund, an answer: three steps of one turn, both doors seen."""
    make = Maker()
    make.add(RunStart())
    make.add(InboxQueued(InboxQueue.FOLLOWUP, (QueuedMessage(MessageId("m1"), ChatUser(task)),)))
    make.add(TurnStart(), 1)
    make.add(InboxClaimed(InboxQueue.FOLLOWUP, (MessageId("m1"),)), 1)
    make.add(UserMessage(ChatUser(task)), 1)
    left = iter(results)
    for step, (calls, content) in enumerate(answers, 1):
        make.add(StepStart(), 1, step)
        if step == 1:
            offered = canonical_json(list(tools))
            make.add(RequestHeader((ChatSystem(system),), offered, parameters, HeaderWhy.INITIAL), 1, step)
        make.add(ModelRequest(make.history.messages), 1, step)
        emitted = tuple(EmittedCall(CallId(ids(step, n)), *call) for n, call in enumerate(calls))
        finish = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
        usage = Usage(10 * step + more_tokens, step)
        make.add(AssistantMessage(content, None, None, emitted, finish, usage=usage), 1, step)
        _work(make, emitted, left, step, doors=doors)
        make.add(StepEnd(), 1, step)
    make.add(TurnEnd(status, reason), 1)
    make.add(RunEnd(status, reason))
    make.add(RunQuiescent())
    return Trajectory(head or header(), tuple(make.events), source="made")


def _work(make: Maker, calls: tuple[EmittedCall, ...], results: Any, step: int, *, doors: bool) -> None:
    for call in calls:
        make.add(ToolCall(call.id, call.name, call.arguments), 1, step)
    for call in calls if doors else ():
        start = make.add(ToolStart(call.id, call.name, JsonText(call.arguments)), 1, step)
        make.add(ToolEnd(start.seq, ToolOutcome.OK), 1, step)
    for call in calls:
        make.add(ToolResult(call.id, call.name, next(results, "ok")), 1, step)


def with_facts(trajectory: Trajectory, change: Callable[[Fact], Fact | None]) -> Trajectory:
    """The trajectory with each fact changed (None drops the event), numbered anew."""
    facts = [(event, change(event.fact)) for event in trajectory]
    return numbered(trajectory, [dataclasses.replace(event, fact=fact) for event, fact in facts if fact is not None])


def numbered(trajectory: Trajectory, events: Sequence[Event]) -> Trajectory:
    """The trajectory with these events instead of its own, numbered anew."""
    return dataclasses.replace(
        trajectory, events=tuple(dataclasses.replace(event, seq=seq) for seq, event in enumerate(events))
    )


def first(trajectory: Trajectory, kind: type[Any], nth: int = 1) -> int:
    """The index of the nth event of that kind."""
    return [i for i, event in enumerate(trajectory) if isinstance(event.fact, kind)][nth - 1]


def summary(scenario: str = "shop/refund", outcome: Outcome = Outcome.PASS, **changes: Any) -> RunSummary:
    """A summary of a run of that scenario."""
    fields: dict[str, Any] = {
        "run_id": RunId(f"{scenario}@default#1"),
        "scenario": scenario,
        "arm": "default",
        "trial": 1,
        "subject": "built-in",
        "model": "scripted",
        "file": f"trajectories/{scenario}@default#1.jsonl",
        "outcome": outcome,
        "status": Status.COMPLETED,
        "reason": "final-answer",
        "answer": "Refunded.",
        "n_turns": 1,
        "n_steps": 3,
        "n_requests": 3,
        "n_messages": 7,
        "calls": (),
        "input_tokens": 60,
        "output_tokens": 6,
        "cost_micro_usd": None,
        "duration_ms": 12,
        "verdicts": (Verdict("pairing", outcome),),
    }
    return RunSummary(**{**fields, **changes})


def failed_result(code: Code) -> Callable[[Fact], Fact]:
    """Turns the result of the refund into an error with that code."""

    def change(fact: Fact) -> Fact:
        if isinstance(fact, ToolResult) and fact.name == "refund":
            return dataclasses.replace(fact, is_error=True, code=code, content="no such order")
        return fact

    return change
