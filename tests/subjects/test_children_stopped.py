"""Child agents settle inside their call: every stop of their parent reaches them, and the parent ends last."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ConfigurationError, ScenarioError, UnsupportedError
from harness.folds import requests_of
from harness.runner import RunResult
from harness.subjects.function import FunctionSubject
from harness.testing import scenario
from harness.types.agents import AGENT_NOTE
from harness.types.codes import CancelBy, Code, LimitKind, Outcome, Status, ToolOutcome
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ToolEnd, ToolResult, ToolStart
from harness.types.lifecycle import CancelDelivered, Note, RunEnd, RunQuiescent, RunStart, TurnEnd
from harness.types.profile_run import ParentCancel
from harness.types.reasons import Cancelled, LimitHit
from tests.loop.lab import calculate, codes, play, results

CLERK = {"description": "Works out numbers.", "tools": ["calculator"]}
SLOW = {"use": ["calculator", "probe_slow"], "options": {"probe_slow": {"ms": 5_000}}}


def hand_on(script: list[Any], *, then: list[Any] | None = None, **fields: Any) -> RunResult:
    """The root hands a task to a clerk, which says its script."""
    agents = fields.pop("agents", {"clerk": CLERK})
    roles = {"child:clerk": {"script": script, "allow_leftovers": True}, **fields.pop("models", {})}
    rest = then if then is not None else [{"say": "Done."}]
    return play([{"call": {"clerk": {"task": "Add them."}}}, *rest], agents=agents, models=roles, **fields)


def of(run: RunResult, agent: str) -> list[Event]:
    return [event for event in run.trajectory if event.agent == agent]


def ends(run: RunResult) -> dict[str, TurnEnd]:
    return {event.agent: event.fact for event in run.trajectory if isinstance(event.fact, TurnEnd)}


@pytest.mark.article("21")
@pytest.mark.conformance("88")
def test_a_childs_answer_is_the_result_of_the_call_that_started_it() -> None:
    run = hand_on([calculate("19 + 23"), {"say": "It is 42."}])
    assert results(run)[-1] == ("clerk", None, "It is 42.")
    assert {agent: end.status for agent, end in ends(run).items()} == {"call_1_0": Status.COMPLETED, "": Status.COMPLETED}
    assert run.findings == ()


@pytest.mark.article("21")
def test_each_agent_is_asked_of_the_model_of_its_own_role_and_else_of_the_main_one() -> None:
    alone = play(
        [{"call": {"clerk": {"task": "Add."}}}, {"say": "from the child"}, {"say": "from the root"}], agents={"clerk": CLERK}
    )
    assert results(alone) == [("clerk", None, "from the child")]
    assert alone.answer == "from the root"


@pytest.mark.conformance("88")
def test_one_file_holds_one_run_and_the_childs_events_carry_the_path_of_its_call() -> None:
    run = hand_on([calculate("1 + 1"), {"say": "2"}])
    assert [event.agent for event in run.trajectory if isinstance(event.fact, RunStart | RunEnd)] == ["", ""]
    mine = of(run, "call_1_0")
    assert isinstance(mine[0].fact, Note)
    assert mine[0].fact.name == AGENT_NOTE
    assert next(event.turn for event in mine if event.turn is not None) == 1
    (answer,) = (e.fact for e in mine if isinstance(e.fact, AssistantMessage) and e.fact.tool_calls)
    assert [(call.id, call.wire_id) for call in answer.tool_calls] == [("call_1_0/1.1.0", "call_1_0")]


@pytest.mark.conformance("88")
def test_nested_children_have_nested_paths_and_call_ids_are_unique_in_the_run() -> None:
    run = hand_on(
        [{"call": {"typist": {"task": "Write."}}}, {"say": "ok"}],
        agents={"clerk": {**CLERK, "tools": ["typist"]}, "typist": CLERK},
        models={"child:typist": {"script": [calculate("2"), {"say": "typed"}]}},
    )
    assert {event.agent for event in run.trajectory} == {"", "call_1_0", "call_1_0/1.1.0"}
    ids = [c.id for e in run.trajectory if isinstance(e.fact, AssistantMessage) for c in e.fact.tool_calls]
    assert ids == ["call_1_0", "call_1_0/1.1.0", "call_1_0/1.1.0/1.1.0"]
    assert run.findings == ()


@pytest.mark.conformance("88")
@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param([{"fail": "AUTH"}], "failed (error AUTH", id="its-model-fails"),
        pytest.param([{"say": "half", "finish": "length"}], "incomplete (max-tokens)", id="its-answer-is-cut"),
        pytest.param([{"refusal": "No."}], "incomplete (content-filter)", id="it-refuses"),
        pytest.param([calculate("1"), calculate("2")], "limit_reached (limit steps 2)", id="it-is-at-its-limit"),
    ],
)  # fmt: skip
def test_a_child_that_ends_without_an_answer_gives_an_error_result_with_its_status(script: list[Any], words: str) -> None:
    run = hand_on(script, agents={"clerk": {**CLERK, "limits": {"steps": 2}}})
    name, code, text = results(run)[-1]
    assert (name, code) == ("clerk", Code.TOOL_FAILED)
    assert words in text
    assert (run.status, run.answer) == (Status.COMPLETED, "Done.")
    assert run.findings == ()


@pytest.mark.conformance("89", "90")
def test_a_childs_steps_and_calls_count_for_itself_alone() -> None:
    three = [calculate(str(n)) for n in range(3)]
    run = hand_on([*three, {"say": "x"}], limits={"steps": 2, "tool_calls": 3})
    assert run.status is Status.COMPLETED
    limited = hand_on(three, agents={"clerk": {**CLERK, "limits": {"steps": 1}}}, limits={"steps": 2})
    assert ends(limited)["call_1_0"].reason == LimitHit(LimitKind.STEPS, 1)
    assert (limited.status, limited.findings) == (Status.COMPLETED, ())


@pytest.mark.conformance("100")
def test_a_childs_tokens_count_for_its_parent_too() -> None:
    run = hand_on([{"say": "x", "usage": {"input": 90, "output": 10}}], limits={"tokens": 100})
    assert run.reason == LimitHit(LimitKind.TOKENS, 100)
    assert run.findings == ()


# ---------------------------------------------------------------- stops


def at(**place: Any) -> list[dict[str, Any]]:
    return [{"at": place, "do": "cancel"}]


@pytest.mark.conformance("63", "64", "67", "88")
@pytest.mark.parametrize(
    "place",
    [
        pytest.param({"kind": kind, "agent": "call_1_0", **more}, id=f"{kind}-{len(more)}")
        for kind in (
            "inbox/queued", "turn/start", "inbox/claimed", "user/message", "step/start", "request/header",
            "model/request", "assistant/message", "tool/call", "tool/start", "tool/end", "tool/result", "step/end",
        )
        for more in ({}, {"when": "next-tick"})
    ],
)  # fmt: skip
def test_a_cancel_at_any_event_of_a_child_reaches_it_and_the_parent_ends_last(place: dict[str, Any]) -> None:
    run = hand_on([{"call": "probe_slow"}, {"say": "late"}], agents={"clerk": {**CLERK, "tools": ["probe_slow"]}}, tools=SLOW, inject=at(**place), expect={"status": "cancelled"})
    told = ends(run)
    assert told[""].reason == Cancelled(CancelBy.USER)
    if "call_1_0" in told:
        assert told["call_1_0"].reason == Cancelled(CancelBy.PARENT)
        seqs = {e.agent: e.seq for e in run.trajectory if isinstance(e.fact, TurnEnd)}
        assert seqs["call_1_0"] < seqs[""]
    by = {e.agent: e.fact.by for e in run.trajectory if isinstance(e.fact, CancelDelivered)}
    assert by == {"": CancelBy.USER, "call_1_0": CancelBy.PARENT}
    assert codes(run)[-1] == Code.ABORTED
    assert run.findings == ()


@pytest.mark.conformance("71", "88")
def test_a_child_that_had_answered_when_the_cancel_came_keeps_its_result() -> None:
    place = {"kind": "turn/end", "agent": "call_1_0"}
    run = hand_on([{"say": "It is 42."}], inject=at(**place), expect={"status": "cancelled"})
    assert results(run) == [("clerk", None, "It is 42.")]
    assert run.findings == ()


@pytest.mark.conformance("76", "77", "88")
def test_a_tool_of_a_child_that_ignores_its_cancel_is_named_and_the_child_settles_within_its_parents_grace() -> None:
    tools = {"use": ["probe_stubborn"], "options": {"probe_stubborn": {"ms": 90_000_000, "n_swallowed": 99}}}
    run = hand_on(
        [{"call": "probe_stubborn"}], agents={"clerk": {"description": "x", "tools": ["probe_stubborn"]}}, tools=tools,
        inject=at(kind="tool/start", tool="probe_stubborn", when="next-tick"), expect={"status": "cancelled"},
    )  # fmt: skip
    (last,) = (e.fact for e in run.trajectory if isinstance(e.fact, RunQuiescent))
    assert [one.name for one in last.alive] == ["probe_stubborn"]
    cancel = next(e for e in run.trajectory if isinstance(e.fact, CancelDelivered))
    end = next(e for e in run.trajectory if isinstance(e.fact, TurnEnd) and e.agent)
    assert (end.time or 0) - (cancel.time or 0) < 1_000
    assert run.findings == ()


@pytest.mark.conformance("41", "88")
def test_the_time_out_of_an_agents_call_stops_the_child() -> None:
    run = hand_on(
        [{"call": "probe_slow"}, {"say": "late"}], agents={"clerk": {**CLERK, "tools": ["probe_slow"], "limits": {}}},
        tools=SLOW, tool_policy={"tools": {"clerk": {"timeout_ms": 100}}},
    )  # fmt: skip
    assert ends(run)["call_1_0"].reason == Cancelled(CancelBy.PARENT)
    assert codes(run)[-1] == Code.TOOL_TIMEOUT
    assert run.findings == ()


@pytest.mark.conformance("80", "88")
@pytest.mark.parametrize("limit", ["wall_ms", "turn_wall_ms"])
def test_the_end_of_the_parents_time_is_the_end_of_its_children(limit: str) -> None:
    run = hand_on([{"hang": True}], limits={limit: 300}, expect={"status": "limit_reached"})
    assert ends(run)["call_1_0"].reason == Cancelled(CancelBy.PARENT)
    assert isinstance(ends(run)[""].reason, LimitHit)
    assert run.findings == ()


@pytest.mark.conformance("80", "101")
def test_a_child_that_is_out_of_time_when_its_parent_is_cancelled_says_cancelled_by_it() -> None:
    agents = {"clerk": {"description": "x", "tools": ["probe_stubborn"], "limits": {"turn_wall_ms": 50}}}
    tools = {"use": ["probe_stubborn"], "options": {"probe_stubborn": {"ms": 60_000, "n_swallowed": 9}}}
    place = {"kind": "tool/start", "tool": "probe_stubborn", "when": {"after_ms": 60}}
    run = hand_on([{"call": "probe_stubborn"}], agents=agents, tools=tools, inject=at(**place), expect={"status": "cancelled"})
    assert ends(run)["call_1_0"].reason == Cancelled(CancelBy.PARENT)
    assert run.findings == ()


@pytest.mark.conformance("42", "43", "88")
@pytest.mark.parametrize(("cap", "together"), [(8, 3), (2, 2), (1, 1)])
def test_children_of_one_answer_run_at_the_same_time_up_to_the_pools_cap(cap: int, together: int) -> None:
    calls = {"calls": [{"clerk": {"task": str(n)}} for n in range(3)]}
    script = [{"say": "a", "delay_ms": 50}] * 3
    run = play(
        [calls, {"say": "x"}], agents={"clerk": CLERK}, models={"child:clerk": {"script": script}},
        limits={"parallel_tools": cap},
    )  # fmt: skip
    open_now, most = 0, 0
    for event in run.trajectory:
        if event.agent == "" and isinstance(event.fact, ToolStart | ToolEnd):
            open_now += 1 if isinstance(event.fact, ToolStart) else -1
            most = max(most, open_now)
    assert most == together
    assert [e.fact.call_id for e in run.trajectory if isinstance(e.fact, ToolResult)] == ["call_1_0", "call_1_1", "call_1_2"]
    assert run.findings == ()


# ---------------------------------------------------------------- who may call whom


@pytest.mark.article("26")
def test_a_child_is_offered_its_own_tools_and_no_others() -> None:
    run = hand_on([{"call": "probe_slow"}, {"say": "no"}], tools=SLOW)
    assert codes(run)[0] == Code.UNKNOWN_TOOL
    offered = {t.event.agent: t.header.tools for t in requests_of(run.trajectory) if t.header}
    assert "probe_slow" in offered[""]
    assert "probe_slow" not in offered["call_1_0"]
    assert run.findings == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        pytest.param({"agents": {"clerk": {**CLERK, "visible_from": [{"tools": ["probe_slow"]}]}}}, "agents.clerk.tools", id="not-its-own"),
        pytest.param({"agents": {}}, "is the role of no agent", id="a-role-of-nobody"),
    ],
)
def test_agents_that_do_not_fit_are_refused_before_anything_runs(fields: dict[str, Any], words: str) -> None:
    with pytest.raises((ConfigurationError, ScenarioError), match=words):
        hand_on([{"say": "x"}], **fields)


@pytest.mark.conformance("88")
def test_the_profile_says_that_a_cancel_reaches_children() -> None:
    run = hand_on([{"say": "x"}])
    assert run.trajectory.header.profile.parent_cancel is ParentCancel.REACHES_CHILDREN
    (verdict,) = (v for v in run.verdicts if v.check == "children")
    assert verdict.outcome is Outcome.PASS
    assert ToolOutcome.OK in {e.fact.outcome for e in run.trajectory if isinstance(e.fact, ToolEnd)}


@pytest.mark.article("26")
def test_a_child_is_shown_its_tools_by_its_own_steps() -> None:
    rules = [{"tools": []}, {"tools": ["calculator"], "from_step": 2}]
    run = hand_on(
        [calculate("1"), calculate("2"), {"say": "2"}], agents={"clerk": {**CLERK, "visible_from": rules}}
    )
    assert codes(run) == [Code.UNKNOWN_TOOL, None, None]
    assert run.findings == ()


@pytest.mark.article("25", "26")
def test_a_function_that_shows_its_model_what_it_likes_refuses_what_it_would_pass_over() -> None:
    async def loop(task: str, *, client: Any, tools: Any) -> str:
        raise AssertionError("never called")

    with pytest.raises(UnsupportedError, match="runtime_context, and what a function"):
        scenario(task="x", script=[{"say": "x"}], runtime_context={"n": 1}).run(FunctionSubject(loop))
