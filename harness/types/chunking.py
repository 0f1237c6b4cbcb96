"""How a scripted answer is streamed: where it is cut into chunks, when they come, and how it breaks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.types.messages import JsonText


class ChunkCut(StrEnum):
    """Where the texts of an answer are cut."""

    WHOLE = "whole"
    WORDS = "words"
    CHARACTERS = "characters"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class ChunkBreak:
    """The stream fails after ``chunks`` chunks, with one of the model codes."""

    chunks: int
    code: str = "TRANSPORT"
    message: str = "the stream broke"


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """The chunk schedule of one scripted answer.

    ``every`` is the number of characters of a piece (CHARACTERS); ``given`` are the chunks themselves, as
    JSON texts, which may be malformed (GIVEN). ``delay_ms`` passes on the run's clock before each chunk.
    ``cut_after``: the stream ends quietly after that many chunks. ``fails``: it fails.
    """

    cut: ChunkCut = ChunkCut.WHOLE
    every: int = 1
    given: tuple[JsonText, ...] = ()
    delay_ms: int = 0
    cut_after: int | None = None
    fails: ChunkBreak | None = None
