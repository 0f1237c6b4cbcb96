"""An answer as the chunks of a stream; assembling them gives the same answer back (CONFORMANCE 141)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from harness.types.chunking import ChunkCut
from harness.types.doors import Answer, AnsweredCall
from harness.types.messages import JsonText
from harness.wire.completions import raw_reason, rendered_usage
from harness.wire.content import content_to_wire

_WORD: Final = re.compile(r"\s*\S+\s*|\s+")


def render_chunks(
    answer: Answer,
    *,
    cut: ChunkCut = ChunkCut.WHOLE,
    every: int = 1,
    id: str = "chatcmpl-0",  # noqa: A002  # the dialect's own word
    model: str | None = None,
    created: int = 0,
) -> Iterator[JsonText]:
    """The chunks of ``answer``, in order: role, reasoning, content, refusal, calls, finish reason, usage.

    ``every`` is in characters (for CHARACTERS); parts of a content are never cut. An answer without finish
    reason ends without one. Raises nothing; GIVEN has no meaning here and cuts nothing.
    """
    head: dict[str, Any] = {"id": id, "object": "chat.completion.chunk", "created": created}
    named = answer.model or model
    if named is not None:
        head["model"] = named
    if answer.fingerprint is not None:
        head["system_fingerprint"] = answer.fingerprint
    for delta in _deltas(answer, cut, every):
        yield _text({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    reason = raw_reason(answer)
    if reason:
        yield _text({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if answer.usage is not None:
        yield _text({**head, "choices": [], "usage": rendered_usage(answer.usage)})


def _deltas(answer: Answer, cut: ChunkCut, every: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant"}
    for piece in pieces(answer.reasoning, cut, every):
        yield {"reasoning_content": piece}
    content = content_to_wire(answer.content)
    if isinstance(content, list):
        for part in content:
            yield {"content": [part]}
    else:
        if content == "":
            yield {"content": ""}
        for piece in pieces(content, cut, every):
            yield {"content": piece}
    for piece in pieces(answer.refusal, cut, every):
        yield {"refusal": piece}
    for index, call in enumerate(answer.calls):
        yield from _call(index, call, cut, every)


def _call(index: int, call: AnsweredCall, cut: ChunkCut, every: int) -> Iterator[dict[str, Any]]:
    kind = call.type or "function"
    key, text = ("custom", "input") if kind == "custom" else ("function", "arguments")
    body: dict[str, Any] = {} if call.name is None else {"name": call.name}
    if call.arguments is not None:
        body[text] = ""
    first = {"index": index} | ({} if call.wire_id is None else {"id": call.wire_id}) | {"type": kind, key: body}
    yield {"tool_calls": [first]}
    for piece in pieces(call.arguments, cut, every):
        yield {"tool_calls": [{"index": index, key: {text: piece}}]}


def pieces(text: str | None, cut: ChunkCut, every: int) -> list[str]:
    """A text in the pieces of that cut; nothing of an empty one."""
    if not text:
        return []
    match cut:
        case ChunkCut.WORDS:
            return _WORD.findall(text)
        case ChunkCut.CHARACTERS:
            return [text[start : start + every] for start in range(0, len(text), every)]
        case ChunkCut.WHOLE | ChunkCut.GIVEN:
            return [text]


def _text(chunk: dict[str, Any]) -> JsonText:
    return JsonText(json.dumps(chunk, ensure_ascii=False, separators=(",", ":")))
