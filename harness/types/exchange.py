"""Facts of the work itself: messages, model requests, tool calls and results (**wire**)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from harness.types.codes import Code, FinishReason, HeaderWhy, ToolOutcome
from harness.types.making import quickly_made
from harness.types.messages import (
    CallId,
    ChatAssistant,
    ChatDeveloper,
    ChatSystem,
    ChatTool,
    ChatUser,
    Content,
    JsonText,
    Messages,
    OnDisk,
)
from harness.types.reasons import EmittedCall, Usage


@dataclass(frozen=True, slots=True)
class UserMessage(OnDisk):
    """User input enters the history."""

    TYPE: ClassVar[str] = "user/message"
    message: ChatUser


UNKNOWN_TOOLS: Final = JsonText("null")
"""The ``tools`` of a ``request/header`` where nobody knows which were offered: only an imported file leaves it open."""


@dataclass(frozen=True, slots=True)
class RequestHeader(OnDisk):
    """What stands before the messages of a request; written only when it changed.

    ``system`` are the leading system and developer messages; ``tools`` the offered tools as
    canonical JSON text (a list of ``{name, description, parameters}``, or :data:`UNKNOWN_TOOLS`);
    ``parameters`` the other request fields as canonical JSON text (an object).
    """

    TYPE: ClassVar[str] = "request/header"
    system: tuple[ChatSystem | ChatDeveloper, ...]
    tools: JsonText
    parameters: JsonText
    why: HeaderWhy


@dataclass(frozen=True, slots=True)
class ModelRequest(OnDisk):
    """What the model is shown after the header's system messages; recorded before it is asked.

    On disk ``keep`` (half-open 0-based ranges of the previous request of the same agent) and
    ``append`` stand for ``messages``; ``attempt`` counts from 1 inside a step.
    """

    TYPE: ClassVar[str] = "model/request"
    messages: Messages
    attempt: int = 1


@dataclass(frozen=True, slots=True)
class AssistantChunk(OnDisk):
    """A piece of a streamed answer; ``chunk`` is JSON text."""

    TYPE: ClassVar[str] = "assistant/chunk"
    IGNORABLE: ClassVar[bool] = True
    chunk: JsonText
    attempt: int = 1


@quickly_made
@dataclass(frozen=True, slots=True)
class AssistantMessage(OnDisk):
    """A complete answer, or (``interrupted``) the visible prefix of one.

    ``extra`` is JSON text of an object: what the provider wants sent back beside the message, such as its
    reasoning items.
    """

    TYPE: ClassVar[str] = "assistant/message"
    content: Content | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[EmittedCall, ...] = ()
    finish_reason: FinishReason | None = None
    raw_finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    usage: Usage | None = None
    attempt: int = 1
    interrupted: bool = False
    extra: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ModelFailed(OnDisk):
    """An attempt failed."""

    TYPE: ClassVar[str] = "model/error"
    code: Code
    message: str
    attempt: int = 1
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ModelRetry(OnDisk):
    """Another attempt will be made after ``delay_ms``; ``attempt`` and ``code`` are those of the one that failed."""

    TYPE: ClassVar[str] = "model/retry"
    code: Code
    attempt: int
    delay_ms: int


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolCall(OnDisk):
    """A call of a complete answer; all of them in model order before any starts."""

    TYPE: ClassVar[str] = "tool/call"
    call_id: CallId
    name: str
    arguments: str


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolStart(OnDisk):
    """A tool's body begins, with the arguments as used (JSON text); written by the tool door.

    ``attempt`` counts the bodies of one call from 1. ``instead_of`` names the tool that failed before this one
    took over; ``within`` is the seq of the start of the composite body that calls this one.
    """

    TYPE: ClassVar[str] = "tool/start"
    call_id: CallId | None
    name: str
    arguments: JsonText
    attempt: int = 1
    instead_of: str | None = None
    within: int | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolEnd(OnDisk):
    """That body ended; ``start`` is the seq of its ``tool/start``; in completion order.

    ``digest`` is that of the text which its outcome comes to, before anything is cut, summed up or changed by a hook:
    the door's reply, or of a function that a loop runs itself its value (text without outer blanks, other values as
    canonical JSON) or its exception's text. None: it came to nothing, or to no text.
    """

    TYPE: ClassVar[str] = "tool/end"
    start: int
    outcome: ToolOutcome
    code: Code | None = None
    digest: str | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class ToolResult(OnDisk):
    """The one answer to a call, as the model is shown it; committed in model order."""

    TYPE: ClassVar[str] = "tool/result"
    call_id: CallId
    name: str
    content: Content
    is_error: bool = False
    code: Code | None = None
    message: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class ContextReplaced(OnDisk):
    """A message shadows older ones (``start`` to ``end``, seqs of messages, inclusive)."""

    TYPE: ClassVar[str] = "context/replaced"
    start: int
    end: int
    message: ChatSystem | ChatDeveloper | ChatUser | ChatAssistant | ChatTool
