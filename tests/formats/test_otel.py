"""GenAI spans, in hand-made files: no real export is at hand. Their shapes are those of the published conventions."""

import json
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.folds import calls_of, end_of, history_of, status_of
from harness.formats import FORMATS, format_of, parse_document
from harness.types.codes import Code, FinishReason, HeaderWhy, Status
from harness.types.events import Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, ModelFailed, RequestHeader, ToolResult, UserMessage
from harness.types.lifecycle import Note
from harness.types.messages import ChatSystem, JsonText
from harness.types.reasons import Usage


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": pairs(value)}}
    return {"stringValue": value}


def pairs(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": any_value(value)} for key, value in values.items()]


def span(number: int, operation: str | None = "chat", *, trace: str = "t1", parent: str = "", events: list[Any] | None = None, status: Any = None, **attributes: Any) -> dict[str, Any]:
    named = {"gen_ai.operation.name": operation} if operation else {}
    return {
        "traceId": trace, "spanId": f"s{number}", "parentSpanId": parent, "name": "chat m", "startTimeUnixNano": str(1000 + number),
        "endTimeUnixNano": str(2000 + number), "attributes": pairs(named | {key.replace("__", "."): value for key, value in attributes.items()}),
        "events": events or [], "status": status or {},
    }  # fmt: skip


def export(*spans: dict[str, Any], logs: list[Any] | None = None) -> bytes:
    value: dict[str, Any] = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    if logs:
        value["resourceLogs"] = [{"scopeLogs": [{"logRecords": logs}]}]
    return json.dumps(value).encode()


def read(data: bytes) -> list[Trajectory]:
    document = parse_document(data, "trace.json")
    assert format_of(document) == "otel"
    return list(FORMATS["otel"].read(document))


def one(data: bytes) -> Trajectory:
    (trajectory,) = read(data)
    return trajectory


SYSTEM = {"role": "system", "parts": [{"type": "text", "content": "brief"}]}
ASK = {"role": "user", "parts": [{"type": "text", "content": "Weather in Oslo?"}]}
CALL = {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city": "Oslo"}}], "finish_reason": "tool_call"}
SEEN = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "weather", "arguments": '{"city": "Oslo"}'}]}
TOLD = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "rain"}]}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "Rain."}], "finish_reason": "stop"}


def newer(*, as_text: bool = True, in_event: bool = False) -> bytes:
    def shaped(number: int, given: list[Any], made: list[Any], **more: Any) -> dict[str, Any]:
        messages = {"gen_ai.input.messages": given, "gen_ai.output.messages": made}
        values = {key: json.dumps(value) if as_text else value for key, value in messages.items()}
        if in_event:
            event = {"name": "gen_ai.client.inference.operation.details", "attributes": pairs(values)}
            return span(number, events=[event], **more)
        return span(number, **values, **more)

    first = shaped(1, [SYSTEM, ASK], [CALL], gen_ai__request__model="m", gen_ai__usage__input_tokens=9, gen_ai__usage__output_tokens=4)
    return export(shaped(2, [SYSTEM, ASK, SEEN, TOLD], [SAID], gen_ai__response__model="m-1"), first)


def older() -> bytes:
    def event(name: str, **body: Any) -> dict[str, Any]:
        return {"name": f"gen_ai.{name}", "attributes": pairs({"gen_ai.system": "openai", **body})}

    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
    given = [event("system.message", content="brief"), event("user.message", content="Weather in Oslo?")]
    asked = [*given, event("choice", index=0, finish_reason="tool_calls", message={"role": "assistant", "tool_calls": [call]})]
    again = [*given, event("assistant.message", tool_calls=[call]), event("tool.message", id="c1", content="rain")]
    told = [*again, event("choice", index=0, finish_reason="stop", message={"role": "assistant", "content": "Rain."})]
    return export(span(1, events=asked), span(2, events=told))


def as_log_records() -> bytes:
    value = json.loads(older())
    spans = value["resourceSpans"][0]["scopeSpans"][0]["spans"]
    logs = []
    for raw in spans:
        for event in raw.pop("events"):
            body = [pair for pair in event["attributes"] if pair["key"] != "gen_ai.system"]
            logs.append({"traceId": raw["traceId"], "spanId": raw["spanId"], "eventName": event["name"], "body": {"kvlistValue": {"values": body}}})
    return export(*spans, logs=logs)


def as_content_events() -> bytes:
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
    given = [{"role": "system", "content": "brief"}, {"role": "user", "content": "Weather in Oslo?"}]
    later = [*given, {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1", "content": "rain"}]

    def events(messages: list[Any], made: Any) -> list[Any]:
        return [
            {"name": "gen_ai.content.prompt", "attributes": pairs({"gen_ai.prompt": json.dumps(messages)})},
            {"name": "gen_ai.content.completion", "attributes": pairs({"gen_ai.completion": json.dumps([made])})},
        ]

    first = {"role": "assistant", "content": None, "tool_calls": [call]}
    return export(span(1, events=events(given, first)), span(2, events=events(later, {"role": "assistant", "content": "Rain."})))


def as_numbered_attributes() -> bytes:
    given = {"gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "brief", "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "Weather in Oslo?"}
    made = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls", "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "weather", "gen_ai.completion.0.tool_calls.0.arguments": '{"city":"Oslo"}'}  # fmt: skip
    shown = {"gen_ai.prompt.2.role": "assistant", "gen_ai.prompt.2.tool_calls.0.id": "c1", "gen_ai.prompt.2.tool_calls.0.name": "weather",
             "gen_ai.prompt.2.tool_calls.0.arguments": '{"city":"Oslo"}', "gen_ai.prompt.3.role": "tool", "gen_ai.prompt.3.tool_call_id": "c1", "gen_ai.prompt.3.content": "rain"}  # fmt: skip
    told = {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Rain.", "gen_ai.completion.0.finish_reason": "stop"}
    return export(span(1, None, **{"llm.request.type": "chat"}, **given, **made), span(2, None, **{"llm.request.type": "chat"}, **given, **shown, **told))


CONVENTIONS = [
    pytest.param(newer(), id="attributes-as-text"),
    pytest.param(newer(as_text=False), id="attributes-as-values"),
    pytest.param(newer(in_event=True), id="details-event"),
    pytest.param(older(), id="events-of-1.36"),
    pytest.param(as_log_records(), id="log-records"),
    pytest.param(as_content_events(), id="content-events"),
    pytest.param(as_numbered_attributes(), id="numbered-attributes"),
]


@pytest.mark.parametrize("data", CONVENTIONS)
def test_every_convention_gives_the_same_conversation(data: bytes) -> None:
    trajectory = one(data)
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "assistant"]
    (trace,) = calls_of(trajectory)
    assert trace.result is not None
    assert (trace.call.id, trace.call.name, json.loads(trace.call.arguments)) == ("c1", "weather", {"city": "Oslo"})
    assert trace.result.fact.content == "rain"  # type: ignore[union-attr]
    assert [event.fact for event in trajectory if isinstance(event.fact, RequestHeader)] == [
        RequestHeader((ChatSystem(content="brief"),), UNKNOWN_TOOLS, JsonText("{}"), HeaderWhy.INITIAL)
    ]
    assert not any(isinstance(event.fact, Note) and event.fact.name == "otel/history-changed" for event in trajectory)
    assert trajectory.header.run_id == "trace/t1"


def test_a_request_brings_model_usage_finish_and_reasoning() -> None:
    first, last = (event.fact for event in one(newer()) if isinstance(event.fact, AssistantMessage))
    assert (first.usage, first.model, first.finish_reason, first.raw_finish_reason) == (Usage(9, 4), "m", FinishReason.TOOL_CALLS, "tool_call")
    assert (first.reasoning, last.content, last.model) == ("hm", "Rain.", "m-1")


def test_lines_of_exports_are_one_file_and_the_order_is_that_of_the_starts() -> None:
    whole = json.loads(newer())["resourceSpans"][0]["scopeSpans"][0]["spans"]
    lines = b"\n".join(export(raw) for raw in whole)
    assert one(lines).events == one(newer()).events


def test_snake_case_fields_are_read_too() -> None:
    text = newer().decode()
    for name, snake in {"resourceSpans": "resource_spans", "scopeSpans": "scope_spans", "traceId": "trace_id", "spanId": "span_id", "startTimeUnixNano": "start_time_unix_nano"}.items():
        text = text.replace(f'"{name}"', f'"{snake}"')
    assert len(history_of(one(text.encode()))) == 4


def test_known_tools_make_a_request_header() -> None:
    tools = [{"type": "function", "name": "weather", "description": "d", "parameters": {}}]
    messages = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([SAID]), "gen_ai.system_instructions": json.dumps(SYSTEM["parts"])}
    trajectory = one(export(span(1, **messages, **{"gen_ai.tool.definitions": json.dumps(tools), "gen_ai.request.max_tokens": 5})))
    header = next(event.fact for event in trajectory if isinstance(event.fact, RequestHeader))
    assert header.system == (ChatSystem(content="brief"),)
    assert (json.loads(header.tools)[0]["name"], json.loads(header.parameters)) == ("weather", {"max_tokens": 5})


def test_a_history_that_was_rewritten_is_noted_and_only_what_is_new_is_added() -> None:
    first = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([SAID])}
    summary = {"role": "user", "parts": [{"type": "text", "content": "So far: rain."}]}
    second = {"gen_ai.input.messages": json.dumps([summary, SAID]), "gen_ai.output.messages": json.dumps([SAID])}
    trajectory = one(export(span(1, **first), span(2, **second)))
    assert [event.fact.message.content for event in trajectory if isinstance(event.fact, UserMessage)] == ["Weather in Oslo?", "So far: rain."]
    assert [event.fact.data for event in trajectory if isinstance(event.fact, Note) and event.fact.name == "otel/history-changed"] == ['{"given":2,"kept":0,"shown":2}']
    assert sum(isinstance(event.fact, AssistantMessage) for event in trajectory) == 2


def test_the_span_of_a_tool_gives_the_result_that_no_request_shows_and_its_error() -> None:
    asked = span(1, **{"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([CALL])})
    ran = span(2, "execute_tool", status={"code": 2, "message": "it broke"}, **{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "no", "gen_ai.tool.name": "weather"})
    (fact,) = [event.fact for event in one(export(asked, ran)) if isinstance(event.fact, ToolResult)]
    assert (fact.content, fact.is_error, fact.code, fact.message) == ("no", True, Code.TOOL_FAILED, "it broke")


def test_agents_of_one_trace_are_conversations_of_their_own() -> None:
    messages = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([SAID])}
    agents = [span(1, "invoke_agent"), span(2, parent="s1", **messages), span(3, "invoke_agent", parent="s2"), span(4, parent="s3", **messages)]
    found = read(export(*agents, span(9, trace="t2", **messages)))
    assert [trajectory.header.run_id for trajectory in found] == ["trace/t1", "trace/t1/s3", "trace/t2"]


def test_parents_in_a_circle_end() -> None:
    messages = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps([SAID])}
    assert len(read(export(span(1, parent="s2", **messages), span(2, parent="s1", **messages)))) == 1


def test_without_content_the_requests_are_still_counted() -> None:
    trajectory = one(export(span(1, gen_ai__usage__input_tokens=3), span(2)))
    answers = [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]
    assert [(answer.content, answer.usage) for answer in answers] == [(None, Usage(3)), (None, None)]


ENDS = [
    pytest.param([SAID], {}, Status.COMPLETED, "final-answer", id="stop"),
    pytest.param([{**SAID, "finish_reason": "length"}], {}, Status.INCOMPLETE, "max-tokens", id="length"),
    pytest.param([{**SAID, "finish_reason": "content_filter"}], {}, Status.INCOMPLETE, "content-filter", id="filter"),
    pytest.param([CALL], {}, None, None, id="stopped-on-a-call"),
    pytest.param([], {"code": "STATUS_CODE_ERROR", "message": "rate limit"}, Status.FAILED, "error", id="failed"),
]


@pytest.mark.parametrize(("made", "status", "expected", "kind"), ENDS)
def test_the_end_is_what_the_last_request_tells(made: list[Any], status: Any, expected: Any, kind: Any) -> None:
    messages = {"gen_ai.input.messages": json.dumps([ASK]), "gen_ai.output.messages": json.dumps(made)}
    trajectory = one(export(span(1, status=status, **messages)))
    end = end_of(trajectory)
    assert (status_of(trajectory), end.reason.kind if end else None) == (expected, kind)
    assert any(isinstance(event.fact, ModelFailed) for event in trajectory) == (kind == "error")


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        pytest.param({"gen_ai.input.messages": '[{"role":"user","par'}, "trace 't1': gen_ai.input.messages: is no JSON", id="cut"),
        pytest.param({"gen_ai.input.messages": "{}"}, "gen_ai.input.messages: is an object", id="no-list"),
        pytest.param({"gen_ai.output.messages": '["x"]'}, r"gen_ai.output.messages\[0\]: is no message", id="no-message"),
        pytest.param({"gen_ai.input.messages": '[{"role":"user"}]'}, r"messages\[0\].parts: is no list", id="no-parts"),
        pytest.param({"gen_ai.input.messages": "[]", "gen_ai.tool.definitions": "x"}, "gen_ai.tool.definitions: is no JSON", id="tools"),
    ],
)
def test_a_damaged_attribute_is_refused_by_name(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words):
        one(export(span(1, **attributes)))


def test_spans_of_other_kinds_are_not_taken_for_these() -> None:
    document = parse_document(export({"traceId": "t", "spanId": "s", "attributes": pairs({"http.method": "GET"})}), "x")
    assert format_of(document) is None
    with pytest.raises(ForeignFormatError, match="no GenAI spans"):
        list(FORMATS["otel"].read(document))
