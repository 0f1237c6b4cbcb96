"""Answers of Chat Completions: real oddities are read as they came, damage is told apart."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.types.codes import Code, FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.jsontext import clean_text
from harness.types.messages import OtherPart, TextPart
from harness.types.reasons import Usage
from harness.wire.chat import assembled, finish_reason, parse_completion, render_completion, visible_text
from harness.wire.completions import NO_COUNT, NO_USAGE

# As a llama.cpp server with a real model answered (shortened by its timings).
LOCAL_TWO_CALLS = (
    '{"choices":[{"finish_reason":"tool_calls","index":0,"message":{"role":"assistant","content":"","tool_calls":['
    '{"type":"function","function":{"name":"get_weather","arguments":"{\\"city\\": \\"Oslo\\"}"},"id":"tGeAtBWL"},'
    '{"type":"function","function":{"name":"get_weather","arguments":"{\\"city\\": \\"Lima\\"}"},"id":"GxoX3lhy"}]}}],'
    '"created":1796005220,"model":"local-model","system_fingerprint":"b0-unknown","object":"chat.completion",'
    '"usage":{"completion_tokens":44,"prompt_tokens":222,"total_tokens":266,"prompt_tokens_details":{"cached_tokens":212}},'
    '"id":"chatcmpl-tpav","timings":{"cache_n":212}}'
)


def completion(message: dict[str, Any], **choice: Any) -> bytes:
    """A body with one choice; `finish_reason` is stop unless given."""
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"} | choice]}).encode()


def calls(*raw: Any) -> bytes:
    return completion({"content": None, "tool_calls": list(raw)})


def call(arguments: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": "go", "arguments": arguments}} | fields


def test_two_parallel_calls_of_a_real_server_are_read_with_usage_and_fingerprint() -> None:
    answer = parse_completion(LOCAL_TWO_CALLS)
    assert answer == Answer(
        content="",
        calls=(
            AnsweredCall("get_weather", '{"city": "Oslo"}', "tGeAtBWL"),
            AnsweredCall("get_weather", '{"city": "Lima"}', "GxoX3lhy"),
        ),
        finish_reason=FinishReason.TOOL_CALLS,
        raw_finish_reason="tool_calls",
        model="local-model",
        fingerprint="b0-unknown",
        usage=Usage(input_tokens=222, output_tokens=44, cached_tokens=212),
    )


@pytest.mark.conformance("97a", "98")
@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        pytest.param("stop", FinishReason.STOP, id="stop"),
        pytest.param("eos", FinishReason.STOP, id="together"),
        pytest.param("tool_calls", FinishReason.TOOL_CALLS, id="calls"),
        pytest.param("function_call", FinishReason.TOOL_CALLS, id="legacy"),
        pytest.param("length", FinishReason.LENGTH, id="length"),
        pytest.param("content_filter", FinishReason.CONTENT_FILTER, id="filter"),
        pytest.param("error", FinishReason.ERROR, id="error"),
        pytest.param("aborted", FinishReason.ABORTED, id="aborted"),
        pytest.param("cancelled", FinishReason.ABORTED, id="cancelled"),
        pytest.param("whatever", FinishReason.OTHER, id="unknown"),
        pytest.param("", None, id="empty"),
        pytest.param(None, None, id="null"),
    ],
)
def test_a_finish_reason_is_normalised_and_kept_raw(raw: str | None, expected: FinishReason | None) -> None:
    answer = parse_completion(completion({"content": "x"}, finish_reason=raw))
    assert (answer.finish_reason, answer.raw_finish_reason) == (expected, raw)


def test_an_absent_finish_reason_is_none() -> None:
    answer = parse_completion(b'{"choices":[{"message":{"content":"x"}}]}')
    assert (answer.finish_reason, answer.raw_finish_reason) == (None, None)


@pytest.mark.public_case("PB-003")
@pytest.mark.conformance("33")
@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"id": ""}, "", id="empty"),
        pytest.param({"id": None}, None, id="null"),
        pytest.param({"id": 7}, "7", id="number"),
        pytest.param({"id": "llm:0"}, "llm:0", id="odd-shape"),
    ],
)
def test_a_call_id_is_read_as_it_came(fields: dict[str, Any], expected: str | None) -> None:
    assert parse_completion(calls(call("{}", **fields))).calls[0].wire_id == expected


@pytest.mark.public_case("PB-003")
def test_an_absent_call_id_is_none() -> None:
    raw = call("{}")
    del raw["id"]
    assert parse_completion(calls(raw)).calls[0].wire_id is None


@pytest.mark.public_case("PB-001")
def test_two_calls_under_one_id_stay_two_calls() -> None:
    answer = parse_completion(calls(call('{"path":"a"}'), call('{"path":"b"}')))
    assert [(made.wire_id, made.arguments) for made in answer.calls] == [("c1", '{"path":"a"}'), ("c1", '{"path":"b"}')]


@pytest.mark.public_case("PB-011", "PB-012", "PB-013", "PB-014", "PB-019")
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("  ", "  ", id="blanks"),
        pytest.param(None, None, id="null"),
        pytest.param('{"a":1,"b":2}}', '{"a":1,"b":2}}', id="malformed"),
        pytest.param('{"r":NaN}', '{"r":NaN}', id="nan-text"),
        pytest.param('{"id":9007199254740993}', '{"id":9007199254740993}', id="beyond-2-53"),
        pytest.param('{"path":"y","content":"abc', '{"path":"y","content":"abc', id="cut"),
        pytest.param({"b": 1, "a": "é"}, '{"a":"é","b":1}', id="object"),
        pytest.param({"id": 9007199254740993}, '{"id":9007199254740993}', id="object-beyond-2-53"),
    ],
)
def test_arguments_stay_the_text_that_came(sent: Any, expected: str | None) -> None:
    assert parse_completion(calls(call(sent))).calls[0].arguments == expected


@pytest.mark.public_case("PB-015")
def test_a_lone_surrogate_becomes_the_replacement_character() -> None:
    body = b'{"choices":[{"message":{"content":"x\\ud83d","tool_calls":[{"id":"c\\uDe00"}]},"finish_reason":"stop"}]}'
    answer = parse_completion(body)
    assert answer.content == "x\ufffd"
    assert answer.calls[0].wire_id == "c\ufffd"


def test_an_escaped_surrogate_inside_arguments_stays_an_escape() -> None:
    assert parse_completion(calls(call('{"t":"x\\ud83d"}'))).calls[0].arguments == '{"t":"x\\ud83d"}'


@pytest.mark.public_case("PB-017")
def test_content_in_parts_is_kept_and_only_its_text_is_visible() -> None:
    parts = [
        {"type": "text", "text": "Step "},
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "one"},
    ]
    answer = parse_completion(completion({"content": parts}))
    thinking = OtherPart(json='{"thinking":"hmm","type":"thinking"}')  # type: ignore[arg-type]
    assert answer.content == (TextPart(text="Step "), thinking, TextPart(text="one"))
    assert visible_text(answer.content) == "Step one"


@pytest.mark.public_case("PB-018")
def test_an_empty_list_of_calls_is_no_call_whatever_the_reason_says() -> None:
    answer = parse_completion(completion({"content": "", "tool_calls": []}, finish_reason="tool_calls"))
    assert answer.calls == ()
    assert answer.finish_reason is FinishReason.TOOL_CALLS


def test_a_legacy_function_call_is_a_call_without_id() -> None:
    body = completion(
        {"content": None, "function_call": {"name": "go", "arguments": "{}"}}, finish_reason="function_call"
    )
    assert parse_completion(body).calls == (AnsweredCall("go", "{}"),)


def test_a_custom_call_keeps_its_type_and_input() -> None:
    body = calls({"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}})
    assert parse_completion(body).calls == (AnsweredCall("sql", "select 1", "c1", "custom"),)


def test_a_call_of_an_unknown_type_is_kept_whole_and_has_no_name() -> None:
    made = parse_completion(calls({"id": "c1", "type": "web", "query": "x"})).calls[0]
    assert (made.name, made.type, json.loads(made.arguments or "")["query"]) == (None, "web", "x")


def test_of_several_choices_the_first_is_taken_and_that_is_noted() -> None:
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"} for text in ("one", "two")]}
    answer = parse_completion(body)
    assert answer.content == "one"
    assert answer.notes == ("the first of 2 choices was taken",)


@pytest.mark.parametrize(
    ("message", "reasoning"),
    [
        pytest.param({"content": "x", "reasoning_content": "a"}, "a", id="deepseek"),
        pytest.param({"content": "x", "reasoning": "b"}, "b", id="openrouter"),
        pytest.param({"content": "x", "thinking": "c"}, "c", id="ollama"),
        pytest.param({"content": "x", "reasoning": None}, None, id="null"),
    ],
)
def test_reasoning_is_found_under_the_words_in_use(message: dict[str, Any], reasoning: str | None) -> None:
    assert parse_completion(completion(message)).reasoning == reasoning


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(None, None, id="null"),
        pytest.param({"prompt_tokens": 3, "completion_tokens": True}, Usage(input_tokens=3), id="no-boolean"),
        pytest.param({"prompt_tokens": 3.0, "completion_tokens": -1}, Usage(input_tokens=3), id="whole-float"),
        pytest.param(
            {"completion_tokens_details": {"reasoning_tokens": 5}, "cost": 0.0123456},
            Usage(reasoning_tokens=5, cost_micro_usd=12346),
            id="details",
        ),
    ],
)
def test_usage_holds_whole_numbers_only(usage: Any, expected: Usage | None) -> None:
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    assert parse_completion(body).usage == expected


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        pytest.param("many", NO_USAGE, id="text"),
        pytest.param([3], NO_USAGE, id="list"),
        pytest.param({"prompt_tokens": "3", "completion_tokens": -1}, NO_COUNT.format("prompt_tokens, completion_tokens"), id="no-counts"),
        pytest.param({"prompt_tokens": 10**30}, NO_COUNT.format("prompt_tokens"), id="huge"),
        pytest.param({"prompt_tokens_details": {"cached_tokens": 0.5}}, NO_COUNT.format("prompt_tokens_details.cached_tokens"), id="inside"),
        pytest.param({"cost": -0.5}, NO_COUNT.format("cost"), id="a-price-below-nothing"),
    ],
)
def test_usage_that_is_none_is_told_whole_and_streamed(usage: Any, told: str) -> None:
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    assert parse_completion(body).notes == (told,)
    chunk = {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    assert assembled([chunk]).notes == (told,)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": 3, "completion_tokens": None, "prompt_tokens_details": None}, {"prompt_tokens": 3.0}])
def test_usage_that_is_one_or_is_left_out_is_not_told(usage: Any) -> None:
    body = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage}
    assert parse_completion(body).notes == ()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
@pytest.mark.parametrize("place", ['"usage":{"prompt_tokens":%s}', '"logprobs":[%s]', '"x":{"y":%s}'])
def test_a_body_with_a_number_that_json_does_not_have_is_no_answer_whole_or_streamed(number: str, place: str) -> None:
    whole = '{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],' + place % number + "}"
    chunk = '{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}],' + place % number + "}"
    for read in (parse_completion, lambda text: assembled([text])):
        with pytest.raises(ModelError, match="is not JSON") as caught:
            read(whole if read is parse_completion else chunk)
        assert caught.value.code is Code.DAMAGED_RESPONSE


@pytest.mark.conformance("149")
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"Hello there", id="plain-text"),
        pytest.param(b"[]", id="no-object"),
        pytest.param(b"{}", id="no-choices"),
        pytest.param(b'{"choices": []}', id="empty-choices"),
        pytest.param(b'{"choices": {}}', id="choices-no-array"),
        pytest.param(b'{"choices": [{}]}', id="no-message"),
        pytest.param(b'{"choices": [7]}', id="choice-no-object"),
        pytest.param(b'{"choices": [{"message": {"content": 7}}]}', id="content-number"),
        pytest.param(b'{"choices": [{"message": {"tool_calls": {}}}]}', id="calls-no-array"),
        pytest.param(b'{"choices": [{"message": {"tool_calls": [7]}}]}', id="call-no-object"),
        pytest.param(b'{"choices": [{"message": {"content": "x"', id="cut"),
        pytest.param(b'{"choices": "\xff"}', id="not-utf-8"),
        pytest.param(b"[" * 100_000, id="bottomless"),
    ],
)
def test_what_is_no_completion_is_a_damaged_response(body: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        parse_completion(body)
    assert caught.value.code == "DAMAGED_RESPONSE"
    assert str(caught.value)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param({"code": 429, "message": "slow down"}, "RATE_LIMIT", id="status-inside"),
        pytest.param({"code": 400, "message": "bad"}, "INVALID_REQUEST", id="400-inside"),
        pytest.param({"message": "no", "type": "server_error"}, "SERVER", id="type"),
        pytest.param({"message": "no", "code": "tool_use_failed"}, "INVALID_REQUEST", id="groq"),
        pytest.param("something broke", "UNKNOWN", id="text"),
    ],
)
def test_an_error_object_in_a_200_has_its_own_code(error: Any, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_completion({"error": error})
    assert caught.value.code == code


# ---------------------------------------------------------------- law

texts = st.text(max_size=20).map(clean_text)
maybe = st.none() | texts.filter(bool)
made_calls = st.builds(
    AnsweredCall,
    name=st.none() | texts,
    arguments=st.none() | texts,
    wire_id=st.none() | texts,
    type=st.sampled_from([None, "custom"]),
)
counts = st.none() | st.integers(0, 2**53)
words = st.sampled_from([None, "", "stop", "tool_calls", "length", "eos", "strange"])


@st.composite
def answers(draw: st.DrawFn) -> Answer:
    word = draw(words)
    usage = draw(st.none() | st.builds(Usage, counts, counts, counts, counts, st.none() | st.integers(0, 10**12)))
    return Answer(
        content=draw(st.none() | texts | st.tuples(st.builds(TextPart, text=texts))),
        calls=tuple(draw(st.lists(made_calls, max_size=3))),
        reasoning=draw(maybe),
        refusal=draw(maybe),
        finish_reason=finish_reason(word),
        raw_finish_reason=word,
        model=draw(texts.filter(bool)),
        fingerprint=draw(maybe),
        usage=usage,
    )


@given(answers())
def test_reading_a_rendered_answer_gives_it_back(answer: Answer) -> None:
    body = json.dumps(render_completion(answer, id="chatcmpl-1", model="unused"))
    assert parse_completion(body) == answer
