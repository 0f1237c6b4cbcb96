"""Which provider would refuse a history: each rule is shown a history that breaks it, and one that does not."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.checks import provider_refusals
from harness.checks.refusals import PROVIDERS
from harness.formats import read_foreign
from harness.report import CheckReport, Verbosity
from harness.runner import judge
from harness.types.codes import Origin, Outcome
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.lifecycle import MESSAGE_NOTE, NO_IDS_NOTE, UNRECORDED_NOTE, Note
from harness.types.messages import CallId, ChatUser, JsonText
from tests.checks.build import answer, call, result, trajectory

USER = UserMessage(ChatUser(content="go"))
DONE = answer("done")
SYSTEM = Note(MESSAGE_NOTE, JsonText('{"role":"system","content":"hm"}'))
BRIEF = [SYSTEM, Note(MESSAGE_NOTE, JsonText('{"role":"developer","content":"brief"}'))]
NOTHING_TOLD = Note(UNRECORDED_NOTE, JsonText('["request","answer"]'))
NO_REQUEST = Note(UNRECORDED_NOTE, JsonText('["request"]'))
NO_IDS = Note(NO_IDS_NOTE, JsonText('"function_call"'))
ALL = {"openai", "anthropic", "gemini"}
LONG = "x" * 41


def imported(*facts: Any) -> Any:
    return trajectory(*facts, origin=Origin.IMPORT)


GOOD = [
    pytest.param([USER, DONE], id="an-answer"),
    pytest.param([USER, answer(None, call("a"), call("b")), result("b"), result("a"), DONE], id="two-calls-in-another-order"),
    pytest.param([USER, answer("x", call("a")), result("a"), USER, answer(None, call("b")), result("b"), DONE], id="two-turns"),
    pytest.param([USER, answer(None, call("a")), result("a"), answer(None, call("2", wire_id="a")), ToolResult(CallId("2"), "look", "x"), DONE], id="an-id-used-again"),
    pytest.param([USER, answer("")], id="an-empty-last-answer"),
    pytest.param([*BRIEF, USER, answer(None, call("a")), result("a"), SYSTEM, DONE], id="system-messages-around"),
    pytest.param([USER, NOTHING_TOLD, AssistantMessage(), NOTHING_TOLD, AssistantMessage(), NOTHING_TOLD, AssistantMessage()], id="nothing-was-recorded"),
    pytest.param([NO_REQUEST, answer(None, call("a")), NO_REQUEST, answer(None, call("b")), NO_REQUEST, DONE], id="no-request-was-recorded"),
    pytest.param([USER, answer(None, call("a")), result("a", ""), DONE], id="an-empty-result"),
]

REFUSED = [
    pytest.param([USER, answer(None, call("a")), DONE], ALL, "call 'a' of 'look' without result", id="no-result"),
    pytest.param([USER, answer(None, call("a"))], ALL, "call 'a' of 'look' without result", id="open-end"),
    pytest.param([USER, answer(None, call("a")), USER, result("a"), DONE], ALL, "call 'a' of 'look' whose result is not directly behind it", id="late-result"),
    pytest.param([USER, answer(None, call("a")), SYSTEM, result("a"), DONE], ALL, "call 'a' of 'look' whose result is not directly behind it", id="system-message-between"),
    pytest.param([USER, answer(None, call("a"), call("b")), result("b"), SYSTEM, result("a"), DONE], ALL, "a result for 'a' that answers no open call", id="system-message-between-results"),
    pytest.param([USER, answer(None, call("1.1.0")), result("1.1.0"), DONE], {"openai", "anthropic"}, "a call of 'look' without an id", id="no-id"),
    pytest.param([USER, NO_IDS, answer(None, call("1.1.0")), result("1.1.0"), DONE], {"anthropic"}, "a call of 'look' without an id", id="a-form-without-ids"),
    pytest.param([USER, AssistantMessage(), NOTHING_TOLD, AssistantMessage(), USER, DONE], {"openai", "anthropic"}, "an answer", id="one-void-beside-one-not-recorded"),
    pytest.param([USER, result("z"), DONE], ALL, "a result for 'z' that answers no open call directly before it", id="stray"),
    pytest.param([USER, answer(None, call("a")), result("a"), result("a"), DONE], ALL, "a result for 'a' that answers no open call", id="second-result"),
    pytest.param([USER, answer(None, call("1.1.0", wire_id="")), result("1.1.0"), DONE], {"openai", "anthropic"}, "a call of 'look' without an id", id="empty-id"),
    pytest.param([USER, answer(None, call("a"), call("2", wire_id="a")), result("a"), result("2"), DONE], {"openai", "anthropic"}, "two calls of one answer under the id 'a'", id="same-id"),
    pytest.param([USER, answer(None, call(LONG)), result(LONG), DONE], {"openai"}, "is longer than 40 characters", id="long-id"),
    pytest.param([USER, answer(None, call("a.b")), result("a.b"), DONE], {"anthropic"}, "has other characters than letters, digits, _ and -", id="odd-id"),
    pytest.param([USER, answer(None, call("a", "math.add")), result("a", name="math.add"), DONE], {"openai", "anthropic"}, "has the name 'math.add', which is not allowed", id="dotted-name"),
    pytest.param([USER, answer(None, call("a", "")), result("a", name=""), DONE], ALL, "has the name ''", id="no-name"),
    pytest.param([USER, answer(None, call("a", "x" * 65)), result("a", name="x" * 65), DONE], {"openai", "gemini"}, "which is not allowed", id="long-name"),
    pytest.param([USER, answer(None, call("a", arguments="{bad")), result("a"), DONE], {"anthropic", "gemini"}, "the arguments of call 'a' are no JSON object", id="damaged-arguments"),
    pytest.param([USER, answer(None, call("a", arguments="[1]")), result("a"), DONE], {"anthropic", "gemini"}, "are no JSON object", id="arguments-that-are-a-list"),
    pytest.param([USER, AssistantMessage(), USER, DONE], {"openai", "anthropic"}, "", id="void-answer"),
    pytest.param([USER, answer(" "), USER, DONE], {"anthropic"}, "an answer without text that is not the last message", id="blank-answer"),
    pytest.param([UserMessage(ChatUser(content="")), DONE], {"anthropic"}, "a message of the user without text", id="blank-input"),
    pytest.param([USER, DONE, answer(None, call("a")), result("a"), DONE], {"gemini"}, "call 'a' follows neither the user nor a result", id="call-behind-an-answer"),
]  # fmt: skip


@pytest.mark.parametrize("facts", GOOD)
def test_a_history_that_every_provider_takes_is_refused_by_none(facts: list[Any]) -> None:
    assert provider_refusals(imported(*facts)) == ()


@pytest.mark.parametrize(("facts", "providers", "words"), REFUSED)
def test_a_history_is_refused_by_the_providers_that_have_the_rule(facts: list[Any], providers: set[str], words: str) -> None:
    found = provider_refusals(imported(*facts))
    assert {one.provider for one in found} == providers
    for one in found:
        assert any(words in why for why in one.why)
        assert one.events


OF_RESPONSES = [
    pytest.param([USER, answer(None, call(LONG)), result(LONG), DONE], "", id="40-characters-are-no-limit"),
    pytest.param([USER, answer(None, call("x" * 65)), result("x" * 65), DONE], "is longer than 64 characters", id="64-are"),
    pytest.param([USER, answer(None, call("a"), call("b")), result("b"), USER, result("a"), DONE], "", id="a-late-result"),
    pytest.param([USER, answer(None, call("a")), DONE], "call 'a' of 'look' without result", id="no-result"),
    pytest.param([USER, result("a"), answer(None, call("a")), result("a"), DONE], "a result for 'a' that answers no call before it", id="a-result-before-its-call"),
]  # fmt: skip


@pytest.mark.parametrize("subject", ["responses", "nemo-gym"])
@pytest.mark.parametrize(("facts", "words"), OF_RESPONSES)
def test_items_of_the_responses_api_are_judged_by_its_own_rules(facts: list[Any], words: str, subject: str) -> None:
    judged = imported(*facts)
    judged = replace(judged, header=replace(judged.header, subject=subject))
    why = [text for one in provider_refusals(judged) if one.provider == "openai" for text in one.why]
    assert any(words in text for text in why) if words else why == []


ITEMS = [
    {"role": "user", "content": "go"},
    {"type": "function_call", "call_id": LONG, "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": LONG, "output": "ok"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
]


@pytest.mark.parametrize(
    "value",
    [pytest.param(ITEMS, id="responses"), pytest.param({"responses_create_params": {"input": ITEMS[:1]}, "response": {"output": ITEMS[1:]}}, id="nemo")],
)
def test_what_the_readers_of_responses_items_give_is_judged_by_those_rules(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(value), "utf-8")
    (read,) = read_foreign(path)
    assert provider_refusals(read) == ()


def test_every_provider_of_the_table_has_a_rule_of_its_own() -> None:
    alone = [providers for _, providers, *_ in (param.values for param in REFUSED) if len(providers) == 1]
    assert set(PROVIDERS) == set().union(*alone) == ALL


def test_what_our_own_loop_sends_back_is_judged_under_the_ids_that_it_sends() -> None:
    facts = [USER, answer(None, call("own", wire_id="")), result("own"), DONE]
    assert provider_refusals(trajectory(*facts)) == (), "an empty id goes back under one of ours"
    assert {one.provider for one in provider_refusals(imported(*facts))} == {"openai", "anthropic"}


def test_each_agent_has_its_own_history() -> None:
    child = [(fact, {"agent": "c1"}) for fact in (USER, answer(None, call("b")), result("b"), DONE)]
    assert provider_refusals(imported(USER, answer(None, call("a")), *child, result("a"), DONE)) == ()


def test_the_airline_runs_would_be_taken_by_all(shared: Path) -> None:
    assert [provider_refusals(one) for one in read_foreign(shared / "data/tau-bench/gpt-4o-airline.json")] == [()] * 136


def test_a_report_tells_of_refusals_without_failing_by_them() -> None:
    report = CheckReport()
    for _ in range(7):
        one = imported(USER, answer(None, call("a"), call("b")))
        report.add(one, judge(one), refusals=provider_refusals(one))
    lines = report.text().splitlines()
    told = [line for line in lines if line.startswith("a provider would refuse")]
    assert len(told) == 5
    assert "openai (call 'a' of 'look' without result; and 1 more), anthropic (" in told[0]
    assert "and 2 more histories that a provider would refuse" in lines
    assert report.outcome is Outcome.PASS


def test_a_verbose_report_tells_every_reason() -> None:
    report = CheckReport(verbosity=Verbosity.VERBOSE)
    one = imported(USER, answer(None, call("a"), call("b")))
    report.add(one, judge(one), refusals=provider_refusals(one))
    assert "openai (call 'a' of 'look' without result; call 'b' of 'look' without result)" in report.text()


def test_a_long_history_is_judged_by_work_that_grows_with_it() -> None:
    def n_calls(n: int) -> int:
        facts = [fact for at in range(n) for fact in (answer(None, call(f"c{at}")), result(f"c{at}"))]
        one = imported(USER, *facts)
        count = 0

        def counted(frame: object, event: str, argument: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(counted)
        try:
            provider_refusals(one)
        finally:
            sys.setprofile(None)
        return count

    assert 0 < n_calls(1000) < 11 * n_calls(100)
