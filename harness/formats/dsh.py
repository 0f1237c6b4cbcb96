"""DeepSeek Harness session logs: every line becomes its fact here, or a note that keeps it whole.

A session is a run: it starts with its first line, and its end is its last turn's. A log whose last
turn has no ``turn/end`` gets no ``run/end`` and so reads as interrupted. Tool starts, model requests
and cancels are not in the log, so they are not observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.dsh_inbox import Inboxes
from harness.formats.dsh_log import LogLine, chunks_of, is_session, log_lines, message_of, result_of
from harness.formats.dsh_words import (
    approval_outcome,
    code_of,
    error_of,
    finish_of,
    header_why,
    turn_end,
    usage_of,
)
from harness.formats.values import Document, arguments_text, content_of_parts, objects, text_or_none, whole_or_none
from harness.types.codes import Code, FinishReason
from harness.types.events import Trajectory
from harness.types.exchange import (
    AssistantChunk,
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRetry,
    RequestHeader,
    ToolCall,
    UserMessage,
)
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    RunEnd,
    RunStart,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnStart,
)
from harness.types.messages import ChatSystem, ChatUser
from harness.types.profile import Profile
from harness.types.profile_loop import RewrittenToEmpty
from harness.types.profile_run import RemovedWake

OBSERVED: Final = (
    "run/start", "turn/start", "turn/end", "step/start", "step/end", "user/message", "assistant/message",
    "assistant/chunk", "tool/call", "tool/result", "inbox/queued", "inbox/claimed", "inbox/discarded",
    "approval/asked", "approval/answered",
)  # fmt: skip

PROFILE: Final = Profile(
    rewritten_to_empty=RewrittenToEmpty.COMPLETED_WITHOUT_STEP, removed_wake=RemovedWake.TURN_WITHOUT_STEPS
)
"""What that product is known to choose (CONFORMANCE 14, 112): a turn may complete without a step."""


def is_dsh(document: Document) -> bool:
    """True for a session log."""
    return is_session(document.first)


def read_dsh(document: Document) -> Iterator[Trajectory]:
    """The one trajectory of a session log. Raises ForeignFormatError."""
    if not is_dsh(document):
        document.refuse("no session log: its first line must be a session with id and createdAt", 1)
    yield _SessionReader(document).read()


class _SessionReader:
    """Goes through one log, line by line."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._out = TrajectoryBuilder(subject="deepseek-harness", source=document.source, profile=PROFILE)
        self._inboxes = Inboxes(self._out)
        self._seqs: dict[int, int] = {}
        self._approvals: dict[str, str | None] = {}
        self._attempt = 1
        self._finish: tuple[FinishReason, str] | None = None
        self._model: str | None = None
        self._end: TurnEnd | None = None
        self._n_turns = 0
        self._readers: dict[str, Callable[[LogLine], None]] = {
            "agent/inbox/spliced": self._inbox,
            "turn/start": self._turn_start,
            "turn/end": self._turn_end,
            "step/start": self._step_start,
            "step/end": lambda line: self._add(line, StepEnd()),
            "user/message": self._user_message,
            "request/header": self._request_header,
            "assistant/chunk": self._chunks,
            "reasoning-chunks": self._chunks,
            "text-chunks": self._chunks,
            "tool-call-chunks": self._chunks,
            "assistant/message": self._answer,
            "llm/retry": self._retry,
            "llm/retry-started": self._retry_started,
            "tool/call": self._tool_call,
            "tool/result": self._tool_result,
            "approval/asked": self._approval_asked,
            "approval/decided": self._approval_decided,
        }

    def read(self) -> Trajectory:
        """The whole trajectory."""
        session = self._document.values[0][1]
        self._out.add(RunStart())
        self._out.note("dsh/session", session)
        for line in log_lines(self._document):
            self._readers.get(line.kind, self._keep)(line)
        if self._end is not None:
            self._out.add(RunEnd(self._end.status, self._end.reason))
        # A session without a turn was never at work, so nothing was interrupted.
        self._out.observe(*OBSERVED, *(["run/end"] if self._n_turns else []))
        return self._out.finish(
            text_or_none(session["id"]) or self._document.source,
            model=self._model,
            started_at=_instant(session["createdAt"]),
            torn=self._document.torn,
        )

    def _add(self, line: LogLine, fact: Any) -> None:
        self._seqs[line.seq] = self._out.add(fact, turn=line.turn, step=line.step)

    def _keep(self, line: LogLine) -> None:
        self._out.note(f"dsh/{line.kind}", line.data, turn=line.turn, step=line.step)

    # ------------------------------------------------------------ frames and input

    def _turn_start(self, line: LogLine) -> None:
        self._end = None
        self._n_turns += 1
        self._add(line, TurnStart())

    def _turn_end(self, line: LogLine) -> None:
        status, reason = turn_end(line.data.get("reason"))
        self._end = TurnEnd(status, reason)
        self._add(line, self._end)

    def _step_start(self, line: LogLine) -> None:
        self._attempt = 1
        self._finish = None
        self._add(line, StepStart())

    def _inbox(self, line: LogLine) -> None:
        self._inboxes.splice(line.data)

    def _user_message(self, line: LogLine) -> None:
        source = line.data.get("source")
        if not isinstance(source, dict) or source.get("kind") != "user":
            self._out.note("dsh/source", source, turn=line.turn, step=line.step)
        message = ChatUser(content=content_of_parts(line.data.get("content")))
        shadowed = self._shadowed(line.surface)
        if shadowed is None:
            self._add(line, UserMessage(message))
        else:
            self._add(line, ContextReplaced(*shadowed, message))

    def _shadowed(self, surface: Any) -> tuple[int, int] | None:
        """The events that a replacing line shadows, in our numbers; None where it only appends."""
        if not isinstance(surface, dict) or surface.get("op") != "replace":
            return None
        start, end = (whole_or_none(surface.get(key)) for key in ("start", "end"))
        if start not in self._seqs or end not in self._seqs:
            return None
        return self._seqs[start], self._seqs[end]

    # ------------------------------------------------------------ the model

    def _request_header(self, line: LogLine) -> None:
        header = line.data.get("header")
        tools = header.get("tools") if isinstance(header, dict) else None
        if not isinstance(header, dict) or not isinstance(tools, list):
            self._keep(line)  # a placeholder instead of tools says nothing about what was offered
            return
        config = header.get("config")
        system = header.get("system")
        self._model = self._model or (text_or_none(config.get("model")) if isinstance(config, dict) else None)
        fact = RequestHeader(
            (ChatSystem(content=content_of_parts(system)),) if system else (),
            canonical_json(tools),
            canonical_json(config if isinstance(config, dict) else {}),
            header_why(line.data.get("reason")),
        )
        self._add(line, fact)

    def _chunks(self, line: LogLine) -> None:
        for chunk in chunks_of(line):
            fact = AssistantChunk(canonical_json(chunk), self._attempt)
            self._out.add(fact, turn=line.turn, step=line.step)
            if chunk.get("type") == "finish":
                self._finished(line, chunk.get("reason"))

    def _finished(self, line: LogLine, reason: Any) -> None:
        self._finish = finish_of(reason)
        failure = reason.get("failure") if isinstance(reason, dict) else None
        if isinstance(failure, dict):
            code, message = code_of(failure.get("code")), text_or_none(failure.get("message"))
            self._add(line, ModelFailed(code, message or "failed without a message", self._attempt))

    def _retry(self, line: LogLine) -> None:
        failure = line.data.get("failure")
        code = code_of(failure.get("code")) if isinstance(failure, dict) else Code.UNKNOWN
        self._keep(line)
        self._add(line, ModelRetry(code, self._attempt, whole_or_none(line.data.get("delayMs")) or 0))

    def _retry_started(self, line: LogLine) -> None:
        self._attempt += 1
        self._finish = None
        self._keep(line)

    def _answer(self, line: LogLine) -> None:
        message = message_of(line)
        parts = list(objects(message.get("content")))
        visible = [part for part in parts if part.get("type") not in ("reasoning", "tool-call")]
        reasoning = [str(part.get("text", "")) for part in parts if part.get("type") == "reasoning"]
        calls = [_call(part) for part in parts if part.get("type") == "tool-call"]
        source = message.get("source") or message.get("provenance")
        model = text_or_none(source.get("model")) if isinstance(source, dict) else None
        self._model = self._model or model
        finish, raw = self._finish or (None, None)
        fact = AssistantMessage(
            content=content_of_parts(visible) if visible else None,
            reasoning="\n".join(reasoning) if reasoning else None,
            tool_calls=self._out.ids.emit(calls, line.turn or self._n_turns, line.step or 0),
            finish_reason=finish,
            raw_finish_reason=raw,
            model=model,
            usage=usage_of(line.data.get("usage")),
            attempt=self._attempt,
            interrupted=line.data.get("interrupted") is True,
        )
        self._add(line, fact)

    # ------------------------------------------------------------ tools

    def _tool_call(self, line: LogLine) -> None:
        name = text_or_none(line.data.get("name")) or ""
        call_id = self._out.ids.dispatched(text_or_none(line.data.get("callId")), name)
        self._add(line, ToolCall(call_id, name, arguments_text(line.data.get("arguments"))))

    def _tool_result(self, line: LogLine) -> None:
        wire, content, is_error = result_of(line)
        code, message = error_of(line.data.get("error"), is_error=is_error)
        meta = line.data.get("meta")
        if meta is not None:
            self._out.note("dsh/meta", meta, turn=line.turn, step=line.step)
        result = ForeignResult(
            text_or_none(wire), content_of_parts(content), is_error=is_error, code=code, message=message
        )
        self._add(line, self._out.ids.answer(result))

    def _approval_asked(self, line: LogLine) -> None:
        wire = text_or_none(line.data.get("callId"))
        self._approvals[str(line.data.get("id"))] = wire
        call = self._out.ids.call_under(wire)
        self._keep(line)
        if call is not None:
            self._add(line, ApprovalAsked(call.id))

    def _approval_decided(self, line: LogLine) -> None:
        call = self._out.ids.call_under(self._approvals.get(str(line.data.get("id"))))
        outcome = approval_outcome(line.data.get("outcome"))
        if call is None or outcome is None:
            self._keep(line)
        else:
            self._add(line, ApprovalAnswered(call.id, outcome, "user"))


def _call(part: dict[str, Any]) -> ForeignCall:
    return ForeignCall(
        text_or_none(part.get("name")) or "", arguments_text(part.get("arguments")), text_or_none(part.get("id"))
    )


def _instant(created_at: Any) -> str | None:
    """ISO 8601 of a creation time in milliseconds; None for the placeholder 0."""
    since_1970_ms = whole_or_none(created_at)
    if since_1970_ms is None or not 0 < since_1970_ms < 2**47:
        return None
    return datetime.fromtimestamp(since_1970_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
