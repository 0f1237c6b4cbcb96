"""The data of the HTML report: what the model saw, lanes, numbers, cuts."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidValueError
from harness.folds import requests_of
from harness.report.html.calls import Body, put_on_lanes, work_of
from harness.report.html.cutting import ROOMS, Cutter, Room, window
from harness.report.html.details import detail_plain
from harness.report.html.embed import EXACT, json_bytes
from harness.report.html.requests import Pools, SideRequests, Tape, message_plain
from harness.report.text import UNSEEN
from harness.runner.review.side_by_side import side_by_side
from harness.types.codes import Origin, ToolOutcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ToolEnd, ToolResult, ToolStart, UserMessage
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import ChatUser, JsonText, MessageBuffer, Messages
from harness.types.reasons import Alive
from harness.types.records import ScenarioComparison
from tests.compare.made import ANSWERS, Maker, header, refund_run, summary, with_facts
from tests.report.parsed_page import texts_of
from tests.strategies import json_values, trajectories

FULL = ROOMS[0]


def detail(base: Trajectory, candidate: Trajectory | None = None, room: Room = FULL) -> dict[str, Any]:
    """The detail of a row, as JSON gives it back."""
    other = candidate or base
    row = ScenarioComparison("shop/refund@default#1", "changed", base=summary(), candidate=summary())
    made: dict[str, Any] = json.loads(json_bytes(detail_plain(row, 0, side_by_side(base, other, row), room)))
    return made


def shown_to_the_model(made: dict[str, Any], side: str) -> list[list[Any]]:
    """The messages of each block's request, put together as a page does it."""
    tapes, pool = made[side]["tapes"], made["messages"]
    requests = [block["request"]["messages"] for block in made[side]["blocks"] if block["request"]]
    return [[pool[at] for start, end in one["ranges"] for at in tapes[one["tape"]][start:end]] for one in requests]


@given(trajectories())
def test_every_request_of_any_run_can_be_put_together_from_the_page(trajectory: Trajectory) -> None:
    cutter = Cutter(Room(10**9, 10**9))
    pools = Pools(cutter)
    made = SideRequests.of(trajectory, pools, range(10**6))
    for request in requests_of(trajectory):
        one = made.by_seq[request.event.seq]
        tape = made.tapes[one["messages"]["tape"]].entries
        found = [pools.messages.values[at] for start, end in one["messages"]["ranges"] for at in tape[start:end]]
        assert found == [message_plain(message, cutter) for message in request.messages]
        assert (one["system"] is None) == (request.header is None)


@given(st.lists(st.lists(st.integers(0, 4), max_size=8), max_size=8))
def test_ranges_of_a_tape_give_any_sequence_of_requests_back(asked: list[list[int]]) -> None:
    tape, pools = Tape(), Pools(Cutter(FULL))
    for texts in asked:
        ranges = tape.ranges(Messages.of(ChatUser(str(text)) for text in texts), pools)
        found = [pools.messages.values[at]["content"] for start, end in ranges for at in tape.entries[start:end]]
        assert found == [str(text) for text in texts]
        assert all(start < end for start, end in ranges)


@pytest.mark.parametrize("same", [False, True], ids=["each-its-own", "one-buffer"])
def test_a_conversation_that_grows_is_one_range_whatever_repeats_in_it(same: bool) -> None:
    tape, pools, buffer = Tape(), Pools(Cutter(FULL)), MessageBuffer()
    for n in range(1, 200):
        buffer.append(ChatUser("ok" if n % 2 else str(n)))
        view = buffer.view() if same else Messages.of(buffer.view())
        assert tape.ranges(view, pools) == [[0, n]]
    assert len(pools.messages.values) == 100


def steps(n: int) -> Trajectory:
    """A run of so many steps, each of which says something of its own."""
    return refund_run(answers=tuple(([("lookup_order", f'{{"id":{at}}}')], f"step {at}") for at in range(n)))


def test_a_page_grows_with_the_run_and_not_with_its_square() -> None:
    sizes = [len(json_bytes(detail(steps(n)))) for n in (100, 200, 400)]
    assert sizes[1] < 2.1 * sizes[0]
    assert sizes[2] < 2.1 * sizes[1]


def test_both_sides_share_the_messages_that_are_equal() -> None:
    made = detail(refund_run(), refund_run(answers=(ANSWERS[0], ([], "No."))))
    assert shown_to_the_model(made, "base")[0] == shown_to_the_model(made, "candidate")[0]
    assert len(made["messages"]) == len({json.dumps(message) for message in made["messages"]})


def test_a_request_has_its_system_messages_tools_and_parameters() -> None:
    made = detail(refund_run())
    request = made["base"]["blocks"][1]["request"]
    assert [one["role"] for one in made["systems"][request["system"]]] == ["system"]
    assert [tool["name"] for tool in made["tools"][request["tools"]]] == ["lookup_order", "refund"]
    assert made["parameters"][request["parameters"]] == '{"temperature":0}'


@given(json_values)
def test_numbers_come_back_exactly_and_those_beyond_the_exact_ones_as_text(value: Any) -> None:
    def exact(item: Any) -> Any:
        if isinstance(item, int) and not isinstance(item, bool):
            return item if abs(item) <= EXACT else str(item)
        if isinstance(item, list):
            return [exact(one) for one in item]
        return {clean(key): exact(one) for key, one in item.items()} if isinstance(item, dict) else clean(item)

    def clean(item: Any) -> Any:
        return item.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(item, str) else item

    assert json.loads(json_bytes(value)) == exact(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(2**53 - 1, "9007199254740991", id="largest-exact"),
        pytest.param(2**53, '"9007199254740992"', id="first-that-is-not"),
        pytest.param(-(2**70), '"-1180591620717411303424"', id="below"),
        pytest.param("<&>\u2028\u202e\x7f", '"\\u003c\\u0026\\u003e\\u2028\\u202e\\u007f"', id="escaped"),
        pytest.param("\U0001ffff\U000e0041", '"\\ud83f\\udfff\\udb40\\udc41"', id="escaped-beyond-16-bits"),
        pytest.param("\ud83d\ude00 \ud800", '"😀 \ufffd"', id="surrogates"),
    ],
)
def test_a_value_has_one_spelling_in_the_page(value: Any, text: str) -> None:
    assert json_bytes(value).decode() == text


def test_everything_that_is_not_seen_is_escaped_and_all_else_stands_as_it_is() -> None:
    unseen = re.compile(f"[{UNSEEN}]")
    wrong = [
        char
        for char in map(chr, range(0x20, 0x110000))
        if not "\ud800" <= char <= "\udfff"
        and (json_bytes(char) == f'"{char}"'.encode()) is not (char not in '<>&"\\' and not unseen.match(char))
    ]
    assert wrong == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1: 2}, {"a": b"x"}, {"a": {1, 2}}])
def test_what_is_no_strict_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidValueError):
        json_bytes(value)


def bodies(spans: Sequence[tuple[int, int]]) -> list[Body]:
    made = []
    for start, n in spans:
        fact = ToolStart(None, "t", JsonText("{}"))
        end = Event(start + n, ToolEnd(start, ToolOutcome.OK), Origin.PROBE)
        made.append(Body(Event(start, fact, Origin.PROBE), fact, end if n else None))
    return made


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 20)), unique_by=lambda one: one[0], max_size=12))
def test_bodies_on_one_lane_never_overlap_and_there_are_no_more_lanes_than_bodies_at_once(
    spans: list[tuple[int, int]],
) -> None:
    made = bodies(spans)
    n_lanes = put_on_lanes(made)
    until = [(start, start + n if n else 10**6) for start, n in spans]
    for at, one in enumerate(made):
        for other in range(at):
            if one.lane == made[other].lane:
                (start, end), (begin, stop) = until[at], until[other]
                assert end < begin or stop < start
    at_once = max((sum(low <= start <= high for low, high in until) for start, _ in until), default=0)
    assert n_lanes == at_once


def test_calls_bodies_and_results_that_nothing_names_are_told_too() -> None:
    make = Maker()
    start = make.add(ToolStart(None, "ghost", JsonText('{"x":1}')))
    make.add(ToolEnd(start.seq, ToolOutcome.ERROR))
    make.add(ToolResult("nobody", "lost", "found"))  # type: ignore[arg-type]
    work = work_of(Trajectory(header(), tuple(make.events)))
    assert [(one.call, len(one.bodies), one.result is not None) for one in work] == [(None, 1, False), (None, 0, True)]
    calls = [
        call for block in detail(Trajectory(header(), tuple(make.events)))["base"]["blocks"] for call in block["calls"]
    ]
    assert [(call["name"], call.get("outcome"), call.get("result")) for call in calls] == [
        ("ghost", "error", None),
        ("lost", "ok", "found"),
    ]


@pytest.mark.article("40")
def test_each_side_says_in_words_what_its_run_came_to_or_was_doing() -> None:
    run = refund_run()
    made = detail(run, dataclasses.replace(run, events=run.events[:12]))
    assert (made["base"]["state"], made["candidate"]["state"]) == ("done", "running lookup_order")


def test_what_still_runs_at_the_end_is_named() -> None:
    alive = RunQuiescent((Alive("tool", "slow </script>", 7), Alive("child", "c1")), 50)
    run = with_facts(refund_run(), lambda fact: alive if isinstance(fact, RunQuiescent) else fact)
    made = detail(run)
    assert made["base"]["alive"] == ["tool slow </script>", "child c1"]
    marks = [mark for block in made["base"]["blocks"] for mark in block.get("marks", [])]
    assert marks[-1]["text"] == "still running after 50 ms: tool slow </script>, child c1"


def test_a_long_text_is_cut_and_it_is_said_how_much_is_left_out() -> None:
    made = detail(refund_run(task="x" * 25_000))
    message = next(one for one in made["messages"] if one["role"] == "user")
    assert (len(message["content"]), message["cut"]) == (20_000, 5_000)
    assert made["cutText"] >= 5_000


def test_of_a_run_too_long_the_blocks_around_the_first_difference_are_kept() -> None:
    base = steps(300)
    other = refund_run(
        answers=tuple(([("lookup_order", f'{{"id":{at + (at > 150)}}}')], f"step {at}") for at in range(300))
    )
    row = ScenarioComparison("a", "changed", base=summary(), candidate=summary())
    found = dataclasses.replace(row, divergence=_difference(base, other))
    made = detail_plain(found, 0, side_by_side(base, other, found), Room(1_000, 60))
    assert (len(made["pairs"]), sum(gap["n"] for gap in made["gaps"])) == (60, 302 - 60)
    first = made["pairs"][made["first"]]
    assert first["kind"] == "changed"
    assert made["base"]["blocks"][first["base"]]["step"] == 152
    assert made["base"]["cut"] == 302 - 60
    shown = shown_to_the_model(json.loads(json_bytes(made)), "base")
    assert [len(messages) for messages in shown] == [1 + 2 * (block["step"] - 1) for block in made["base"]["blocks"]]


def _difference(base: Trajectory, candidate: Trajectory) -> Any:
    from harness.compare import first_divergence

    return first_divergence(base, candidate)


@given(st.integers(0, 50), st.none() | st.integers(0, 49), st.integers(1, 60))
def test_a_window_lies_in_what_there_is_and_holds_its_middle(n: int, middle: int | None, most: int) -> None:
    inside = None if middle is None or middle >= n else middle
    found = window(n, inside, most)
    assert len(found) == min(n, most)
    assert not found or (found[0] >= 0 and found[-1] < n)
    assert inside is None or inside in found


def test_texts_that_enter_a_run_are_in_its_detail(tmp_path: Path) -> None:
    run = refund_run(task="find me", results=('{"id":7}', "and me", "ok"))
    texts = texts_of(detail(run))
    said = {e.fact.message.content for e in run if isinstance(e.fact, UserMessage)}
    results = {e.fact.content for e in run if isinstance(e.fact, ToolResult)}
    assert said | results <= texts
    assert sum(isinstance(e.fact, ModelRequest) for e in run) == len(shown_to_the_model(detail(run), "base"))
