"""Turn > Step: order, nesting, snapshots, endings."""

from __future__ import annotations

import pytest

from harness.folds import committed_view, requests_of
from harness.testing import scenario
from harness.types.codes import LimitKind, Status
from harness.types.messages import ChatAssistant, ChatTool, ChatUser
from harness.types.reasons import FinalAnswer, LimitHit
from tests.loop.lab import calculate, kinds, play, results, roles, shown, starts


@pytest.mark.conformance("1", "4")
def test_a_text_answer_takes_one_request_in_one_step_of_one_turn_strictly_nested() -> None:
    run = play([{"say": "hello"}])
    assert kinds(run) == [
        "run/start",
        "inbox/queued",
        "turn/start",
        "inbox/claimed",
        "user/message",
        "step/start",
        "request/header",
        "model/request",
        "assistant/message",
        "step/end",
        "turn/end",
        "run/end",
        "note",
        "run/quiescent",
    ]
    assert (run.status, run.reason, run.answer, run.n_steps) == (Status.COMPLETED, FinalAnswer(), "hello", 1)


@pytest.mark.conformance("2")
def test_the_second_request_holds_the_call_directly_followed_by_its_result() -> None:
    run = play([calculate("6 * 7"), {"say": "42"}])
    *_, call, result = shown(run, 2)
    assert isinstance(call, ChatAssistant)
    assert isinstance(result, ChatTool)
    assert call.tool_calls[0].id == result.call_id
    assert result.content == "42"


@pytest.mark.conformance("3")
def test_numbers_of_events_count_from_zero_without_gaps() -> None:
    run = play([calculate("1+1"), calculate("2+2"), {"say": "4"}])
    assert [event.seq for event in run.trajectory] == list(range(len(run.trajectory)))


@pytest.mark.conformance("5")
def test_the_answer_is_committed_before_any_of_its_tools_starts() -> None:
    run = play([{"calls": [{"calculator": {"expression": "1"}}, {"calculator": {"expression": "2"}}]}, {"say": "x"}])
    order = kinds(run)
    assert order.index("assistant/message") < order.index("tool/call") < order.index("tool/start")
    assert order.count("tool/call") == 2
    last_call = max(i for i, kind in enumerate(order) if kind == "tool/call")
    assert last_call < order.index("tool/start")


@pytest.mark.conformance("6")
def test_what_a_request_showed_does_not_change_when_the_history_grows() -> None:
    run = play([calculate("1+1"), {"say": "2"}])
    first, second = (trace.messages for trace in requests_of(run.trajectory))
    assert tuple(first) == (ChatUser("go"),)
    assert tuple(second)[: len(first)] == tuple(first)
    assert len(second) == 3


@pytest.mark.conformance("22")
def test_a_finish_reason_of_tool_calls_without_calls_ends_the_turn() -> None:
    run = play([{"say": "done", "finish": "tool_calls"}, {"say": "never asked"}])
    assert (run.status, run.n_steps) == (Status.COMPLETED, 1)


@pytest.mark.conformance("23")
def test_calls_under_a_finish_reason_of_stop_are_run_and_answered() -> None:
    run = play([{**calculate("1+1"), "finish": "stop"}, {"say": "2"}])
    assert (run.status, starts(run)) == (Status.COMPLETED, ["calculator"])


@pytest.mark.conformance("26")
def test_two_runs_of_one_script_give_equal_files_but_for_the_volatile_part() -> None:
    fields = {"task": "go", "tools": {"use": ["calculator"]}, "script": [calculate("1+1"), {"say": "2"}]}
    first, second = scenario(**fields).run(), scenario(**fields).run()
    assert first.trajectory.events == second.trajectory.events
    assert committed_view(first.trajectory) == committed_view(second.trajectory)


@pytest.mark.conformance("20", "21")
def test_turns_run_one_after_the_other_and_each_counts_its_steps_from_one() -> None:
    run = play([calculate("1+1"), {"say": "two"}, calculate("2+2"), {"say": "four"}], tasks=["first", "second"])
    places = [(e.turn, e.step) for e in run.trajectory if e.fact.TYPE == "step/start"]  # type: ignore[union-attr]
    assert places == [(1, 1), (1, 2), (2, 1), (2, 2)]
    order = [kind for kind in kinds(run) if kind.startswith("turn/")]
    assert order == ["turn/start", "turn/end"] * 2
    assert roles(run, 3) == ["user", "assistant", "tool", "assistant", "user"]


@pytest.mark.conformance("91", "89", "90", "93")
@pytest.mark.parametrize(
    ("limit", "status", "n_steps", "n_results"),
    [
        pytest.param(3, Status.COMPLETED, 3, 2, id="ends-exactly-at-the-limit"),
        pytest.param(2, Status.LIMIT_REACHED, 2, 2, id="one-step-short"),
        pytest.param(1, Status.LIMIT_REACHED, 1, 1, id="one-step-only"),
    ],
)
def test_with_a_limit_of_n_exactly_n_steps_are_answered_and_owed_results_are_committed(
    limit: int, status: Status, n_steps: int, n_results: int
) -> None:
    run = play([calculate("1"), calculate("2"), {"say": "end"}], limits={"steps": limit})
    assert (run.status, run.n_steps, len(results(run))) == (status, n_steps, n_results)
    assert kinds(run).count("model/request") == n_steps
    if status is Status.LIMIT_REACHED:
        assert run.reason == LimitHit(LimitKind.STEPS, limit)


@pytest.mark.conformance("92")
def test_five_calls_in_one_answer_take_one_step() -> None:
    calls = [{"calculator": {"expression": str(n)}} for n in range(5)]
    run = play([{"calls": calls}, {"say": "done"}], limits={"steps": 2})
    assert (run.status, run.n_steps, len(starts(run))) == (Status.COMPLETED, 2, 5)


@pytest.mark.article("10")
@pytest.mark.conformance("89")
def test_the_default_limit_is_ten_steps() -> None:
    run = play([calculate("1+1")] * 12)
    assert (run.status, run.n_steps) == (Status.LIMIT_REACHED, 10)


@pytest.mark.article("4")
def test_the_final_answer_is_in_the_history_when_the_loop_decides_that_it_is_done() -> None:
    run = play([{"say": "the end"}])
    assert run.messages[-1] == ChatAssistant("the end")
    assert kinds(run).index("assistant/message") < kinds(run).index("turn/end")


def test_the_wall_clock_ends_a_run_that_hangs_and_says_by_how_much() -> None:
    run = play([{"hang": True}], limits={"wall_ms": 5_000})
    assert (run.status, run.reason) == (Status.LIMIT_REACHED, LimitHit(LimitKind.WALL_TIME, 5_000))
    assert "cancel/delivered" not in kinds(run)


def test_the_wall_clock_stops_a_tool_and_its_call_still_gets_a_result() -> None:
    run = play(
        [{"call": {"probe_slow": {}}}],
        tools={"use": ["probe_slow"], "options": {"probe_slow": {"ms": 60_000}}},
        limits={"wall_ms": 1_000},
    )
    assert run.status is Status.LIMIT_REACHED
    assert [code for _, code, _ in results(run)] == ["ABORTED"]
