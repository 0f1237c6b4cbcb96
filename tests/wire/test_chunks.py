"""Streamed answers: cut anywhere they stay what they were, and every oddity of real streams is read by one rule."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.types.chunking import ChunkCut
from harness.types.codes import FinishReason
from harness.types.doors import Answer, AnsweredCall
from harness.types.jsontext import clean_text
from harness.types.messages import TextPart
from harness.types.reasons import Usage
from harness.wire.chat import assembled, parse_completion, render_chunks, render_completion, visible_prefix

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["晴天 🌞", " a  b ", '{"q":"ä"}', "{}"]
)
CALLS = st.builds(
    AnsweredCall,
    name=st.none() | TEXT,
    arguments=st.none() | TEXT,
    wire_id=st.none() | st.sampled_from(["", "c1", "c1", "c2", "0"]) | TEXT,
    type=st.sampled_from([None, "custom"]),
)
ANSWERS = st.builds(
    Answer,
    content=st.none() | TEXT | st.just((TextPart("one"),)),
    calls=st.lists(CALLS, max_size=3).map(tuple),
    reasoning=st.none() | TEXT.filter(bool),
    refusal=st.none() | TEXT.filter(bool),
    finish_reason=st.just(FinishReason.STOP),
    raw_finish_reason=st.just("stop"),
    model=st.sampled_from([None, "m"]),
    fingerprint=st.sampled_from([None, "f"]),
    usage=st.none() | st.just(Usage(input_tokens=7, output_tokens=3)),
)
CUTS = st.sampled_from([(ChunkCut.WHOLE, 1), (ChunkCut.WORDS, 1), (ChunkCut.CHARACTERS, 1), (ChunkCut.CHARACTERS, 3)])


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def piece(*calls: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(calls))


def call(name: Any = None, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    body = ({} if name is None else {"name": name}) | ({} if arguments is None else {"arguments": arguments})
    return {**fields, "function": body}


def finish(reason: Any = "tool_calls") -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def triples(*chunks: dict[str, Any]) -> list[tuple[str | None, str | None, str | None]]:
    return [(one.wire_id, one.name, one.arguments) for one in assembled([*chunks, finish()]).calls]


@pytest.mark.conformance("141", "143")
@given(ANSWERS, CUTS)
def test_an_answer_in_chunks_is_the_same_answer(answer: Answer, cut: tuple[ChunkCut, int]) -> None:
    assert assembled(list(render_chunks(answer, cut=cut[0], every=cut[1]))) == answer


@pytest.mark.conformance("141")
@given(ANSWERS, CUTS)
def test_streamed_and_whole_are_read_alike(answer: Answer, cut: tuple[ChunkCut, int]) -> None:
    whole = parse_completion(render_completion(answer, id="x", model=answer.model or "m"))
    streamed = assembled(list(render_chunks(answer, cut=cut[0], every=cut[1], model=answer.model or "m")))
    assert streamed == whole


@pytest.mark.conformance("148")
@given(st.text(max_size=10), st.data())
def test_text_that_is_split_inside_its_characters_comes_out_whole(text: str, data: st.DataObject) -> None:
    units = text.encode("utf-16-le", "surrogatepass")
    n_units = len(units) // 2
    places = sorted({0, n_units, *data.draw(st.lists(st.integers(0, n_units), max_size=4))})
    pieces = [units[2 * a : 2 * b].decode("utf-16-le", "surrogatepass") for a, b in pairwise(places)]
    chunks = [json.dumps(delta(content=one, tool_calls=[call(None, one, index=0)])) for one in pieces]
    answer = assembled(chunks)
    assert "".join(str(answer.content or "")) == clean_text(text)
    assert (answer.calls[0].arguments if answer.calls else "") == clean_text(text)


@pytest.mark.conformance("141", "6")
@given(ANSWERS, CUTS, st.data())
def test_a_stream_that_is_cut_before_its_finish_reason_has_none(
    answer: Answer, cut: tuple[ChunkCut, int], data: st.DataObject
) -> None:
    chunks = list(render_chunks(answer, cut=cut[0], every=cut[1]))
    closing = next(at for at, one in enumerate(chunks) if '"finish_reason":"' in one)
    kept = chunks[: data.draw(st.integers(0, closing))]
    assert assembled(kept).finish_reason is None
    assert visible_prefix(kept).calls == ()


@pytest.mark.conformance("143")
@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [piece(call("a", '{"x":', index=0, id="1"), call("b", "{", index=1, id="2")), piece(call(None, "}", index=1)), piece(call(None, "1}", index=0))],
            [("1", "a", '{"x":1}'), ("2", "b", "{}")], id="interleaved-by-index",
        ),
        pytest.param([piece(call("b", "{}", index=1, id="2")), piece(call("a", "{}", index=0, id="1"))], [("1", "a", "{}"), ("2", "b", "{}")], id="in-order-of-the-index"),
        pytest.param([piece(call(index=0)), piece(call("go", index=0)), piece(call(None, "{}", index=0, id="late"))], [("late", "go", "{}")], id="late-id-and-name"),
        pytest.param([piece(call("get_", index=0, id="1")), piece(call("weather", index=0)), piece(call(None, "{}", index=0))], [("1", "get_weather", "{}")], id="a-name-in-pieces"),
        pytest.param([piece(call("go", '{"a":', index=0, id="1")), piece(call("go", "1}", index=0, id="1"))], [("1", "go", '{"a":1}')], id="everything-again-with-each-piece"),
        pytest.param([piece(call("go", "{", index=0, id="1")), piece(call("gone", "}", index=0))], [("1", "go", "{}")], id="another-name-behind-the-first-arguments"),
        pytest.param([piece(call("go", "{}", index=0, id="1")), piece(call("go", "{}", index=0, id="2"))], [("1", "go", "{}"), ("2", "go", "{}")], id="one-index-for-every-call"),
        pytest.param([piece(call("a", "{}", index=0, id="x")), piece(call("b", "{}", index=0, id="x"))], [("x", "a", "{}"), ("x", "b", "{}")], id="one-index-and-one-id-for-every-call"),
        pytest.param([piece(call("a", "{}", id="x")), piece(call("b", "{}", id="x"))], [("x", "a", "{}"), ("x", "b", "{}")], id="one-id-for-every-call-no-index"),
        pytest.param([piece(call("a", "{}", index=0, id="x"), call("b", "{}", index=1, id="x"))], [("x", "a", "{}"), ("x", "b", "{}")], id="one-id-under-two-indexes"),
        pytest.param([piece(call("a", '{"q":')), piece(call(None, "1}")), piece(call("a", "{}"))], [(None, "a", '{"q":1}'), (None, "a", "{}")], id="neither-id-nor-index"),
        pytest.param([piece(call("a"), call("b"))], [(None, "a", None), (None, "b", None)], id="two-in-one-chunk-without-anything"),
        pytest.param([piece(call("a", '{"q":', id="1")), piece(call(None, "1}", id="1")), piece(call("b", "{}", id="2"))], [("1", "a", '{"q":1}'), ("2", "b", "{}")], id="by-id-without-index"),
        pytest.param([piece(call("a", "{", index=None, id="1"), call("b", "{", index=None, id="2")), piece(call(None, "}", index=None, id="1")), piece(call(None, "}", index=None, id="2"))], [("1", "a", "{}"), ("2", "b", "{}")], id="null-index-interleaved-by-id"),
        pytest.param([piece(call("a", {"q": 1}, index=0, id=7))], [("7", "a", '{"q":1}')], id="arguments-as-an-object-and-a-number-as-id"),
        pytest.param([piece({"index": 0, "id": "1", "function": None}), piece(call("a", None, index=0)), piece(call(None, "{}", index=0))], [("1", "a", "{}")], id="a-null-function"),
        pytest.param([delta(function_call={"name": "a", "arguments": "{"}), delta(function_call={"arguments": "}"})], [(None, "a", "{}")], id="the-legacy-field"),
    ],
)  # fmt: skip
def test_each_piece_goes_to_its_call(chunks: list[dict[str, Any]], expected: list[tuple[str | None, ...]]) -> None:
    assert triples(*chunks) == expected


@pytest.mark.conformance("142")
@pytest.mark.parametrize(
    "late",
    [
        pytest.param(delta(content=" more"), id="text"),
        pytest.param(piece(call("x", "{}", index=0, id="1")), id="a-call"),
        pytest.param(finish("tool_calls"), id="another-finish-reason"),
        pytest.param(delta(reasoning_content="hm"), id="reasoning"),
    ],
)
def test_what_comes_behind_the_finish_reason_is_ignored_and_noted(late: dict[str, Any]) -> None:
    answer = assembled([delta(content="It."), finish("stop"), late])
    assert (answer.content, answer.calls, answer.raw_finish_reason, answer.reasoning) == ("It.", (), "stop", None)
    assert answer.notes == ("what came behind the finish reason was ignored",)


@pytest.mark.parametrize(
    ("chunks", "note"),
    [
        pytest.param([piece(call("a", "{}"))], "without an index", id="no-index"),
        pytest.param([piece(call("a", "{}", index=0, id="1")), piece(call("b", "{}", index=0, id="2"))], "an index came for another call", id="index-again"),
        pytest.param([piece(call("a", "{", index=0, id="1")), piece(call(None, "}", index=0, id="2"))], "second id", id="second-id"),
        pytest.param([piece(call("a", index=0)), piece(call("b", index=0))], "came in pieces", id="name-pieces"),
        pytest.param([{"choices": [{"index": 0, "delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]}], "several streamed choices", id="choices"),
        pytest.param([{"choices": [], "usage": {"prompt_tokens": 1}}] * 2, "more than once", id="usage"),
        pytest.param([delta(function_call={"name": "a"})], "legacy", id="legacy"),
    ],
)  # fmt: skip
def test_every_rule_that_decided_something_is_noted(chunks: list[dict[str, Any]], note: str) -> None:
    assert [note in one for one in assembled(chunks).notes] == [True]


def test_usage_counts_once_the_last_one() -> None:
    counts = [{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": n}} for n in (1, 2, 3)]
    assert assembled(counts).usage == Usage(input_tokens=7, output_tokens=3)


@pytest.mark.conformance("145")
@pytest.mark.parametrize(
    "before", [[], [piece(call("a", "{}", index=0, id="1"))], [piece(call("a", "{}", index=0)), finish()]]
)
def test_an_error_in_a_chunk_fails_the_answer_whatever_was_complete(before: list[dict[str, Any]]) -> None:
    with pytest.raises(ModelError, match="overloaded") as raised:
        assembled([*before, {"choices": [], "error": {"message": "overloaded", "type": "server_error"}}])
    assert raised.value.code == "SERVER"


@pytest.mark.parametrize(
    "chunk",
    ["{", "[]", '"x"', "", {"choices": {}}, {"choices": [7]}, delta(content=7), delta(tool_calls={}), delta(tool_calls=[7]), "[" * 10**5],
)  # fmt: skip
def test_what_is_no_chunk_is_damage(chunk: Any) -> None:
    with pytest.raises(ModelError, match="no chunk of an answer") as raised:
        assembled([chunk])
    assert raised.value.code == "DAMAGED_RESPONSE"


@pytest.mark.parametrize(
    "chunk",
    [{}, {"choices": None}, {"choices": []}, {"choices": [{"index": 0, "delta": None}]}, {"choices": [{"index": 0}]}],
)
def test_chunks_that_say_nothing_change_nothing(chunk: dict[str, Any]) -> None:
    assert assembled([delta(content="a"), chunk, delta(content="b")]).content == "ab"


STREAM_CASES = {
    "PB-006": (
        [
            piece(call("lookup", '{"q":', id="a1", type="function")),
            piece(call(None, '"x"}')),
            piece(call("lookup", '{"q":"y"}', id="a2", type="function")),
            finish(),
        ],
        [("a1", "lookup", '{"q":"x"}'), ("a2", "lookup", '{"q":"y"}')], None,
    ),
    "PB-007": (
        [
            *(piece(call("read_file", part, index=0, id="r1", type="function")) for part in ('{"pa', 'th":"a', '.txt"}')),
            finish(),
        ],
        [("r1", "read_file", '{"path":"a.txt"}')], None,
    ),
    "PB-008": (
        [
            delta(role="assistant", content=None, tool_calls=[
                {"index": 0, "id": "n1", "type": "function", "function": {"name": "ping", "arguments": None}},
                call("pong", "{}", index=1, id="n2", type="function"),
            ]),
            piece({"index": 0, "function": None}),
            piece({"index": 0, "function": {"name": None, "arguments": "{}"}}),
            finish(),
            {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}},
        ],
        [("n1", "ping", "{}"), ("n2", "pong", "{}")], Usage(input_tokens=7, output_tokens=3),
    ),
}  # fmt: skip


@pytest.mark.public_case("PB-006", "PB-007", "PB-008")
@pytest.mark.parametrize("case", STREAM_CASES)
def test_streams_of_public_reports_are_put_together_rightly(case: str) -> None:
    stream, expected, usage = STREAM_CASES[case]
    answer = assembled([json.dumps(chunk) for chunk in stream])
    assert [(one.wire_id, one.name, one.arguments) for one in answer.calls] == expected
    assert (answer.finish_reason, answer.usage) == (FinishReason.TOOL_CALLS, usage)
