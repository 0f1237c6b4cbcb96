"""The Responses dialect: whole and streamed give one answer, and what an answer holds goes back as it came."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigurationError, ModelError
from harness.types.chunking import ChunkCut
from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall, ModelCall
from harness.types.messages import (
    ChatAssistant,
    ChatCall,
    ChatDeveloper,
    ChatSystem,
    ChatTool,
    ChatUser,
    ImagePart,
    JsonText,
    Messages,
    TextPart,
)
from harness.types.reasons import Usage
from harness.wire.chat import assembled
from harness.wire.completions import NO_COUNT
from harness.wire.responses import (
    ResponsesStream,
    input_items,
    parse_response,
    render_response,
    render_response_events,
    render_response_request,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(["晴天 🌞", " a  b ", '{"q":"ä"}'])
CALLS = st.builds(AnsweredCall, name=st.none() | TEXT, arguments=st.none() | TEXT, wire_id=st.none() | st.sampled_from(["", "c1", "c2"]), type=st.sampled_from([None, "custom"]))
ENDS = st.sampled_from([(FinishReason.STOP, "stop"), (FinishReason.LENGTH, "length"), (FinishReason.CONTENT_FILTER, "content_filter")])


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    calls = tuple(draw(st.lists(CALLS, max_size=3)))
    reason, word = draw(ENDS)
    if calls and reason is FinishReason.STOP:
        reason, word = FinishReason.TOOL_CALLS, "tool_calls"
    return Answer(
        content=draw(st.none() | TEXT),
        calls=calls,
        reasoning=draw(st.none() | TEXT.filter(bool)),
        refusal=draw(st.none() | TEXT.filter(bool)),
        finish_reason=reason,
        raw_finish_reason=word,
        model="m",
        usage=draw(st.none() | st.just(Usage(7, 3, 2, 1))),
    )


CUTS = st.sampled_from([(ChunkCut.WHOLE, 1), (ChunkCut.WORDS, 1), (ChunkCut.CHARACTERS, 1), (ChunkCut.CHARACTERS, 3)])


def body_of(events: list[Any]) -> bytes:
    texts = [one if isinstance(one, str) else json.dumps(one) for one in events]
    return "".join(f"event: {json.loads(text)['type']}\ndata: {text}\n\n" for text in texts).encode()


def stream(*events: Any) -> tuple[Answer, list[JsonText]]:
    reader = ResponsesStream()
    chunks = list(reader.feed(body_of(list(events))))
    return reader.answer(), chunks


def without_items(answer: Answer) -> Answer:
    """Kept items come out of reading only where a reasoning item or an order needs them."""
    return replace(answer, extra=None)


@pytest.mark.conformance("141")
@given(answers(), CUTS)
def test_whole_and_streamed_are_the_same_answer_and_its_chunks_make_it(answer: Answer, cut: tuple[ChunkCut, int]) -> None:
    whole = parse_response(render_response(answer, id="r", model="m"))
    assert without_items(whole) == answer
    found, chunks = stream(*render_response_events(answer, id="r", model="m", cut=cut[0], every=cut[1]))
    assert found == whole
    told = assembled(chunks)
    assert (told.content or None, told.refusal, told.reasoning) == (answer.content or None, answer.refusal, answer.reasoning)
    assert [(c.name, c.arguments or "", c.wire_id) for c in told.calls] == [(c.name, c.arguments or "", c.wire_id) for c in answer.calls]
    assert (told.raw_finish_reason, told.usage) == (answer.raw_finish_reason, answer.usage)


@pytest.mark.conformance("6", "98")
@given(answers(), CUTS, st.data())
def test_a_stream_cut_before_its_closing_event_has_no_finish_reason(answer: Answer, cut: tuple[ChunkCut, int], data: st.DataObject) -> None:
    events = list(render_response_events(answer, id="r", model="m", cut=cut[0], every=cut[1]))
    body = body_of(list(events))
    last = body.rindex(b"event: ")
    reader = ResponsesStream()
    list(reader.feed(body[: data.draw(st.integers(0, last))]))
    assert (reader.answer().finish_reason, reader.is_over) == (None, False)


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "gAAA"}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "Let me see.", "annotations": []}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "go", "arguments": "{}", "status": "completed"}
OWN = {"type": "web_search_call", "id": "ws_1", "status": "completed"}


def completed(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"status": "completed", "output": list(items), **fields}


def test_reasoning_goes_back_as_it_came_and_in_its_order() -> None:
    answer = parse_response(completed(REASONING, MESSAGE, CALL, OWN, {**REASONING, "id": "rs_2"}, {**CALL, "id": "fc_2", "call_id": "c2"}))
    assert answer.reasoning == "hm\n\nhm"
    message = ChatAssistant(answer.content, answer.reasoning, None, tuple(ChatCall(c.wire_id or "", c.name or "", c.arguments or "") for c in answer.calls), answer.extra)
    items = list(input_items(message))
    assert [item["type"] for item in items] == ["reasoning", "message", "function_call", "web_search_call", "reasoning", "function_call"]
    assert [item["id"] for item in items] == ["rs_1", "msg_1", "fc_1", "ws_1", "rs_2", "fc_2"]
    assert items[0] == REASONING
    assert [item["call_id"] for item in items if item["type"] == "function_call"] == ["c1", "c2"]
    assert items[1]["content"] == [{"type": "output_text", "text": "Let me see."}]


def test_plain_answers_keep_nothing_beside_message_and_calls() -> None:
    assert parse_response(completed(MESSAGE, CALL)).extra is None
    assert parse_response(completed(CALL, MESSAGE)).extra is not None  # their order would be lost


def test_an_id_that_was_given_anew_goes_back_in_place_of_the_providers() -> None:
    extra = parse_response(completed(REASONING, CALL)).extra
    (_, item) = input_items(ChatAssistant(None, None, None, (ChatCall("other", "go", "{}"),), extra))
    assert (item["call_id"], item["id"]) == ("other", "fc_1")


def call(*messages: Any, parameters: str = "{}", system: Any = (), tools: str = "[]") -> ModelCall:
    return ModelCall(system, Messages.of(messages), JsonText(tools), JsonText(parameters))


def rendered(one: ModelCall) -> dict[str, Any]:
    return render_response_request(one, "m", [item for message in one.messages for item in input_items(message, {"x"})])


def test_a_request_is_rendered_in_the_shapes_of_the_api() -> None:
    parameters = {
        "max_tokens": 9, "temperature": 0, "seed": 1, "parallel_tool_calls": False, "stream": True, "stream_options": {"include_usage": True},
        "tool_choice": {"type": "function", "function": {"name": "go"}}, "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "s", "schema": {}}},
    }  # fmt: skip
    tools = '[{"description":"d","name":"go","parameters":{"type":"object"}},{"type":"web_search"}]'
    messages = (
        ChatUser(content=(TextPart("see"), ImagePart("a" * 64))),
        ChatAssistant("I go.", tool_calls=(ChatCall("c1", "go", "{}"), ChatCall("x", "raw", "text", "custom"))),
        ChatTool(call_id="c1", content="ok"),
        ChatTool(call_id="x", content="done"),
    )
    body = rendered(call(*messages, parameters=json.dumps(parameters), system=(ChatSystem(content="Be kind."),), tools=tools))
    assert body == {
        "model": "m",
        "instructions": "Be kind.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "see"}, {"type": "input_image", "image_url": "sha256:" + "a" * 64}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I go."}]},
            {"type": "function_call", "call_id": "c1", "name": "go", "arguments": "{}"},
            {"type": "custom_tool_call", "call_id": "x", "name": "raw", "input": "text"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
            {"type": "custom_tool_call_output", "call_id": "x", "output": "done"},
        ],
        "tools": [
            {"type": "function", "strict": False, "description": "d", "name": "go", "parameters": {"type": "object"}},
            {"type": "web_search"},
        ],
        "max_output_tokens": 9,
        "parallel_tool_calls": False,
        "reasoning": {"effort": "low"},
        "seed": 1,
        "stream": True,
        "temperature": 0,
        "text": {"format": {"type": "json_schema", "name": "s", "schema": {}}},
        "tool_choice": {"type": "function", "name": "go"},
    }


def test_several_system_messages_and_a_developers_stay_in_the_input() -> None:
    body = rendered(call(ChatUser(content="hi"), system=(ChatSystem(content="a"), ChatDeveloper(content="b"))))
    assert "instructions" not in body
    assert [item["role"] for item in body["input"]] == ["system", "developer", "user"]


@pytest.mark.parametrize("name", ["input", "instructions", "tools", "messages"])
def test_parameters_may_not_replace_what_the_harness_sends(name: str) -> None:
    with pytest.raises(ConfigurationError, match=name):
        rendered(call(ChatUser(content="hi"), parameters=json.dumps({name: []})))


# ---------------------------------------------------------------- endings and damage


@pytest.mark.conformance("94", "97a")
@pytest.mark.parametrize(
    ("fields", "reason", "raw"),
    [
        pytest.param({"status": "completed"}, FinishReason.TOOL_CALLS, "tool_calls", id="completed"),
        pytest.param({"status": "complete"}, FinishReason.TOOL_CALLS, "tool_calls", id="complete"),
        pytest.param({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, FinishReason.LENGTH, "length", id="max-output-tokens"),
        pytest.param({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, FinishReason.CONTENT_FILTER, "content_filter", id="filtered"),
        pytest.param({"status": "incomplete", "incomplete_details": {"reason": "a new one"}}, FinishReason.ABORTED, "aborted", id="incomplete-for-an-unknown-reason"),
        pytest.param({"status": "incomplete"}, FinishReason.ABORTED, "aborted", id="incomplete-without-a-reason"),
        pytest.param({"status": "cancelled"}, FinishReason.ABORTED, "aborted", id="cancelled"),
        pytest.param({"status": None}, None, None, id="no-status"),
    ],
)  # fmt: skip
def test_each_ending_is_told_apart(fields: dict[str, Any], reason: FinishReason | None, raw: str | None) -> None:
    answer = parse_response({"output": [MESSAGE, CALL], **fields})
    assert (answer.finish_reason, answer.raw_finish_reason) == (reason, raw)


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        pytest.param({"status": "queued", "output": []}, "DAMAGED_RESPONSE", "not finished", id="queued"),
        pytest.param({"status": "completed"}, "DAMAGED_RESPONSE", "output", id="no-output"),
        pytest.param({"status": "completed", "output": [7]}, "DAMAGED_RESPONSE", "output[0]", id="an-item-of-a-number"),
        pytest.param({"choices": []}, "DAMAGED_RESPONSE", "output", id="a-chat-completion"),
        pytest.param(completed({**CALL, "status": "incomplete"}), "DAMAGED_RESPONSE", "incomplete call", id="a-cut-call"),
        pytest.param({"status": "failed", "error": {"code": "server_error", "message": "sorry"}}, "SERVER", "sorry", id="failed"),
        pytest.param({"status": "failed", "error": None, "output": []}, "UNKNOWN", "does not say why", id="failed-without-a-word"),
        pytest.param({"error": {"code": "rate_limit_exceeded", "message": "slow"}}, "RATE_LIMIT", "slow", id="error-in-place"),
    ],
)  # fmt: skip
def test_what_is_no_finished_response_is_a_failure(body: Any, code: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_response(body)
    assert (caught.value.code, words in str(caught.value)) == (code, True)


def added(index: int, item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text(piece: str, index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": index, "content_index": 0, "delta": piece}


def arguments(piece: str, index: int = 0) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece}


def closed(*items: Any, kind: str = "completed", **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"status": kind, "output": list(items), **fields}}


BEGUN = {**CALL, "arguments": "", "status": "in_progress"}


@pytest.mark.parametrize(
    ("events", "code", "words"),
    [
        pytest.param([text("Let us see."), closed(MESSAGE)], "DAMAGED_RESPONSE", "streamed as another text", id="another-text-at-the-end"),
        pytest.param([text("Let me"), done(0, {**MESSAGE, "content": []}), closed()], "DAMAGED_RESPONSE", "the text", id="text-that-the-end-lacks"),
        pytest.param([added(0, BEGUN), arguments('{"a":1}'), closed(CALL)], "DAMAGED_RESPONSE", "another arguments", id="other-arguments"),
        pytest.param([added(0, BEGUN), closed(MESSAGE)], "DAMAGED_RESPONSE", "the calls", id="a-call-that-the-end-lacks"),
        pytest.param([text("Let me"), closed()], "DAMAGED_RESPONSE", "not finished", id="closed-in-the-middle-of-an-item"),
        pytest.param([arguments("{}", 3)], "DAMAGED_RESPONSE", "no call", id="arguments-of-nothing"),
        pytest.param([{**text("x"), "delta": 7}], "DAMAGED_RESPONSE", "delta", id="a-delta-of-a-number"),
        pytest.param([{**text("x"), "output_index": -1}], "DAMAGED_RESPONSE", "output_index", id="an-index-below-zero"),
        pytest.param([added(0, 7)], "DAMAGED_RESPONSE", "item", id="an-item-of-a-number"),
        pytest.param([{"type": "response.completed", "response": 7}], "DAMAGED_RESPONSE", "response", id="a-response-of-a-number"),
        pytest.param([text("x"), {"type": "error", "code": "server_error", "message": "it broke"}], "SERVER", "it broke", id="an-error-event"),
        pytest.param([{"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}], "INVALID_REQUEST", "bad", id="an-error-object"),
        pytest.param([closed(kind="failed", error={"code": "rate_limit_exceeded", "message": "slow"})], "RATE_LIMIT", "slow", id="failed"),
        pytest.param([closed(kind="failed", error={"code": "invalid_prompt", "type": "invalid_request_error", "message": "no"})], "INVALID_REQUEST", "no", id="failed-by-the-request"),
    ],
)  # fmt: skip
def test_a_stream_that_contradicts_itself_or_fails_is_no_answer(events: list[Any], code: str, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        stream(*events)
    assert (caught.value.code, words in str(caught.value)) == (code, True), str(caught.value)


@pytest.mark.parametrize("frame", ["no json", "[1]", '{"type":7}' * 2])
def test_an_event_that_is_no_object_is_damage(frame: str) -> None:
    with pytest.raises(ModelError) as caught:
        list(ResponsesStream().feed(f"data: {frame}\n\n".encode()))
    assert caught.value.code == "DAMAGED_RESPONSE"


def test_what_was_not_streamed_is_told_at_the_end_of_its_item() -> None:
    answer, chunks = stream(added(0, {**MESSAGE, "content": []}), text("Let"), done(0, MESSAGE), done(1, CALL), closed(MESSAGE, CALL))
    assert (answer.content, len(answer.calls)) == ("Let me see.", 1)
    assert assembled(chunks).content == "Let me see."


def test_a_closing_response_without_its_output_takes_the_items_that_ended() -> None:
    answer, _ = stream(text("Let me see."), done(0, MESSAGE), closed())
    assert answer.content == "Let me see."
    assert answer.notes == ("the closing response held no output: the finished items of the stream were taken",)


@pytest.mark.conformance("148")
def test_a_character_that_was_split_over_two_deltas_comes_out_whole() -> None:
    sun = {**MESSAGE, "content": [{"type": "output_text", "text": "🌞"}]}
    answer, chunks = stream(text("\ud83c"), text("\udf1e"), done(0, sun), closed(sun))
    assert (answer.content, assembled(chunks).content) == ("🌞", "🌞")


def test_messages_and_summaries_are_joined_alike_whole_and_streamed() -> None:
    other = {**MESSAGE, "id": "msg_2"}
    thoughts = {**REASONING, "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]}
    answer, _ = stream(done(0, thoughts), done(1, MESSAGE), done(2, other), closed(thoughts, MESSAGE, other))
    assert (answer.content, answer.reasoning) == ("Let me see.\n\nLet me see.", "one\n\ntwo")
    assert answer == parse_response(completed(thoughts, MESSAGE, other))


def test_a_refusal_is_read_whole_and_streamed() -> None:
    no = {**MESSAGE, "content": [{"type": "refusal", "refusal": "I cannot."}]}
    piece = {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I can"}
    answer, chunks = stream(piece, done(0, no), closed(no))
    assert (answer.refusal, answer.content, assembled(chunks).refusal) == ("I cannot.", None, "I cannot.")


# ---------------------------------------------------------------- servers that send no index


def without_index(event: Any) -> Any:
    return {key: value for key, value in event.items() if key not in ("output_index", "content_index", "sequence_number")}


def as_llama_cpp_does(call_id_only: bool) -> list[Any]:
    """Items by id only; older servers know a call by its call_id alone."""
    begun = {key: value for key, value in BEGUN.items() if key != "id"} | {"call_id": "fc_1"} if call_id_only else BEGUN
    ended = CALL | {"call_id": "fc_1"} if call_id_only else CALL
    second = {**begun, "call_id": "fc_2"} | ({} if call_id_only else {"id": "fc_2"})
    thoughts = {"type": "reasoning", "id": "rs_1", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}], "encrypted_content": ""}
    done_second = {**ended, "call_id": "fc_2", "id": "fc_2", "arguments": '{"a":1}'}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "item": {**thoughts, "content": []}},
        {"type": "response.reasoning_text.delta", "item_id": "rs_1", "delta": "hm"},
        {"type": "response.output_item.added", "item": {**MESSAGE, "content": []}},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "Let me "},
        {"type": "response.output_text.delta", "item_id": "msg_1", "delta": "see."},
        {"type": "response.output_item.added", "item": begun},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{}"},
        {"type": "response.output_item.added", "item": second},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_2", "delta": '{"a":'},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_2", "delta": "1}"},
        *({"type": "response.output_item.done", "item": one} for one in (thoughts, MESSAGE, ended, done_second)),
        closed(thoughts, MESSAGE, ended, done_second),
    ]


@pytest.mark.parametrize("call_id_only", [True, False], ids=["older", "newer"])
def test_items_without_an_index_are_told_apart_by_their_ids(call_id_only: bool) -> None:
    events = as_llama_cpp_does(call_id_only)
    answer, chunks = stream(*events)
    assert (answer.content, answer.reasoning) == ("Let me see.", "hm")
    assert [(one.name, one.arguments) for one in answer.calls] == [("go", "{}"), ("go", '{"a":1}')]
    assert [(one.name, one.arguments) for one in assembled(chunks).calls] == [("go", "{}"), ("go", '{"a":1}')]
    assert answer.notes == ("events without an output_index were placed by their ids",)
    assert without_items(answer).calls == parse_response(events[-1]["response"]).calls


@given(answers(), CUTS)
def test_a_stream_without_indexes_is_the_same_answer(answer: Answer, cut: tuple[ChunkCut, int]) -> None:
    events = [json.loads(one) for one in render_response_events(answer, id="r", model="m", cut=cut[0], every=cut[1])]
    ids = [call.wire_id for call in answer.calls]
    if len(set(ids)) < len(ids):
        return  # ids that do not tell items apart are damage, as the next test says
    found, _ = stream(*map(without_index, events))
    assert replace(found, notes=()) == parse_response(events[-1]["response"])


def test_an_event_without_index_and_id_belongs_to_the_item_before() -> None:
    delta = {"type": "response.output_text.delta", "delta": "Let me see."}
    answer, _ = stream({"type": "response.output_item.added", "item": {**MESSAGE, "content": []}}, delta, closed(MESSAGE))
    assert answer.content == "Let me see."


def test_two_items_under_one_id_are_damage() -> None:
    other = {**CALL, "name": "stop"}
    with pytest.raises(ModelError) as caught:
        stream(*({"type": "response.output_item.done", "item": one} for one in (CALL, other)), closed(CALL, other))
    assert caught.value.code == "DAMAGED_RESPONSE"


def test_usage_of_a_response_that_is_no_count_is_told() -> None:
    body = {"status": "completed", "output": [], "usage": {"input_tokens": -1, "output_tokens_details": {"reasoning_tokens": "2"}}}
    assert NO_COUNT.format("input_tokens, output_tokens_details.reasoning_tokens") in parse_response(body).notes
