"""Fields of a conversation so far, in short form, and the chat messages that it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Final, TypeAlias

from pydantic import AfterValidator, Discriminator, Field, Tag

from harness.scenarios.base import TEXT, Fields, Filled, complaint
from harness.scenarios.script_fields import Arguments, OneNamedCall, arguments_text
from harness.types.jsontext import canonical_json
from harness.types.messages import (
    ChatAssistant,
    ChatCall,
    ChatDeveloper,
    ChatMessage,
    ChatSystem,
    ChatTool,
    ChatUser,
    JsonText,
)

ROLES: Final = ("user", "assistant", "tool", "system", "developer")
HISTORY_IDS: Final = "call"
PADDING_IDS: Final = "earlier"
"""How the ids begin of calls that have none of their own."""


class MadeCallFields(Fields):
    """A call written out."""

    name: Filled
    arguments: Arguments = Field(default_factory=dict)
    id: Filled | None = None


def _call_form(value: Any) -> str | None:
    if isinstance(value, str):
        return TEXT
    if not isinstance(value, dict):
        return None
    return "<long>" if "name" in value and not isinstance(value["name"], dict) else "<short>"


MadeCall: TypeAlias = Annotated[
    Annotated[Filled, Tag(TEXT)] | Annotated[OneNamedCall, Tag("<short>")] | Annotated[MadeCallFields, Tag("<long>")],
    Discriminator(
        _call_form,
        custom_error_type="shape",
        custom_error_message="must be a tool's name, {tool: {arguments}} or {name, arguments, id}",
    ),
]


class UserFields(Fields):
    """What a user said."""

    user: str


class SystemFields(Fields):
    """A system message in the middle of a conversation."""

    system: str


class DeveloperFields(Fields):
    """A developer message in the middle of a conversation."""

    developer: str


class AssistantFields(Fields):
    """What the model said, what it called, or both."""

    assistant: str | None = None
    calls: Annotated[list[MadeCall], Field(min_length=1)] | None = None


class ToolResultFields(Fields):
    """What a tool gave back: text, or a value that is sent as JSON; to ``call``, or to the oldest open call."""

    nullable = ("tool",)
    tool: Any
    call: Filled | None = None


def _role(value: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    role = next((role for role in ROLES if role in value), "assistant" if "calls" in value else None)
    return role and f"<{role}>"


MessageFields: TypeAlias = Annotated[
    Annotated[UserFields, Tag("<user>")]
    | Annotated[AssistantFields, Tag("<assistant>")]
    | Annotated[ToolResultFields, Tag("<tool>")]
    | Annotated[SystemFields, Tag("<system>")]
    | Annotated[DeveloperFields, Tag("<developer>")],
    Discriminator(
        _role,
        custom_error_type="shape",
        custom_error_message="must be {user: …}, {assistant: …, calls: […]}, {tool: …}, {system: …} or {developer: …}",
    ),
]


def _fits(messages: list[MessageFields]) -> list[MessageFields]:
    made_history(messages)
    return messages


History: TypeAlias = Annotated[list[MessageFields], AfterValidator(_fits)]
"""A conversation whose every call is answered before anything else is said."""


def made_history(messages: list[MessageFields], ids: str = HISTORY_IDS) -> tuple[ChatMessage, ...]:
    """The messages. Raises a complaint for calls without an answer, answers without a call, and ids that come twice.

    Providers refuse such a conversation, or take it for something else (CONFORMANCE 46).
    """
    return tuple(_Conversation(ids).messages(messages))


class _Conversation:
    def __init__(self, ids: str) -> None:
        self._ids = ids
        self._taken: set[str] = set()
        self._open: list[ChatCall] = []

    def messages(self, messages: list[MessageFields]) -> Iterator[ChatMessage]:
        for at, message in enumerate(messages):
            if isinstance(message, ToolResultFields):
                yield self._result(message, at)
                continue
            self._all_answered(at)
            match message:
                case AssistantFields():
                    self._open = [self._call(call, at) for call in message.calls or ()]
                    yield ChatAssistant(content=message.assistant, tool_calls=tuple(self._open))
                case UserFields():
                    yield ChatUser(content=message.user)
                case SystemFields():
                    yield ChatSystem(content=message.system)
                case DeveloperFields():
                    yield ChatDeveloper(content=message.developer)
        self._all_answered(len(messages))

    def _call(self, form: str | dict[str, Any] | MadeCallFields, at: int) -> ChatCall:
        if isinstance(form, MadeCallFields):
            name, arguments = form.name, arguments_text(form.arguments)
        elif isinstance(form, str):
            name, arguments = form, "{}"
        else:
            name, arguments = next((name, arguments_text(value)) for name, value in form.items())
        given = form.id if isinstance(form, MadeCallFields) else None
        identity = given or f"{self._ids}_{len(self._taken) + 1}"
        if identity in self._taken:
            raise complaint(f"has the id {identity!r} of an earlier call; give each call its own, or none", field=(at,))
        self._taken.add(identity)
        return ChatCall(identity, name, arguments)

    def _result(self, message: ToolResultFields, at: int) -> ChatTool:
        ids = [call.id for call in self._open]
        if not ids:
            raise complaint("answers no call; put a message with 'calls' before it", field=(at,))
        if message.call is not None and message.call not in ids:
            raise complaint(f"answers {message.call!r}; open are {', '.join(map(repr, ids))}", field=(at, "call"))
        call = self._open.pop(0 if message.call is None else ids.index(message.call))
        return ChatTool(call_id=call.id, content=_text(message.tool))

    def _all_answered(self, at: int) -> None:
        if self._open:
            names = ", ".join(repr(call.name) for call in self._open)
            what = f"leaves {names} without an answer; put {{tool: …}} behind the message for each of its calls"
            raise complaint(what, field=(at - 1,))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else canonical_json(value)


def history_document(history: tuple[ChatMessage, ...], ids: str = HISTORY_IDS) -> list[dict[str, Any]]:
    """The fields of a conversation; ids that reading would give again are left out."""
    written: list[dict[str, Any]] = []
    n_calls = 0
    open_ids: list[str] = []
    for message in history:
        match message:
            case ChatAssistant():
                calls = []
                for call in message.tool_calls:
                    n_calls += 1
                    calls.append(_written_call(call, f"{ids}_{n_calls}"))
                    open_ids.append(call.id)
                said = {} if message.content is None and calls else {"assistant": _words(message.content)}
                written.append({**said, **({"calls": calls} if calls else {})})
            case ChatTool():
                is_next = bool(open_ids) and open_ids[0] == message.call_id
                if message.call_id in open_ids:
                    open_ids.remove(message.call_id)
                written.append({"tool": _words(message.content), **({} if is_next else {"call": message.call_id})})
            case ChatUser() | ChatSystem() | ChatDeveloper():
                written.append({message.role: _words(message.content)})
    return written


def _written_call(call: ChatCall, expected: str) -> Any:
    arguments = _arguments(call.arguments)
    if call.id == expected and not (call.name == "name" and isinstance(arguments, str)):
        return {call.name: arguments}
    return {"name": call.name, "arguments": arguments, "id": call.id}


def _arguments(text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) and canonical_json(value) == JsonText(text) else text


def _words(content: Any) -> str:
    return content if isinstance(content, str) else "" if content is None else _parts(content)


def _parts(content: Any) -> str:
    return "".join(getattr(part, "text", "") for part in content)
