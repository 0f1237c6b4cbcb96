"""The shapes in which articles and small loops write messages, by a map of field names (ARTICLES 15).

A call may sit in ``toolCalls`` of its message, in a part of its content, or on a line of its own; it
may be named by ``callId``, ``toolCallId`` or ``id``, its arguments by ``input``, ``arguments`` or
``args``. A result may carry ``output`` or ``content`` and ``isError``, as a message of the role
``tool``, as a part, or on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.values import Document, arguments_text, content_of_parts, text_or_none
from harness.types.codes import Code
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, UserMessage
from harness.types.messages import ChatDeveloper, ChatSystem, ChatUser

BESIDE_NOTE: Final = "article/beside"
"""Name of the note with what stands beside the messages in their object."""
OBSERVED: Final = ("user/message", "assistant/message", "tool/result")


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Which names stand for what; the first that is there counts."""

    messages: tuple[str, ...] = ("messages", "history", "conversation", "items", "input")
    kind: tuple[str, ...] = ("type", "kind")
    call_id: tuple[str, ...] = ("callId", "toolCallId", "tool_call_id", "call_id", "tool_use_id", "id")
    name: tuple[str, ...] = ("toolName", "tool_name", "name", "tool")
    arguments: tuple[str, ...] = ("arguments", "input", "args")
    content: tuple[str, ...] = ("content", "output", "result", "text")
    is_error: tuple[str, ...] = ("isError", "is_error")
    calls: tuple[str, ...] = ("toolCalls", "tool_calls", "calls")
    function: tuple[str, ...] = ("function", "custom")


FIELDS: Final = FieldMap()
_CALL_KINDS: Final = frozenset({"toolcall", "tooluse", "functioncall"})
_RESULT_KINDS: Final = frozenset({"toolresult", "functioncalloutput", "toolcalloutput"})


def is_article(document: Document, fields: FieldMap = FIELDS) -> bool:
    """True for a file with at least one message, call or result of these shapes."""
    return any(_role_of(item, fields) for _, items in _lists(document, fields) for item in items)


def read_article(document: Document, fields: FieldMap = FIELDS) -> Iterator[Trajectory]:
    """A trajectory for each list of messages. Raises ForeignFormatError."""
    n_found = 0
    beside = dict(_beside(document, fields))
    for line, items in _lists(document, fields):
        n_found += 1
        reader = _Reader(document, fields)
        if line in beside:
            reader.keep(beside[line])
        for item in items:
            if not reader.take(item):
                document.refuse(f"list {n_found} holds neither a message, nor a call, nor a result: {item!r:.80}", line)
        yield reader.finish(f"{PurePath(document.source).stem}/conversation-{n_found}")
    if not n_found:
        document.refuse("no messages: expected a list of messages, or an object that holds one")


def _lists(document: Document, fields: FieldMap) -> Iterator[tuple[int, list[Any]]]:
    values = document.values
    if values and all(_role_of(value, fields) for _, value in values):
        yield values[0][0], [value for _, value in values]
        return
    for line, value in values:
        items = _first(value, fields.messages) if isinstance(value, dict) else value
        if isinstance(items, list) and items and all(isinstance(item, dict) for item in items):
            yield line, items


def _beside(document: Document, fields: FieldMap) -> Iterator[tuple[int, dict[str, Any]]]:
    """What stands beside the list of messages in an object, by the object's line."""
    for line, value in document.values:
        if isinstance(value, dict) and not _role_of(value, fields):
            name = next((name for name in fields.messages if value.get(name) is not None), None)
            rest = {key: item for key, item in value.items() if key != name}
            if rest:
                yield line, rest


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def _role_of(item: Any, fields: FieldMap) -> str:
    """``call``, ``result`` or the item's role; empty for what is none of them."""
    if not isinstance(item, dict):
        return ""
    kind = text_or_none(_first(item, fields.kind)) or ""
    plain = kind.replace("-", "").replace("_", "").lower()
    if plain in _CALL_KINDS:
        return "call"
    if plain in _RESULT_KINDS:
        return "result"
    role = text_or_none(item.get("role")) or ""
    return role if role in ("system", "developer", "user", "assistant", "tool") else ""


class _Reader:
    """Goes through one list. Calls that stand alone join the answer before them."""

    def __init__(self, document: Document, fields: FieldMap) -> None:
        self._fields = fields
        self._document = document
        self._out = TrajectoryBuilder(subject="article", source=document.source)
        self._turn, self._step = 1, 0
        self._answer: dict[str, Any] | None = None
        self._calls: list[ForeignCall] = []

    def take(self, item: Any) -> bool:
        """Add one item; False for one that is nothing of ours."""
        role = _role_of(item, self._fields)
        if role == "call":
            self._calls.append(self._call(item))
        elif role == "assistant":
            self._flush()
            self._open(item)
        elif role:
            self._flush()
            self._other(role, item)
        return bool(role)

    def keep(self, beside: dict[str, Any]) -> None:
        """Keep what stands beside the messages."""
        self._out.note(BESIDE_NOTE, beside)

    def finish(self, run_id: str) -> Trajectory:
        """The whole trajectory."""
        self._flush()
        self._out.observe(*OBSERVED)
        return self._out.finish(run_id, torn=self._document.torn)

    def _other(self, role: str, item: dict[str, Any]) -> None:
        results = [part for part in self._parts(item) if _role_of(part, self._fields) == "result"]
        if role == "result" or (role == "tool" and not results):
            results = [item]
        for result in results:
            self._out.result(self._result(result))
        if role == "user" or (role == "tool" and results[0] is not item):
            self._user(item, results)
        elif role in ("system", "developer"):
            content = content_of_parts(_first(item, self._fields.content))
            self._out.system(ChatSystem(content=content) if role == "system" else ChatDeveloper(content=content))
            if set(item) - {"role", *self._fields.content}:
                self._out.note("article/message", item)

    def _user(self, item: dict[str, Any], results: list[dict[str, Any]]) -> None:
        """What the user said, also beside results."""
        content = _first(item, self._fields.content)
        shown = [part for part in content if part not in results] if results and isinstance(content, list) else content
        if shown or not results:
            self._turn, self._step = (self._turn + 1, 0) if self._step else (self._turn, 0)
            self._out.add(UserMessage(ChatUser(content=content_of_parts(shown))))

    def _open(self, item: dict[str, Any]) -> None:
        self._answer = item
        listed = _first(item, self._fields.calls)
        calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
        calls += [part for part in self._parts(item) if _role_of(part, self._fields) == "call"]
        self._calls = [self._call(call) for call in calls]

    def _parts(self, item: dict[str, Any]) -> list[dict[str, Any]]:
        content = _first(item, self._fields.content)
        return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []

    def _flush(self) -> None:
        if self._answer is None and not self._calls:
            return
        item = self._answer or {}
        self._step += 1
        visible = [part for part in self._parts(item) if _role_of(part, self._fields) != "call"]
        content = _first(item, self._fields.content)
        shown = visible or None if isinstance(content, list) else content
        self._out.add(
            AssistantMessage(
                content=None if shown is None else content_of_parts(shown),
                tool_calls=self._out.ids.emit(self._calls, self._turn, self._step),
            )
        )
        self._answer, self._calls = None, []

    def _call(self, item: dict[str, Any]) -> ForeignCall:
        inner = _first(item, self._fields.function)
        body = {**item, **inner} if isinstance(inner, dict) else item
        return ForeignCall(
            text_or_none(_first(body, self._fields.name)) or text_or_none(inner) or "",
            arguments_text(_first(body, self._fields.arguments)),
            text_or_none(_first(item, self._fields.call_id)),
        )

    def _result(self, item: dict[str, Any]) -> ForeignResult:
        is_error = _first(item, self._fields.is_error) is True
        content = content_of_parts(_first(item, self._fields.content))
        return ForeignResult(
            text_or_none(_first(item, self._fields.call_id)),
            content,
            text_or_none(_first(item, self._fields.name)),
            is_error=is_error,
            code=Code.UNKNOWN if is_error else None,
            message="failed without a code" if is_error else None,
        )
