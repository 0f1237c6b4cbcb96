"""Whatever a server sends, an answer or an error of ours comes out, whole and streamed, in both dialects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.models.strict import damage_of
from harness.types.doors import Answer
from harness.types.model_spec import ModelApi
from harness.wire.chat import parse_completion
from harness.wire.responses import ResponsesStream, parse_response
from harness.wire.streams import AnswerStream, ChatStream
from tests.models.bodies import answered, spec

SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.floats(allow_nan=True) | st.sampled_from(["", "x", "\ud83c", "c1", "{}", "stop"])
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "type", "text", "name", "function", "arguments"]), inner, max_size=3), max_leaves=6)


def mapping(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Fields of the right names, of which any may be missing or hold anything."""
    fields = {name: found | VALUES for name, found in (required | optional).items()}
    return st.fixed_dictionaries({}, optional=fields)


FUNCTION = mapping({"name": st.just("go")}, {"arguments": st.sampled_from(["", "{", "}", "{}"])})
CALL = mapping({"index": st.integers(0, 2)}, {"id": st.sampled_from(["c1", "c2", ""]), "type": st.just("function"), "function": FUNCTION, "custom": FUNCTION})
DELTA = mapping({"content": st.just("x")}, {"tool_calls": st.lists(CALL, max_size=2), "refusal": st.just("no"), "reasoning": st.just("hm"), "function_call": FUNCTION})
CHOICE = mapping({"index": st.just(0), "delta": DELTA}, {"finish_reason": st.sampled_from([None, "", "stop", "length"]), "message": DELTA})
CHUNK = mapping({"choices": st.lists(CHOICE, max_size=2)}, {"usage": mapping({"prompt_tokens": st.integers(0, 9)}, {}), "error": mapping({"message": st.just("no")}, {"code": st.integers(400, 599)})})

PART = mapping({"type": st.sampled_from(["output_text", "refusal", "reasoning_text"])}, {"text": st.just("x"), "refusal": st.just("no")})
ITEM = mapping(
    {"type": st.sampled_from(["message", "reasoning", "function_call", "custom_tool_call", "web_search_call"])},
    {"id": st.sampled_from(["i1", "i2"]), "call_id": st.sampled_from(["c1", "c2"]), "name": st.just("go"), "arguments": st.just("{}"), "input": st.just("x"), "content": st.lists(PART, max_size=2), "summary": st.lists(PART, max_size=2), "status": st.sampled_from(["completed", "incomplete"])},
)  # fmt: skip
RESPONSE = mapping(
    {"status": st.sampled_from(["completed", "incomplete", "failed", "queued"]), "output": st.lists(ITEM, max_size=2)},
    {"usage": mapping({"output_tokens": st.integers(0, 9)}, {"input_tokens_details": VALUES}), "error": VALUES, "incomplete_details": mapping({"reason": st.just("max_output_tokens")}, {}), "id": st.just("r")},
)  # fmt: skip
KINDS = [
    "response.created", "response.output_item.added", "response.output_item.done", "response.output_text.delta", "response.refusal.delta",
    "response.reasoning_summary_text.delta", "response.function_call_arguments.delta", "response.custom_tool_call_input.delta",
    "response.completed", "response.incomplete", "response.failed", "error", "other",
]  # fmt: skip
EVENT = mapping(
    {"type": st.sampled_from(KINDS)},
    {"output_index": st.integers(0, 2), "item_id": st.sampled_from(["i1", "i2"]), "delta": st.just("x"), "item": ITEM, "response": RESPONSE, "content_index": st.integers(0, 1), "error": VALUES},
)  # fmt: skip


def frame(value: Any) -> bytes:
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


BODIES = {
    ModelApi.CHAT: st.lists(CHUNK | VALUES | st.just(b"[DONE]") | st.binary(max_size=6), max_size=5).map(lambda many: b"".join(map(frame, many))),
    ModelApi.RESPONSES: st.lists(EVENT | VALUES | st.just(b"[DONE]") | st.binary(max_size=6), max_size=6).map(lambda many: b"".join(map(frame, many))),
}


def judged(reader: AnswerStream, body: bytes) -> Answer | None:
    try:
        for chunk in reader.feed(body):
            chunk.encode()  # a chunk can be written, whatever came
        answer = reader.answer()
    except ModelError:
        return None
    damage_of(answer)
    return answer


@given(BODIES[ModelApi.CHAT])
def test_no_chat_stream_lets_anything_but_our_errors_out(body: bytes) -> None:
    judged(ChatStream(), body)


@given(BODIES[ModelApi.RESPONSES])
def test_no_responses_stream_lets_anything_but_our_errors_out(body: bytes) -> None:
    answer = judged(ResponsesStream(), body)
    if answer is not None and answer.finish_reason is not None:
        assert b"response." in body


@given(RESPONSE | VALUES, CHUNK | VALUES)
def test_no_whole_body_lets_anything_but_our_errors_out(response: Any, completion: Any) -> None:
    for parse, body in ((parse_response, response), (parse_completion, completion)):
        try:
            damage_of(parse(json.dumps(body)))  # type: ignore[operator]
        except ModelError:
            continue


@settings(max_examples=60)
@given(st.sampled_from(list(ModelApi)).flatmap(lambda api: st.tuples(st.just(api), BODIES[api])), st.sampled_from(["text/event-stream", "application/json", "text/plain", "", None]))
def test_no_body_of_any_type_lets_anything_but_our_errors_out_of_an_adapter(sent: tuple[ModelApi, bytes], kind: str | None) -> None:
    api, body = sent
    try:
        answer = answered(body, spec(api), kind=kind)
    except ModelError:
        return
    assert answer.finish_reason is not None


@pytest.mark.parametrize("api", list(ModelApi))
def test_the_generated_bodies_hold_answers_too(api: ModelApi) -> None:
    """So that the properties above are about more than damage."""
    good = {ModelApi.CHAT: {"choices": [{"delta": {"content": "x"}, "finish_reason": "stop"}]}, ModelApi.RESPONSES: {"type": "response.completed", "response": {"status": "completed", "output": []}}}
    reader: AnswerStream = ChatStream() if api is ModelApi.CHAT else ResponsesStream()
    assert judged(reader, frame(good[api])) is not None
