"""A long result that a small model sums up: what the model sees, what stays findable, and what comes where no summary does."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from harness.errors import ScenarioError
from harness.runner import RunResult
from harness.testing import scenario
from harness.types.codes import CancelBy, Code, Status
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult
from harness.types.lifecycle import Note, TurnEnd
from harness.types.profile_tools import OversizedResult
from harness.types.reasons import Cancelled
from tests.loop.lab import play

HUGE = ("0123456789" * 51)[:501]
SUMMARY = "digits, 501 of them\n[SUMMARISED: in place of 501 characters; 501 bytes in all]"


def summed_up(said: list[Any], *, n: int = 1, calls: list[Any] | None = None, **fields: Any) -> RunResult:
    return play(
        calls or [{"calls": [{"probe_huge": {}} for _ in range(n)]}, {"say": "done"}],
        **{
            "tools": {"use": ["probe_huge"], "options": {"probe_huge": {"n_chars": 501}}},
            "tool_policy": {"results": {"max_chars": 200, "then": "summarise"}},
            "models": {"summariser": {"script": said, "allow_leftovers": True}},
            **fields,
        },
    )


def result_facts(run: RunResult) -> list[ToolResult]:
    return [event.fact for event in run.trajectory if isinstance(event.fact, ToolResult)]


def notes(run: RunResult) -> list[tuple[str, Any]]:
    facts = [event.fact for event in run.trajectory if isinstance(event.fact, Note)]
    return [(fact.name, json.loads(fact.data or "{}")) for fact in facts if fact.name.startswith("result/")]


def cut(result: ToolResult) -> bool:
    return result.code is Code.TRUNCATED and str(result.content).startswith("0123") and len(str(result.content)) <= 200


@pytest.mark.article("33")
@pytest.mark.conformance("60")
def test_the_model_sees_the_summary_and_the_whole_result_is_in_the_summarisers_request() -> None:
    run = summed_up([{"say": "digits, 501 of them", "usage": {"input": 300, "output": 5}}])
    assert run.findings == ()
    (result,) = result_facts(run)
    assert (result.content, result.code, result.is_error, result.truncated) == (SUMMARY, Code.SUMMARISED, False, True)
    requests = [event for event in run.trajectory if isinstance(event.fact, ModelRequest)]
    assert [event.agent for event in requests] == ["", "summariser-call_1_0", ""]
    (asked,) = requests[1].fact.messages
    whole = str(asked.content).partition("\n\n")[2]
    shown = str(list(requests[2].fact.messages)[-1].content)
    assert (whole, shown) == (HUGE, SUMMARY)
    digest = hashlib.sha256(HUGE.encode()).hexdigest()
    assert notes(run) == [
        ("result/summarised", {"callId": "call_1_0", "chars": 501, "bytes": 501, "sha256": digest, "most": 200, "unit": "chars"})
    ]
    roles = [(e.agent, e.fact.data) for e in run.trajectory if isinstance(e.fact, Note) and e.fact.name == "model/role"]
    assert roles == [("summariser-call_1_0", '"summariser"')]
    assert dict(run.trajectory.header.models)["summariser"]
    assert run.trajectory.header.profile.oversized_result is OversizedResult.SUMMARISED_AND_MARKED


@pytest.mark.article("33")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        pytest.param({"fail": "SERVER"}, "scripted failure", id="fails"),
        pytest.param({"say": "It is", "finish": "length"}, "no whole summary", id="is-cut"),
        pytest.param({"call": {"probe_huge": {}}}, "asks for tools", id="calls-tools"),
        pytest.param({"empty": True}, "neither text nor calls", id="says-nothing"),
        pytest.param({"say": "x" * 150}, "209 characters with its notice", id="is-too-long"),
    ],
)
def test_a_result_without_a_summary_is_cut_and_a_note_says_why(reply: Any, why: str) -> None:
    run = summed_up([reply])
    assert run.status is Status.COMPLETED
    assert run.findings == ()
    (result,) = result_facts(run)
    assert cut(result)
    (refused, cut_off) = notes(run)
    assert (refused[0], cut_off[0]) == ("result/not-summarised", "result/cut")
    assert why in refused[1]["why"]


@pytest.mark.article("33")
def test_results_of_one_answer_are_summed_up_side_by_side_and_committed_in_order() -> None:
    said = [{"say": "first", "delay_ms": 50}, {"say": "second", "delay_ms": 10}]
    run = summed_up(said, n=2)
    assert run.findings == ()
    assert [str(result.content).split("\n")[0] for result in result_facts(run)] == ["first", "second"]
    answered = [event.agent for event in run.trajectory if isinstance(event.fact, AssistantMessage) and event.agent]
    assert answered == ["summariser-call_1_1", "summariser-call_1_0"]


@pytest.mark.parametrize(
    ("policy", "codes"),
    [
        pytest.param({"results": {"max_chars": 501, "then": "summarise"}}, [None], id="not-too-long"),
        pytest.param({"results": {"max_bytes": 500, "then": "cut"}}, [Code.TRUNCATED], id="to-be-cut"),
        pytest.param(
            {"results": {"max_chars": 300}, "tools": {"probe_huge": {"results": {"max_chars": 200, "then": "summarise"}}}},
            [Code.SUMMARISED],
            id="of-one-tool",
        ),
    ],
)  # fmt: skip
def test_only_what_is_too_long_and_to_be_summed_up_is(policy: Any, codes: list[Any]) -> None:
    run = summed_up([{"say": "short"}], tool_policy=policy)
    assert [result.code for result in result_facts(run)] == codes
    asked = [event for event in run.trajectory if isinstance(event.fact, ModelRequest) and event.agent]
    assert len(asked) == codes.count(Code.SUMMARISED)


def test_an_error_is_cut_and_never_summed_up() -> None:
    tools = {"stub": {"broken": {"raises": "x" * 999}}, "schemas": {"broken": {"type": "object"}}}
    run = summed_up([{"say": "short"}], tools=tools, calls=[{"call": "broken"}, {"say": "done"}])
    assert [(result.code, result.truncated) for result in result_facts(run)] == [(Code.TOOL_FAILED, True)]


@pytest.mark.conformance("100")
def test_nobody_is_asked_for_a_summary_once_the_tokens_are_used_up() -> None:
    script = [{"call": {"probe_huge": {}}, "usage": {"input": 90, "output": 20}}, {"say": "done"}]
    run = summed_up([{"say": "short"}], calls=script, limits={"tokens": 111})
    assert [result.code for result in result_facts(run)] == [Code.SUMMARISED]
    run = summed_up(
        [{"say": "short", "usage": {"input": 500, "output": 5}}], n=2, limits={"tokens": 100, "parallel_tools": 1},
        expect={"status": "limit_reached"},
    )  # fmt: skip
    codes = [result.code for result in result_facts(run)]
    assert codes[0] is Code.SUMMARISED
    assert codes[1] is not Code.SUMMARISED
    assert [e.agent for e in run.trajectory if isinstance(e.fact, ModelRequest)] == ["", "summariser-call_1_0"]


@pytest.mark.conformance("63", "64", "88")
@pytest.mark.parametrize("after_ms", [0, 5])
def test_a_cancel_while_it_is_summed_up_ends_both_at_once_and_keeps_the_result(after_ms: int) -> None:
    when = {"after_ms": after_ms} if after_ms else "inside"
    at = {"kind": "model/request", "agent": "summariser-call_1_0", "when": when}
    run = summed_up([{"hang": True}], inject=[{"at": at, "do": "cancel"}], expect={"status": "cancelled"})
    assert run.passed, run.findings
    ends = {event.agent: event.fact.reason for event in run.trajectory if isinstance(event.fact, TurnEnd)}
    assert ends == {"summariser-call_1_0": Cancelled(CancelBy.PARENT), "": Cancelled(CancelBy.USER)}
    (result,) = result_facts(run)
    assert cut(result)
    times = [event.time for event in run.trajectory]
    assert max(times) <= after_ms + 10, "nobody waits for a summary that nobody wants"


@pytest.mark.conformance("63", "64", "65", "76")
@pytest.mark.parametrize("reply", [{"say": "short"}, {"say": "short", "delay_ms": 20}, {"fail": "SERVER"}])
def test_a_cancel_at_every_boundary_and_tick_of_a_summary_is_clean(reply: Any) -> None:
    bound = scenario(
        task="go",
        tools={"use": ["probe_huge"], "options": {"probe_huge": {"n_chars": 501}}},
        tool_policy={"results": {"max_chars": 200, "then": "summarise"}},
        models={"summariser": {"script": [reply, reply], "allow_leftovers": True}},
        script=[{"calls": [{"probe_huge": {}}, {"probe_huge": {}}]}, {"say": "done"}],
    )
    swept = bound.sweep(None, "cancel", level="ticks")
    assert swept.clean, [cell.findings for cell in swept.red]
    assert len(swept.cells) > 60


@pytest.mark.article("21")
def test_a_childs_long_result_is_summed_up_under_the_childs_path() -> None:
    run = scenario(
        task="go",
        tools={"use": ["probe_huge"], "visible": ["reader"], "options": {"probe_huge": {"n_chars": 501}}},
        agents={"reader": {"description": "Reads.", "tools": ["probe_huge"]}},
        tool_policy={"results": {"max_chars": 200, "then": "summarise"}},
        models={
            "summariser": {"script": [{"say": "digits"}]},
            "child:reader": {"script": [{"call": "probe_huge"}, {"say": "It says digits."}]},
        },
        script=[{"call": {"reader": {"task": "read"}}}, {"say": "done"}],
        expect={"status": "completed"},
    ).run()
    assert run.passed, run.findings
    agents = [event.agent for event in run.trajectory if isinstance(event.fact, ModelRequest)]
    assert agents == ["", "call_1_0", "call_1_0/summariser-1.1.0", "call_1_0", ""]


def test_a_policy_that_sums_up_needs_a_summariser() -> None:
    with pytest.raises(ScenarioError, match=r"tool_policy.*summarised, and 'models' has no 'summariser'"):
        scenario(task="go", script=[{"say": "x"}], tool_policy={"results": {"max_chars": 200, "then": "summarise"}})
