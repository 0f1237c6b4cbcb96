"""Recorded runs replayed: today's loop follows them to their end, or stops at the first request that differs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.formats import read_foreign
from harness.runner import Replayed, RunOptions, RunSpec, ToolSource, execute, replay_run
from harness.scenarios import collect, scenario
from harness.testing import BoundScenario, subject
from harness.types.codes import Code, Outcome
from harness.types.events import Trajectory
from harness.types.exchange import ModelRequest, RequestHeader
from harness.types.messages import JsonText, Messages
from harness.types.reasons import Failed
from harness.types.scenario import Scenario
from tests.conftest import REPO

SHIPPED = collect([REPO / "scenarios"], configured=[str(REPO / "scenarios")])
ASKED_NOBODY = ("cancellation/at-the-users-message", "cancellation/before-the-first-request")
SUM = {
    "task": "What is 6 * 7?",
    "system": "You calculate.\nBe brief.",
    "tools": ["calculator"],
    "script": [{"call": {"calculator": {"expression": "6 * 7"}}}, {"say": "It is 42."}],
}


def made(**fields: Any) -> Scenario:
    return scenario(id="made", **{**SUM, **fields})


def ran(one: Scenario) -> Trajectory:
    return execute(RunSpec(one, RunOptions(cassettes=REPO / "cassettes"))).trajectory


def replayed(recorded: Trajectory, now: Scenario | None = None, **options: Any) -> Replayed:
    return replay_run(recorded, RunOptions(), scenario=now, **options)


def followed(one: Replayed) -> tuple[Outcome, int, int, object]:
    return one.outcome, one.n_followed, one.n_steps, one.parting


@pytest.mark.parametrize("one", [pytest.param(one, id=one.id) for one in SHIPPED[1::6] if one.id not in ASKED_NOBODY])
def test_a_run_of_a_shipped_scenario_is_followed_to_its_end(one: Scenario) -> None:
    recorded = ran(one)
    done = replayed(recorded, one)
    assert (done.outcome, done.n_followed, done.parting) == (Outcome.PASS, done.n_steps, None)


def test_without_its_scenario_a_run_is_replayed_from_the_recording_alone() -> None:
    done = replayed(ran(made()))
    assert followed(done) == (Outcome.PASS, 2, 2, None)
    assert done.made


def test_answers_are_the_recorded_ones_whatever_the_script_says_today() -> None:
    done = replayed(ran(made()), made(script=[{"say": "something else"}]))
    assert followed(done) == (Outcome.PASS, 2, 2, None)
    assert done.result is not None
    assert done.result.answer == "It is 42."


DIFFERENCES = [
    pytest.param({"system": "You calculate.\nBe kind."}, 0, "request 1 (turn 1, step 1): system prompt (messages[0].content), line 2", '"Be brief."', '"Be kind."', id="the-system-prompt"),
    pytest.param({"task": "What is 6 * 8?"}, 0, "message 2 (user)", '"What is 6 * 7?"', '"What is 6 * 8?"', id="the-task"),
    pytest.param({"tools": ["calculator", "read_memory"]}, 0, "tool 'read_memory'", "nothing", "Read a value", id="a-new-tool"),
    pytest.param({"model": {"name": "m", "parameters": {"temperature": 1}}}, 0, "parameter 'temperature'", "nothing", "1", id="a-parameter"),
]


@pytest.mark.parametrize(("change", "n_followed", "place", "recorded", "now"), DIFFERENCES)
def test_the_first_difference_is_told_in_the_models_terms(change: dict[str, Any], n_followed: int, place: str, recorded: str, now: str) -> None:
    done = replayed(ran(made()), made(**change))
    assert done.outcome is Outcome.FAIL
    assert done.n_followed == n_followed
    assert done.parting is not None
    assert place in done.parting.place
    assert recorded in done.parting.recorded
    assert now in done.parting.now


def test_a_difference_ends_the_run_as_failed_with_a_code_of_its_own() -> None:
    done = replayed(ran(made()), made(task="Another one."))
    assert done.result is not None
    assert isinstance(done.result.reason, Failed)
    assert done.result.reason.code is Code.REPLAY_DIFFERS
    assert [one.check for one in done.result.verdicts if one.outcome is Outcome.FAIL] == ["replay"]


def test_a_result_that_a_real_tool_gives_otherwise_is_a_difference_at_the_next_request() -> None:
    stub = {"stub": {"look": {"returns": "old"}}}
    script = [{"call": "look"}, {"say": "."}]
    now = made(tools={"stub": {"look": {"returns": "new"}}}, script=script)
    recorded = ran(made(tools=stub, script=script))
    assert followed(replayed(recorded, now)) == (Outcome.PASS, 2, 2, None)
    done = replayed(recorded, now, tools=ToolSource.REAL)
    assert done.n_followed == 1
    assert done.parting is not None
    assert "tool result of look" in done.parting.place
    assert (done.parting.recorded, done.parting.now) == ('"old"', '"new"')


def one_thing_changed(recorded: Trajectory) -> Iterator[tuple[int, str, Trajectory]]:
    """The run with one message, system text, tool or parameter of one request changed: which request, and its path."""
    number = 0
    for at, event in enumerate(recorded.events):
        match event.fact:
            case RequestHeader(system=system, tools=tools) as header:
                (first,) = system
                others = [
                    ("messages[0].content", replace(header, system=(replace(first, content="Otherwise."),))),
                    ("tools[0].function", replace(header, tools=JsonText(tools.replace("Work out", "Guess")))),
                    ("temperature", replace(header, parameters=JsonText('{"temperature":1}'))),
                ]
                yield from ((number + 1, path, with_fact(recorded, at, fact)) for path, fact in others)
            case ModelRequest(messages=messages) as request:
                number += 1
                for place, message in enumerate(messages):
                    text = replace(message, content=f"{message.content}!")
                    changed = Messages.of([*messages[:place], text, *messages[place + 1 :]])
                    yield number, f"messages[{place + 1}].content", with_fact(recorded, at, replace(request, messages=changed))
                yield number, f"messages[{len(messages)}]", with_fact(recorded, at, replace(request, messages=Messages.of(messages[:-1])))
            case _:
                pass


def with_fact(recorded: Trajectory, at: int, fact: Any) -> Trajectory:
    event = replace(recorded.events[at], fact=fact)
    return replace(recorded, events=(*recorded.events[:at], event, *recorded.events[at + 1 :]))


def test_any_change_of_a_request_is_a_difference_at_that_request_that_names_the_place() -> None:
    recorded = ran(made())
    n_changes = 0
    for number, path, changed in one_thing_changed(recorded):
        done = replayed(changed, made())
        assert done.parting is not None, path
        assert done.parting.place.startswith(f"request {number} "), (path, done.parting)
        assert f"({path}" in done.parting.place, done.parting
        n_changes += 1
    assert n_changes == 9


def test_a_loop_that_stops_early_left_the_recorded_run() -> None:
    done = replayed(ran(made()), made(limits={"steps": 1}))
    assert done.outcome is Outcome.FAIL
    assert done.parting is not None
    assert done.parting.place == "after 1 of 2 steps"
    assert done.parting.now == "the run was over"


def test_a_loop_that_asks_once_more_left_the_recorded_run() -> None:
    recorded = ran(made(task="One.", script=[{"say": "1"}]))
    done = replayed(recorded, _two())
    assert done.n_followed == 1
    assert done.parting is not None
    assert done.parting.recorded == "no further request"


def _two() -> Scenario:
    fields = {name: value for name, value in SUM.items() if name != "task"}
    return scenario(id="made", **{**fields, "tasks": ["One.", "Two."], "script": [{"say": "1"}]})


def test_a_call_that_was_never_made_has_no_recorded_result() -> None:
    script = [{"call": {"look": {}}}, {"say": "."}]
    refused = made(tools={"stub": {"look": {"returns": 1}}, "allowed": []}, script=script)
    allowed = made(tools={"stub": {"look": {"returns": 1}}}, script=script)
    done = replayed(ran(refused), allowed)
    assert done.parting is not None
    assert (done.parting.place, done.parting.recorded, done.parting.now) == ("a call of 'look'", "no such call", "{}")


def test_a_failed_attempt_fails_again_and_its_retry_is_answered() -> None:
    one = made(script=[{"fail": {"code": "SERVER", "message": "down"}}, {"say": "Up."}], retry={"attempts": 2})
    done = replayed(ran(one), one)
    assert followed(done) == (Outcome.PASS, 1, 1, None)
    assert done.result is not None
    kinds = [event.fact.TYPE for event in done.result.trajectory]
    assert (kinds.count("model/error"), kinds.count("model/retry"), kinds.count("model/request")) == (1, 1, 2)


def test_chunks_come_as_they_came_and_when_they_came() -> None:
    one = made(script=[{"say": "one two three", "chunks": "words", "chunk_delay_ms": 20}])
    recorded = ran(one)
    done = replayed(recorded, one)
    assert done.result is not None
    assert done.result.trajectory.events[:-2] == recorded.events[:-2]


def test_ids_of_calls_that_the_loop_made_are_no_difference() -> None:
    one = made(script=[{"calls": [{"name": "calculator", "arguments": {"expression": "1"}, "id": None}]}, {"say": "."}])
    assert followed(replayed(ran(one), one)) == (Outcome.PASS, 2, 2, None)


def test_what_is_declared_as_no_matter_is_ignored() -> None:
    recorded, now = ran(made()), made(model={"name": "m", "parameters": {"user": "me"}})
    assert replayed(recorded, now).outcome is Outcome.FAIL
    assert followed(replayed(recorded, now, ignore=("user",))) == (Outcome.PASS, 2, 2, None)


def test_a_run_that_asked_no_model_is_nothing_to_replay() -> None:
    recorded = ran(made())
    done = replayed(replace(recorded, events=recorded.events[:3]), made())
    assert (done.outcome, done.result) == (Outcome.INVALID, None)
    assert "asked no model" in done.why


def test_a_file_without_requests_shares_answers_and_results_only(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "You look."},
        {"role": "user", "content": "Look."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a tree"},
        {"role": "assistant", "content": "A tree."},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages))
    (recorded,) = read_foreign(path)
    done = replayed(recorded)
    assert followed(done) == (Outcome.PASS, 2, 2, None)
    assert not done.compared


# ---------------------------------------------------------------- a loop of one's own


RAN: list[str] = []


def look(n: int = 0) -> str:
    RAN.append("look")
    return f"a tree {n}"


OFFERED: Any = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def own_loop(greeting: str) -> Any:
    async def agent(env: Any) -> str:
        client, tools = env.openai(), env.wrap({"look": look})
        messages: list[Any] = [{"role": "system", "content": greeting}, {"role": "user", "content": env.task}]
        while True:
            reply = await client.chat.completions.create(model="m", messages=messages, tools=[OFFERED])
            message = reply.choices[0].message.model_dump(exclude_none=True)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message.get("content"))
            for call in message["tool_calls"]:
                value = tools["look"](**json.loads(call["function"]["arguments"]))
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": value})

    return subject(agent)


def test_a_loop_of_ones_own_is_replayed_and_its_functions_do_not_run() -> None:
    one = scenario(id="own", task="Look.", script=[{"call": {"look": {"n": 3}}}, {"say": "A tree."}])
    recorded = execute(RunSpec(one, RunOptions()), subject=own_loop("Hello.")).trajectory
    RAN.clear()
    done = BoundScenario(one).replay(recorded, own_loop("Hello."))
    assert (followed(done), RAN) == ((Outcome.PASS, 2, 2, None), [])
    changed = BoundScenario(one).replay(recorded, own_loop("Good evening."))
    assert changed.parting is not None
    assert changed.parting.place.startswith("request 1: system prompt")
    assert (changed.parting.recorded, changed.parting.now) == ('"Hello."', '"Good evening."')
