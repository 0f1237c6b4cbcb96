"""Answers as the Responses dialect writes them: what the events make is what the whole body says."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from harness.errors import ModelError
from harness.types.chunking import ChunkCut
from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.messages import JsonText
from harness.types.reasons import Usage
from harness.wire.chunk_render import render_chunks
from harness.wire.responses_body import render_response
from harness.wire.responses_events import NamedEvent, ResponseEvents
from harness.wire.sse_render import sse_event

EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=20)
CALLS = st.builds(AnsweredCall, st.sampled_from(["go", "stop"]), TEXTS, st.uuids().map(str), st.sampled_from([None, "custom"]))
ANSWERS = st.builds(
    Answer,
    content=TEXTS.filter(bool) | st.none(),
    calls=st.lists(CALLS, max_size=3).map(tuple),
    reasoning=TEXTS.filter(bool) | st.none(),
    refusal=TEXTS.filter(bool) | st.none(),
    finish_reason=st.sampled_from([FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.LENGTH, FinishReason.CONTENT_FILTER]),
    usage=st.none() | st.builds(Usage, st.integers(0, 9), st.integers(0, 9)),
)


def streamed(answer: Answer, cut: ChunkCut, every: int = 1) -> list[NamedEvent]:
    events = ResponseEvents(id="resp_1", model="m")
    told = list(events.begin())
    for chunk in render_chunks(answer, cut=cut, every=every):
        told += events.take(chunk)
    return told + list(events.end(answer))


@pytest.mark.conformance("141")
@given(ANSWERS, st.sampled_from([ChunkCut.WHOLE, ChunkCut.WORDS, ChunkCut.CHARACTERS]))
def test_the_end_of_a_stream_is_the_whole_answer_and_its_deltas_make_it(answer: Answer, cut: ChunkCut) -> None:
    told = [json.loads(event.data) for event in streamed(answer, cut)]
    whole = render_response(answer, id="resp_1", model="m")
    assert told[-1]["response"] == whole
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    pieces: dict[str, str] = {}
    for event in told:
        if event["type"].endswith(".delta"):
            pieces[event["item_id"]] = pieces.get(event["item_id"], "") + event["delta"]
    said = {item["id"]: _text(item) for item in whole["output"]}
    assert pieces == {key: text for key, text in said.items() if text}


def _text(item: Any) -> str:
    if item["type"] == "message":
        return "".join(part.get("text", part.get("refusal", "")) for part in item["content"])
    if item["type"] == "reasoning":
        return "".join(part["text"] for part in item["summary"])
    return str(item.get("arguments", item.get("input", "")))


@given(ANSWERS)
def test_the_openai_package_knows_every_event_and_the_whole_body(answer: Answer) -> None:
    for event in streamed(answer, ChunkCut.CHARACTERS, every=3):
        parsed = EVENT.validate_json(event.data)
        assert parsed.type == event.name
    Response.model_validate(render_response(answer, id="resp_1", model="m"))


@pytest.mark.parametrize(
    ("reason", "status", "last"),
    [
        pytest.param(FinishReason.STOP, "completed", "response.completed", id="stop"),
        pytest.param(FinishReason.LENGTH, "incomplete", "response.incomplete", id="length"),
        pytest.param(FinishReason.CONTENT_FILTER, "incomplete", "response.incomplete", id="filter"),
        pytest.param(FinishReason.ERROR, "failed", "response.failed", id="error"),
    ],
)
def test_how_an_answer_ended_is_told_in_the_words_of_the_dialect(reason: FinishReason, status: str, last: str) -> None:
    answer = Answer("x", finish_reason=reason)
    assert render_response(answer, id="resp_1", model="m")["status"] == status
    assert streamed(answer, ChunkCut.WHOLE)[-1].name == last


def test_a_chunk_that_is_none_comes_through_as_it_is() -> None:
    events = ResponseEvents(id="resp_1", model="m")
    assert list(events.take(JsonText("{cut"))) == [NamedEvent("", "{cut")]
    assert list(events.take(JsonText('{"error":{"message":"x"}}'))) == [NamedEvent("", '{"error":{"message":"x"}}')]


def test_mixed_pieces_of_parallel_calls_reach_their_items() -> None:
    def chunk(index: int, **function: str) -> JsonText:
        call = {"index": index, "id": f"c{index}", "function": function}
        return JsonText(json.dumps({"choices": [{"delta": {"tool_calls": [call]}}]}))

    events = ResponseEvents(id="resp_1", model="m")
    pieces = [chunk(0, name="a", arguments=""), chunk(1, name="b", arguments=""), chunk(0, arguments="1"), chunk(1, arguments="2")]
    for piece in pieces:
        list(events.take(piece))
    list(events.end(Answer(finish_reason=FinishReason.TOOL_CALLS)))
    assert [(item["call_id"], item["arguments"]) for item in events.output] == [("c0", "1"), ("c1", "2")]


def test_a_failure_in_the_middle_is_an_error_event() -> None:
    event = ResponseEvents(id="resp_1", model="m").failed(ModelError("slow down", code="RATE_LIMIT"))
    assert EVENT.validate_json(event.data).code == "rate_limit_exceeded"


def test_each_line_of_an_events_data_has_its_own_field() -> None:
    assert sse_event("a\nb\r\nc", "x") == b"event: x\ndata: a\ndata: b\ndata: c\n\n"
