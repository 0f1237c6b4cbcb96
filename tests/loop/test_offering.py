"""What a step offers and tells: visible tools, and runtime context as an input of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harness.errors import ScenarioError
from harness.folds import requests_of
from harness.loop import Hooks, Rewrite
from harness.loop.hooks import Input
from harness.runner import RunResult
from harness.scenarios import scenario as scenario_of
from harness.subjects import BuiltInLoop
from harness.testing import scenario
from harness.types.agents import VISIBLE_NOTE, is_context
from harness.types.codes import Code, HeaderWhy, LimitKind, Status
from harness.types.exchange import RequestHeader, UserMessage
from harness.types.lifecycle import InboxClaimed, Note
from harness.types.messages import Messages
from harness.types.reasons import LimitHit
from harness.wire.messages import message_to_wire
from tests.loop.lab import calculate, codes, play, roles, shown

TOOLS = {"use": ["calculator", "read_memory", "write_memory"]}
READ = {"call": {"read_memory": {"key": "k"}}}


def offered(run: RunResult) -> list[list[str]]:
    """Names of the tools that each request offers."""
    return [[tool["name"] for tool in json.loads(one.header.tools)] for one in requests_of(run.trajectory) if one.header]


def headers(run: RunResult) -> list[HeaderWhy]:
    return [event.fact.why for event in run.trajectory if isinstance(event.fact, RequestHeader)]


def visible(*rules: Any) -> dict[str, Any]:
    return {"tools": {**TOOLS, "visible_from": list(rules)}}


@pytest.mark.article("26")
@pytest.mark.conformance("25")
def test_what_is_visible_is_offered_and_a_full_header_stands_where_it_changes() -> None:
    rules = ({"tools": ["read_memory"]}, {"tools": ["read_memory", "calculator"], "from_step": 3})
    run = play([READ, READ, READ, {"say": "x"}], **visible(*rules))
    both = ["calculator", "read_memory"]
    assert offered(run) == [["read_memory"], ["read_memory"], both, both]
    assert headers(run) == [HeaderWhy.INITIAL, HeaderWhy.CHANGE]
    assert run.findings == ()


@pytest.mark.article("26")
@pytest.mark.parametrize(
    ("tools", "code"),
    [
        pytest.param({**TOOLS, "visible_from": [{"tools": ["read_memory"]}]}, Code.UNKNOWN_TOOL, id="not-visible-now"),
        pytest.param({**TOOLS, "allowed": ["read_memory"]}, Code.TOOL_NOT_ALLOWED, id="offered-not-allowed"),
    ],
)
def test_a_call_of_what_is_not_visible_is_of_no_tool_and_one_that_is_not_allowed_is_refused(tools: Any, code: Code) -> None:
    run = play([calculate("1 + 1"), {"say": "x"}], tools=tools)
    assert codes(run) == [code]
    assert ("calculator" in offered(run)[0]) is (code is Code.TOOL_NOT_ALLOWED)
    assert "read_memory" in str(shown(run, 2)[-1].content)
    assert run.findings == ()


@pytest.mark.article("26")
def test_a_rule_may_begin_with_a_turn_and_an_empty_list_offers_nothing() -> None:
    rules = ({"tools": []}, {"tools": ["calculator"], "from_turn": 2})
    run = play([{"say": "a"}, {"say": "b"}], tasks=["one", "two"], **visible(*rules))
    assert offered(run) == [[], ["calculator"]]
    assert run.findings == ()


@pytest.mark.article("26")
def test_where_no_rule_holds_yet_all_is_offered_and_notes_tell_each_change() -> None:
    run = play([READ, READ, {"say": "x"}], **visible({"tools": ["read_memory"], "from_step": 2}))
    assert offered(run) == [["calculator", "read_memory", "write_memory"], ["read_memory"], ["read_memory"]]
    notes = [e.fact.data for e in run.trajectory if isinstance(e.fact, Note) and e.fact.name == VISIBLE_NOTE]
    assert notes == ['["read_memory"]']
    assert run.findings == ()


@pytest.mark.article("26")
@pytest.mark.parametrize(
    ("tools", "words"),
    [
        pytest.param({**TOOLS, "visible_from": [{"tools": ["ghost"]}]}, "'ghost' is not in tools", id="no-such-tool"),
        pytest.param({**TOOLS, "visible": ["calculator"], "visible_from": [{"tools": ["read_memory"]}]}, "is not in tools", id="hidden-for-good"),
    ],
)
def test_rules_name_what_there_is_to_show(tools: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        play([{"say": "x"}], tools=tools)


# ---------------------------------------------------------------- runtime context


def told(run: RunResult) -> list[str]:
    """Each runtime context that the model was told, in order."""
    facts = (event.fact for event in run.trajectory)
    return [str(fact.message.content) for fact in facts if isinstance(fact, UserMessage) and is_context(fact.message)]


@pytest.mark.article("25")
def test_runtime_context_is_told_once_before_the_input_and_again_only_when_it_has_changed() -> None:
    run = play(
        [calculate("1"), {"say": "a"}, {"say": "b"}, {"say": "c"}], tasks=["one", "two", "three"],
        runtime_context=[{"page": "home"}, {"page": "cart"}],
    )  # fmt: skip
    assert told(run) == ['Runtime context: {"page":"home"}', 'Runtime context: {"page":"cart"}']
    assert roles(run, 2) == ["user", "user", "assistant", "tool"]
    assert [is_context(message) for message in shown(run, 1)] == [True, False]
    assert run.findings == ()


@pytest.mark.article("25")
@pytest.mark.conformance("104")
def test_it_stands_before_the_input_of_its_turn_and_what_steers_adds_none() -> None:
    run = play(
        [calculate("1"), {"say": "a"}, {"say": "b"}], runtime_context=[{"n": 1}, {"n": 2}],
        inject=[{"at": "tool/start", "do": {"send": {"queue": "steer", "text": "Be quick."}}}, {"at": {"kind": "turn/end", "nth": 1, "when": "next-tick"}, "do": {"send": {"text": "more"}}}],
    )  # fmt: skip
    assert roles(run, 3) == ["user", "user", "assistant", "tool", "user", "assistant", "user", "user"]
    assert [is_context(one) for one in shown(run, 3) if one.role == "user"] == [True, False, False, True, False]
    assert run.findings == ()


@pytest.mark.article("25")
def test_a_hook_of_the_host_sees_it_and_may_leave_it_out() -> None:
    async def only_what_was_said(history: Messages, claimed: Input) -> Rewrite:
        return Rewrite(tuple(one for one in claimed if not is_context(one)))

    hooks = Hooks(pre_step=(only_what_was_said,))
    run = scenario(task="x", script=[{"say": "y"}], runtime_context={"n": 1}).run(BuiltInLoop(hooks))
    assert told(run) == []
    assert run.findings == ()


@pytest.mark.article("25")
def test_it_is_nobodys_input() -> None:
    run = play([calculate("1")] * 4, runtime_context={"page": "home"}, limits={"repeats": 3}, expect={"status": "limit_reached"})
    assert isinstance(run.reason, LimitHit)
    assert run.reason.which is LimitKind.REPEATS
    assert sum(isinstance(event.fact, InboxClaimed) for event in run.trajectory) == 1
    assert run.findings == ()


@pytest.mark.article("25")
def test_on_the_wire_its_name_tells_it_apart() -> None:
    run = play([{"say": "x"}], runtime_context={"page": "home"})
    context, asked = map(message_to_wire, shown(run, 1))
    assert (asked, context) == (
        {"role": "user", "content": "go"},
        {"role": "user", "content": 'Runtime context: {"page":"home"}', "name": "runtime_context"},
    )


@pytest.mark.article("25")
@pytest.mark.conformance("64", "65")
def test_a_cancel_inside_it_makes_no_request() -> None:
    run = play(
        [{"say": "x"}], runtime_context={"page": "home"}, expect={"status": "cancelled"},
        inject=[{"at": {"kind": "user/message", "nth": 2}, "do": "cancel"}],
    )  # fmt: skip
    assert run.status is Status.CANCELLED
    assert not list(requests_of(run.trajectory))
    assert run.findings == ()


def test_a_context_without_anything_in_it_is_kept_as_it_was_written() -> None:
    assert scenario_of(task="x", script=[{"say": "x"}], runtime_context={}).runtime_context == ("{}",)
