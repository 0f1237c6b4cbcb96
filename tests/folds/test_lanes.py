"""Children that run at once: in which order they stand in a file is no part of what is compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.compare import align, digest_of, explain, first_divergence
from harness.folds import Viewed, committed_view, history_of, in_call_order
from harness.runner.accepted import accepted, accepted_bytes
from harness.runner.baseline_accept import parting
from harness.testing import scenario
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, ToolCall, ToolEnd, ToolResult, ToolStart
from harness.types.facts import is_ignorable
from tests.strategies import trajectories

ASK_BOTH: dict[str, Any] = {"calls": [{"m": {"task": "a"}}, {"n": {"task": "b"}}, {"probe_huge": {}}]}
WITHIN: dict[str, Any] = {"calls": [{"o": {"task": "deep"}}, {"o": {"task": "deeper"}}]}
ASK_TWO: dict[str, Any] = {"calls": ASK_BOTH["calls"][:2]}
AGAIN: dict[str, Any] = {"calls": [{"probe_huge": {}}]}
SCRIPTS: dict[str, list[dict[str, Any]]] = {
    "m": [WITHIN, {"say": "A"}],
    "n": [WITHIN, {"say": "B"}],
    "o": [{"say": "deep"}] * 4,
}
NONE: Mapping[str, int] = {}


def family(delays: Mapping[str, int] = NONE, last: str = "done", *, huge: bool = True) -> Trajectory:
    """Two children of one answer with two children each, a long result summed up, older messages folded."""
    tools = {"use": ["probe_huge"], "visible": ["m", "n", "probe_huge"]}
    uses = {"m": ["o"], "n": ["o"], "o": []}
    models = {
        f"child:{name}": {"script": [{**one, "delay_ms": delays.get(name, 5)} for one in said]}
        for name, said in SCRIPTS.items()
    }
    run = scenario(
        task="go",
        tools=tools,
        agents={name: {"description": "d", "system": "c", "tools": uses[name]} for name in uses},
        script=[ASK_BOTH if huge else ASK_TWO, *([AGAIN] if huge else []), {"say": last}],
        models={**models, "summariser": {"script": [{"say": "short", "delay_ms": delays.get("summariser", 5)}] * 2, "allow_leftovers": True}},
        tool_policy={"tools": {"probe_huge": {"results": {"max_chars": 200, "then": "summarise"}}}},
        context={"compact": {"at_messages": 5, "keep_last": 1}},
    ).run()
    return replace(run.trajectory, header=replace(run.trajectory.header, scenario=None))


RUN = family()
PLAIN = family(huge=False)
CHOICES = st.integers(0, 2**32).map(Random)
OTHER = family(last="other")


def mixed(run: Trajectory, choice: Random) -> Trajectory:
    """The run with the events of its agents mixed in another way: each agent's in order, a child's within its call."""
    lanes: dict[str, list[Event]] = {}
    for event in run:
        lanes.setdefault(event.agent, []).append(event)
    called: set[str] = {""}
    found: list[Event] = []
    while lanes:
        agent = choice.choice([one for one in lanes if one in called and not _waits(lanes[one][0], lanes)])
        event = lanes[agent].pop(0)
        if not lanes[agent]:
            del lanes[agent]
        called.update(_made(event))
        found.append(event)
    return replace(run, events=_numbered(found))


def _made(event: Event) -> set[str]:
    if not isinstance(event.fact, ToolCall):
        return set()
    call = event.fact.call_id
    return {call, f"{event.agent}/{call}", f"summariser-{call}"}


def _waits(event: Event, lanes: Mapping[str, object]) -> bool:
    if not isinstance(event.fact, ToolResult):
        return False
    call = event.fact.call_id
    return bool({call, f"{event.agent}/{call}", f"summariser-{call}"} & set(lanes))


def _numbered(events: Sequence[Event]) -> tuple[Event, ...]:
    """Numbered anew; a replacement names the same messages, an end the same body."""
    now = {event.seq: number for number, event in enumerate(events)}

    def moved(event: Event) -> Event:
        fact = event.fact
        if isinstance(fact, ContextReplaced):
            fact = replace(fact, start=now[fact.start], end=now[fact.end])
        if isinstance(fact, ToolEnd):
            fact = replace(fact, start=now[fact.start])
        if isinstance(fact, ToolStart) and fact.within is not None:
            fact = replace(fact, within=now[fact.within])
        return replace(event, seq=now[event.seq], time=now[event.seq], fact=fact)

    return tuple(map(moved, events))


def keys(run: Trajectory) -> list[tuple[Any, ...]]:
    return [viewed.key for viewed in committed_view(run)]


def test_the_family_has_all_that_stands_beside_one_another() -> None:
    agents = {event.agent for event in RUN}
    assert len(agents) == 1 + 2 + 4 + 2  # the main agent, two children, two of each, what sums up a result of two
    assert any(isinstance(event.fact, ContextReplaced) for event in RUN)


@pytest.mark.conformance("49")
@settings(max_examples=25)
@given(CHOICES)
def test_any_interleaving_of_children_is_the_same_run(choice: Random) -> None:
    other = mixed(RUN, choice)
    assert keys(other) == keys(RUN)
    assert digest_of(other) == digest_of(RUN)
    assert explain(RUN, other) is None
    assert explain(other, RUN) is None
    assert align(RUN, other, None).is_equal
    assert accepted_bytes(other, "x") == accepted_bytes(RUN, "x")


@settings(max_examples=25)
@given(CHOICES)
def test_what_two_runs_differ_in_is_told_the_same_however_their_children_interleave(choice: Random) -> None:
    one, other = mixed(RUN, choice), mixed(OTHER, choice)
    found = first_divergence(one, other)
    assert found is not None
    assert (found.path, found.base, found.candidate, found.step) == ("answer", "done", "other", 3)
    pairs = align(one, other, found).pairs
    assert [pair.base for pair in pairs] == [pair.candidate for pair in pairs] == list(range(len(pairs)))
    assert sum(pair.kind != "equal" for pair in pairs) == 1


@settings(max_examples=25)
@given(CHOICES)
def test_a_kept_file_gives_itself_and_its_conversation_is_that_of_the_run(choice: Random) -> None:
    other = mixed(RUN, choice)
    kept = accepted(other, "x")
    assert accepted_bytes(kept, "x") == accepted_bytes(other, "x")
    assert len(history_of(kept)) == len(history_of(RUN))


@settings(max_examples=25)
@given(CHOICES)
def test_a_baseline_that_was_kept_in_an_order_of_completion_is_the_same_still(choice: Random) -> None:
    kept = accepted(PLAIN, "x")
    assert parting(mixed(kept, choice), kept) is None


@given(trajectories())
def test_each_event_is_there_once_and_those_of_an_agent_keep_their_order(run: Trajectory) -> None:
    ordered = in_call_order(run.events)
    assert sorted(event.seq for event in ordered) == [event.seq for event in run]
    for agent in {event.agent for event in run}:
        assert [e.seq for e in ordered if e.agent == agent] == [e.seq for e in run if e.agent == agent]
    assert in_call_order(tuple(ordered)) == tuple(ordered)


@pytest.mark.parametrize("slow", ["m", "n", "o", "summariser"])
def test_a_child_that_takes_longer_is_no_difference(slow: str) -> None:
    run = family({slow: 50})
    assert [event.agent for event in run] != [event.agent for event in RUN] or slow == "o"
    assert explain(RUN, run) is None


def test_children_stand_before_the_results_of_their_calls_and_in_the_order_of_these() -> None:
    inner = [["", "id-1", "id-4", "id-1", "id-5", "id-1"], ["", "id-2", "id-6", "id-2", "id-7", "id-2"], ["", "agent-1", ""]]
    assert _groups(committed_view(family({"m": 50})))[:15] == [agent for group in inner for agent in group]


def _groups(view: Sequence[Viewed]) -> list[str]:
    return [one.agent for number, one in enumerate(view) if not number or view[number - 1].agent != one.agent]


def racing(delays: Mapping[str, int]) -> Trajectory:
    """Two children whose provider gives the same ids: the faster one takes them, the other's calls get ids of ours.

    In their last steps they call a child of their own, whose path has such an id in it.
    """
    tool, child = {"calls": [{"calculator": {"expression": "1"}}]}, {"calls": [{"o": {"task": "deep"}}]}
    scripts = {name: [tool, tool, child, {"say": name}] for name in "mn"}
    uses = {"m": ["calculator", "o"], "n": ["calculator", "o"], "o": []}
    run = scenario(
        task="go",
        tools={"use": ["calculator"], "visible": ["m", "n"]},
        agents={name: {"description": "d", "system": "c", "tools": tools} for name, tools in uses.items()},
        script=[ASK_TWO, {"say": "done"}],
        models={
            **{f"child:{k}": {"script": [{**one, "delay_ms": delays[k]} for one in said]} for k, said in scripts.items()},
            "child:o": {"script": [{"say": "deep"}] * 2},
        },
    ).run()
    assert run.findings == ()
    return replace(run.trajectory, header=replace(run.trajectory.header, scenario=None))


def test_which_child_used_an_id_of_the_provider_first_is_no_difference() -> None:
    one, other = racing({"m": 5, "n": 50}), racing({"m": 50, "n": 5})
    assert {event.agent for event in one} != {event.agent for event in other}, "they race for nothing"
    assert explain(one, other) is None
    assert digest_of(one) == digest_of(other)
    kept = [accepted(run, "x") for run in (one, other)]
    assert parting(kept[0], kept[1]) is None
    assert parting(kept[0], accepted(kept[1], "x")) is None


def test_a_difference_in_a_child_is_still_one_and_named_by_its_agent() -> None:
    other = replace(
        RUN,
        events=tuple(
            replace(event, fact=replace(event.fact, content="C"))
            if isinstance(event.fact, AssistantMessage) and event.fact.content == "B"
            else event
            for event in RUN
        ),
    )
    found = first_divergence(RUN, other)
    assert found is not None
    assert (found.base, found.candidate) == ("B", "C")
    assert found.path.startswith("child ")


def test_an_agent_that_no_call_made_stays_where_it_stands() -> None:
    """Speakers of an import take turns: who spoke after whom is what was said."""
    events = tuple(replace(event, agent="critic" if number % 2 else "") for number, event in enumerate(RUN) if not event.agent)
    assert in_call_order(events) == events
    assert not all(is_ignorable(event.fact) for event in events)
