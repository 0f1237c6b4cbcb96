"""The conversation is a fold over facts: what it shows is what requests held, and nothing else changes it."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.folds import History, history_of, requests_of, sent_ids
from harness.types.codes import Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelRequest,
    RequestHeader,
    ToolResult,
    UserMessage,
)
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note
from harness.types.messages import CallId, ChatAssistant, ChatCall, ChatTool, ChatUser, JsonText
from harness.types.reasons import EmittedCall
from tests.compare.made import SYSTEM, TOOLS, Maker, header, refund_run
from tests.strategies import known_facts, trajectories

MESSAGES = (UserMessage, AssistantMessage, ToolResult, ContextReplaced)


def folded(*facts: Fact) -> list[Any]:
    make = Maker()
    for fact in facts:
        make.add(fact)
    return list(make.history.messages)


def call(identity: str, wire: str | None = None) -> EmittedCall:
    return EmittedCall(CallId(identity), "t", "{}", wire)


@pytest.mark.conformance("8", "123")
def test_each_request_of_a_sane_run_is_the_fold_of_what_was_before_it() -> None:
    run = refund_run()
    traces = list(requests_of(run))
    assert [len(trace.messages) for trace in traces] == [1, 4, 6]
    for trace in traces:
        before = dataclasses.replace(run, events=run.events[: trace.event.seq])
        assert history_of(before) == trace.messages
        assert trace.header is not None
        assert (trace.header.system[0].content, trace.header.tools) == (SYSTEM, canonical_json(list(TOOLS)))


@pytest.mark.conformance("2")
def test_results_follow_their_calls_directly_and_in_order() -> None:
    roles = [message.role for message in history_of(refund_run())]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]


@pytest.mark.conformance("122")
@given(trajectories(), known_facts, st.integers(0, 12))
def test_other_kinds_of_event_never_change_the_conversation(trajectory: Trajectory, fact: Fact, index: int) -> None:
    extra: Fact = Note("n") if isinstance(fact, MESSAGES) else fact
    at = min(index, len(trajectory.events))
    events = (*trajectory.events[:at], Event(10**6, extra, Origin.PROBE), *trajectory.events[at:])
    only = tuple(event for event in trajectory if isinstance(event.fact, MESSAGES))
    expected = history_of(trajectory)
    assert history_of(dataclasses.replace(trajectory, events=events)) == expected
    assert history_of(dataclasses.replace(trajectory, events=only)) == expected


@pytest.mark.conformance("123")
@given(trajectories(), st.integers(0, 12))
def test_the_fold_is_the_same_whole_or_event_by_event(trajectory: Trajectory, index: int) -> None:
    history = History()
    for event in trajectory.events[:index]:
        history.apply(event)
    early = history.messages
    seen = list(early)
    for event in trajectory.events[index:]:
        history.apply(event)
    assert history.messages == history_of(trajectory) == history_of(trajectory)
    assert list(early) == seen  # a view that was taken never changes


def test_each_agent_has_its_own_conversation() -> None:
    run = refund_run()
    child = Event(len(run), UserMessage(ChatUser("for the child")), Origin.SUBJECT, agent="call_1_0")
    both = dataclasses.replace(run, events=(*run.events, child))
    assert history_of(both) == history_of(run)
    assert list(history_of(both, "call_1_0")) == [ChatUser("for the child")]


@pytest.mark.public_case("PB-001", "PB-003")
@pytest.mark.parametrize(
    ("calls", "sent"),
    [
        pytest.param([call("a"), call("b")], ("a", "b"), id="the-providers-own"),
        pytest.param([call("a"), call("1.1.1", "a")], ("a", "1.1.1"), id="one-id-twice-in-an-answer"),
        pytest.param([call("1.2.0", "a")], ("a",), id="reused-from-an-earlier-answer"),
        pytest.param([call("1.1.0", ""), call("1.1.1", "")], ("1.1.0", "1.1.1"), id="empty"),
        pytest.param([call("1.1.0")], ("1.1.0",), id="missing"),
        pytest.param([call("a"), call("1.1.1", "a"), call("1.1.2", "a")], ("a", "1.1.1", "1.1.2"), id="thrice"),
    ],
)
def test_the_id_that_is_sent_back_is_the_providers_unless_it_would_not_tell_calls_apart(
    calls: list[EmittedCall], sent: tuple[str, ...]
) -> None:
    assert sent_ids(tuple(calls)) == sent
    results = [ToolResult(one.id, one.name, "ok") for one in calls]
    answer, *tools = folded(AssistantMessage(tool_calls=tuple(calls)), *results)
    assert answer == ChatAssistant(tool_calls=tuple(ChatCall(wire, "t", "{}") for wire in sent))
    assert tools == [ChatTool(wire, "ok") for wire in sent]


def test_a_reused_id_answers_the_call_of_its_own_step() -> None:
    shown = folded(
        AssistantMessage(tool_calls=(call("a"),)),
        ToolResult(CallId("a"), "t", "one"),
        AssistantMessage(tool_calls=(call("1.2.0", "a"),)),
        ToolResult(CallId("1.2.0"), "t", "two"),
    )
    assert [message.call_id for message in shown if isinstance(message, ChatTool)] == ["a", "a"]


@pytest.mark.conformance("97")
@pytest.mark.parametrize("content", [None, "", ()], ids=["none", "text", "parts"])
def test_an_empty_answer_leaves_no_message(content: Any) -> None:
    assert folded(UserMessage(ChatUser("hi")), AssistantMessage(content)) == [ChatUser("hi")]


def test_refusals_and_reasoning_stay_with_their_answer() -> None:
    assert folded(AssistantMessage(None, "hm", "no")) == [ChatAssistant(None, "hm", "no")]


def test_a_replacement_shadows_the_messages_of_its_range_and_stands_in_their_place() -> None:
    facts: list[Fact] = [UserMessage(ChatUser(str(n))) for n in range(4)]
    assert folded(*facts, ContextReplaced(1, 2, ChatUser("short"))) == [ChatUser("0"), ChatUser("short"), ChatUser("3")]
    twice = folded(*facts, ContextReplaced(1, 2, ChatUser("short")), ContextReplaced(0, 0, ChatUser("first")))
    assert twice == [ChatUser("first"), ChatUser("short"), ChatUser("3")]


def test_requests_carry_the_header_in_force_for_their_agent() -> None:
    make = Maker()
    first = refund_run().events[6].fact
    assert isinstance(first, RequestHeader)
    second = dataclasses.replace(first, tools=JsonText("[]"))
    for fact in (ModelRequest(make.history.messages), first, ModelRequest(make.history.messages), second, ModelRequest(make.history.messages, 2)):
        make.add(fact)
    events = (*make.events, dataclasses.replace(make.events[0], seq=5, agent="child"))
    traces = list(requests_of(Trajectory(header(), events)))
    assert [trace.header for trace in traces] == [None, first, second, None]
    assert [trace.attempt for trace in traces] == [1, 1, 2, 1]


def test_chunks_are_no_messages() -> None:
    assert folded(AssistantChunk(JsonText("{}"))) == []
