"""Injections: at which boundary, when, and what is told when it never came."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import UnsupportedError
from harness.runner import RunResult
from harness.subjects import FunctionSubject
from harness.testing import Env, scenario, subject
from harness.types.codes import Code, InboxQueue, Outcome, Status, ToolOutcome
from harness.types.events import Event
from harness.types.exchange import ToolEnd, ToolResult
from harness.types.lifecycle import FAULT_NOTE, CancelDelivered, InboxQueued, Note
from harness.types.messages import ChatUser
from harness.types.reasons import Failed

TWO_CALLS = [
    {"calls": [{"calculator": {"expression": "1 + 1"}}, {"get_weather": {"city": "London"}}]},
    {"call": {"calculator": {"expression": "2 + 2"}}},
    {"say": "done"},
]


def run_with(*inject: dict[str, Any], **fields: Any) -> RunResult:
    return scenario(
        task="x",
        tools=["calculator", "get_weather"],
        script=TWO_CALLS,
        allow_leftovers=True,
        inject=list(inject),
        **fields,
    ).run()


def kinds(run: RunResult) -> list[str]:
    return [event.fact.TYPE for event in run.trajectory]


def before_the_cancel(run: RunResult) -> Event:
    """The event at which the cancel was asked for."""
    return run.trajectory.events[kinds(run).index("cancel/requested") - 1]


@pytest.mark.conformance("117", "104")
def test_input_is_sent_at_its_boundary_and_takes_part_in_the_run() -> None:
    run = run_with({"at": {"kind": "tool/end", "tool": "calculator"}, "do": {"send": {"queue": "steer", "text": "more"}}})
    (queued,) = [e for e in run.trajectory if isinstance(e.fact, InboxQueued) and e.fact.queue is InboxQueue.STEER]
    assert kinds(run)[queued.seq - 1] == "tool/end"
    assert ChatUser("more") in run.messages
    assert run.outcome is Outcome.PASS


@pytest.mark.parametrize("when", ["inside", "next-tick", {"after_ms": 5}], ids=str)
def test_a_send_that_the_run_refuses_is_told_as_a_scenario_that_tested_nothing(when: Any) -> None:
    run = run_with({"at": {"kind": "run/end", "when": when}, "do": {"send": {"text": "too late"}}})
    (verdict,) = [verdict for verdict in run.verdicts if verdict.check == "inject"]
    assert verdict.outcome is Outcome.INVALID
    assert ("refused" in verdict.findings[0].message) is (when == "inside")
    assert "run/end" in verdict.findings[0].message
    assert run.outcome is Outcome.INVALID


@pytest.mark.conformance("103a", "118")
def test_input_that_is_announced_for_later_is_waited_for_and_the_run_s_clock_bounds_the_wait() -> None:
    late = {"at": {"kind": "turn/end", "when": {"after_ms": 400}}, "do": {"send": {"text": "more"}}}
    assert kinds(run_with(late)).count("turn/start") == 2
    run = run_with(late, limits={"wall_ms": 300})
    assert kinds(run).count("turn/start") == 1
    assert [v.outcome for v in run.verdicts if v.check == "inject"] == [Outcome.INVALID]


def test_a_subject_without_an_inbox_is_refused_by_name_before_it_runs() -> None:
    async def my_loop(env: Any) -> str:
        raise AssertionError("it does not run")

    one = scenario(task="x", script=[{"say": "a"}], inject=[{"at": "run/start", "do": {"send": {"text": "more"}}}])
    with pytest.raises(UnsupportedError, match=r"sends input at run/start.*no send"):
        one.run(FunctionSubject(my_loop))


@pytest.mark.parametrize(
    ("at", "kind", "nth_of_kind"),
    [
        pytest.param("model/request", "model/request", 1, id="first-of-a-kind"),
        pytest.param({"kind": "model/request", "nth": 2}, "model/request", 2, id="second-of-a-kind"),
        pytest.param({"kind": "tool/start", "tool": "get_weather"}, "tool/start", 2, id="of-a-tool"),
        pytest.param({"kind": "tool/end", "tool": "calculator", "nth": 2}, "tool/end", 3, id="end-of-a-tool-known-by-its-start"),
        pytest.param({"kind": "tool/result", "call": "call_1_1"}, "tool/result", 2, id="of-a-call"),
        pytest.param({"kind": "step/end", "turn": 1}, "step/end", 1, id="in-a-turn"),
    ],
)  # fmt: skip
def test_a_cancel_comes_inside_the_event_that_the_boundary_names(at: Any, kind: str, nth_of_kind: int) -> None:
    run = run_with({"at": at, "do": "cancel"})
    assert run.status is Status.CANCELLED
    event = before_the_cancel(run)
    assert kind == event.fact.TYPE
    assert kinds(run)[: event.seq + 1].count(kind) == nth_of_kind


def test_the_next_tick_comes_later_than_the_inside_of_an_event() -> None:
    inside = run_with({"at": "assistant/message", "do": "cancel"})
    later = run_with({"at": {"kind": "assistant/message", "when": "next-tick"}, "do": "cancel"})
    assert before_the_cancel(inside).fact.TYPE == "assistant/message"
    assert before_the_cancel(later).seq > before_the_cancel(inside).seq


def test_a_cancel_after_some_time_comes_at_that_time_of_the_run_s_clock() -> None:
    slow = [{"say": "late", "delay_ms": 5_000}]
    run = scenario(
        task="x", script=slow, inject=[{"at": {"kind": "model/request", "when": {"after_ms": 700}}, "do": "cancel"}]
    ).run()
    (delivered,) = [event for event in run.trajectory if isinstance(event.fact, CancelDelivered)]
    (request,) = [event for event in run.trajectory if event.fact.TYPE == "model/request"]
    assert delivered.time is not None
    assert request.time is not None
    assert delivered.time - request.time == 700


@pytest.mark.parametrize(
    ("at", "words"),
    [
        pytest.param({"kind": "tool/start", "tool": "get_weather", "nth": 2}, "tool/start of 'get_weather', number 2", id="too-few"),
        pytest.param({"kind": "tool/result", "call": "gone"}, "tool/result of call 'gone'", id="no-such-call"),
        pytest.param({"kind": "step/start", "turn": 7}, "step/start in turn 7", id="no-such-turn"),
        pytest.param({"kind": "step/start", "agent": "c9"}, "step/start of agent 'c9'", id="no-such-agent"),
        pytest.param({"kind": "turn/start", "agent": "", "nth": 3}, "turn/start of the main agent, number 3", id="main-agent"),
    ],
)  # fmt: skip
def test_a_boundary_that_never_came_makes_the_run_invalid_and_is_named(at: Any, words: str) -> None:
    run = run_with({"at": at, "do": "cancel"})
    assert run.outcome is Outcome.INVALID
    assert run.exit_code == 4
    (finding,) = run.findings
    assert finding.message == f"the boundary never came: {words}"


def test_a_listener_that_throws_at_a_boundary_changes_nothing_but_a_cancel_there_counts() -> None:
    quiet = run_with()
    thrown = run_with({"at": "tool/start", "do": {"throw": "boom"}})
    assert kinds(thrown) == kinds(quiet)
    both = run_with({"at": "tool/start", "do": {"throw": "boom"}}, {"at": "tool/start", "do": "cancel"})
    assert both.status is Status.CANCELLED


def test_two_injections_at_two_boundaries_both_happen() -> None:
    run = run_with(
        {"at": {"kind": "tool/start", "nth": 1}, "do": {"throw": "boom"}},
        {"at": {"kind": "model/request", "nth": 2}, "do": "cancel"},
    )
    assert run.outcome is Outcome.PASS
    assert before_the_cancel(run).fact.TYPE == "model/request"


def around_the_fault(run: RunResult) -> list[str]:
    """Kinds of the note that tells of a fault, of what stands before it, and of what comes next."""
    at = next(event for event in run.trajectory if isinstance(event.fact, Note) and event.fact.name == FAULT_NOTE)
    return kinds(run)[at.seq - 1 : at.seq + 2]


@pytest.mark.conformance("39")
def test_a_fault_at_a_tool_is_what_its_body_raises_and_the_siblings_and_the_loop_go_on() -> None:
    run = run_with(
        {"at": {"kind": "tool/start", "tool": "calculator", "nth": 2}, "do": {"fault": {"code": "PERMISSION_DENIED", "message": "not now"}}}
    )  # fmt: skip
    assert (run.status, run.passed) == (Status.COMPLETED, True)
    results = [event.fact for event in run.trajectory if isinstance(event.fact, ToolResult)]
    assert [fact.code for fact in results] == [None, None, Code.PERMISSION_DENIED]
    assert results[2].content == "Error (PERMISSION_DENIED): not now"
    assert around_the_fault(run) == ["tool/start", "note", "tool/end"]


@pytest.mark.parametrize(
    ("do", "code"),
    [pytest.param("fault", Code.SERVER, id="short"), pytest.param({"fault": {"code": "TIMEOUT"}}, Code.TIMEOUT, id="code")],
)  # fmt: skip
def test_a_fault_at_a_request_fails_it_before_the_model_is_asked(do: Any, code: Code) -> None:
    run = run_with({"at": {"kind": "model/request", "nth": 2}, "do": do})
    assert isinstance(run.reason, Failed)
    assert (run.status, run.reason.code) == (Status.FAILED, code)
    assert around_the_fault(run) == ["model/request", "note", "model/error"]
    (script,) = [verdict for verdict in run.verdicts if verdict.check == "script"]
    assert script.why == "2 replies unused", "the failed request took no reply"


def test_a_failed_request_that_is_asked_again_gets_the_reply_it_would_have_had() -> None:
    async def loop(env: Env) -> str | None:
        answer = await env.openai().chat.completions.create(model="m", messages=[{"role": "user", "content": env.task}])
        return answer.choices[0].message.content

    inject = [{"at": "model/request", "do": {"fault": {"code": "SERVER"}}}]
    run = scenario(task="x", script=[{"say": "hello"}], inject=inject).run(subject(loop))
    assert (run.status, run.answer) == (Status.COMPLETED, "hello")
    assert kinds(run).count("model/request") == 2


@pytest.mark.parametrize("body", ["async", "plain", "stub"])
def test_a_fault_meets_a_user_s_own_tool_whatever_it_is(body: str) -> None:
    ran: list[str] = []

    async def patient(x: int) -> str:
        ran.append("async")
        return f"{x}"

    def quick(x: int) -> str:
        ran.append("plain")
        return f"{x}"

    async def loop(env: Env) -> str:
        tool = env.tools["calculator"] if body == "stub" else env.wrap([patient if body == "async" else quick])[0]
        try:
            value = tool(expression="1") if body == "stub" else tool(x=1)
            return str(value if body == "plain" else await value)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    inject = [{"at": "tool/start", "do": {"fault": {"message": "broken"}}}]
    fields: dict[str, Any] = {"tools": {"use": ["calculator"], "stub": {"calculator": {"returns": 1}}}}
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, inject=inject, **fields).run(subject(loop))
    assert ran == []
    (end,) = [event.fact for event in run.trajectory if isinstance(event.fact, ToolEnd)]
    assert (end.outcome, end.code) == (ToolOutcome.ERROR, Code.TOOL_FAILED)


def test_a_fault_that_was_cancelled_away_does_not_meet_the_next_request() -> None:
    at = {"kind": "model/request", "nth": 1}
    run = scenario(
        tasks=["x", "y"], script=[{"say": "hello"}], allow_leftovers=True,
        inject=[{"at": at, "do": {"cancel": {"scope": "turn"}}}, {"at": at, "do": "fault"}],
    ).run()  # fmt: skip
    assert (run.status, run.answer) == (Status.COMPLETED, "hello")


def test_a_cancel_at_a_tick_comes_between_two_ticks_of_the_loop_and_each_is_another_place() -> None:
    before = [kinds(run_with({"at": {"tick": tick}, "do": "cancel"})).index("cancel/requested") for tick in (1, 2, 3, 4)]
    assert before == sorted(before)
    assert len(set(before)) > 1


def test_a_tick_that_never_came_makes_the_run_invalid_and_is_named() -> None:
    run = run_with({"at": {"tick": 10_000}, "do": "cancel"})
    assert run.outcome is Outcome.INVALID
    assert [finding.message for finding in run.findings] == ["the boundary never came: tick 10000 of the event loop"]


def test_ticks_are_refused_under_the_system_s_clock() -> None:
    with pytest.raises(UnsupportedError, match=r"ticks are counted under virtual time only.*name an event"):
        run_with({"at": {"tick": 1}, "do": "cancel"}, clock="system")
