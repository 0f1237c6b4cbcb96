"""OpenAI chat messages out of a trajectory: ``{messages, tools?, model?, ...}``, as the chat reader takes them.

Calls go out under the ids that they are sent back under, so that no call is without one and none of an answer has that
of another. What the format cannot say is told by :func:`harness.formats.losses.losses_of`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.folds import sent_ids
from harness.formats.atif_steps import plain_json
from harness.formats.chat import BESIDE_NOTE, CALL_EXTRA_NOTE, EXTRA_NOTE, PARAMETERS
from harness.types.events import ROOT_AGENT, Trajectory
from harness.types.exchange import UNKNOWN_TOOLS, AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.facts import Fact
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import MESSAGE_NOTE, Note
from harness.types.messages import CallId, ChatAssistant, ChatCall, ChatTool
from harness.wire.chat import message_to_wire, render_tools
from harness.wire.responses_items import KEPT_ITEMS


def chat_document(trajectory: Trajectory) -> dict[str, Any]:
    """The root agent's conversation as plain JSON values."""
    writer = _Writer()
    for event in trajectory.events:
        if event.agent == ROOT_AGENT:
            writer.take(event.fact)
    document: dict[str, Any] = dict(writer.beside)
    model = dict(trajectory.header.models).get("main")
    if model:
        document["model"] = model
    messages = writer.messages
    if writer.header is not None:
        parameters = plain_json(writer.header.parameters)
        document |= {key: parameters[key] for key in sorted(PARAMETERS & set(parameters))}
        if writer.header.tools != UNKNOWN_TOOLS:
            document["tools"] = render_tools(writer.header.tools)
        messages = [*map(message_to_wire, writer.header.system), *messages]
    return document | {"messages": messages}


class _Writer:
    """Collects the messages of one conversation."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.header: RequestHeader | None = None
        self.beside: dict[str, Any] = {}
        self._sent: dict[CallId, tuple[str, str]] = {}
        self._extra: dict[str, Any] = {}
        self._call_extras: dict[str, Any] = {}

    def take(self, fact: Fact) -> None:
        """Add one fact; those that the format has no place for change nothing."""
        match fact:
            case RequestHeader() if self.header is None:
                self.header = fact
            case Note():
                self._note(fact)
            case UserMessage(message=message):
                self.messages.append(message_to_wire(message))
            case AssistantMessage():
                self._answer(fact)
            case ToolResult():
                self._result(fact)
            case _:
                pass

    def _note(self, note: Note) -> None:
        value = plain_json(note.data)
        if not isinstance(value, dict):
            return
        match note.name:
            case name if name == MESSAGE_NOTE:
                self.messages.append(value)
            case name if name == BESIDE_NOTE:
                self.beside = value
            case name if name == EXTRA_NOTE:
                self._extra = value
            case name if name == CALL_EXTRA_NOTE:
                self._call_extras = value
            case _:
                pass

    def _answer(self, answer: AssistantMessage) -> None:
        ids = sent_ids(answer.tool_calls)
        calls = []
        for at, (call, sent) in enumerate(zip(answer.tool_calls, ids, strict=True)):
            self._sent[call.id] = (sent, call.name)
            extra = self._call_extras.get(str(at))
            made = ChatCall(sent, call.name, call.arguments, call.type)
            calls.append(made if extra is None else replace(made, extra=canonical_json(extra)))
        kept = {key: value for key, value in (plain_json(answer.extra) or {}).items() if key != KEPT_ITEMS}
        extra = kept | self._extra
        message = ChatAssistant(answer.content, answer.reasoning, answer.refusal, tuple(calls))
        self._add(replace(message, extra=canonical_json(extra)) if extra else message)

    def _result(self, result: ToolResult) -> None:
        sent, asked = self._sent.get(result.call_id, (result.call_id, ""))
        message = ChatTool(sent, result.content, result.name if result.name != asked else None)
        self._add(replace(message, extra=canonical_json(self._extra)) if self._extra else message)

    def _add(self, message: ChatAssistant | ChatTool) -> None:
        self.messages.append(message_to_wire(message))
        self._extra, self._call_extras = {}, {}
