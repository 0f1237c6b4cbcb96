"""Which requests used up a reply: neither those that were made to fail nor those that a death cut off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.folds import requests_used
from harness.types.codes import Code, Origin, Status
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest
from harness.types.lifecycle import Note, TurnEnd
from harness.types.messages import JsonText, Messages
from harness.types.reasons import FinalAnswer, Interrupted

FACTS: dict[str, Any] = {
    "ask": ModelRequest(Messages.of(())),
    "say": AssistantMessage("Hi."),
    "fail": ModelFailed(Code.SERVER, "down"),
    "end": TurnEnd(Status.COMPLETED, FinalAnswer()),
    "cut": TurnEnd(Status.INCOMPLETE, Interrupted()),
}
SCRIPTS = st.lists(st.tuples(st.sampled_from(sorted(FACTS)), st.sampled_from(["", "c1"])), max_size=25)


def events(script: Sequence[tuple[str, str]]) -> tuple[Event, ...]:
    return tuple(Event(seq, FACTS[name], Origin.SUBJECT, seq, agent) for seq, (name, agent) in enumerate(script))


def is_cut_off(request: Event, behind: Sequence[Event]) -> bool:
    """By the word: what comes next of the same agent, of all that ends the wait, is an interrupted turn."""
    own = (event.fact for event in behind if event.agent == request.agent)
    ends = next((f for f in own if isinstance(f, AssistantMessage | ModelFailed | ModelRequest | TurnEnd)), None)
    return isinstance(ends, TurnEnd) and isinstance(ends.reason, Interrupted)


@given(SCRIPTS)
def test_a_request_is_used_unless_its_turn_was_interrupted_while_it_waited(script: Sequence[tuple[str, str]]) -> None:
    told = events(script)
    used = [event.seq for event in requests_used(told, faults="fault")]
    asked = [event for event in told if isinstance(event.fact, ModelRequest)]
    assert used == [event.seq for event in asked if not is_cut_off(event, told[event.seq + 1 :])]


def test_a_request_that_was_made_to_fail_has_used_nothing() -> None:
    told = events([("ask", ""), ("fail", ""), ("ask", ""), ("say", "")])
    note = Event(len(told), Note("fault", JsonText('{"at":0}')), Origin.PROBE)
    assert [event.seq for event in requests_used((*told, note), faults="fault")] == [2]


def test_no_event_is_copied_for_a_request() -> None:
    class Counted(tuple[Event, ...]):
        n_copies = 0

        def __getitem__(self, at: Any) -> Any:
            Counted.n_copies += isinstance(at, slice)
            return super().__getitem__(at)

    told = Counted(events([("ask", ""), ("say", "")] * 50))
    assert len(requests_used(told, faults="fault")) == 50
    assert Counted.n_copies == 0
