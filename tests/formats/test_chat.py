"""Chat messages, the articles' shapes, and files that are neither."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.checks import judge
from harness.errors import ForeignFormatError, UnknownNameError
from harness.folds import calls_of, history_of
from harness.formats import FORMATS, FieldMap, parse_document, read_article, read_foreign, read_if_known, sniff
from harness.types.codes import Code, HeaderWhy, Outcome
from harness.types.events import Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.lifecycle import Note
from harness.types.messages import ChatSystem, ChatUser, JsonText


def call(identity: str | None, name: str = "search", arguments: str = '{"q": 1}') -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any], content: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def tells(identity: str | None, content: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content, **more}


USER = {"role": "user", "content": "go"}
DONE = {"role": "assistant", "content": "done"}
GOOD = [{"role": "system", "content": "be brief"}, USER, asks(call("c1")), tells("c1", "one"), DONE]


def read(value: Any, tmp_path: Path, format: str | None = None, name: str = "runs.json") -> list[Trajectory]:  # noqa: A002
    path = tmp_path / name
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return list(read_foreign(path, format))


def one(value: Any, tmp_path: Path, format: str | None = None) -> Trajectory:  # noqa: A002
    (trajectory,) = read(value, tmp_path, format)
    return trajectory


def pairs(trajectory: Trajectory) -> list[tuple[str, str | None, str | None]]:
    """Id, wire id and the text of the result of each call."""
    return [
        (trace.call.id, trace.call.wire_id, trace.result.fact.content if trace.result else None)  # type: ignore[union-attr]
        for trace in calls_of(trajectory)
    ]


@pytest.mark.parametrize(
    ("value", "n"),
    [
        pytest.param(GOOD, 1, id="bare-list"),
        pytest.param({"messages": GOOD}, 1, id="object"),
        pytest.param([{"messages": GOOD}, {"messages": GOOD}], 2, id="list-of-objects"),
        pytest.param([GOOD, GOOD, GOOD], 3, id="list-of-lists"),
        pytest.param([{"task_id": 4, "trial": 1, "reward": 0.0, "info": {}, "traj": GOOD}], 1, id="tau-bench"),
        pytest.param("\n".join(json.dumps({"messages": GOOD}) for _ in range(2)) + "\n", 2, id="lines-of-objects"),
        pytest.param("\n".join(json.dumps(GOOD) for _ in range(2)), 2, id="lines-of-lists"),
        pytest.param("\n".join(json.dumps(message) for message in GOOD) + "\n", 1, id="lines-of-messages"),
        pytest.param(json.dumps(GOOD, indent=2), 1, id="pretty"),
        pytest.param("\ufeff" + json.dumps(GOOD), 1, id="byte-order-mark"),
        pytest.param("\n".join(json.dumps(message) for message in GOOD).replace("\n", "\r\n"), 1, id="carriage-returns"),
    ],
)
def test_every_wrapping_of_the_same_messages_gives_the_same_events(value: Any, n: int, tmp_path: Path) -> None:
    found = read(value, tmp_path)
    assert len(found) == n
    for trajectory in found:
        facts = [event.fact for event in trajectory if not isinstance(event.fact, Note)]
        assert [type(fact) for fact in facts] == [RequestHeader, UserMessage, AssistantMessage, ToolResult, AssistantMessage]
        assert pairs(trajectory) == [("c1", None, "one")]
        assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "assistant"]
    assert len({trajectory.header.run_id for trajectory in found}) == n


@pytest.mark.public_case("PB-038")
def test_a_torn_last_line_is_reported_on_the_last_conversation(tmp_path: Path) -> None:
    text = json.dumps({"messages": GOOD}) + "\n" + json.dumps({"messages": GOOD}) + '\n{"messages": [{"ro'
    first, last = read(text, tmp_path)
    assert (first.torn, last.torn and last.torn.line) == (None, 3)


def test_a_run_of_a_benchmark_keeps_its_task_trial_and_record(tmp_path: Path) -> None:
    trajectory = one([{"task_id": 4, "trial": 1, "reward": 0.5, "info": {"x": 1}, "traj": GOOD}], tmp_path)
    assert (trajectory.header.run_id, trajectory.header.trial) == ("runs/task-4@default#2", 2)
    beside = next(event.fact for event in trajectory if isinstance(event.fact, Note) and event.fact.name == "chat/beside")
    assert json.loads(beside.data or "") == {"task_id": 4, "trial": 1, "reward": 0.5, "info": {"x": 1}}


def test_system_messages_go_to_a_header_also_where_nobody_knows_which_tools_were_offered(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": "search", "description": "", "parameters": {}}}]
    known = one({"messages": GOOD, "tools": tools, "model": "m", "temperature": 0, "tag": "x"}, tmp_path)
    header = next(event.fact for event in known if isinstance(event.fact, RequestHeader))
    assert header.system == (ChatSystem(content="be brief"),)
    assert json.loads(header.tools)[0]["name"] == "search"
    assert json.loads(header.parameters) == {"temperature": 0}
    assert known.header.models == (("main", "m"),)
    unknown = one(GOOD, tmp_path)
    header = next(event.fact for event in unknown if isinstance(event.fact, RequestHeader))
    assert header == RequestHeader((ChatSystem(content="be brief"),), UNKNOWN_TOOLS, JsonText("{}"), HeaderWhy.INITIAL)
    assert not any(isinstance(event.fact, Note) for event in unknown)
    none = one({"messages": GOOD, "tools": []}, tmp_path)
    assert next(event.fact for event in none if isinstance(event.fact, RequestHeader)).tools == "[]"
    later = one([*GOOD, {"role": "system", "content": "hm", "name": "x"}], tmp_path)
    assert [event.fact.data for event in later if isinstance(event.fact, Note)] == ['{"content":"hm","name":"x","role":"system"}']


def test_parameters_are_told_where_neither_tools_nor_instructions_are(tmp_path: Path) -> None:
    told = one({"messages": GOOD[1:], "temperature": 0.5, "tag": "x"}, tmp_path)
    header = next(event.fact for event in told if isinstance(event.fact, RequestHeader))
    assert (header.system, header.tools, header.parameters) == ((), UNKNOWN_TOOLS, '{"temperature":0.5}')
    assert [event.fact.data for event in told if isinstance(event.fact, Note)] == ['{"tag":"x"}']


PAIRINGS = [
    pytest.param([asks(call("c1")), tells("c1", "one"), asks(call("c1")), tells("c1", "two")],
                 [("c1", None, "one"), ("1.2.0", "c1", "two")], Outcome.PASS, id="id-used-again-after-its-answer"),
    pytest.param([asks(call("c1"), call("c1")), tells("c1", "one"), tells("c1", "two")],
                 [("c1", None, "one"), ("1.1.1", "c1", "two")], Outcome.PASS, id="one-id-twice-in-one-answer"),
    pytest.param([asks(call(""), call("")), tells("", "one"), tells("", "two")],
                 [("1.1.0", "", "one"), ("1.1.1", "", "two")], Outcome.PASS, id="empty-ids-pair-in-order"),
    pytest.param([asks(call("a", "x"), call("b", "y")), tells(None, "of y", name="y"), tells(None, "of x", name="x")],
                 [("a", None, "of x"), ("b", None, "of y")], Outcome.PASS, id="results-without-id-pair-by-name"),
    pytest.param([asks(call("1.2.0")), tells("1.2.0", "one"), asks(call("")), tells("", "two")],
                 [("1.2.0", None, "one"), ("1.2.0~2", "", "two")], Outcome.PASS, id="a-provider-that-uses-our-shape"),
    pytest.param([asks(call("c1"), call("c2")), tells("c2", "two"), tells("c1", "one")],
                 [("c1", None, "one"), ("c2", None, "two")], Outcome.PASS, id="other-order"),
    pytest.param([asks(call("c1")), DONE], [("c1", None, None)], None, id="no-result"),
    pytest.param([asks(call("c1")), tells("c1", "one"), tells("c1", "again")],
                 [("c1", None, "one")], Outcome.FAIL, id="second-result"),
    pytest.param([tells("c9", "stray"), asks(call("c9")), tells("c9", "one")],
                 [("1.1.0", "c9", "one")], Outcome.FAIL, id="result-before-its-call"),
    pytest.param([asks(call("c1")), tells("c1", "one"), tells("zz", "stray")],
                 [("c1", None, "one")], Outcome.FAIL, id="result-of-no-call"),
    pytest.param([asks(call("c1")), tells("c1", "one"), asks(call("c1")), tells("c1", "two"), tells("1.2.0", "stray")],
                 [("c1", None, "one"), ("1.2.0", "c1", "two")], Outcome.FAIL, id="stray-under-an-id-that-we-made"),
]  # fmt: skip


@pytest.mark.conformance("28", "30", "31", "32", "33")
@pytest.mark.parametrize(("messages", "expected", "outcome"), PAIRINGS)
def test_a_result_answers_the_oldest_open_call_and_strays_stay_visible(messages: list[Any], expected: list[Any], outcome: Outcome | None, tmp_path: Path) -> None:
    trajectory = one([USER, *messages], tmp_path)
    assert pairs(trajectory) == expected
    n_results = sum(message["role"] == "tool" for message in messages)
    assert sum(isinstance(event.fact, ToolResult) for event in trajectory) == n_results, "no result is lost"
    if outcome is not None:
        assert next(verdict for verdict in judge(trajectory) if verdict.check == "pairing").outcome is outcome


def test_unknown_fields_and_later_system_messages_are_kept_in_notes(tmp_path: Path) -> None:
    messages = [USER, {"role": "assistant", "content": "a", "audio": {"id": 1}}, {"role": "system", "content": "b"}, {"role": "user", "content": "c", "name": "Eve"}]
    trajectory = one(messages, tmp_path)
    notes = [(event.fact.name, json.loads(event.fact.data or "")) for event in trajectory if isinstance(event.fact, Note)]
    assert ("chat/message", {"role": "system", "content": "b"}) in notes
    assert ("chat/extra", {"audio": {"id": 1}}) in notes
    assert [event.fact.message for event in trajectory if isinstance(event.fact, UserMessage)][1] == ChatUser(content="c", extra='{"name":"Eve"}')  # type: ignore[arg-type]


def test_the_retired_function_call_is_a_call_without_an_id(tmp_path: Path) -> None:
    messages = [USER, {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, {"role": "function", "name": "f", "content": "one"}]
    assert pairs(one(messages, tmp_path)) == [("1.1.0", None, "one")]


# ---------------------------------------------------------------- the articles' shapes

ARTICLES = [
    pytest.param([USER, {"role": "assistant", "content": "", "toolCalls": [{"callId": "c1", "name": "calc", "input": {"x": 1}}]},
                  {"role": "tool", "callId": "c1", "output": "one", "isError": False}, DONE], id="callId-input-output"),
    pytest.param([USER, {"role": "assistant", "toolCalls": [{"toolCallId": "c1", "toolName": "calc", "arguments": '{"x":1}'}]},
                  {"role": "tool", "toolCallId": "c1", "content": "one"}, DONE], id="toolCallId-arguments-content"),
    pytest.param([USER, {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "calc", "input": {"x": 1}}]},
                  {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c1", "toolName": "calc", "output": "one"}]}, DONE], id="parts"),
    pytest.param([USER, {"type": "tool_call", "callId": "c1", "name": "calc", "input": {"x": 1}},
                  {"type": "tool_result", "callId": "c1", "output": "one"}, DONE], id="lines-of-their-own"),
    pytest.param({"history": [USER, {"type": "function_call", "call_id": "c1", "name": "calc", "arguments": '{"x":1}'},
                  {"type": "function_call_output", "call_id": "c1", "output": "one"}, DONE]}, id="items"),
    pytest.param([USER, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "calc", "input": {"x": 1}}]},
                  {"role": "user", "content": [{"type": "tool_result", "toolCallId": "c1", "content": "one"}]}, DONE], id="results-in-a-user-message"),
]  # fmt: skip


@pytest.mark.article("15")
@pytest.mark.parametrize("value", ARTICLES)
@pytest.mark.parametrize("lines", [False, True], ids=["json", "json-lines"])
def test_the_shapes_of_the_articles_read_alike(value: Any, lines: bool, tmp_path: Path) -> None:
    text = "\n".join(json.dumps(item) for item in value) if lines and isinstance(value, list) else value
    (trajectory,) = read(text, tmp_path)
    assert trajectory.header.subject == "article"
    (trace,) = calls_of(trajectory)
    assert (trace.call.id, trace.call.name, trace.call.arguments) == ("c1", "calc", '{"x":1}')
    assert pairs(trajectory) == [("c1", None, "one")]
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "assistant"]
    assert [verdict.outcome for verdict in judge(trajectory) if verdict.check == "pairing"] == [Outcome.PASS]


@pytest.mark.article("15")
@pytest.mark.parametrize("role", ["user", "tool"])
def test_text_beside_a_result_is_user_input_behind_it(role: str, tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "And delete nothing."}, {"type": "tool_result", "toolCallId": "c1", "content": "one"}]
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "calc", "input": {}}]}
    messages = history_of(one([USER, asked, {"role": role, "content": parts}, DONE], tmp_path))
    assert [message.role for message in messages] == ["user", "assistant", "tool", "user", "assistant"]
    assert messages[3] == ChatUser(content="And delete nothing.")


@pytest.mark.article("15")
def test_a_system_message_of_the_articles_is_the_prompt(tmp_path: Path) -> None:
    asked = {"type": "tool_call", "callId": "c1", "name": "calc", "input": {}}
    read_one = one([{"role": "system", "content": "be brief"}, USER, asked, DONE], tmp_path)
    assert next(event.fact for event in read_one if isinstance(event.fact, RequestHeader)).system == (ChatSystem(content="be brief"),)
    assert not any(isinstance(event.fact, Note) for event in read_one)


@pytest.mark.article("15")
def test_an_error_result_stays_one_and_a_value_becomes_its_json(tmp_path: Path) -> None:
    messages = [USER, {"type": "tool-call", "callId": "c1", "name": "f", "input": None}, {"type": "tool-result", "callId": "c1", "output": {"b": 1, "a": [2]}, "isError": True}]
    (fact,) = [event.fact for event in one(messages, tmp_path) if isinstance(event.fact, ToolResult)]
    assert (fact.content, fact.is_error, fact.code) == ('{"a":[2],"b":1}', True, Code.UNKNOWN)


@pytest.mark.article("15")
def test_the_field_map_can_be_changed(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "aufrufe": [{"nr": "c1", "werkzeug": "calc", "angaben": "{}"}]}, {"role": "tool", "nr": "c1", "antwort": "one"}]
    fields = FieldMap(calls=("aufrufe",), call_id=("nr",), name=("werkzeug",), arguments=("angaben",), content=("antwort",))
    (trajectory,) = read_article(parse_document(json.dumps(messages).encode(), "f"), fields)
    assert pairs(trajectory) == [("c1", None, "one")]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "the file is empty", id="empty"),
        pytest.param(" \n", "the file is empty", id="blank"),
        pytest.param("{", ":1: neither JSON nor JSON lines", id="torn-json"),
        pytest.param('{"a":1}\n{"a":\n{"a":1}\n', ":2: neither JSON nor JSON lines", id="damaged-line"),
        pytest.param('{"a":1,"a":2}', "uplicate key", id="duplicate-key"),
        pytest.param('[{"role":"user","content":NaN}]', "neither JSON", id="nan"),
        pytest.param("[" * 5000, "neither JSON", id="deep"),
        pytest.param('{"a":1}', "in none of the formats that are read", id="other-json"),
        pytest.param("[]", "in none of the formats", id="empty-list"),
        pytest.param("\x89PNG\r\n\x1a\n\x00", "neither JSON", id="binary"),
    ],
)
def test_a_file_in_no_format_is_refused_by_name_and_reason(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ForeignFormatError, match=words) as caught:
        read(text, tmp_path)
    assert "runs.json" in str(caught.value)
    assert sniff(tmp_path / "runs.json") is None


@pytest.mark.parametrize(
    ("value", "format", "words"),
    [
        pytest.param([{"role": "user", "content": 5}], "chat", r"conversation 1: messages\[0\].content", id="content-number"),
        pytest.param([{"role": "oracle"}], "chat", "role", id="unknown-role"),
        pytest.param({"a": 1}, "chat", "no chat messages", id="chat-of-none"),
        pytest.param({"a": 1}, "article", "no messages", id="article-of-none"),
        pytest.param([{"role": "user", "content": "x"}, {"colour": "blue"}], "article", "neither a message, nor a call", id="stranger"),
        pytest.param(GOOD, "dsh", "no session log", id="dsh-of-chat"),
        pytest.param('[{"role":"user","content":[{"type":"x","v":1e999}]}]', None, "lossless|finite|INVALID|out of range|infin", id="infinity"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_in_the_format_asked_for_is_refused(value: Any, format: str | None, words: str, tmp_path: Path) -> None:  # noqa: A002
    with pytest.raises(ForeignFormatError, match=words):
        read(value, tmp_path, format)


def test_a_format_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="agentdojo, article, atif, chat, dsh, inspect, mini, nemo, otel, responses, swe"):
        read(GOOD, tmp_path, "xml")
    assert ", ".join(sorted(FORMATS)) == "agentdojo, article, atif, chat, dsh, inspect, mini, nemo, otel, responses, swe"


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ForeignFormatError, match="cannot be read"):
        list(read_foreign(tmp_path / "none.json"))
    assert sniff(tmp_path / "none.json") is None


def test_among_many_files_one_in_no_format_is_passed_over_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    for name, text in {"chat": json.dumps(GOOD), "other": '{"a":1}', "damaged": '{"messages":['}.items():
        tmp_path.joinpath(name).write_text(text, "utf-8")
    assert len(list(read_if_known(tmp_path / "chat"))) == 1
    assert list(read_if_known(tmp_path / "other")) == []
    with pytest.raises(ForeignFormatError, match="damaged:1"):
        list(read_if_known(tmp_path / "damaged"))


def test_text_that_cannot_be_encoded_is_replaced_when_it_comes_in(tmp_path: Path) -> None:
    trajectory = one('[{"role":"user","content":"a\\ud800b"}]', tmp_path)
    assert [event.fact.message.content for event in trajectory if isinstance(event.fact, UserMessage)] == ["a\ufffdb"]


def test_a_message_on_a_line_of_its_own_among_conversations_is_refused_with_its_line() -> None:
    lines = [{"role": "user", "content": "hi"}, {"messages": [{"role": "user", "content": "hi"}]}]
    document = parse_document("\n".join(map(json.dumps, lines)).encode(), "a.jsonl")
    assert FORMATS["chat"].recognises(document)
    with pytest.raises(ForeignFormatError, match=r"a\.jsonl:1: a message on a line of its own"):
        list(FORMATS["chat"].read(document))


@pytest.mark.parametrize("value", [{}, [], {"error": "x"}, [[]], [{"a": 1}], 5])
def test_what_holds_no_conversation_is_no_chat(value: Any) -> None:
    assert not FORMATS["chat"].recognises(parse_document(json.dumps(value).encode(), "a.json"))
