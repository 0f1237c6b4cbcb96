"""Fields of ``context``: which messages a request shows; read, and written back."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import ConfigDict, model_validator

from harness.scenarios.base import Choice, Count, Fields, Positive, complaint
from harness.types.context import DEFAULT_KEEP_LAST, SUMMARISER, CompactBy, CompactSpec, ContextSpec

WAYS: Final = tuple(way.value for way in CompactBy)


class CompactFields(Fields):
    """When older history is replaced, how much is kept, and by what it is replaced."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["at_tokens"]}, {"required": ["at_messages"]}]})
    at_tokens: Positive | None = None
    at_messages: Positive | None = None
    keep_last: Count = DEFAULT_KEEP_LAST
    by: Annotated[str, Choice(WAYS)] = CompactBy.FOLD.value

    @model_validator(mode="after")
    def _one_size(self) -> CompactFields:
        given = self.given("at_tokens", "at_messages")
        if len(given) != 1:
            raise complaint(f"needs 'at_tokens' or 'at_messages', has {' and '.join(given) or 'neither'}")
        return self

    def made(self) -> CompactSpec:
        return CompactSpec(self.at_tokens, self.at_messages, self.keep_last, CompactBy(self.by))


class WindowFields(Fields):
    """How many of the last messages a request shows."""

    last_messages: Positive


class MemoryFields(Fields):
    """Whether the model is told at the beginning what the memory holds."""

    shown: bool


class ContextFields(Fields):
    """Which part of the conversation a request shows, and what earlier runs left."""

    compact: CompactFields | None = None
    window: WindowFields | None = None
    memory: MemoryFields | None = None

    def made(self) -> ContextSpec:
        return ContextSpec(
            compact=None if self.compact is None else self.compact.made(),
            window=None if self.window is None else self.window.last_messages,
            show_memory=self.memory is not None and self.memory.shown,
        )

    def needs_role(self) -> str | None:
        """The role without whose model nothing can be summed up."""
        return SUMMARISER if self.compact is not None and self.compact.by == CompactBy.SUMMARISER else None


def context_document(context: ContextSpec) -> dict[str, Any]:
    """The fields of a document's context; what has its default is left out."""
    written: dict[str, Any] = {}
    if context.compact is not None:
        written["compact"] = _compact(context.compact)
    if context.window is not None:
        written["window"] = {"last_messages": context.window}
    if context.show_memory:
        written["memory"] = {"shown": True}
    return written


def _compact(spec: CompactSpec) -> dict[str, Any]:
    sizes = {"at_tokens": spec.at_tokens, "at_messages": spec.at_messages}
    written: dict[str, Any] = {name: size for name, size in sizes.items() if size is not None}
    if spec.keep_last != DEFAULT_KEEP_LAST:
        written["keep_last"] = spec.keep_last
    return written if spec.by is CompactBy.FOLD else {**written, "by": spec.by.value}
