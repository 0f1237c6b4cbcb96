"""Calls, ids and results: every call keeps its one result, in model order, whatever happens."""

from __future__ import annotations

from typing import Any

import pytest

from harness.testing import scenario
from harness.types.codes import Code, Status
from harness.types.messages import ChatAssistant, ChatTool
from harness.types.reasons import ContentFiltered, Failed, OutOfTokens
from tests.loop.lab import calculate, codes, emitted_ids, kinds, play, results, roles, shown, starts


def raw(*calls: dict[str, Any], finish: str | None = "tool_calls", content: str | None = None) -> dict[str, Any]:
    """A reply as the wire brings it."""
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"raw": {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}}


def call(name: str, arguments: Any = "{}", **fields: Any) -> dict[str, Any]:
    """A call as the wire brings it; without ``id`` it has none."""
    return {"type": "function", "function": {"name": name, "arguments": arguments}, **fields}


def two(expression: str, **fields: Any) -> dict[str, Any]:
    return call("calculator", f'{{"expression": "{expression}"}}', **fields)


@pytest.mark.conformance("34", "35", "36", "37", "38")
@pytest.mark.article("6", "7")
@pytest.mark.parametrize(
    ("name", "arguments", "code", "words"),
    [
        pytest.param("nobody", "{}", Code.UNKNOWN_TOOL, ("nobody", "calculator"), id="unknown-tool-names-the-known"),
        pytest.param("calculator", '{"expression": ', Code.INVALID_ARGS, ("expression",), id="cut-json"),
        pytest.param("calculator", "[1]", Code.INVALID_ARGS, ("object",), id="not-an-object"),
        pytest.param("calculator", '"1+1"', Code.INVALID_ARGS, ("object",), id="a-text"),
        pytest.param("calculator", '{"expression": 5}', Code.INVALID_ARGS, ("expression", "string"), id="wrong-type"),
        pytest.param("calculator", '{"expression": NaN}', Code.INVALID_ARGS, ("NaN",), id="nan"),
        pytest.param("calculator", "", Code.INVALID_ARGS, ("expression",), id="empty-text-equals-an-empty-object"),
        pytest.param(
            "calculator", '{"expression": "1", "extra": 1}', Code.INVALID_ARGS, ("extra",), id="undeclared-property"
        ),
        pytest.param("calculator", "[" * 100_000, Code.INVALID_ARGS, ("nested",), id="very-deep"),
        pytest.param("calculator", '{"expression": ' + "9" * 5_000 + "}", Code.INVALID_ARGS, (), id="very-long-number"),
    ],
)
def test_a_call_that_cannot_run_becomes_an_error_result_that_says_what_is_allowed(
    name: str, arguments: str, code: Code, words: tuple[str, ...]
) -> None:
    run = play([raw(call(name, arguments, id="c1")), {"say": "sorry"}])
    assert (run.status, starts(run), codes(run)) == (Status.COMPLETED, [], [code])
    assert all(word in results(run)[0][2] for word in words)
    emitted = next(e.fact for e in run.trajectory if e.fact.TYPE == "assistant/message")  # type: ignore[union-attr]
    assert emitted.tool_calls[0].arguments == arguments  # type: ignore[union-attr]


@pytest.mark.conformance("39")
def test_a_throwing_tool_is_an_error_result_and_its_siblings_are_not_touched() -> None:
    calls = [{"probe_throwing": {}}, {"calculator": {"expression": "1+1"}}]
    run = play([{"calls": calls}, {"say": "ok"}], tools={"use": ["probe_throwing", "calculator"]})
    assert codes(run) == [Code.TOOL_FAILED, None]
    assert run.status is Status.COMPLETED


@pytest.mark.conformance("40")
def test_output_that_is_no_json_is_an_error_result() -> None:
    run = play([{"call": {"probe_non_serialisable": {}}}, {"say": "ok"}], tools={"use": ["probe_non_serialisable"]})
    assert (codes(run), run.status) == ([Code.INVALID_TOOL_OUTPUT], Status.COMPLETED)


@pytest.mark.conformance("49")
def test_results_are_committed_in_model_order_although_bodies_end_in_another() -> None:
    stubs = {"a": {"returns": "slow", "delay_ms": 50}, "b": {"returns": "fast"}}
    run = play([{"calls": [{"a": {}}, {"b": {}}]}, {"say": "ok"}], tools={"stub": stubs})
    order = [e.fact for e in run.trajectory if e.fact.TYPE == "tool/end"]  # type: ignore[union-attr]
    first_start = next(e.seq for e in run.trajectory if e.fact.TYPE == "tool/start")  # type: ignore[union-attr]
    assert order[0].start != first_start  # type: ignore[union-attr]
    assert [name for name, _, _ in results(run)] == ["a", "b"]


@pytest.mark.conformance("31")
@pytest.mark.public_case("PB-001")
def test_two_calls_under_one_id_are_kept_apart_and_both_run() -> None:
    script = [raw(two("1+1", id="call_1"), two("2+2", id="call_1")), {"say": "done"}]
    run, again = play(script), play(script)
    first, second = emitted_ids(run)
    assert first == "call_1"
    assert second not in ("", "call_1")
    assert emitted_ids(again) == [first, second]
    assistant, *tools = shown(run, 2)[1:]
    assert isinstance(assistant, ChatAssistant)
    sent = [one.id for one in assistant.tool_calls]
    assert len(set(sent)) == 2
    assert [tool.call_id for tool in tools if isinstance(tool, ChatTool)] == sent
    assert [content for _, _, content in results(run)] == ["2", "4"]


@pytest.mark.conformance("32")
@pytest.mark.public_case("PB-002")
def test_an_id_that_a_server_gives_in_every_step_is_sent_back_verbatim_and_never_drops_a_result() -> None:
    run = play([raw(two("1", id="K9")), raw(two("2", id="K9")), raw(two("3", id="K9")), {"say": "all"}])
    assert [content for _, _, content in results(run)] == ["1", "2", "3"]
    assert roles(run, 4) == ["user", *["assistant", "tool"] * 3]
    assert {m.call_id for m in shown(run, 4) if isinstance(m, ChatTool)} == {"K9"}
    assert len(set(emitted_ids(run))) == 3
    assert run.passed, run.findings


@pytest.mark.conformance("33")
@pytest.mark.public_case("PB-003")
def test_empty_null_and_absent_ids_become_distinct_ids_that_are_the_same_every_time() -> None:
    script = [raw(two("1", id=""), two("2", id=None), two("3")), {"say": "done"}]
    run, again = play(script), play(script)
    ids = emitted_ids(run)
    assert len(set(ids)) == 3
    assert all(ids)
    assert ids == emitted_ids(again)
    assistant = shown(run, 2)[1]
    assert isinstance(assistant, ChatAssistant)
    assert [one.id for one in assistant.tool_calls] == [m.call_id for m in shown(run, 2)[2:] if isinstance(m, ChatTool)]
    wire = next(e.fact for e in run.trajectory if e.fact.TYPE == "assistant/message")  # type: ignore[union-attr]
    assert [one.wire_id for one in wire.tool_calls] == ["", None, None]  # type: ignore[union-attr]


def test_a_generated_id_never_takes_the_place_of_one_that_a_provider_used() -> None:
    run = play([raw(two("1", id="1.1.1"), two("2", id="")), {"say": "done"}])
    assert len(set(emitted_ids(run))) == 2


@pytest.mark.conformance("94", "93")
def test_output_cut_by_the_token_limit_never_runs_its_calls_but_answers_them() -> None:
    run = play([raw(two("1", id="c1"), finish="length"), {"say": "never asked"}])
    assert (run.status, run.reason, starts(run)) == (Status.INCOMPLETE, OutOfTokens(), [])
    assert codes(run) == [Code.ANSWER_TRUNCATED]


@pytest.mark.conformance("86", "94")
def test_a_turn_after_a_cut_answer_sends_a_history_that_a_provider_takes() -> None:
    run = play([raw(two("1", id="c1"), finish="length"), {"say": "hello again"}], tasks=["one", "two"])
    assert roles(run, 2) == ["user", "assistant", "tool", "user"]
    assert run.status is Status.COMPLETED
    assert run.passed, run.findings


@pytest.mark.conformance("97a")
@pytest.mark.parametrize("reply", [{"finish": "content_filter"}, {"refusal": "I will not"}], ids=["filter", "refusal"])
def test_a_filtered_or_refused_answer_runs_none_of_its_calls(reply: dict[str, Any]) -> None:
    run = play([{**calculate("1+1"), **reply}])
    assert (run.status, run.reason, starts(run)) == (Status.INCOMPLETE, ContentFiltered(), [])
    assert codes(run) == [Code.SKIPPED]


@pytest.mark.conformance("97a")
def test_an_unknown_finish_reason_is_kept_raw_and_the_calls_decide() -> None:
    run = play([{**calculate("1+1"), "finish": "eos_of_tomorrow"}, {"say": "2", "finish": "eos_of_tomorrow"}])
    answers = [e.fact for e in run.trajectory if e.fact.TYPE == "assistant/message"]  # type: ignore[union-attr]
    assert [a.raw_finish_reason for a in answers] == ["eos_of_tomorrow"] * 2  # type: ignore[union-attr]
    assert (run.status, starts(run)) == (Status.COMPLETED, ["calculator"])


@pytest.mark.conformance("98", "99", "154", "149", "150")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param({**calculate("1+1"), "finish": ""}, Code.NO_FINISH_REASON, id="no-finish-reason"),
        pytest.param({"empty": True}, Code.EMPTY_RESPONSE, id="nothing-in-it"),
        pytest.param({"say": "   "}, Code.EMPTY_RESPONSE, id="only-blanks"),
        pytest.param({"say": "x", "finish": "aborted"}, Code.PROVIDER_ABORTED, id="aborted-by-the-provider"),
        pytest.param({"fail": {"code": "AUTH", "message": "no key"}}, Code.AUTH, id="provider-error"),
        pytest.param({"raw": {"choices": []}}, Code.DAMAGED_RESPONSE, id="no-choice"),
        pytest.param({"raw": {"error": {"message": "boom"}}}, Code.UNKNOWN, id="error-without-code"),
    ],
)
def test_a_damaged_or_failed_answer_ends_the_turn_as_failed_and_commits_nothing_of_it(
    reply: dict[str, Any], code: Code
) -> None:
    run = play([reply, {"say": "the next turn works"}], tasks=["one", "two"])
    ends = [e.fact for e in run.trajectory if e.fact.TYPE == "turn/end"]  # type: ignore[union-attr]
    assert isinstance(ends[0].reason, Failed)
    assert ends[0].reason.message
    assert ends[0].reason.code is code  # type: ignore[union-attr]
    assert starts(run) == []
    assert roles(run, 2) == ["user", "user"]
    assert (run.status, run.answer) == (Status.COMPLETED, "the next turn works")
    assert kinds(run).count("model/error") == 1


@pytest.mark.conformance("157")
@pytest.mark.public_case("PB-050")
def test_a_script_that_is_too_short_fails_the_run_and_one_that_is_too_long_fails_the_scenario() -> None:
    short = scenario(task="go", tools={"use": ["calculator"]}, script=[calculate("1")], limits={"steps": 5}).run()
    assert short.status is Status.FAILED
    assert not short.passed
    assert isinstance(short.reason, Failed)
    assert short.reason.code is Code.SCRIPT_EXHAUSTED
    assert "request 2" in short.reason.message
    long = scenario(task="go", script=[{"say": "done"}, {"say": "left over"}]).run()
    assert long.status is Status.COMPLETED
    assert not long.passed
    assert any("1" in f.message and "unused" in f.message for f in long.findings)


@pytest.mark.conformance("28", "29", "30")
def test_every_call_of_every_step_has_exactly_one_result_directly_behind_it() -> None:
    calls = [{"calculator": {"expression": str(n)}} for n in range(3)]
    run = play([{"calls": calls}, {"calls": [*calls, {"nobody": {}}]}, {"say": "done"}])
    assert roles(run, 3) == ["user", "assistant", *["tool"] * 3, "assistant", *["tool"] * 4]
    assert {v.check: v.outcome.value for v in run.verdicts}["pairing"] == "PASS"
