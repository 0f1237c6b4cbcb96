"""The one append point: numbered, stamped, written before it is seen, and never disturbed by who listens."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidValueError, RecordingFailed
from harness.recorder import Recorder
from harness.types.codes import ClockKind, Origin, Status
from harness.types.events import Event
from harness.types.exchange import ModelRequest, ToolStart, UserMessage
from harness.types.facts import EFFECTS, Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note, RunEnd, RunQuiescent, RunStart, StepEnd, StepStart
from harness.types.messages import CallId, ChatUser, JsonText, MessageBuffer, Messages
from harness.types.reasons import FinalAnswer
from tests.strategies import known_facts

REQUEST = ModelRequest(Messages.of([ChatUser("hi")]))
START = ToolStart(CallId("c"), "t", JsonText("{}"))
END = RunEnd(Status.COMPLETED, FinalAnswer())


class Ticking:
    """A clock that moves on by 5 ms each time somebody looks at it, from some large number."""

    kind = ClockKind.SYSTEM

    def __init__(self) -> None:
        self.now = 1_000_000

    def now_ms(self) -> int:
        self.now += 5
        return self.now

    async def sleep_ms(self, duration_ms: int) -> None:
        self.now += duration_ms


class Shelf:
    """A sink that keeps what it got, in order; from the nth call on it is full."""

    def __init__(self, *, full_from: int | None = None) -> None:
        self.kept: list[Any] = []
        self._full_from = full_from

    def _keep(self, what: Any) -> None:
        if self._full_from is not None and len(self.kept) >= self._full_from:
            self.kept.append("refused")
            raise RecordingFailed("no space left")
        self.kept.append(what)

    def append(self, event: Event) -> None:
        self._keep(event)

    def commit(self) -> None:
        self._keep("commit")


def record(recorder: Recorder, *facts: Fact) -> list[Event]:
    return [recorder.record(fact, origin=Origin.PROBE) for fact in facts]


def seqs(events: Sequence[Event]) -> list[int]:
    return [event.seq for event in events]


@pytest.mark.conformance("3", "26")
@given(st.lists(known_facts, max_size=8))
def test_every_fact_becomes_the_event_of_the_next_number_unchanged_and_in_order(facts: list[Fact]) -> None:
    recorder, shelf = Recorder(Ticking()), Shelf()
    written = Recorder(Ticking(), shelf)
    events = record(recorder, *facts)
    assert list(recorder.events) == events
    assert [event.fact for event in events] == facts
    assert seqs(events) == list(range(len(facts)))
    assert [kept for kept in shelf.kept if kept != "commit"] == list(written.events)
    assert record(written, *facts) == events


def test_time_counts_from_the_first_event_and_the_place_is_kept() -> None:
    recorder = Recorder(Ticking())
    record(recorder, RunStart(), StepStart())
    event = recorder.record(StepEnd(), origin=Origin.SUBJECT, agent="call_1", turn=2, step=3)
    assert [e.time for e in recorder.events] == [0, 5, 10]
    assert (event.origin, event.agent, event.turn, event.step) == (Origin.SUBJECT, "call_1", 2, 3)


@pytest.mark.conformance("10")
@pytest.mark.parametrize(
    ("fact", "committed"),
    [
        pytest.param(RunStart(), False, id="run-start"),
        pytest.param(Note("n"), False, id="note"),
        pytest.param(REQUEST, True, id="before-a-model-request"),
        pytest.param(START, True, id="before-a-tool-body"),
        pytest.param(END, True, id="run-end"),
        pytest.param(RunQuiescent(), True, id="last-line"),
    ],
)
def test_what_is_recorded_is_in_the_file_before_an_effect_begins(fact: Fact, committed: bool) -> None:
    shelf = Shelf()
    recorder = Recorder(Ticking(), shelf)
    first, second = record(recorder, StepStart(), fact)
    assert shelf.kept == [first, second, *(["commit"] if committed else [])]


@pytest.mark.conformance("10")
def test_an_event_is_in_the_log_and_in_the_sink_when_its_listener_sees_it() -> None:
    shelf = Shelf()
    recorder = Recorder(Ticking(), shelf)
    seen: list[tuple[bool, bool]] = []
    recorder.listen(lambda event: seen.append((recorder.events[-1] is event, event in shelf.kept)))
    record(recorder, RunStart(), REQUEST)
    assert seen == [(True, True), (True, True)]


@pytest.mark.conformance("11")
def test_a_throwing_listener_changes_neither_the_log_nor_what_others_see() -> None:
    recorder, quiet = Recorder(Ticking()), Recorder(Ticking())
    seen: list[int] = []

    def throw(event: Event) -> None:
        raise ValueError(f"at {event.seq}")

    recorder.listen(throw)
    recorder.listen(lambda event: seen.append(event.seq))
    facts = (RunStart(), REQUEST, END)
    assert record(recorder, *facts) == record(quiet, *facts)
    assert seen == [0, 1, 2]
    assert [(seq, str(error)) for seq, error in recorder.listener_errors] == [(0, "at 0"), (1, "at 1"), (2, "at 2")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, asyncio.CancelledError], ids=["interrupt", "cancellation"])
def test_interrupts_and_cancellation_pass_through_a_listener_and_leave_the_log_usable(error: type[BaseException]) -> None:
    recorder = Recorder(Ticking())
    armed = [True]
    seen: list[int] = []

    def interrupt(event: Event) -> None:
        if armed:
            armed.clear()
            raise error

    recorder.listen(interrupt)
    recorder.listen(lambda event: seen.append(event.seq))
    with pytest.raises(error):
        record(recorder, RunStart())
    record(recorder, StepStart())
    assert seqs(recorder.events) == [0, 1]
    assert seen == [1]


@pytest.mark.conformance("121")
def test_an_append_from_a_listener_gets_the_next_number_and_is_announced_after_the_current_one() -> None:
    recorder = Recorder(Ticking())
    told: list[tuple[str, int]] = []

    def answering(event: Event) -> None:
        told.append(("first", event.seq))
        if isinstance(event.fact, RunStart):
            inner = recorder.record(Note("inner"), origin=Origin.PROBE)
            again = recorder.record(Note("again"), origin=Origin.PROBE)
            assert (inner.seq, again.seq, list(recorder.events)) == (1, 2, [event, inner, again])

    recorder.listen(answering)
    recorder.listen(lambda event: told.append(("second", event.seq)))
    (event,) = record(recorder, RunStart())
    assert event.seq == 0
    assert told == [(who, seq) for seq in (0, 1, 2) for who in ("first", "second")]


@given(st.lists(st.integers(0, 3), max_size=12))
def test_however_listeners_append_all_see_each_event_once_in_order(burst: list[int]) -> None:
    recorder = Recorder(Ticking())
    left = list(burst)
    seen: list[list[int]] = [[], []]

    def chatty(event: Event) -> None:
        seen[0].append(event.seq)
        for _ in range(left.pop() if left else 0):
            record(recorder, Note("n"))

    recorder.listen(chatty)
    recorder.listen(lambda event: seen[1].append(event.seq))
    record(recorder, RunStart(), StepStart())
    assert seen[0] == seen[1] == seqs(recorder.events) == list(range(len(recorder.events)))


def test_a_listener_hears_only_what_comes_after_it() -> None:
    recorder = Recorder(Ticking())
    late: list[int] = []

    def inviting(event: Event) -> None:
        if event.seq == 1:
            recorder.listen(lambda event: late.append(event.seq))

    recorder.listen(inviting)
    record(recorder, RunStart(), StepStart(), StepEnd())
    assert late == [2]


@pytest.mark.parametrize("effect", [REQUEST, START], ids=["model-request", "tool-start"])
def test_after_a_failed_write_no_effect_can_be_recorded_and_everything_else_is_kept_in_memory(effect: Fact) -> None:
    shelf = Shelf(full_from=1)
    recorder = Recorder(Ticking(), shelf)
    seen: list[int] = []
    recorder.listen(lambda event: seen.append(event.seq))
    record(recorder, RunStart(), StepStart())
    assert str(recorder.failed) == "no space left"
    for _ in range(2):
        with pytest.raises(RecordingFailed, match="no space left") as error:
            record(recorder, effect)
        assert error.value is recorder.failed
    record(recorder, StepEnd(), END, RunQuiescent())
    assert [event.fact.TYPE for event in recorder.events] == ["run/start", "step/start", "step/end", "run/end", "run/quiescent"]
    assert seqs(recorder.events) == seen == [0, 1, 2, 3, 4]
    assert shelf.kept[1:] == ["refused"]  # and it is not asked again


@pytest.mark.parametrize("full_from", [0, 1], ids=["append", "commit"])
def test_an_effect_that_cannot_be_written_never_enters_the_log(full_from: int) -> None:
    recorder = Recorder(Ticking(), Shelf(full_from=full_from))
    heard: list[int] = []
    recorder.listen(lambda event: heard.append(event.seq))
    with pytest.raises(RecordingFailed):
        record(recorder, REQUEST)
    assert (list(recorder.events), heard) == ([], [])
    assert record(recorder, END)[0].seq == 0


def test_what_comes_after_the_end_is_kept_apart_and_reaches_neither_log_nor_file_nor_listener() -> None:
    shelf = Shelf()
    recorder = Recorder(Ticking(), shelf)
    heard: list[int] = []
    recorder.listen(lambda event: heard.append(event.seq))
    record(recorder, RunQuiescent())
    kept = list(shelf.kept)
    recorder.close()
    late = record(recorder, START)
    assert recorder.late == late
    assert (seqs(recorder.events), heard, shelf.kept) == ([0], [0], kept)


@pytest.mark.conformance("119")
@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), -float("inf"), {1: 2}, {"a": object()}, b"x"],
    ids=["nan", "inf", "minus-inf", "key", "object", "bytes"],
)
def test_what_is_no_lossless_json_cannot_be_made_into_a_fact(value: Any) -> None:
    recorder = Recorder(Ticking())
    with pytest.raises(InvalidValueError, match="not lossless JSON"):
        record(recorder, Note("n", canonical_json(value)))
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidValueError, match="a cycle"):
        record(recorder, Note("n", canonical_json(loop)))
    assert list(recorder.events) == []


@pytest.mark.conformance("120")
@given(known_facts)
def test_events_and_facts_cannot_be_changed_once_recorded(fact: Fact) -> None:
    recorder = Recorder(Ticking())
    (event,) = record(recorder, fact)
    targets = [event, *([fact] if dataclasses.fields(fact) else [])]
    for target in targets:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(target, dataclasses.fields(target)[0].name, 1)


@pytest.mark.conformance("6", "120")
def test_a_recorded_request_is_detached_from_what_the_caller_goes_on_with() -> None:
    recorder = Recorder(Ticking())
    mine: list[Any] = [ChatUser("one")]
    buffer = MessageBuffer(mine)
    copied, grown = record(recorder, ModelRequest(Messages.of(mine)), ModelRequest(buffer.view()))
    mine.append(ChatUser("two"))
    mine[0] = ChatUser("changed")
    buffer.append(ChatUser("two"))
    for event in (copied, grown):
        assert isinstance(event.fact, ModelRequest)
        assert list(event.fact.messages) == [ChatUser("one")]


def test_effects_are_the_model_request_and_the_start_of_a_tool() -> None:
    assert (ModelRequest, ToolStart) == EFFECTS
    assert not isinstance(UserMessage(ChatUser("hi")), EFFECTS)
