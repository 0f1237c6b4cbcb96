"""Runs of AgentDojo: one run a file, ``runs/<pipeline>/<suite>/<user task>/<attack>/<injection task>.json``.

Content is a list of parts whose text stands under ``content``; thinking is reasoning. An error of a tool stands beside
its result. A run without an error ends with its last answer, and ``utility`` is what the benchmark's judge says of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.talk import Talk
from harness.formats.values import Document, arguments_text, content_of_parts, objects, refuse_lines, text_or_none
from harness.types.codes import Code, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.messages import Content
from harness.types.reasons import Failed, FinalAnswer, Reason
from harness.wire.shape import kind_of

BESIDE_NOTE: Final = "agentdojo/run"
"""Name of the note with all of a run but its messages: suite, tasks, attack, verdicts."""
PARTS_NOTE: Final = "agentdojo/parts"
"""Name of the note before a message: its parts of other kinds than text and thinking."""
PLACEHOLDERS_NOTE: Final = "agentdojo/placeholder-args"
"""Name of the note before an answer: ``placeholder_args`` of its calls, by their index."""

EXTRA_NOTE: Final = "agentdojo/extra"
"""Name of the note before a message: fields of it that no fact has a place for."""
_READ: Final = ("role", "content", "tool_calls", "tool_call", "tool_call_id", "error")


def is_agentdojo(document: Document) -> bool:
    """True for a run of that benchmark."""
    first = document.first
    return isinstance(first, dict) and {"suite_name", "user_task_id", "messages"} <= set(first)


def read_agentdojo(document: Document) -> Iterator[Trajectory]:
    """The one trajectory of a run. Raises ForeignFormatError."""
    if not is_agentdojo(document) or not isinstance(document.first["messages"], list) or len(document.values) != 1:
        refuse_lines(document, "a run of AgentDojo", "suite_name")
        document.refuse("no run of AgentDojo: expected an object with suite_name, user_task_id and messages")
    yield _Reader(document).read(document.first)


class _Reader:
    """Goes through one run."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._out = TrajectoryBuilder(subject="agentdojo", source=document.source)
        self._talk = Talk(self._out)

    def read(self, root: Mapping[str, Any]) -> Trajectory:
        """The whole trajectory."""
        self._out.note(BESIDE_NOTE, {key: value for key, value in root.items() if key != "messages"})
        for at, message in enumerate(root["messages"]):
            self._message(message, f"messages[{at}]")
        self._out.inferred_end(_end(root))
        return self._out.finish(_run_id(root, self._document.source), model=text_or_none(root.get("pipeline_name")))

    def _message(self, message: Any, where: str) -> None:
        if not isinstance(message, dict):
            self._document.refuse(f"{where}: a message is an object, not {kind_of(message)}")
        if rest := {key: value for key, value in message.items() if key not in _READ and value is not None}:
            self._out.note(EXTRA_NOTE, rest)
        match message.get("role"):
            case "system":
                self._talk.system(self._visible(message, where))
            case "user":
                self._talk.user(_present(self._visible(message, where)))
            case "assistant":
                self._answer(message, where)
            case "tool":
                self._result(message, where)
            case role:
                self._document.refuse(f"{where}: role is {role!r}; it must be system, user, assistant or tool")

    def _answer(self, message: dict[str, Any], where: str) -> None:
        thinking = [part.get("content") for part in objects(message.get("content")) if part.get("type") == "thinking"]
        texts = [text for text in thinking if isinstance(text, str)]
        content = self._visible(message, where)
        given = message.get("tool_calls")
        if given is not None and not (isinstance(given, list) and all(isinstance(call, dict) for call in given)):
            self._document.refuse(f"{where}.tool_calls: expected null or a list of calls")
        placeholders = {
            str(at): call["placeholder_args"] for at, call in enumerate(given or ()) if call.get("placeholder_args")
        }
        if placeholders:
            self._out.note(PLACEHOLDERS_NOTE, placeholders)
        calls = [_call(call) for call in given or ()]
        self._talk.answer(AssistantMessage(content=content, reasoning="\n\n".join(texts) or None), calls)

    def _result(self, message: dict[str, Any], where: str) -> None:
        call = message.get("tool_call")
        copied = call if isinstance(call, dict) else {}
        error = text_or_none(message.get("error"))
        self._talk.result(
            ForeignResult(
                text_or_none(message.get("tool_call_id")) or text_or_none(copied.get("id")),
                _present(self._visible(message, where)),
                text_or_none(copied.get("function")),
                is_error=error is not None,
                code=None if error is None else Code.TOOL_FAILED,
                message=error,
            )
        )

    def _visible(self, message: dict[str, Any], where: str) -> Content | None:
        content = self._content(message, where)
        return None if content is None else content_of_parts(content)

    def _content(self, message: dict[str, Any], where: str) -> Any:
        """Text, or parts of text in the shape of chat messages; other parts than thinking go to a note."""
        content = message.get("content")
        if content is None or isinstance(content, str):
            return content
        if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
            self._document.refuse(f"{where}.content: expected null, text or a list of parts")
        texts = [part["content"] for part in content if _is_text(part)]
        others = [part for part in content if not _is_text(part) and part.get("type") != "thinking"]
        if others:
            self._out.note(PARTS_NOTE, others)
        return (
            None if not texts else texts[0] if len(texts) == 1 else [{"type": "text", "text": text} for text in texts]
        )


def _is_text(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "text" and isinstance(part.get("content"), str)


def _present(content: Content | None) -> Content:
    return "" if content is None else content


def _call(call: Mapping[str, Any]) -> ForeignCall:
    return ForeignCall(
        text_or_none(call.get("function")) or "", arguments_text(call.get("args")), text_or_none(call.get("id"))
    )


def _end(root: Mapping[str, Any]) -> tuple[Status, Reason] | None:
    error = root.get("error")
    if error is not None:
        return Status.FAILED, Failed(Code.UNKNOWN, str(error) or "failed without a message")
    last = root["messages"][-1] if root["messages"] else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        return None
    if root.get("utility") is False:
        return Status.INCOMPLETE, FinalAnswer(Status.INCOMPLETE, "the benchmark says of its utility: false")
    return Status.COMPLETED, FinalAnswer()


def _run_id(root: Mapping[str, Any], source: str) -> str:
    names = [root.get(key) for key in ("suite_name", "user_task_id", "attack_type", "injection_task_id")]
    return "/".join([PurePath(source).stem, *(str(name) for name in names if name is not None)])
