"""The witness of a foreign loop: each message is recorded once, whatever the loop does to its history."""

import itertools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import openai
import pytest

from harness.errors import ModelError
from harness.models import ScriptedModel, in_process_client
from harness.recorder import Recorder
from harness.server import ModelTransport, Witness
from harness.types.codes import Code, Origin
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, RequestHeader, ToolResult, UserMessage
from harness.types.lifecycle import Note
from harness.types.messages import JsonText, Messages
from harness.types.script import ScriptCall, ScriptFailure, ScriptReply
from tests.models.support import kinds, virtually

Loop = Callable[[openai.AsyncOpenAI], Awaitable[None]]
USER = {"role": "user", "content": "go"}


def reply(*calls: tuple[str, str], say: str | None = None, ids: tuple[str | None, ...] = ()) -> ScriptReply:
    made = tuple(
        ScriptCall(name, arguments, id=ids[i] if ids else None, no_id=bool(ids) and ids[i] is None)
        for i, (name, arguments) in enumerate(calls)
    )
    return ScriptReply(say=say, calls=made)


DONE = reply(say="done")


def witnessed(loop: Loop, *script: ScriptReply, max_retries: int = 0) -> Recorder:
    """The log of a loop that talks to a scripted model through the real client."""

    async def main(clock: Any) -> Recorder:
        log = Recorder(clock)
        model = ScriptedModel(script, scenario="s", clock=clock, resolve=lambda name: None)
        witness = Witness(log, model)
        transport = ModelTransport(witness.ask, failed=witness.failed)
        await loop(in_process_client(transport).with_options(max_retries=max_retries))
        return log

    return virtually(main)


async def create(client: openai.AsyncOpenAI, messages: list[Any], **options: Any) -> Any:
    return await client.chat.completions.create(model="m", messages=messages, **options)


def answered(message: Any, *contents: str) -> list[Any]:
    """An assistant message as the client dumps it, and its results."""
    results = [
        {"role": "tool", "tool_call_id": made.id, "content": content}
        for made, content in zip(message.tool_calls, contents, strict=True)
    ]
    return [message.model_dump(), *results]


async def plain_loop(client: openai.AsyncOpenAI) -> None:
    """Call tools until the model is done; a result is `<name> ok`."""
    messages: list[Any] = [{"role": "system", "content": "be brief"}, USER]
    while True:
        message = (await create(client, messages)).choices[0].message
        if not message.tool_calls:
            return
        messages += answered(message, *[f"{made.function.name} ok" for made in message.tool_calls])


def facts(log: Recorder, kind: type[Any]) -> list[Any]:
    return [event.fact for event in log.events if isinstance(event.fact, kind)]


def results(log: Recorder) -> list[tuple[str, str, Any]]:
    return [(fact.call_id, fact.name, fact.content) for fact in facts(log, ToolResult)]


def emitted(log: Recorder) -> list[tuple[str, str | None]]:
    return [(made.id, made.wire_id) for fact in facts(log, AssistantMessage) for made in fact.tool_calls]


def test_a_loop_of_three_steps_is_written_down_in_order_by_the_probe() -> None:
    log = witnessed(plain_loop, reply(("a", "{}"), ("b", "{}")), reply(("c", "{}")), DONE)
    step = ["model/request", "assistant/message"]
    assert kinds(log) == [
        "user/message",
        "request/header",
        *step,
        "tool/result",
        "tool/result",
        *step,
        "tool/result",
        *step,
    ]
    assert {(event.origin, event.turn, event.step) for event in log.events} == {(Origin.PROBE, None, None)}
    assert results(log) == [("call_1_0", "a", "a ok"), ("call_1_1", "b", "b ok"), ("call_2_0", "c", "c ok")]
    assert facts(log, UserMessage)[0].message.content == "go"
    (header,) = facts(log, RequestHeader)
    assert (header.system[0].content, header.parameters) == ("be brief", '{"model":"m"}')


def test_requests_that_grow_share_their_messages() -> None:
    log = witnessed(plain_loop, *[reply(("a", "{}"))] * 3, DONE)
    shown: list[Messages] = [fact.messages for fact in facts(log, ModelRequest)]
    assert [len(messages) for messages in shown] == [1, 3, 5, 7]
    assert all(later.extends(earlier) for earlier, later in itertools.pairwise(shown))


@pytest.mark.public_case("PB-002")
def test_a_server_that_gives_every_call_one_id_gets_a_result_for_each() -> None:
    script = [reply(("put", json.dumps({"key": key})), ids=("K9",)) for key in ("one", "two", "three")]
    log = witnessed(plain_loop, *script, DONE)
    assert emitted(log) == [("K9", None), ("1.2.0", "K9"), ("1.3.0", "K9")]
    assert [identity for identity, _, _ in results(log)] == ["K9", "1.2.0", "1.3.0"]


def test_the_same_call_again_and_again_under_one_id_gets_a_result_for_each() -> None:
    log = witnessed(plain_loop, *[reply(("put", "{}"), ids=("K9",))] * 3, DONE)
    assert [identity for identity, _, _ in results(log)] == ["K9", "1.2.0", "1.3.0"]


@pytest.mark.public_case("PB-003")
@pytest.mark.conformance("33")
def test_a_loop_that_makes_up_ids_for_empty_ones_has_its_results_mapped_by_place() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        message = (await create(client, [USER])).choices[0].message
        raw = message.model_dump()
        for index, made in enumerate(raw["tool_calls"]):
            made["id"] = f"mine{index}"
        parts = [{"role": "tool", "tool_call_id": f"mine{index}", "content": f"r{index}"} for index in (1, 0)]
        await create(client, [USER, raw, *parts])

    log = witnessed(loop, reply(("now", "{}"), ("day", "{}"), ids=("", None)), DONE)
    assert emitted(log) == [("1.1.0", ""), ("1.1.1", None)]
    assert results(log) == [("1.1.1", "day", "r1"), ("1.1.0", "now", "r0")]


@pytest.mark.public_case("PB-001")
def test_two_calls_under_one_id_are_two_calls_and_a_loop_that_sends_both_back_is_refused() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        with pytest.raises(openai.BadRequestError, match="twice"):
            await plain_loop(client)

    log = witnessed(loop, reply(("read", '{"path":"a"}'), ("read", '{"path":"b"}'), ids=("call_1", "call_1")))
    assert emitted(log) == [("call_1", None), ("1.1.1", "call_1")]
    assert kinds(log)[-2:] == ["model/request", "model/error"]
    assert facts(log, ModelFailed)[0].code is Code.INVALID_REQUEST


def test_a_window_over_the_history_repeats_no_fact() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        messages: list[Any] = [USER]
        for _ in range(4):
            message = (await create(client, [USER, *messages[1:][-2:]])).choices[0].message
            if message.tool_calls:
                messages += answered(message, "ok")

    log = witnessed(loop, *[reply(("put", "{}"), ids=("K9",))] * 3, DONE)
    assert kinds(log).count("user/message") == 1
    assert [identity for identity, _, _ in results(log)] == ["K9", "1.2.0", "1.3.0"]


def test_a_window_with_a_rewritten_call_is_anchored_by_its_id() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        shown: list[Any] = []
        for _ in range(3):
            message = (await create(client, [USER, *shown])).choices[0].message
            if message.tool_calls:
                shown = answered(message, "ok")
                shown[0]["tool_calls"][0]["function"]["arguments"] = '{"rewritten": true}'

    log = witnessed(loop, *[reply(("put", "{}"), ids=("K9",))] * 2, DONE)
    assert [identity for identity, _, _ in results(log)] == ["K9", "1.2.0"]


def test_two_conversations_with_the_same_call_each_get_their_result() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        made = [(await create(client, [USER | {"content": name}])).choices[0].message for name in ("a", "b")]
        for name, message in zip(("a", "b"), made, strict=True):
            await create(client, [USER | {"content": name}, *answered(message, "ok")])

    log = witnessed(loop, *[reply(("put", "{}"), ids=("K9",))] * 2, DONE, DONE)
    assert [identity for identity, _, _ in results(log)] == ["K9", "1.2.0"]
    assert [fact.message.content for fact in facts(log, UserMessage)] == ["a", "b"]


def test_two_equal_messages_in_one_body_are_two() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        await create(client, [USER, USER])

    assert kinds(witnessed(loop, DONE)).count("user/message") == 2


def test_an_equal_request_after_an_answer_is_a_step_of_its_own_and_no_retry() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        await create(client, [USER])
        await create(client, [USER])

    log = witnessed(loop, DONE, DONE)
    assert [fact.attempt for fact in facts(log, ModelRequest)] == [1, 1]


def test_the_same_user_input_in_two_turns_is_two_messages() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        first = (await create(client, [USER])).choices[0].message.model_dump()
        await create(client, [USER, first, USER])
        await create(client, [first, USER, first, USER])

    assert kinds(witnessed(loop, DONE, DONE, DONE)).count("user/message") == 3


def test_a_message_put_before_the_newest_answer_is_new_only_the_first_time() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        first = (await create(client, [USER])).choices[0].message.model_dump()
        summary = {"role": "user", "content": "summary"}
        for _ in range(2):
            await create(client, [summary, USER, first, {"role": "user", "content": "more"}])

    log = witnessed(loop, reply(say="one"), reply(say="two"), reply(say="three"))
    assert [fact.message.content for fact in facts(log, UserMessage)] == ["go", "summary", "more"]


def test_results_of_calls_that_this_run_never_made_are_no_facts() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        made = {"id": "old", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        example = [
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": "old", "content": "x"},
        ]
        await create(client, [USER, *example, USER | {"content": "now"}])

    log = witnessed(loop, DONE)
    assert results(log) == []
    assert kinds(log).count("user/message") == 2
    assert len(facts(log, ModelRequest)[0].messages) == 4


def test_a_loop_that_writes_arguments_anew_and_drops_a_call_still_has_its_result() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        raw = (await create(client, [USER])).choices[0].message.model_dump()
        raw["tool_calls"] = raw["tool_calls"][1:]
        raw["tool_calls"][0]["function"]["arguments"] = '{ "b" : 1 }'
        await create(client, [USER, raw, {"role": "tool", "tool_call_id": "call_1_1", "content": "ok"}])

    log = witnessed(loop, reply(("a", "{}"), ("b", '{"b":1}')), DONE)
    assert results(log) == [("call_1_1", "b", "ok")]


def test_a_second_result_for_an_answered_call_is_recorded_so_that_a_check_can_see_it() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        raw = (await create(client, [USER])).choices[0].message
        history = [USER, *answered(raw, "first")]
        await create(client, history)
        with pytest.raises(openai.BadRequestError):
            await create(client, [*history, {"role": "tool", "tool_call_id": "call_1_0", "content": "second"}])

    log = witnessed(loop, reply(("a", "{}")), DONE)
    assert results(log) == [("call_1_0", "a", "first"), ("call_1_0", "a", "second")]


@pytest.mark.conformance("149")
def test_attempts_are_counted_over_the_clients_own_retries_and_repeat_no_message() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        await create(client, [USER])

    fail = ScriptReply(fail=ScriptFailure("SERVER", "down", 1000))
    log = witnessed(loop, fail, fail, DONE, max_retries=2)
    assert kinds(log) == [
        "user/message",
        "request/header",
        *["model/request", "model/error"] * 2,
        "model/request",
        "assistant/message",
    ]
    assert [fact.attempt for fact in facts(log, ModelRequest)] == [1, 2, 3]
    assert facts(log, AssistantMessage)[0].attempt == 3
    assert facts(log, ModelFailed)[1] == ModelFailed(Code.SERVER, "down", attempt=2)


def test_a_request_that_is_too_late_is_a_failed_attempt() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        with pytest.raises(openai.APITimeoutError):
            await create(client, [USER], timeout=10)
        await create(client, [USER])

    log = witnessed(loop, ScriptReply(hang=True), DONE)
    assert facts(log, ModelFailed)[0].code is Code.TIMEOUT
    assert [fact.attempt for fact in facts(log, ModelRequest)] == [1, 2]


@pytest.mark.parametrize("raw", ['{"choices": []}', '{"error": {"message": "slow", "code": 429}}'])
def test_a_damaged_scripted_response_reaches_the_client_verbatim_and_is_a_failed_attempt(raw: str) -> None:
    seen: list[Any] = []

    async def loop(client: openai.AsyncOpenAI) -> None:
        seen.append((await client.chat.completions.with_raw_response.create(model="m", messages=[USER])).text)  # type: ignore[list-item]

    log = witnessed(loop, ScriptReply(raw=JsonText(raw)))
    assert seen == [raw]
    assert kinds(log)[-1] == "model/error"


@pytest.mark.conformance("25")
def test_a_changed_system_prompt_or_model_writes_the_header_anew() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        for system in ("a", "a", "b"):
            await create(client, [{"role": "system", "content": system}, USER])
        await client.chat.completions.create(model="other", messages=[{"role": "system", "content": "b"}, USER])  # type: ignore[list-item]

    log = witnessed(loop, DONE, DONE, DONE, DONE)
    assert [(fact.system[0].content, fact.parameters) for fact in facts(log, RequestHeader)] == [
        ("a", '{"model":"m"}'),
        ("b", '{"model":"m"}'),
        ("b", '{"model":"other"}'),
    ]


def test_a_body_without_a_known_shape_leaves_a_note() -> None:
    async def loop(client: openai.AsyncOpenAI) -> None:
        with pytest.raises(openai.BadRequestError):
            await create(client, [USER], extra_body={"messages": "go"})

    log = witnessed(loop)
    assert kinds(log) == ["note"]
    assert facts(log, Note)[0].name == "server/refused"


def test_a_failure_of_the_model_itself_is_recorded_and_reaches_the_loop_as_it_is() -> None:
    class Broken:
        name = "broken"

        async def answer(self, call: Any, *, signal: Any, emit: Any) -> Any:
            raise ValueError("key sk-123")

    async def main(clock: Any) -> Recorder:
        log = Recorder(clock)
        witness = Witness(log, Broken())
        with pytest.raises(ModelError, match="the model raised ValueError") as caught:
            await create(in_process_client(ModelTransport(witness.ask)), [USER])
        assert "sk-123" not in str(caught.value)
        return log

    log = virtually(main)
    assert facts(log, ModelFailed) == [ModelFailed(Code.INTERNAL, "the model raised ValueError")]
