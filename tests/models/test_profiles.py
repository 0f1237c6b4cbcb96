"""Profiles of providers: chosen by host or name, and every rule that changes anything says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.errors import UnknownNameError
from harness.models import model_over
from harness.models.profiles import (
    COMPATIBLE,
    PROFILES,
    Finish,
    OutputLimit,
    ReasoningBack,
    StreamUsage,
    profile_named,
    profile_of_host,
)
from harness.models.rendered import RenderedMessages
from harness.models.rules import ITEMS_LEFT_OUT, REASONING_LEFT_OUT, REASONING_RENAMED
from harness.runner.seats import API, PROFILE, STREAM
from harness.types.messages import ChatAssistant, ChatCall, ChatTool, ChatUser, JsonText, MessageBuffer, Messages
from harness.types.model_spec import ModelApi
from harness.wire.chunks import assembled
from harness.wire.responses_items import CUT_BY_USAGE
from harness.wire.sse import MOST_EVENT_BYTES
from tests.models.bodies import ask, frames, spec, streamed
from tests.models.support import call

WHOLE = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
RESPONSE = {"status": "completed", "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]}]}
THOUGHT = ChatAssistant("I look.", "hm", None, (ChatCall("c1", "go", "{}"),), JsonText('{"response_items":[{"type":"reasoning","id":"rs_1"}],"own":1}'))
ASKED = call(ChatUser(content="hi"), THOUGHT, ChatTool(call_id="c1", content="ok"), parameters='{"max_tokens":5}')


def sent(asked: Any, **fields: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The body that a model sends, and the notes of its answer."""
    bodies: list[Any] = []
    api = fields.get("api", ModelApi.CHAT)

    def handler(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(200, json=RESPONSE if api is ModelApi.RESPONSES else WHOLE)

    answer, _ = ask(model_over(httpx2.MockTransport(handler), spec(stream=False, **fields)), asked)
    return bodies[0], answer.notes


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("api.openai.com", "openai"), ("acme.openai.azure.com", "openai"), ("api.deepseek.com", "deepseek"), ("openrouter.ai", "openrouter"),
        ("api.groq.com", "groq"), ("api.together.xyz", "together"), ("x-y.snowflakecomputing.com", "snowflake"),
        ("notapi.openai.com.example", "compatible"), ("xapi.groq.com", "compatible"), ("127.0.0.1", "compatible"), ("", "compatible"),
    ],
)  # fmt: skip
def test_a_profile_is_that_of_the_host(host: str, name: str) -> None:
    assert profile_of_host(host).name == name


def test_a_profile_is_found_by_name_and_an_unknown_one_is_told_with_the_names_there_are() -> None:
    assert {name: profile_named(name) for name in PROFILES} == PROFILES
    with pytest.raises(UnknownNameError, match=r"no adapter profile is named 'vlm'; there are compatible, deepseek, groq, llama\.cpp"):
        profile_named("vlm")


@pytest.mark.parametrize("name", PROFILES)
def test_each_rule_of_a_profile_shapes_the_request_and_says_what_it_changed(name: str) -> None:
    profile = PROFILES[name]
    body, notes = sent(ASKED, profile=name)
    message = body["messages"][1]
    expected = {ITEMS_LEFT_OUT}
    match profile.reasoning_back:
        case ReasoningBack.REASONING_CONTENT:
            assert (message["reasoning_content"], "reasoning" in message) == ("hm", False)
        case ReasoningBack.REASONING:
            assert (message["reasoning"], "reasoning_content" in message) == ("hm", False)
            expected.add(REASONING_RENAMED)
        case ReasoningBack.LEFT_OUT:
            assert not {"reasoning", "reasoning_content"} & set(message)
            expected.add(REASONING_LEFT_OUT)
    if profile.output_limit is OutputLimit.MAX_COMPLETION_TOKENS:
        assert (body["max_completion_tokens"], "max_tokens" in body) == (5, False)
        expected.add("max_tokens was sent as max_completion_tokens")
    else:
        assert (body["max_tokens"], "max_completion_tokens" in body) == (5, False)
    assert set(notes) == expected
    assert (message["own"], "response_items" in message) == (1, False)


def test_a_limit_that_was_given_twice_is_sent_once_in_the_providers_name() -> None:
    both = call(parameters='{"max_completion_tokens":7,"max_tokens":5}')
    assert {key: value for key, value in sent(both, profile="groq")[0].items() if "max" in key} == {"max_completion_tokens": 7}
    assert {key: value for key, value in sent(both, profile="ollama")[0].items() if "max" in key} == {"max_tokens": 5}
    assert {key for key in sent(both)[0] if "max" in key} == {"max_tokens", "max_completion_tokens"}


@pytest.mark.parametrize("name", PROFILES)
def test_usage_of_a_stream_is_asked_for_where_it_does_not_come_of_itself(name: str) -> None:
    body, _ = sent(call(parameters='{"stream":true}'), profile=name)
    assert ("stream_options" in body) is (PROFILES[name].stream_usage is StreamUsage.ASKED)
    assert sent(call(parameters='{"stream":true,"stream_options":{"include_usage":false}}'), profile=name)[0]["stream_options"] == {"include_usage": False}
    assert "stream_options" not in sent(call(), profile=name)[0]


@pytest.mark.parametrize("choice", ["required", "none", {"type": "function", "function": {"name": "go"}}])
def test_what_steers_a_model_is_passed_on_as_it_is(choice: Any) -> None:
    given = {"parallel_tool_calls": False, "seed": 3, "temperature": 0.5, "tool_choice": choice, "top_p": 1}
    body, notes = sent(call(parameters=json.dumps(given)), profile="groq")
    assert {key: body[key] for key in given} == given
    assert notes == ()


def test_a_responses_request_shows_no_field_of_chat_and_says_what_it_renamed() -> None:
    body, notes = sent(ASKED, api=ModelApi.RESPONSES)
    assert body["input"] == [
        {"role": "user", "content": "hi"},
        {"type": "reasoning", "id": "rs_1"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
        {"type": "function_call", "call_id": "c1", "name": "go", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    ]
    assert (body["max_output_tokens"], "messages" in body, "max_tokens" in body) == (5, False, False)
    assert notes == ("max_tokens was sent in the form of the Responses API",)


def test_only_snowflake_goes_without_finish_reasons() -> None:
    assert [name for name, profile in PROFILES.items() if profile.finish is Finish.NEVER] == ["snowflake"]
    assert COMPATIBLE.hosts == ()


@pytest.mark.conformance("94")
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    ("profile", "used", "finish"),
    [("llama.cpp", 5, "length"), ("compatible", 6, "length"), ("llama.cpp", 4, "tool-calls"), ("openai", 5, "tool-calls")],
)
def test_a_cut_that_only_usage_tells_of_is_seen_where_the_profile_says_so(profile: str, used: int, finish: str, stream: bool) -> None:
    called = {"type": "function_call", "call_id": "c", "name": "go", "arguments": "{}"}
    body = {"status": "completed", "output": [called], "usage": {"input_tokens": 9, "output_tokens": used}}
    event = frames({"type": "response.completed", "response": body})
    whole = httpx2.MockTransport(lambda _: httpx2.Response(200, json=body))
    model = model_over(streamed(event) if stream else whole, spec(ModelApi.RESPONSES, stream=stream, profile=profile))
    answer, chunks = ask(model, ASKED)
    assert answer.finish_reason == finish
    assert answer.raw_finish_reason == finish.replace("-", "_")  # a user's own loop is shown this one
    assert (CUT_BY_USAGE in answer.notes) is (finish == "length")
    if stream:
        assert assembled(chunks).raw_finish_reason == answer.raw_finish_reason


# ---------------------------------------------------------------- cost


@pytest.mark.parametrize("api", list(ModelApi))
def test_a_request_that_grew_renders_only_what_is_new(api: ModelApi) -> None:
    """PERFORMANCE: the cost of a request is linear in its new messages."""
    looked_at: list[int] = []
    rendered = RenderedMessages(lambda message, notes: looked_at.append(id(message)) or [{"role": message.role}])  # type: ignore[func-returns-value]
    buffer = MessageBuffer()
    for number in range(300):
        buffer.append(ChatUser(content=f"message {number}"))
        items, _ = rendered.of("", buffer.view())
        assert len(items) == number + 1
    assert len(looked_at) == 300


def test_each_agent_has_its_own_and_a_history_that_was_replaced_is_rendered_anew() -> None:
    rendered = RenderedMessages(lambda message, notes: [{"content": message.content}])
    main, child = MessageBuffer([ChatUser(content="a")]), MessageBuffer([ChatUser(content="x")])
    assert rendered.of("", main.view())[0] == [{"content": "a"}]
    assert rendered.of("child", child.view())[0] == [{"content": "x"}]
    main.append(ChatUser(content="b"))
    assert rendered.of("", main.view())[0] == [{"content": "a"}, {"content": "b"}]
    assert rendered.of("", Messages.of([ChatUser(content="short")]))[0] == [{"content": "short"}]
    assert rendered.of("", main.view())[0] == [{"content": "a"}, {"content": "b"}]
    for number in range(100):
        rendered.of(f"agent {number}", child.view())
    assert len(rendered._sent) <= 16


def test_what_a_caller_does_to_a_request_changes_no_later_one() -> None:
    rendered = RenderedMessages(lambda message, notes: notes.setdefault("note") or [{"content": message.content}])  # type: ignore[func-returns-value]
    view = Messages.of([ChatUser(content="a")])
    items, notes = rendered.of("", view)
    items.clear()
    notes.clear()
    assert rendered.of("", view) == ([{"content": "a"}], {"note": None})


# ---------------------------------------------------------------- the page


def row_of(name: str) -> str:
    """The line of a profile in the table of docs/models.md."""
    one = PROFILES[name]
    hosts = ", ".join(f"`{host}`" for host in one.hosts) or "by name only"
    usage = "asked for by `stream_options`" if one.stream_usage is StreamUsage.ASKED else "comes of itself"
    limit = "as given" if one.output_limit is OutputLimit.AS_GIVEN else f"`{one.output_limit}`"
    back = "left out" if one.reasoning_back is ReasoningBack.LEFT_OUT else f"sent as `{one.reasoning_back}`"
    words = ", ".join(f"`{word}`: `{meaning}`" for word, meaning in one.finish_words) or "none"
    hosts = "all others" if one is COMPATIBLE else hosts
    return f"| `{name}` | {hosts} | {one.finish} | {usage} | {limit} | {back} | {words} | {one.cut_response} |"


def test_the_table_of_profiles_on_the_page_is_what_the_code_says(repo: Path) -> None:
    page = (repo / "docs" / "models.md").read_text("utf-8")
    table = page[page.index("| profile | hosts |") :].splitlines()[2:]
    assert [line for line in table if line.startswith("|")] == [row_of(name) for name in PROFILES]


def test_every_note_of_a_rule_and_every_code_of_a_refusal_is_on_the_page(repo: Path) -> None:
    page = (repo / "docs" / "models.md").read_text("utf-8")
    assert [code for code in ("NO_FINISH_REASON", "DAMAGED_RESPONSE", "PROVIDER_ABORTED", "EMPTY_RESPONSE", "INVALID_ARGS", "TRANSPORT", "TIMEOUT") if code not in page] == []
    assert f"more than {MOST_EVENT_BYTES // 2**20} MiB" in page
    assert [name for name in (API, STREAM, PROFILE, "HARNESS_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL") if f"`{name}`" not in page] == []
