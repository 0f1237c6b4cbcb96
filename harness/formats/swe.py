"""Runs of SWE-agent (.traj) and of mini-swe-agent (1.x, 2.x, and older bare lists).

The history is read, which is what the model was shown: thoughts and actions of the text protocol stand in the content
already, observations are user input there and tool results with function calling. A result names its calls in a list.
How the run ended is the word of ``info.exit_status``; what else the file says is kept in a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ModelError
from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.items import OUTPUTS, Items
from harness.formats.swe_ends import mini_end, swe_end
from harness.formats.talk import Talk
from harness.formats.values import Document, text_or_none
from harness.types.codes import FinishReason
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.messages import ChatAssistant, ChatDeveloper, ChatSystem, ChatTool, ChatUser, Content
from harness.wire.chat import finish_reason, message_from_wire
from harness.wire.completions import usage_in
from harness.wire.responses_items import usage_of

BESIDE_NOTE: Final = "swe/beside"
"""Name of the note with what stands beside the messages: steps, statistics, environment."""
EXTRA_NOTE: Final = "swe/extra"
"""Name of the note before a message: fields of it that no fact has a place for."""
_SWE_FIELDS: Final = frozenset({"agent", "message_type", "is_demo", "thought", "action", "tool_call_ids"})
_MINI: Final = "mini-swe-agent-"
_CHAT: Final = ("role", "content", "tool_calls", "tool_call_id", "name", "reasoning_content", "refusal")
_ROLES: Final = ("system", "user", "assistant", "tool")


def is_swe(document: Document) -> bool:
    """True for a run of SWE-agent: a history whose messages say which agent they belong to."""
    first = document.first
    history = first.get("history") if isinstance(first, dict) else None
    if not isinstance(history, list) or not history or len(document.values) != 1:
        return False
    return all(isinstance(message, dict) and "role" in message and _SWE_FIELDS & set(message) for message in history)


def is_mini(document: Document) -> bool:
    """True for a run of mini-swe-agent: it says so, or it has that product's account of its end."""
    first = document.first
    if not isinstance(first, dict) or not isinstance(first.get("messages"), list) or len(document.values) != 1:
        return False
    info = first.get("info")
    said = str(first.get("trajectory_format", "")).startswith(_MINI)
    return said or (isinstance(info, dict) and "exit_status" in info and "mini_version" in info)


def read_swe(document: Document) -> Iterator[Trajectory]:
    """The one trajectory of a .traj file. Raises ForeignFormatError."""
    if not is_swe(document):
        document.refuse("no run of SWE-agent: expected an object with a history of messages")
    root = document.first
    info = root.get("info")
    yield _Reader(document, "swe-agent").read(root["history"], root, "history", swe_end(info))


def read_mini(document: Document) -> Iterator[Trajectory]:
    """The one trajectory of a file of mini-swe-agent. Raises ForeignFormatError."""
    root = document.first
    if isinstance(root, list):
        root = {"messages": root}
    if not isinstance(root, dict) or not isinstance(root.get("messages"), list) or len(document.values) != 1:
        document.refuse("no run of mini-swe-agent: expected an object with messages, or a list of them")
    messages = root["messages"]
    yield _Reader(document, "mini-swe-agent").read(messages, root, "messages", mini_end(root.get("info"), messages))


class _Reader:
    """Goes through one run."""

    def __init__(self, document: Document, subject: str) -> None:
        self._document = document
        self._out = TrajectoryBuilder(subject=subject, source=document.source)
        self._talk = Talk(self._out)
        self._model: str | None = None

    def read(self, messages: list[Any], root: Mapping[str, Any], key: str, end: Any) -> Trajectory:
        """The whole trajectory."""
        beside = {name: value for name, value in root.items() if name != key}
        if beside:
            self._out.note(BESIDE_NOTE, beside)
        for at, raw in enumerate(messages):
            try:
                self._message(raw, f"{key}[{at}]")
            except ModelError as error:
                self._document.refuse(str(error))
        self._out.end(end)
        return self._out.finish(PurePath(self._document.source).stem, model=self._model)

    def _message(self, raw: Any, where: str) -> None:
        if isinstance(raw, dict) and raw.get("role") == "exit":  # 2.x: its account of the end, no message
            self._out.note(EXTRA_NOTE, raw)
            return
        if isinstance(raw, dict) and (raw.get("object") == "response" or raw.get("type") in OUTPUTS):
            self._of_responses(raw, where)
            return
        if not isinstance(raw, dict) or raw.get("role") not in _ROLES:
            self._document.refuse(f"{where}: a message is an object with one of the roles {', '.join(_ROLES)}")
        message = message_from_wire({name: raw[name] for name in _CHAT if name in raw}, where)
        rest = {name: value for name, value in raw.items() if name not in _CHAT and value is not None}
        if set(rest) - {"agent"}:
            self._out.note(EXTRA_NOTE, rest)
        match message:
            case ChatSystem() | ChatDeveloper():
                self._talk.system(message.content, message.role)
            case ChatUser():
                self._talk.user(message.content)
            case ChatAssistant():
                self._answer(message, rest)
            case ChatTool():
                self._results(message.content, message.call_id, raw)

    def _of_responses(self, raw: dict[str, Any], where: str) -> None:
        """A response of the Responses API, or an output that answers a call of it (2.x can ask that API)."""
        if raw.get("object") != "response":
            Items(self._talk).take_all([raw], where)
            if rest := {key: value for key, value in raw.items() if key not in ("type", "call_id", "output")}:
                self._out.note(EXTRA_NOTE, rest)
            return
        if not isinstance(raw.get("output"), list):
            self._document.refuse(f"{where}: a response has a list of output items")
        self._out.note(EXTRA_NOTE, {key: value for key, value in raw.items() if key != "output"})
        self._model = self._model or text_or_none(raw.get("model"))
        items = Items(self._talk, model=text_or_none(raw.get("model")), usage=usage_of(raw.get("usage")))
        items.take_all(raw["output"], f"{where}.output")
        items.close()

    def _answer(self, message: ChatAssistant, rest: Mapping[str, Any]) -> None:
        extra = rest.get("extra")
        response = extra.get("response") if isinstance(extra, dict) else None
        told = response if isinstance(response, dict) else {}
        self._model = self._model or text_or_none(told.get("model"))
        finish, raw_finish = _finish(told)
        answer = AssistantMessage(
            content=message.content,
            reasoning=message.reasoning,
            refusal=message.refusal,
            finish_reason=finish,
            raw_finish_reason=raw_finish,
            model=text_or_none(told.get("model")),
            usage=usage_in(told.get("usage")),
        )
        self._talk.answer(
            answer, [ForeignCall(call.name, call.arguments, call.id, call.type) for call in message.tool_calls]
        )

    def _results(self, content: Content, call_id: str | None, raw: Mapping[str, Any]) -> None:
        """One result a call that the message names; the observation of several calls answers each of them."""
        named = raw.get("tool_call_ids")
        ids: list[str | None] = [name for name in named if isinstance(name, str)] if isinstance(named, list) else []
        for name in ids or [call_id]:
            self._talk.result(ForeignResult(name, content, text_or_none(raw.get("name"))))


def _finish(response: Mapping[str, Any]) -> tuple[FinishReason | None, str | None]:
    choices = response.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    word = first.get("finish_reason") if isinstance(first, dict) else None
    return (finish_reason(word), word) if isinstance(word, str) else (None, None)
