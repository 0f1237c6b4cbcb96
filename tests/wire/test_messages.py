"""Messages and requests of Chat Completions: nothing is lost on the way in and out."""

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ConfigurationError, ModelError
from harness.types.doors import ModelCall
from harness.types.jsontext import canonical_json, clean_text
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
)
from harness.wire.chat import (
    call_of,
    message_from_wire,
    message_to_wire,
    parse_request,
    parse_tools,
    render_request,
    render_tools,
    with_parameters,
)

WEATHER = {"name": "weather", "description": "d", "parameters": {"type": "object"}}


def test_an_assistant_message_with_calls_only_is_sent_with_null_content() -> None:
    message = ChatAssistant(tool_calls=(ChatCall("c1", "go", "{}"),))
    assert message_to_wire(message) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "go", "arguments": "{}"}}],
    }


def test_unknown_fields_are_kept_and_sent_again() -> None:
    raw = {"role": "user", "content": "x", "name": "ann", "annotations": [1.0, None]}
    message = message_from_wire(raw)
    assert message == ChatUser(content="x", extra=JsonText('{"annotations":[1.0,null],"name":"ann"}'))
    assert message_to_wire(message) == raw


def test_what_a_client_dumps_comes_back_with_its_nulls() -> None:
    raw = {
        "role": "assistant",
        "content": "x",
        "refusal": None,
        "tool_calls": None,
        "audio": None,
        "function_call": None,
    }
    assert message_to_wire(message_from_wire(raw)) == raw


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}, id="plain"),
        pytest.param({"id": "c", "type": "function", "function": {"name": "f", "arguments": {"a": 1}}}, id="object"),
        pytest.param({"id": "c", "type": "function", "function": {"name": "f", "arguments": None}}, id="null"),
        pytest.param({"id": None, "type": "function", "function": {"name": "f", "arguments": "{}"}}, id="null-id"),
        pytest.param({"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}, id="custom"),
        pytest.param(
            {"id": "c", "type": "function", "index": 0, "function": {"name": "f", "arguments": "{}", "x": 1}}, id="more"
        ),
        pytest.param({"id": "c", "type": "web", "query": "x"}, id="unknown-type"),
    ],
)
def test_a_call_in_a_history_comes_back_as_it_was(call: dict[str, Any]) -> None:
    raw = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert message_to_wire(message_from_wire(raw)) == raw


def test_an_image_is_kept_by_the_digest_of_its_bytes() -> None:
    data = base64.b64encode(b"pixels").decode()
    raw = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}]}
    message = message_from_wire(raw)
    digest = hashlib.sha256(b"pixels").hexdigest()
    assert message == ChatUser(content=(ImagePart(digest=digest, media_type="image/png"),))
    assert data not in json.dumps(message_to_wire(message))
    assert message_from_wire(message_to_wire(message)) == ChatUser(content=(ImagePart(digest=digest),))


@pytest.mark.public_case("PB-015")
def test_a_lone_surrogate_in_a_message_becomes_the_replacement_character() -> None:
    message = message_from_wire({"role": "tool", "tool_call_id": "c", "content": "x\ud83d", "k\udc00": ["\udc00"]})
    assert message == ChatTool(call_id="c", content="x\ufffd", extra=JsonText('{"k\ufffd":["\ufffd"]}'))


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        pytest.param({"content": "x"}, "message.role", id="no-role"),
        pytest.param({"role": "robot", "content": "x"}, "message.role", id="unknown-role"),
        pytest.param({"role": "user", "content": 7}, "message.content", id="content-number"),
        pytest.param({"role": "assistant", "tool_calls": "x"}, "message.tool_calls", id="calls-text"),
        pytest.param({"role": "assistant", "tool_calls": ["x"]}, "message.tool_calls[0]", id="call-text"),
        pytest.param(["user"], "message", id="no-object"),
    ],
)
def test_a_message_of_the_wrong_shape_is_refused_by_its_place(raw: Any, place: str) -> None:
    with pytest.raises(ModelError) as caught:
        message_from_wire(raw)
    assert caught.value.code == "INVALID_REQUEST"
    assert str(caught.value).startswith(f"{place}:")


def test_leading_system_and_developer_messages_stand_before_the_history_and_later_ones_stay() -> None:
    roles = ["system", "developer", "user", "system"]
    body = {"model": "m", "messages": [{"role": role, "content": role} for role in roles], "temperature": 0}
    request = parse_request(json.dumps(body).encode())
    assert request.system == (ChatSystem(content="system"), ChatDeveloper(content="developer"))
    assert list(request.messages) == [ChatUser(content="user"), ChatSystem(content="system")]
    assert (request.model, request.tools, request.parameters, request.stream) == ("m", "[]", '{"temperature":0}', False)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        pytest.param({"messages": []}, "model", id="no-model"),
        pytest.param({"model": "m"}, "messages", id="no-messages"),
        pytest.param({"model": "m", "messages": [7]}, "messages[0]", id="no-object"),
        pytest.param({"model": "m", "messages": [], "tools": {}}, "tools", id="tools-no-array"),
        pytest.param({"model": "m", "messages": [], "tools": [7]}, "tools[0]", id="tool-no-object"),
        pytest.param({"model": "m", "messages": [], "top_p": float("nan")}, "body", id="nan"),
    ],
)
def test_a_request_of_the_wrong_shape_is_refused_by_its_place(body: dict[str, Any], place: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_request(body)
    assert caught.value.code == "INVALID_REQUEST"
    assert str(caught.value).startswith(f"{place}:")


def call_with(parameters: str, *, tools: str = "[]") -> ModelCall:
    messages = Messages.of([ChatUser(content="hi")])
    return ModelCall((ChatSystem(content="be brief"),), messages, JsonText(tools), JsonText(parameters))


def test_a_request_has_a_fixed_order_of_keys_and_no_tools_where_none_are_offered() -> None:
    body = render_request(call_with('{"top_p":1,"seed":7}'), "m")
    assert list(body) == ["model", "messages", "seed", "top_p"]
    tools = JsonText(canonical_json([WEATHER]))
    assert list(render_request(call_with("{}", tools=tools), "m")) == ["model", "messages", "tools"]


def test_a_model_among_the_parameters_goes_before_the_adapters_own() -> None:
    assert render_request(call_with('{"model":"theirs"}'), "ours")["model"] == "theirs"


@pytest.mark.parametrize("key", ["messages", "tools"])
def test_parameters_may_not_replace_what_the_model_is_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match=key):
        render_request(call_with(json.dumps({key: []})), "m")


def test_the_calls_own_parameters_go_before_the_defaults() -> None:
    call = with_parameters(call_with('{"seed":1}'), JsonText('{"seed":2,"top_p":0.5}'))
    assert call.parameters == '{"seed":1,"top_p":0.5}'
    assert with_parameters(call, JsonText("{}")) is call


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param([{"type": "function", "function": WEATHER}], id="plain"),
        pytest.param([{"type": "function", "function": WEATHER | {"strict": True}}], id="strict"),
        pytest.param([{"type": "function", "function": {"name": "bare"}}], id="name-only"),
        pytest.param([{"type": "function", "function": WEATHER, "cache_control": {}}], id="wrapping-with-more"),
        pytest.param(
            [{"type": "web_search", "limit": 1}, {"type": "function", "function": WEATHER}], id="foreign-order"
        ),
        pytest.param([{"type": "function", "function": {"name": "t", "type": "x"}}], id="type-inside"),
        pytest.param([{"function": WEATHER}], id="mistral-without-type"),
        pytest.param([{"type": "function"}], id="no-function"),
    ],
)
def test_offered_tools_come_back_in_their_order(tools: list[dict[str, Any]]) -> None:
    assert render_tools(parse_tools(tools)) == tools


# ---------------------------------------------------------------- laws

texts = st.text(max_size=12).map(clean_text)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2), max_leaves=4
)
own_keys = {"role", "content", "tool_calls", "tool_call_id", "name", "refusal", "reasoning_content"}
more = st.dictionaries(texts.filter(lambda key: key not in own_keys), values, max_size=2)
text_part = st.fixed_dictionaries({"type": st.just("text"), "text": texts})
other_part = st.fixed_dictionaries({"type": st.sampled_from(["thinking", "file", "text"])}) | scalars
content = texts | st.lists(text_part | other_part, max_size=3)
call_body = st.fixed_dictionaries(
    {"name": texts, "arguments": texts | st.none() | st.dictionaries(texts, scalars, max_size=1)}
)
history_call = st.fixed_dictionaries({"id": texts | st.none(), "type": st.just("function"), "function": call_body})


def merged(base: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda extra, own: extra | own, more, base)


plain_messages = merged(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "developer", "user"]), "content": content}, optional={"name": texts}
    )
)
assistant_messages = merged(
    st.fixed_dictionaries(
        {"role": st.just("assistant"), "content": content | st.none()},
        optional={
            "tool_calls": st.none() | st.lists(history_call, max_size=2),
            "refusal": st.none() | texts,
            "reasoning_content": st.none() | texts,
        },
    )
)
tool_messages = merged(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["tool", "function"]), "content": content | st.none()},
        optional={"tool_call_id": texts | st.none(), "name": texts | st.none()},
    )
)
wire_messages = plain_messages | assistant_messages | tool_messages


@given(wire_messages)
def test_reading_and_rendering_a_message_gives_the_same_json(raw: dict[str, Any]) -> None:
    rendered = message_to_wire(message_from_wire(raw))
    assert canonical_json(rendered) == canonical_json(raw)


@given(wire_messages)
def test_reading_a_rendered_message_gives_the_same_message(raw: dict[str, Any]) -> None:
    message = message_from_wire(raw)
    assert message_from_wire(message_to_wire(message)) == message


@given(st.lists(wire_messages, min_size=1, max_size=4), more)
def test_a_request_is_rebuilt_from_what_was_read(messages: list[dict[str, Any]], others: dict[str, Any]) -> None:
    body = others | {"model": "m", "messages": messages, "tools": [{"type": "function", "function": WEATHER}]}
    request = parse_request(body)
    assert canonical_json(render_request(call_of(request), "unused")) == canonical_json(body)
