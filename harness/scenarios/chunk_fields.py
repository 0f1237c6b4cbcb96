"""Fields of a scripted answer's chunk schedule, and the way back to a document."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field, Tag

from harness.scenarios.base import FIELDS, LIST, TEXT, Choice, Count, Fields, Positive, by_shape, complaint
from harness.types.chunking import ChunkBreak, ChunkCut, ChunkPlan
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.messages import JsonText

BREAKS: Final = ("TRANSPORT", "SERVER", "TIMEOUT", "RATE_LIMIT", "PROVIDER_ABORTED", "UNKNOWN")
"""Codes that a stream can fail with after it began."""
_DEEP: Final = 50


class EveryFields(Fields):
    """A piece of that many characters at a time."""

    every: Positive


class BreakFields(Fields):
    """The stream fails after that many chunks."""

    chunks: Count
    code: Annotated[str, Choice(BREAKS)] = "TRANSPORT"
    message: str = "the stream broke"

    def made(self) -> ChunkBreak:
        return ChunkBreak(self.chunks, self.code, self.message)


Chunk: TypeAlias = Annotated[
    Annotated[str, Tag(TEXT)] | Annotated[dict[str, Any], Tag(FIELDS)],
    by_shape("a chunk as a mapping, or as raw text (also malformed)"),
]
Chunks: TypeAlias = Annotated[
    Annotated[Annotated[str, Choice((ChunkCut.WHOLE.value, ChunkCut.WORDS.value))], Tag(TEXT)]
    | Annotated[EveryFields, Tag(FIELDS)]
    | Annotated[Annotated[list[Chunk], Field(min_length=1)], Tag(LIST)],
    by_shape("whole, words, {every: n}, or a list of chunks"),
]


class StreamFields(Fields):
    """How an answer is streamed."""

    chunks: Chunks | None = None
    chunk_delay_ms: Count = 0
    cut_after: Count | None = None
    fail_after: BreakFields | None = None

    @property
    def is_given(self) -> bool:
        """The chunks are the answer."""
        return isinstance(self.chunks, list)

    def plan(self) -> ChunkPlan | None:
        """The schedule; None where the answer comes whole. Raises a complaint for a schedule of nothing."""
        details = self.given("chunk_delay_ms", "cut_after", "fail_after")
        if self.chunks is None:
            if details:
                raise complaint(f"{details[0]!r} belongs to a streamed answer; give 'chunks' too", field=details[0])
            return None
        if self.given("cut_after") and self.given("fail_after"):
            raise complaint("a stream breaks once; give 'cut_after' or 'fail_after'", field="fail_after")
        cut, every = ChunkCut.GIVEN, 1
        given: tuple[JsonText, ...] = ()
        match self.chunks:
            case str():
                cut = ChunkCut(self.chunks)
            case EveryFields():
                cut, every = ChunkCut.CHARACTERS, self.chunks.every
            case listed:
                given = tuple(JsonText(one if isinstance(one, str) else canonical_json(one)) for one in listed)
        fails = None if self.fail_after is None else self.fail_after.made()
        return ChunkPlan(cut, every, given, self.chunk_delay_ms, self.cut_after, fails)


def plan_document(plan: ChunkPlan | None) -> dict[str, Any]:
    """The fields of a schedule, as :class:`StreamFields` takes them."""
    if plan is None:
        return {}
    match plan.cut:
        case ChunkCut.GIVEN:
            chunks: Any = [_chunk(text) for text in plan.given]
        case ChunkCut.CHARACTERS:
            chunks = {"every": plan.every}
        case ChunkCut.WHOLE | ChunkCut.WORDS:
            chunks = plan.cut.value
    fields: dict[str, Any] = {"chunks": chunks}
    fields |= {"chunk_delay_ms": plan.delay_ms} if plan.delay_ms else {}
    fields |= {} if plan.cut_after is None else {"cut_after": plan.cut_after}
    return fields if plan.fails is None else {**fields, "fail_after": _break(plan.fails)}


def _chunk(text: JsonText) -> Any:
    if text.count("[") + text.count("{") > _DEEP:
        return str(text)
    value = parse_json(text)
    if isinstance(value, Refusal) or not isinstance(value, dict) or canonical_json(value) != text:
        return str(text)
    return json.loads(text)


def _break(fails: ChunkBreak) -> dict[str, Any]:
    plain = ChunkBreak(fails.chunks)
    fields: dict[str, Any] = {"chunks": fails.chunks}
    fields |= {"code": fails.code} if fails.code != plain.code else {}
    return fields | ({"message": fails.message} if fails.message != plain.message else {})
