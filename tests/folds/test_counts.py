"""Counts, pairs, status and answer are derived from events and from nothing else."""

import dataclasses
from typing import Any

import pytest

from harness.folds import (
    answer_of,
    boundary_text,
    calls_of,
    end_of,
    last_closed_boundary,
    n_requests,
    n_steps,
    n_turns,
    reason_text,
    status_of,
)
from harness.types.codes import CancelBy, Code, LimitKind, Status, ToolOutcome
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolEnd, ToolResult, ToolStart
from harness.types.facts import Fact
from harness.types.lifecycle import StepEnd, StepStart, TurnStart
from harness.types.messages import CallId, JsonText, Messages
from harness.types.reasons import (
    Blocked,
    Cancelled,
    Concluded,
    EmittedCall,
    Failed,
    FinalAnswer,
    LimitHit,
    Reason,
    Waiting,
)
from tests.compare.made import Maker, header, refund_run


def run_of(*facts: Fact) -> Trajectory:
    make = Maker()
    for fact in facts:
        make.add(fact)
    return Trajectory(header(), tuple(make.events))


def calls(*ids: str) -> AssistantMessage:
    return AssistantMessage(tool_calls=tuple(EmittedCall(CallId(one), f"t-{one}", "{}") for one in ids))


def start(identity: str | None) -> ToolStart:
    return ToolStart(CallId(identity) if identity is not None else None, "t", JsonText("{}"))


def result(identity: str, content: str = "ok") -> ToolResult:
    return ToolResult(CallId(identity), "t", content)


def traced(*facts: Fact) -> list[tuple[str, Any, Any, Any]]:
    def seq(event: Any) -> int | None:
        return None if event is None else event.seq

    return [(t.call.id, seq(t.start), seq(t.end), seq(t.result)) for t in calls_of(run_of(*facts))]


@pytest.mark.parametrize(
    ("facts", "traces"),
    [
        pytest.param([calls("a", "b"), result("a"), result("b")], [("a", None, None, 1), ("b", None, None, 2)], id="in-order"),
        pytest.param([calls("a", "b"), result("b"), result("a")], [("a", None, None, 2), ("b", None, None, 1)], id="crossed"),
        pytest.param(
            [calls("a", "a"), start("a"), start("a"), ToolEnd(2, ToolOutcome.OK), ToolEnd(1, ToolOutcome.OK), result("a"), result("a")],
            [("a", 1, 4, 5), ("a", 2, 3, 6)],
            id="one-id-twice-goes-to-the-oldest-open",
        ),
        pytest.param([calls("a"), result("a"), calls("a"), result("a")], [("a", None, None, 1), ("a", None, None, 3)], id="reused"),
        pytest.param([calls("a"), result("x"), result("a"), result("a")], [("a", None, None, 2)], id="stray-results-belong-to-nobody"),
        pytest.param([result("a"), calls("a")], [("a", None, None, None)], id="a-result-before-its-call-is-not-its"),
        pytest.param([calls("a"), start(None), start("a"), ToolEnd(9, ToolOutcome.OK)], [("a", 2, None, None)], id="loose-ends"),
        pytest.param([start("a"), result("a")], [], id="no-calls"),
    ],
)
@pytest.mark.conformance("31", "32")
def test_what_happened_to_a_call_belongs_to_the_oldest_open_call_under_its_id(
    facts: list[Fact], traces: list[tuple[str, Any, Any, Any]]
) -> None:
    assert traced(*facts) == traces


def test_calls_of_different_agents_never_meet() -> None:
    run = run_of(calls("a"), result("a"))
    other = dataclasses.replace(run, events=(run.events[0], dataclasses.replace(run.events[1], agent="child")))
    assert calls_of(other)[0].result is None


@pytest.mark.conformance("89")
def test_only_answered_steps_count() -> None:
    unanswered = [StepStart(), ModelRequest(Messages.of([])), ModelRequest(Messages.of([]), 2), StepEnd()]
    run = run_of(TurnStart(), calls("a"), *unanswered, AssistantMessage("cut", interrupted=True))
    assert (n_steps(run), n_requests(run), n_turns(run)) == (1, 2, 1)
    assert (n_steps(refund_run()), n_requests(refund_run()), n_turns(refund_run())) == (3, 3, 1)


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        pytest.param([calls("a"), AssistantMessage("done")], "done", id="last"),
        pytest.param([AssistantMessage("early"), calls("a")], None, id="a-call-is-no-answer"),
        pytest.param([AssistantMessage()], "", id="empty"),
        pytest.param([], None, id="none"),
    ],
)
def test_the_answer_is_the_last_answer_without_calls(facts: list[Fact], answer: str | None) -> None:
    run = run_of(*facts)
    assert answer_of(run) == answer
    child = dataclasses.replace(run_of(AssistantMessage("child")).events[0], agent="c", seq=99)
    assert answer_of(dataclasses.replace(run, events=(*run.events, child))) == answer


def test_a_run_without_its_end_has_no_status() -> None:
    cut = dataclasses.replace(refund_run(), events=refund_run().events[:-2])
    assert (status_of(cut), end_of(cut)) == (None, None)
    assert status_of(refund_run()) is Status.COMPLETED


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (FinalAnswer(), "final-answer"),
        (Concluded(), "concluded"),
        (LimitHit(LimitKind.STEPS, 10), "limit steps 10"),
        (Failed(Code.AUTH, "no key"), "error AUTH: no key"),
        (Cancelled(CancelBy.PARENT), "cancelled by parent"),
        (Waiting(CallId("c1")), "waiting for an answer about call c1"),
        (Waiting(), "waiting"),
        (Blocked("hook"), "blocked"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_reasons_have_words(reason: Reason, text: str) -> None:
    assert reason_text(reason) == text


@pytest.mark.article("14")
@pytest.mark.parametrize(
    ("n_events", "text"),
    [
        (8, "none"),
        (17, "call 'call_1_1' (turn 1, step 1, event 16)"),
        (18, "step (turn 1, step 1, event 17)"),
        (31, "turn (turn 1, event 30)"),
        (33, "run (event 31)"),
    ],
)
def test_the_last_closed_boundary_is_a_call_a_step_a_turn_or_the_run(n_events: int, text: str) -> None:
    cut = dataclasses.replace(refund_run(), events=refund_run().events[:n_events])
    assert boundary_text(last_closed_boundary(cut)) == text
