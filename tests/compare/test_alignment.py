"""Two runs side by side: every event in one block, equal blocks found again, and what each stretch took."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings

from harness.compare import align, blocks_of, digest_of, explain, first_divergence, segments_of
from harness.folds import summarise
from harness.types.codes import Code
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    ToolEnd,
    ToolStart,
)
from harness.types.lifecycle import StepEnd
from harness.types.messages import CallId, JsonText
from harness.types.reasons import Usage
from harness.types.records import Amount, Segment
from tests.compare.made import ANSWERS, RESULTS, first, refund_run, with_facts
from tests.strategies import trajectories, unknown_event

LOOK, REFUND, SAY = ANSWERS
MORE = ([("lookup_order", '{"id":9}')], None)
OTHER = ([("cancel_order", '{"id":7}')], None)


def aligned(base: Trajectory, candidate: Trajectory) -> list[tuple[str, int | None, int | None]]:
    """Kind and places of the steps alone (from 1)."""
    alignment = align(base, candidate, first_divergence(base, candidate))
    steps = [{at: n for n, at in enumerate((i for i, b in enumerate(side) if b.kind == "step"), 1)} for side in (alignment.base, alignment.candidate)]
    rows = [(pair.kind.value, steps[0].get(pair.base or 0), steps[1].get(pair.candidate or 0)) for pair in alignment.pairs]
    return [row for row in rows if row[1:] != (None, None)]


def with_times(run: Trajectory, each_ms: int = 10) -> Trajectory:
    return dataclasses.replace(run, events=tuple(dataclasses.replace(e, time=e.seq * each_ms) for e in run))


@pytest.mark.parametrize(
    ("answers", "results", "expected"),
    [
        pytest.param(ANSWERS, RESULTS, [("equal", 1, 1), ("equal", 2, 2), ("equal", 3, 3)], id="same"),
        pytest.param(
            (LOOK, MORE, REFUND, SAY),
            (*RESULTS[:2], "{}", RESULTS[2]),
            [("equal", 1, 1), ("only-candidate", None, 2), ("equal", 2, 3), ("equal", 3, 4)],
            id="a-step-more",
        ),
        pytest.param((LOOK, SAY), RESULTS[:2], [("equal", 1, 1), ("only-base", 2, None), ("equal", 3, 2)], id="a-step-less"),
        pytest.param((LOOK, OTHER, SAY), RESULTS, [("equal", 1, 1), ("changed", 2, 2), ("equal", 3, 3)], id="another-call"),
        pytest.param(
            (LOOK, OTHER, ([("refund", '{"order":8}')], None), SAY),
            (*RESULTS, "ok"),
            [("equal", 1, 1), ("only-candidate", None, 2), ("changed", 2, 3), ("equal", 3, 4)],
            id="the-same-tool-later-with-other-arguments",
        ),
        pytest.param(
            (LOOK, ([("refund", '{"why": "late", "order": 7.0}')], None), SAY),
            RESULTS,
            [("equal", 1, 1), ("changed", 2, 2), ("equal", 3, 3)],
            id="spelling-is-marked-where-it-is-the-first-difference",
        ),
        pytest.param(
            (OTHER, ([("refund", '{"why": "late", "order": 7}')], None), SAY),
            ("ok", "ok"),
            [("changed", 1, 1), ("equal", 2, 2), ("equal", 3, 3)],
            id="spelling-behind-another-difference-is-none",
        ),
        pytest.param(ANSWERS, (*RESULTS[:2], "refused"), [("equal", 1, 1), ("changed", 2, 2), ("equal", 3, 3)], id="another-result"),
    ],
)
def test_steps_find_their_partners(answers: Any, results: Sequence[str], expected: list[tuple[str, Any, Any]]) -> None:
    assert aligned(refund_run(), refund_run(answers=answers, results=results)) == expected
    back = [(k.replace("candidate", "?").replace("base", "candidate").replace("?", "base"), j, i) for k, i, j in expected]
    assert aligned(refund_run(answers=answers, results=results), refund_run()) == back


def test_failed_attempts_pieces_of_answers_and_doors_that_were_not_seen_are_no_difference() -> None:
    run = refund_run()
    request, answer = first(run, ModelRequest), first(run, AssistantMessage)
    new = [
        AssistantChunk(JsonText('{"x":1}')),
        ModelFailed(Code.RATE_LIMIT, "slow down"),
        ModelRetry(Code.RATE_LIMIT, 1, 500),
        dataclasses.replace(run.events[request].fact, attempt=2),
    ]
    more = tuple(dataclasses.replace(run.events[answer], fact=fact) for fact in new)
    events = (*run.events[:answer], *more, *run.events[answer:])
    noisy = dataclasses.replace(run, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate(events)))
    assert len(blocks_of(noisy)) == len(blocks_of(run))
    assert align(run, noisy, first_divergence(run, noisy)).is_equal
    unseen = refund_run(doors=False)
    assert align(run, unseen, first_divergence(run, unseen)).is_equal


def test_bodies_that_ended_in_another_order_are_no_difference() -> None:
    run = refund_run()
    at = first(run, ToolStart)
    one, other = run.events[at : at + 2], run.events[at + 2 : at + 4]
    assert [event.fact.TYPE for event in (*one, *other)] == ["tool/start", "tool/end"] * 2
    events = (*run.events[:at], *other, *one, *run.events[at + 4 :])
    moved = {event.seq: seq for seq, event in enumerate(events)}

    def renumbered(event: Event) -> Event:
        fact = event.fact
        fact = dataclasses.replace(fact, start=moved[fact.start]) if isinstance(fact, ToolEnd) else fact
        return dataclasses.replace(event, seq=moved[event.seq], fact=fact)

    swapped = dataclasses.replace(run, events=tuple(map(renumbered, events)))
    assert explain(run, swapped) is None
    assert align(run, swapped, None).is_equal
    assert digest_of(run) == digest_of(swapped)


def test_a_file_without_steps_is_cut_at_its_answers() -> None:
    def placeless(run: Trajectory) -> Trajectory:
        kept = with_facts(run, lambda fact: None if isinstance(fact, StepEnd) or fact.TYPE in ("step/start", "model/request") else fact)
        return dataclasses.replace(kept, events=tuple(dataclasses.replace(e, turn=None, step=None) for e in kept))

    blocks = blocks_of(placeless(refund_run()))
    assert [(block.kind, block.step) for block in blocks] == [("start", None), ("step", 1), ("step", 2), ("step", 3), ("end", None)]


def test_children_are_lanes_of_their_own_beside_the_step_that_called_them() -> None:
    run = refund_run()
    child = dataclasses.replace(run.events[first(run, AssistantMessage, 2)], agent=CallId("call_1_0"))
    at = first(run, AssistantMessage, 2) - 2
    events = (*run.events[:at], child, *run.events[at:])
    family = dataclasses.replace(run, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate(events)))
    alignment = align(run, family, first_divergence(run, family))
    lanes = [(pair.kind.value, alignment.candidate[pair.candidate or 0].agent) for pair in alignment.pairs if pair.kind != "equal"]
    assert ("only-candidate", "call_1_0") in lanes
    assert [kind for kind, agent in lanes if not agent] in ([], ["changed"])


@given(trajectories())
def test_every_event_is_in_one_block_and_a_run_beside_itself_is_equal(trajectory: Trajectory) -> None:
    events = [event.seq for block in blocks_of(trajectory) for event in block.events]
    assert sorted(events) == [event.seq for event in trajectory]
    assert align(trajectory, trajectory, None).is_equal


@given(trajectories(), trajectories())
@settings(max_examples=40)
def test_each_block_is_in_one_pair_and_both_sides_stay_in_order(base: Trajectory, candidate: Trajectory) -> None:
    alignment = align(base, candidate, first_divergence(base, candidate))
    assert [pair.base for pair in alignment.pairs if pair.base is not None] == list(range(len(alignment.base)))
    assert [pair.candidate for pair in alignment.pairs if pair.candidate is not None] == list(range(len(alignment.candidate)))
    for pair in alignment.pairs:
        assert (pair.base is None) == (pair.kind == "only-candidate")
        assert (pair.candidate is None) == (pair.kind == "only-base")


TOKENS_AND_COST = ("input_tokens", "output_tokens", "cost_micro_usd")
"""Not known of a run where an answer does not tell them, though stretches without that answer know theirs."""


def total(segments: Sequence[Segment], side: str) -> Amount:
    found = [getattr(segment, side) for segment in segments if getattr(segment, side) is not None]

    def known(name: str) -> int | None:
        numbers = [getattr(one, name) for one in found if getattr(one, name) is not None]
        return sum(numbers) if numbers else None

    names = ("input_tokens", "output_tokens", "cost_micro_usd", "time_ms")
    return Amount(sum(one.n_steps for one in found), sum(one.n_calls for one in found), **{name: known(name) for name in names})


def summed(run: Trajectory) -> Amount:
    found = summarise(run, (), "x")
    return Amount(
        found.n_steps, len(found.calls), found.input_tokens, found.output_tokens, found.cost_micro_usd, found.duration_ms
    )


@given(trajectories(), trajectories())
@settings(max_examples=40)
def test_what_segments_took_adds_up_to_what_the_runs_took(base: Trajectory, candidate: Trajectory) -> None:
    base, candidate = with_times(base), with_times(candidate, 7)
    segments = segments_of(align(base, candidate, first_divergence(base, candidate)))
    if base.events and candidate.events:
        for side, run in (("base", base), ("candidate", candidate)):
            found, whole = total(segments, side), summed(run)
            unknown = {name: None for name in TOKENS_AND_COST if getattr(whole, name) is None}
            assert dataclasses.replace(found, **unknown) == whole


def test_a_step_more_carries_its_own_tokens_cost_and_time() -> None:
    longer = refund_run(answers=(LOOK, MORE, REFUND, SAY), results=(*RESULTS[:2], "{}", RESULTS[2]))
    at = first(longer, AssistantMessage, 2)
    fact = dataclasses.replace(longer.events[at].fact, usage=Usage(500, 20, cost_micro_usd=31))
    events = (*longer.events[:at], dataclasses.replace(longer.events[at], fact=fact), *longer.events[at + 1 :])
    base, candidate = with_times(refund_run()), with_times(dataclasses.replace(longer, events=events))
    segments = segments_of(align(base, candidate, first_divergence(base, candidate)))
    (more,) = [segment for segment in segments if segment.kind == "only-candidate"]
    assert (more.base, more.step) == (None, 2)
    n_events = len(longer) - len(refund_run())
    assert more.candidate == Amount(1, 1, 500, 20, 31, 10 * n_events)


def test_a_line_of_a_later_version_stays_in_the_block_that_is_open() -> None:
    run = refund_run()
    event = dataclasses.replace(unknown_event(0), agent="")
    last = run.events[-1]
    later = dataclasses.replace(run, events=(*run.events, dataclasses.replace(event, seq=last.seq + 1)))
    assert [block.key for block in blocks_of(later)] == [block.key for block in blocks_of(run)]
    assert blocks_of(later)[-1].events[-1].seq == last.seq + 1
    alone = blocks_of(dataclasses.replace(run, events=(event,)))
    assert [(block.kind, block.events) for block in alone] == [("start", [event])]
