"""Logs of Inspect, hand-made in the shapes that its own test files have: as JSON, and as bounded archives."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.folds import calls_of, end_of, history_of, status_of
from harness.formats import FORMATS, archives, parse_document, read_foreign, sniff, values
from harness.types.codes import Code, FinishReason, LimitKind, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolResult
from harness.types.messages import ChatSystem
from harness.types.reasons import LimitHit, Usage
from tests.formats.lab import again

SYSTEM = {"id": "m0", "role": "system", "content": "brief"}
USER = {"id": "m1", "role": "user", "content": "go", "source": "input"}
CALL = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
ASKS = {"id": "m2", "role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm", "signature": "x"}, {"type": "text", "text": "I look", "refusal": None}], "tool_calls": [CALL], "model": "m"}
TELLS = {"id": "m3", "role": "tool", "content": "attachment://" + "ab" * 16, "tool_call_id": "c1", "function": "bash"}
DONE = {"id": "m4", "role": "assistant", "content": "done", "source": "generate"}
TOOLS = [{"name": "bash", "description": "d", "parameters": {"type": "object", "properties": {}}}]


def model_event(message: dict[str, Any], stop: str = "stop") -> dict[str, Any]:
    usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13, "input_tokens_cache_read": 2}
    output = {"model": "m-1", "choices": [{"message": message, "stop_reason": stop}], "usage": usage}
    return {"event": "model", "model": "openai/m", "input": [], "tools": TOOLS, "config": {"temperature": 0, "top_p": None}, "output": output}


def sample(*messages: Any, **more: Any) -> dict[str, Any]:
    events = [{"event": "sample_init"}, model_event(ASKS, "tool_calls"), model_event(DONE)]
    return {"id": 1, "epoch": 2, "input": "go", "target": "", "messages": list(messages), "events": events, "attachments": {"ab" * 16: "a long text"}, "scores": {}, **more}


def log(*samples: Any, **more: Any) -> dict[str, Any]:
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "openai/m", "created": "2025-01-01T00:00:00+00:00"}, "samples": list(samples), **more}


WHOLE = sample(SYSTEM, USER, ASKS, TELLS, DONE)


def archive(*parts: tuple[str, Any]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in parts:
            made.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return out.getvalue()


def header() -> dict[str, Any]:
    return {key: value for key, value in log().items() if key != "samples"}


def answers(trajectory: Trajectory) -> list[AssistantMessage]:
    return [event.fact for event in trajectory if isinstance(event.fact, AssistantMessage)]


# ---------------------------------------------------------------- reading


def test_a_sample_is_a_run_with_its_epoch_as_trial() -> None:
    trajectory = again("inspect", log(WHOLE))
    assert (trajectory.header.run_id, trajectory.header.trial) == ("again/1@default#2", 2)
    assert trajectory.header.models == (("main", "openai/m"),)
    assert [message.role for message in history_of(trajectory)] == ["user", "assistant", "tool", "assistant"]
    (trace,) = calls_of(trajectory)
    assert trace.result is not None
    assert (trace.call.arguments, trace.result.fact.content) == ('{"cmd":"ls"}', "a long text")  # type: ignore[union-attr]


def test_model_events_bring_usage_stop_reasons_and_the_offered_tools() -> None:
    trajectory = again("inspect", log(WHOLE))
    first, last = answers(trajectory)
    assert (first.content, first.reasoning, first.model, first.finish_reason) == ("I look", "hm", "m", FinishReason.TOOL_CALLS)
    assert (last.usage, last.raw_finish_reason, last.model) == (Usage(9, 4, 2), "stop", "m-1")
    head = next(event.fact for event in trajectory if isinstance(event.fact, RequestHeader))
    assert (head.system, json.loads(head.tools)[0]["name"], json.loads(head.parameters)) == ((ChatSystem(content="brief"),), "bash", {"temperature": 0})


ERRORS = [
    ("parsing", True, Code.INVALID_ARGS), ("timeout", True, Code.TOOL_TIMEOUT), ("permission", True, Code.PERMISSION_DENIED),
    ("approval", True, Code.REJECTED), ("file_not_found", True, Code.TOOL_FAILED), ("unknown", True, Code.UNKNOWN), ("output_limit", False, Code.TRUNCATED),
]  # fmt: skip


@pytest.mark.parametrize(("word", "is_error", "code"), ERRORS, ids=[row[0] for row in ERRORS])
def test_the_error_of_a_tool_gets_our_code(word: str, is_error: bool, code: Code) -> None:
    told = {**TELLS, "error": {"type": word, "message": "why"}}
    (fact,) = [event.fact for event in again("inspect", log(sample(USER, ASKS, told))) if isinstance(event.fact, ToolResult)]
    assert (fact.is_error, fact.code, fact.message, fact.truncated) == (is_error, code, "why", code is Code.TRUNCATED)


ENDS = [
    pytest.param(sample(USER, DONE), Status.COMPLETED, "final-answer", None, id="answered"),
    pytest.param(sample(USER, DONE, events=[model_event(DONE, "max_tokens")]), Status.INCOMPLETE, "max-tokens", None, id="cut"),
    pytest.param(sample(USER, DONE, events=[model_event(DONE, "content_filter")]), Status.INCOMPLETE, "content-filter", None, id="filtered"),
    pytest.param(sample(USER, ASKS, TELLS), Status.COMPLETED, "concluded", None, id="submitted-by-a-tool"),
    pytest.param(sample(USER, ASKS), None, None, None, id="stopped-on-a-call"),
    pytest.param(sample(USER, error={"message": "down", "traceback": ""}), Status.FAILED, "error", None, id="failed"),
    pytest.param(sample(USER, DONE, limit={"type": "message", "limit": 30}), Status.LIMIT_REACHED, "limit", LimitKind.MESSAGES, id="messages"),
    pytest.param(sample(USER, DONE, limit={"type": "time", "limit": 1.5}), Status.LIMIT_REACHED, "limit", LimitKind.WALL_TIME, id="time"),
    pytest.param(sample(USER, DONE, limit={"type": "token", "limit": 9}), Status.LIMIT_REACHED, "limit", LimitKind.TOKENS, id="tokens"),
    pytest.param(sample(USER, DONE, limit={"type": "operator", "limit": 1}), Status.CANCELLED, "cancelled", None, id="stopped-by-a-person"),
    pytest.param(sample(USER, DONE, limit={"type": "custom", "limit": 1}), Status.FAILED, "error", None, id="another-limit"),
]


@pytest.mark.parametrize(("made", "status", "kind", "which"), ENDS)
def test_the_end_of_a_sample_is_its_error_its_limit_or_its_last_message(made: Any, status: Any, kind: Any, which: Any) -> None:
    trajectory = again("inspect", log(made))
    end = end_of(trajectory)
    assert (status_of(trajectory), end.reason.kind if end else None) == (status, kind)
    assert (end.reason.which if end is not None and isinstance(end.reason, LimitHit) else None) == which


def test_an_older_sample_keeps_its_events_in_a_transcript() -> None:
    older = {**sample(USER, ASKS, TELLS), "events": None, "attachments": None}
    older["transcript"] = {"events": [model_event(ASKS)], "content": {"ab" * 16: "put back"}}
    trajectory = again("inspect", log(older))
    assert answers(trajectory)[0].usage == Usage(9, 4, 2)
    assert [event.fact.content for event in trajectory if isinstance(event.fact, ToolResult)] == ["put back"]


# ---------------------------------------------------------------- archives


def test_an_archive_reads_as_the_log_that_it_holds(tmp_path: Path) -> None:
    other = {**WHOLE, "id": "two words"}
    data = archive(("_journal/start.json", header()), ("samples/1_epoch_2.json", WHOLE), ("samples/two_epoch_2.json", other), ("summaries.json", []), ("header.json", header()), ("note.txt", "x"))
    path = tmp_path / "again.eval"
    path.write_bytes(data)
    assert sniff(path) == "inspect"
    first, second = read_foreign(path)
    assert first.events == again("inspect", log(WHOLE)).events
    assert second.header.run_id == "again/two words@default#2"


def test_an_archive_of_something_else_is_none_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(archive(("a.json", {"a": 1}), ("b.bin", b"\x00")))
    assert sniff(path) is None


HOSTILE = [
    pytest.param(b"PK\x03\x04 and no more", "the archive cannot be read", id="torn"),
    pytest.param(archive(("header.json", "{")), "its member 'header.json' is no JSON", id="damaged-member"),
    pytest.param(archive(("header.json", header()), ("samples/1.json", WHOLE))[:-40], "the archive cannot be read", id="no-directory"),
    pytest.param(archive(("header.json", "[" * 100_000)), "is no JSON", id="deep-member"),
    pytest.param(archive(("header.json", header())), "the log holds no samples", id="header-alone"),
    pytest.param(archive(("header.json", header()), ("samples/1.json", [1])), "messages: is no list", id="no-sample"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "words"), HOSTILE)
def test_a_hostile_archive_is_refused_by_name(data: bytes, words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words) as caught:
        list(FORMATS["inspect"].read(parse_document(data, "bad.eval")))
    assert str(caught.value).startswith("bad.eval: ")


def test_an_archive_that_grows_when_unpacked_is_refused_before_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = archive(("header.json", b" " * 40_000_000))
    assert len(bomb) < 100_000
    monkeypatch.setattr(values, "LONGEST_BYTES", 10_000_000)
    with pytest.raises(ForeignFormatError, match=r"larger than what is read, at 'header\.json'"):
        parse_document(bomb, "bomb.eval")


def test_many_small_members_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    data = archive(*((f"samples/{at}.json", json.dumps("x" * 1000)) for at in range(20)))
    monkeypatch.setattr(values, "LONGEST_BYTES", 10_000)
    with pytest.raises(ForeignFormatError, match="larger than what is read"):
        parse_document(data, "many.eval")
    monkeypatch.setattr(values, "LONGEST_BYTES", 10**6)
    monkeypatch.setattr(archives, "MOST_MEMBERS", 10)
    with pytest.raises(ForeignFormatError, match="20 members are more than the 10"):
        parse_document(data, "many.eval")


@pytest.mark.parametrize("at", range(0, 400, 7))
def test_a_byte_changed_anywhere_is_read_or_refused(at: int) -> None:
    data = bytearray(archive(("header.json", header()), ("samples/1.json", WHOLE)))
    data[at % len(data)] ^= 0xFF
    said = "bad.eval"
    try:
        list(FORMATS["inspect"].read(parse_document(bytes(data), said)))
    except ForeignFormatError as error:
        said = str(error)
    assert said.startswith("bad.eval")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param({"eval": {}}, "no log of Inspect", id="of-none"),
        pytest.param(log(), "the log holds no samples", id="no-samples"),
        pytest.param(log() | {"samples": 5}, "samples: is a number", id="samples-number"),
        pytest.param(log({"messages": [5]}), r"samples\[0\]: messages\[0\]: is a number", id="message-number"),
        pytest.param(log({"messages": [{"role": "oracle"}]}), "role: is 'oracle'", id="unknown-role"),
        pytest.param(log({"messages": [{"role": "user", "content": 5}]}), "content: is a number", id="content-number"),
    ],
)
def test_what_is_no_log_is_refused_with_the_place(value: Any, words: str) -> None:
    with pytest.raises(ForeignFormatError, match=words):
        again("inspect", value)
