"""What a model is shown: a closed union of chat messages, and an append-only view of many.

Content is text or a tuple of parts. Images are digests. What this version does not know is kept
as JSON text: unknown parts as :class:`OtherPart`, unknown fields in ``extra``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NewType, TypeAlias, overload

from harness.types.making import quickly_made

CallId = NewType("CallId", str)
RunId = NewType("RunId", str)
MessageId = NewType("MessageId", str)
JsonText = NewType("JsonText", str)
"""JSON as text: canonical where we wrote it, as it came where somebody else did."""


def camel(name: str) -> str:
    """``finish_reason`` -> ``finishReason``: the spelling of every key on disk."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


WIRE: Final[dict[str, Any]] = {
    "strict": True,
    "extra": "forbid",
    "allow_inf_nan": False,
    "alias_generator": camel,
    "serialize_by_alias": True,
}
"""Configuration of the codec, carried by each class so that this room needs no import for it."""


class OnDisk:
    """Base of all that is written to disk; carries nothing but the codec's configuration."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, Any]] = WIRE


@dataclass(frozen=True, slots=True)
class TextPart(OnDisk):
    """A piece of text inside a message."""

    type: Literal["text"] = field(default="text", kw_only=True)
    text: str


@dataclass(frozen=True, slots=True)
class ImagePart(OnDisk):
    """An image, by the sha256 of what was sent (a URL or its bytes); never the bytes."""

    type: Literal["image"] = field(default="image", kw_only=True)
    digest: str
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class OtherPart(OnDisk):
    """A part of a kind that this version does not know, as the JSON text that came."""

    type: Literal["other"] = field(default="other", kw_only=True)
    json: JsonText


Part: TypeAlias = TextPart | ImagePart | OtherPart
Content: TypeAlias = str | tuple[Part, ...]


@quickly_made
@dataclass(frozen=True, slots=True)
class ChatCall(OnDisk):
    """A call inside an assistant message as the model is shown it; ``id`` is the id that is sent."""

    id: str
    name: str
    arguments: str
    type: str | None = None
    extra: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ChatSystem(OnDisk):
    """A system message."""

    role: Literal["system"] = field(default="system", kw_only=True)
    content: Content
    extra: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ChatDeveloper(OnDisk):
    """A developer message."""

    role: Literal["developer"] = field(default="developer", kw_only=True)
    content: Content
    extra: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ChatUser(OnDisk):
    """A user message."""

    role: Literal["user"] = field(default="user", kw_only=True)
    content: Content
    extra: JsonText | None = None


@quickly_made
@dataclass(frozen=True, slots=True)
class ChatAssistant(OnDisk):
    """An assistant message; ``content`` is None where only calls were made."""

    role: Literal["assistant"] = field(default="assistant", kw_only=True)
    content: Content | None = None
    reasoning: str | None = None
    refusal: str | None = None
    tool_calls: tuple[ChatCall, ...] = ()
    extra: JsonText | None = None


@dataclass(frozen=True, slots=True)
class ChatTool(OnDisk):
    """A tool's answer; ``call_id`` is the id that is sent (None where the format carries none)."""

    role: Literal["tool"] = field(default="tool", kw_only=True)
    call_id: str | None
    content: Content
    name: str | None = None
    extra: JsonText | None = None


ChatMessage: TypeAlias = ChatSystem | ChatDeveloper | ChatUser | ChatAssistant | ChatTool


class Messages(Sequence[ChatMessage]):
    """An immutable view of the first ``n`` messages of an append-only buffer.

    Two views of one buffer share it, so a request costs no copy of the history (performance page).
    Equal when they show equal messages.
    """

    __slots__ = ("_buffer", "_length")

    def __init__(self, buffer: list[ChatMessage], length: int) -> None:
        self._buffer = buffer
        self._length = length

    @classmethod
    def of(cls, messages: Iterable[ChatMessage]) -> Messages:
        """A view of its own buffer holding ``messages``."""
        buffer = list(messages)
        return cls(buffer, len(buffer))

    def extends(self, earlier: Messages) -> bool:
        """True when this view shares the earlier one's buffer and is at least as long (O(1))."""
        return self._buffer is earlier._buffer and self._length >= earlier._length

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> ChatMessage: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ChatMessage, ...]: ...
    def __getitem__(self, index: int | slice) -> ChatMessage | tuple[ChatMessage, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if step == 1:
                return tuple(self._buffer[start:stop])
            return tuple(self._buffer[i] for i in range(start, stop, step))
        if not -self._length <= index < self._length:
            raise IndexError(f"message {index} of {self._length}")
        return self._buffer[index if index >= 0 else self._length + index]

    def __iter__(self) -> Iterator[ChatMessage]:
        buffer = self._buffer
        return (buffer[i] for i in range(self._length))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Messages):
            return NotImplemented
        return len(self) == len(other) and (
            self._buffer is other._buffer or all(a == b for a, b in zip(self, other, strict=True))
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Messages({list(self)!r})"


class MessageBuffer:
    """The growing side of :class:`Messages`: append, and take a view of what is there now."""

    __slots__ = ("_messages",)

    def __init__(self, messages: Iterable[ChatMessage] = ()) -> None:
        self._messages: list[ChatMessage] = list(messages)

    def append(self, message: ChatMessage) -> None:
        """Add one message behind all others; views that exist do not change."""
        self._messages.append(message)

    def view(self) -> Messages:
        """All messages of now, in O(1)."""
        return Messages(self._messages, len(self._messages))

    def __len__(self) -> int:
        return len(self._messages)
