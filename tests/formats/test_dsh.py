"""Session logs of DeepSeek Harness: nested and flat, packed and not, each way to end, and odd lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ForeignFormatError
from harness.folds import calls_of, status_of
from harness.formats import read_foreign
from harness.types.codes import CancelBy, Code, FinishReason, HeaderWhy, InboxQueue, Status
from harness.types.events import Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRetry,
    RequestHeader,
    ToolCall,
    ToolResult,
    UserMessage,
)
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    InboxClaimed,
    InboxDiscarded,
    InboxQueued,
    Note,
    RunEnd,
    TurnEnd,
)
from harness.types.messages import ChatSystem, ChatUser, OtherPart, TextPart
from harness.types.reasons import Blocked, Cancelled, Failed, FinalAnswer, Interrupted, OutOfTokens, Usage

SESSION = {"type": "session", "version": 0, "id": "s1", "createdAt": 1_700_000_000_123, "cwd": "x"}
AT = {"turn": 1, "step": 1}


def line(kind: str, data: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "data": data or {}, **more}


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def user(words: str, **more: Any) -> dict[str, Any]:
    return line("user/message", {"content": text(words), "source": {"kind": "user"}, "role": "user", "id": "u"}, surfaceOp="append", **more)


def answer(*parts: dict[str, Any], flat: bool = False, **more: Any) -> dict[str, Any]:
    source = {"provider": "p", "model": "m"}
    if flat:
        return line("assistant/message", {**AT, "content": list(parts), "provenance": source, **more})
    return line("assistant/message", {**AT, "message": {"role": "assistant", "content": list(parts), "source": {"kind": "model", **source}, "id": "a"}, **more})


def asked(identity: str, arguments: str = "{}") -> dict[str, Any]:
    return {"type": "tool-call", "id": identity, "name": "bash", "arguments": arguments}


def called(identity: str, arguments: str = "{}") -> dict[str, Any]:
    return line("tool/call", {**AT, "callId": identity, "name": "bash", "arguments": arguments})


def result(identity: str, words: str, *, is_error: bool = False, flat: bool = False, **more: Any) -> dict[str, Any]:
    if flat:
        return line("tool/result", {**AT, "callId": identity, "content": text(words), "isError": is_error, **more})
    part = {"type": "tool-result", "toolCallId": identity, "content": text(words), "isError": is_error}
    return line("tool/result", {**AT, "message": {"source": {"kind": "tool", "callId": identity}, "content": [part], "role": "user"}, **more})


def ended(kind: str, **more: Any) -> dict[str, Any]:
    return line("turn/end", {"turn": 1, "reason": {"kind": kind, **more}})


OPEN = [line("turn/start", {"turn": 1}), line("step/start", AT), user("go")]


def read(tmp_path: Path, *lines: Any, tail: str = "") -> Trajectory:
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in (SESSION, *lines)) + tail, "utf-8")
    (trajectory,) = read_foreign(path)
    return trajectory


def facts(trajectory: Trajectory, *kinds: type) -> list[Any]:
    return [event.fact for event in trajectory if isinstance(event.fact, kinds)]


@pytest.mark.parametrize("flat", [False, True], ids=["nested", "flat"])
def test_a_nested_and_an_older_flat_log_give_the_same_facts(flat: bool, tmp_path: Path) -> None:
    parts = [{"type": "reasoning", "text": "hm"}, *text("let me"), asked("c1", '{"a": 1}')]
    usage = {"inputTokens": 3, "outputTokens": 2, "cacheReadTokens": 1, "reasoningTokens": 0}
    one = read(
        tmp_path, *OPEN, answer(*parts, flat=flat, usage=usage), called("c1", '{"a": 1}'), result("c1", "out", flat=flat),
        line("step/end", AT), ended("completed"),
    )  # fmt: skip
    (message,) = facts(one, AssistantMessage)
    assert (message.content, message.reasoning, message.model) == ("let me", "hm", "m")
    assert message.usage == Usage(input_tokens=3, output_tokens=2, cached_tokens=1, reasoning_tokens=0)
    assert facts(one, ToolCall) == [ToolCall(message.tool_calls[0].id, "bash", '{"a": 1}')]
    assert facts(one, ToolResult) == [ToolResult(message.tool_calls[0].id, "bash", "out")]
    assert (one.header.run_id, one.header.models, one.header.volatile.started_at) == ("s1", (("main", "m"),), "2023-11-14T22:13:20.123Z")
    assert {(event.turn, event.step) for event in one if event.step is not None} == {(1, 1)}


@pytest.mark.parametrize(
    ("end", "status", "reason"),
    [
        pytest.param(ended("completed"), Status.COMPLETED, FinalAnswer(), id="completed"),
        pytest.param(ended("aborted", reason={"kind": "user"}), Status.CANCELLED, Cancelled(CancelBy.USER), id="aborted"),
        pytest.param(ended("aborted", reason={"kind": "parent"}), Status.CANCELLED, Cancelled(CancelBy.PARENT), id="aborted-by-parent"),
        pytest.param(ended("error", error={"message": "no key", "code": "AUTH"}), Status.FAILED, Failed(Code.AUTH, "no key"), id="error"),
        pytest.param(ended("error", error={"code": "ODD"}), Status.FAILED, Failed(Code.UNKNOWN, "failed without a message"), id="odd-error"),
        pytest.param(ended("max-tokens"), Status.INCOMPLETE, OutOfTokens(), id="max-tokens"),
        pytest.param(ended("interrupted"), Status.INCOMPLETE, Interrupted(), id="interrupted"),
        pytest.param(ended("blocked"), Status.BLOCKED, Blocked(), id="blocked"),
        pytest.param(ended("exploded"), Status.FAILED, Failed(Code.UNKNOWN, "the turn ended for an unknown reason: 'exploded'"), id="unknown"),
        pytest.param(line("turn/end", {"turn": 1}), Status.FAILED, Failed(Code.UNKNOWN, "the turn ended for an unknown reason: None"), id="none"),
    ],
)  # fmt: skip
def test_each_way_to_end_a_turn_is_the_status_of_the_run(end: Any, status: Status, reason: Any, tmp_path: Path) -> None:
    one = read(tmp_path, *OPEN, line("step/end", AT), end)
    assert facts(one, TurnEnd) == [TurnEnd(status, reason)]
    assert facts(one, RunEnd) == [RunEnd(status, reason)]


@pytest.mark.parametrize(
    ("lines", "observed"),
    [([], False), (OPEN, True), ([*OPEN, line("step/end", AT), ended("completed"), line("turn/start", {"turn": 2})], True)],
    ids=["no-turn", "open-turn", "second-turn-open"],
)
def test_without_the_last_turns_end_there_is_no_run_end(lines: list[Any], observed: bool, tmp_path: Path) -> None:
    one = read(tmp_path, *lines)
    assert status_of(one) is None
    assert ("run/end" in dict(one.header.observed)) == observed


def test_a_torn_last_line_is_reported_and_never_parsed(tmp_path: Path) -> None:
    one = read(tmp_path, *OPEN, tail='{"type":"turn/end","data":{"tu')
    assert one.torn is not None
    assert (one.torn.line, one.torn.n_bytes) == (5, 30)
    assert status_of(one) is None


@pytest.mark.parametrize(
    ("bad", "words"),
    [([], "must be an object with a type"), ({"data": {}}, "must be an object with a type"), ({"type": "x", "data": 3}, "the data of 'x' must be an object")],
)
def test_a_line_of_another_shape_is_refused_by_its_number(bad: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ForeignFormatError, match=f"session.jsonl:3: .*{words}"):
        read(tmp_path, OPEN[0], bad, OPEN[1])


def test_packed_chunks_are_unpacked_and_counted_one_by_one(tmp_path: Path) -> None:
    one = read(
        tmp_path, *OPEN,
        line("text-chunks", {**AT, "index": 0, "dt": [1, 0], "texts": ["a", "b"]}),
        line("tool-call-chunks", {**AT, "index": 1, "dt": [1], "id": "c1", "name": "bash", "args": ["", "{}"]}),
        line("assistant/chunk", {**AT, "chunk": {"type": "finish", "reason": {"kind": "tool-calls"}}}),
        answer(asked("c1")), result("c1", "out"),
        # Sequence numbers count events behind the session line: 0 to 2 are OPEN, 3 to 7 the chunks.
        line("user/message", {"content": text("short"), "source": {"kind": "plugin"}}, surfaceOp={"op": "replace", "start": 2, "end": 9}),
    )  # fmt: skip
    chunks = [json.loads(chunk.chunk) for chunk in facts(one, AssistantChunk)]
    assert chunks == [
        {"type": "text-delta", "index": 0, "text": "a"},
        {"type": "text-delta", "index": 0, "text": "b"},
        {"type": "tool-call-delta", "index": 1, "id": "c1", "name": "bash", "argumentsDelta": ""},
        {"type": "tool-call-delta", "index": 1, "id": "c1", "name": "bash", "argumentsDelta": "{}"},
        {"type": "finish", "reason": {"kind": "tool-calls"}},
    ]
    (message,) = facts(one, AssistantMessage)
    assert (message.finish_reason, message.raw_finish_reason) == (FinishReason.TOOL_CALLS, "tool-calls")
    by_kind = {type(event.fact): event.seq for event in one}
    (replaced,) = facts(one, ContextReplaced)
    assert replaced == ContextReplaced(by_kind[UserMessage], by_kind[ToolResult], ChatUser(content="short"))


def test_a_retried_request_counts_its_attempts(tmp_path: Path) -> None:
    failure = {"message": "empty", "code": "EMPTY_RESPONSE"}
    one = read(
        tmp_path, *OPEN,
        line("assistant/chunk", {**AT, "chunk": {"type": "finish", "reason": {"kind": "error", "failure": failure}}}),
        line("llm/retry", {**AT, "retry": 1, "delayMs": 7, "failure": failure}), line("llm/retry-started", {**AT, "retry": 1}),
        line("assistant/chunk", {**AT, "chunk": {"type": "finish", "reason": {"kind": "stop"}}}), answer(*text("ok")),
    )  # fmt: skip
    assert facts(one, ModelFailed, ModelRetry) == [ModelFailed(Code.EMPTY_RESPONSE, "empty", 1), ModelRetry(Code.EMPTY_RESPONSE, 1, 7)]
    (message,) = facts(one, AssistantMessage)
    assert (message.attempt, message.finish_reason) == (2, FinishReason.STOP)


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"name": "AbortError", "code": "ABORTED"}, Code.ABORTED, "AbortError: ABORTED"),
        ({"name": "FsError", "code": "FS_SANDBOX_DENIED"}, Code.PERMISSION_DENIED, "FsError: FS_SANDBOX_DENIED"),
        ({"name": "X", "code": "NOT_RESUMABLE"}, Code.UNKNOWN, "X: NOT_RESUMABLE"),
        (None, Code.UNKNOWN, "failed without a code"),
    ],
)
def test_an_error_result_always_has_a_code_and_says_theirs(error: Any, code: Code, message: str, tmp_path: Path) -> None:
    more = {"error": error} if error else {}
    one = read(tmp_path, *OPEN, answer(asked("c1")), called("c1"), result("c1", "no", is_error=True, **more))
    (fact,) = facts(one, ToolResult)
    assert (fact.is_error, fact.code, fact.message) == (True, code, message)


def test_input_is_queued_claimed_and_discarded_by_its_id(tmp_path: Path) -> None:
    def spliced(target: str, *inserted: str, **more: Any) -> dict[str, Any]:
        messages = [{"content": text(one), "id": one} if one else {"content": text("?")} for one in inserted]
        return line("agent/inbox/spliced", {"target": target, "start": 0, "inserted": messages, **more})

    one = read(tmp_path, spliced("next-turn", "a", "b"), spliced("next-turn", removedCount=1), spliced("next-step", ""),
               spliced("next-step", removedCount=1, outcome="canceled"), spliced("next-turn", removedCount=9))  # fmt: skip
    assert [(type(fact), fact.queue) for fact in facts(one, InboxQueued, InboxClaimed, InboxDiscarded)] == [
        (InboxQueued, InboxQueue.FOLLOWUP), (InboxClaimed, InboxQueue.FOLLOWUP), (InboxQueued, InboxQueue.STEER),
        (InboxDiscarded, InboxQueue.STEER), (InboxClaimed, InboxQueue.FOLLOWUP),
    ]  # fmt: skip
    assert [fact.message_ids for fact in facts(one, InboxClaimed)] == [("a",), ("b",)]
    assert facts(one, InboxDiscarded) == [InboxDiscarded(InboxQueue.STEER, ("unnamed-1",), "canceled")]  # type: ignore[arg-type]


def test_a_request_header_is_taken_where_it_lists_tools_and_kept_whole_where_it_does_not(tmp_path: Path) -> None:
    header = {"config": {"model": "m2"}, "system": "be brief", "tools": [{"name": "bash", "description": "", "parameters": {}}]}
    placeholder = {"config": {"model": "m2"}, "system": "x", "tools": "{{tools}}"}
    one = read(tmp_path, *OPEN, line("request/header", {"header": header, "reason": "initial"}), line("request/header", {"header": placeholder, "reason": "change"}))
    assert facts(one, RequestHeader) == [
        RequestHeader((ChatSystem(content="be brief"),), '[{"description":"","name":"bash","parameters":{}}]', '{"model":"m2"}', HeaderWhy.INITIAL)  # type: ignore[arg-type]
    ]
    assert [note.name for note in facts(one, Note)] == ["dsh/session", "dsh/request/header"]


def test_approvals_are_asked_and_answered_for_the_call(tmp_path: Path) -> None:
    def decided(outcome: str) -> Trajectory:
        return read(tmp_path, *OPEN, answer(asked("c1")), called("c1"), line("approval/asked", {"id": "q", "callId": "c1"}), line("approval/decided", {"id": "q", "outcome": outcome}))

    assert facts(decided("rejected"), ApprovalAsked, ApprovalAnswered)[1].outcome.value == "rejected"
    assert facts(decided("approved"), ApprovalAnswered)[0].outcome.value == "allowed"
    assert facts(decided("shrugged"), ApprovalAnswered) == [], "an unknown word is kept in a note, not guessed"


def test_what_has_no_fact_is_kept_whole_in_a_note(tmp_path: Path) -> None:
    one = read(tmp_path, line("todo/write", {"todos": [1]}), line("quite/new", {"x": 1}), *OPEN, result("zz", "stray", meta={"m": 1}))
    notes = {note.name: json.loads(note.data) for note in facts(one, Note)}
    assert notes == {"dsh/session": SESSION, "dsh/todo/write": {"todos": [1]}, "dsh/quite/new": {"x": 1}, "dsh/meta": {"m": 1}}
    assert facts(one, ToolResult)[0].call_id == "zz", "a stray result stays visible"
    assert calls_of(one) == []


def test_images_and_several_texts_are_parts(tmp_path: Path) -> None:
    image = {"type": "image", "attachment": {"id": "x"}}
    message = line("user/message", {"content": [*text("a"), image], "source": {"kind": "user"}})
    (fact,) = facts(read(tmp_path, OPEN[0], message), UserMessage)
    assert fact.message.content == (TextPart(text="a"), OtherPart(json='{"attachment":{"id":"x"},"type":"image"}'))  # type: ignore[arg-type]


def test_an_interrupted_answer_says_so(tmp_path: Path) -> None:
    (fact,) = facts(read(tmp_path, *OPEN, answer(*text("half"), interrupted=True)), AssistantMessage)
    assert fact.interrupted
