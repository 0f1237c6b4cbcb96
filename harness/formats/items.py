"""Items of the OpenAI Responses API as a conversation.

The format has no border between answers: an answer is the run of message, reasoning and call items up to the next
output or the next message of somebody else. What only its provider understands is kept with the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from harness.errors import ModelError
from harness.formats.builder import ForeignCall, ForeignResult, TrajectoryBuilder
from harness.formats.talk import Talk
from harness.formats.values import Document, text_or_none
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatDeveloper, ChatSystem, Content, TextPart
from harness.types.reasons import Usage
from harness.wire.content import content_from_wire
from harness.wire.responses_items import call_of_item, joined, kept_items, pieces_of, texts_of
from harness.wire.shape import bad_shape, kind_of

BESIDE_NOTE: Final = "responses/beside"
"""Name of the note with a response without its input and output."""
OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")
CALLS: Final = ("function_call", "custom_tool_call")
_OTHERS: Final = ("system", "developer", "user")
_OF_CALLS: Final = ("type", "id", "call_id", "status")
_TEXTS: Final = ("input_text", "output_text", "text")
_Raw = Mapping[str, Any]


_OWN_CALLS: Final = ("local_shell_call", "shell_call", "computer_call", "apply_patch_call")
"""Calls of the provider's own kinds that the client answers; their outputs end in ``_output``."""


def plain_item(item: Any) -> Any:
    """A call of the provider's own kind as a call of a function, and its output as that function's."""
    kind = item.get("type") if isinstance(item, Mapping) else None
    if kind in _OWN_CALLS:
        name = str(kind).removesuffix("_call")
        given = {key: value for key, value in item.items() if key not in _OF_CALLS and value is not None}
        call_id = item.get("call_id") or item.get("id")
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": canonical_json(given)}
    if isinstance(kind, str) and kind.removesuffix("_output") in _OWN_CALLS:
        output = item.get("output")
        said = output if isinstance(output, str) else [output] if isinstance(output, Mapping) else output
        call_id = item.get("call_id") or item.get("id")
        return {"type": "function_call_output", "call_id": call_id, "output": said}
    return item


def is_responses(document: Document) -> bool:
    """True for a list of items, lines of them, or a response, where something names a call as this API does."""
    items = [plain_item(item) for item in _items_in(document) if isinstance(item, dict)]
    if len(items) < len(_items_in(document)):
        return False
    known = all(_is_item(item) or item.get("role") in (*_OTHERS, "assistant") for item in items)
    return known and any(item.get("type") in (*CALLS, *OUTPUTS, "reasoning") for item in items)


def _is_item(item: dict[str, Any]) -> bool:
    kind = item.get("type")
    if kind in CALLS:
        return isinstance(item.get("call_id"), str) and isinstance(item.get("name"), str)
    return isinstance(item.get("call_id"), str) if kind in OUTPUTS else isinstance(kind, str)


def _items_in(document: Document) -> list[Any]:
    first = document.first
    if len(document.values) > 1:
        return [value for _, value in document.values]
    if isinstance(first, dict) and isinstance(first.get("output"), list):
        given = first.get("input")
        return [*(given if isinstance(given, list) else _said(given)), *first["output"]]
    return first if isinstance(first, list) else []


def _said(text: Any) -> list[Any]:
    return [{"role": "user", "content": text}] if isinstance(text, str) else []


def read_responses(document: Document) -> Iterator[Trajectory]:
    """The one trajectory of a list of items. Raises ForeignFormatError."""
    items = _items_in(document)
    if not items:
        document.refuse("no Responses items: expected a list of items, lines of them, or a response with its output")
    out = TrajectoryBuilder(subject="responses", source=document.source)
    first = document.first
    beside = (
        {key: value for key, value in first.items() if key not in ("input", "output")}
        if isinstance(first, dict)
        else {}
    )
    if beside and len(document.values) == 1:
        out.note("responses/beside", beside)
    try:
        reader = Items(Talk(out))
        reader.take_all(items, "items")
        reader.close()
    except ModelError as error:
        document.refuse(str(error))
    model = text_or_none(beside.get("model"))
    yield out.finish(f"{PurePath(document.source).stem}/items", model=model, torn=document.torn)


class Items:
    """Adds items to a conversation; the answer that is open is closed by whatever is not of the model.

    ``model`` and ``usage`` are what is told of an answer by whoever knows that it is one.
    """

    def __init__(self, talk: Talk, *, model: str | None = None, usage: Usage | None = None) -> None:
        self._talk = talk
        self._model = model
        self._usage = usage
        self._open: list[_Raw] = []

    def take_all(self, items: Iterable[Any], where: str) -> None:
        """Add items in order. Raises ModelError, naming the place, for what is no item."""
        for at, item in enumerate(items):
            self._take(item, f"{where}[{at}]")

    def close(self) -> None:
        """No more items come: the open answer is whole."""
        items, self._open = self._open, []
        if not items:
            return
        messages = [item for item in items if item["type"] == "message"]
        reasoning = (text for item in items for kind, _, text in pieces_of(item) if kind == "reasoning" and text)
        answer = AssistantMessage(
            content=joined(iter([*texts_of(messages, "text"), *_plain_texts(messages)])),
            reasoning=joined(reasoning),
            refusal="".join(text for text in texts_of(messages, "refusal") if text) or None,
            extra=kept_items(items),
            model=self._model,
            usage=self._usage,
        )
        self._talk.answer(answer, [_call(item) for item in items if item["type"] in CALLS])

    def _take(self, item: Any, where: str) -> None:
        item = plain_item(item)
        if not isinstance(item, Mapping):
            bad_shape(where, f"is {kind_of(item)}, not an item")
        kind = item.get("type") or "message"
        role = item.get("role")
        if not isinstance(kind, str):
            bad_shape(f"{where}.type", f"is {kind_of(kind)}")
        if kind in OUTPUTS:
            self.close()
            content = content_of_items(item.get("output"), f"{where}.output")
            self._talk.result(ForeignResult(text_or_none(item.get("call_id")), "" if content is None else content))
        elif kind == "message" and role in _OTHERS:
            self.close()
            self._other(str(role), item, where)
        elif kind == "message" and role != "assistant":
            bad_shape(f"{where}.role", f"is {role!r}; it must be system, developer, user or assistant")
        else:
            _check_own(item, kind, where)
            self._open.append({**item, "type": kind})

    def _other(self, role: str, item: _Raw, where: str) -> None:
        content = content_of_items(item.get("content"), f"{where}.content")
        if role == "user":
            self._talk.user("" if content is None else content)
        else:
            self._talk.system(content, role)


def _check_own(item: _Raw, kind: str, where: str) -> None:
    """The fields of an item of the model that are read, so that reading them later cannot fail."""
    for name in ("content", "summary"):
        value = item.get(name)
        if value is not None and not (kind == "message" and isinstance(value, str)) and not _are_objects(value):
            bad_shape(f"{where}.{name}", "is no list of parts")
    if kind in CALLS:
        call_of_item({**item, "type": kind}, where)


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(part, Mapping) for part in value)


def _plain_texts(messages: Iterable[_Raw]) -> list[str]:
    return [item["content"] for item in messages if isinstance(item.get("content"), str)]


def _call(item: _Raw) -> ForeignCall:
    call = call_of_item(item, "item")
    return ForeignCall(call.name or "", call.arguments or "", call.wire_id, call.type)


def leading_system(items: list[Any], where: str) -> list[ChatSystem | ChatDeveloper]:
    """The system and developer messages that stand before all others."""
    found: list[ChatSystem | ChatDeveloper] = []
    for at, item in enumerate(items):
        role = item.get("role") if isinstance(item, Mapping) and item.get("type") in (None, "message") else None
        if role not in ("system", "developer"):
            break
        content = content_of_items(item.get("content"), f"{where}[{at}].content")
        kind = ChatSystem if role == "system" else ChatDeveloper
        found.append(kind(content="" if content is None else content))
    return found


def content_of_items(value: Any, where: str) -> Content | None:
    """Text, or parts in the shape of chat messages; one part of text alone is that text."""
    if not isinstance(value, list):
        return content_from_wire(value, where)
    parts = content_from_wire([_part(part) for part in value], where)
    if isinstance(parts, tuple) and len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return parts


def _part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    if part.get("type") in _TEXTS and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    return part
