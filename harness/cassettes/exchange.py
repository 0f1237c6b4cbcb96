"""What a cassette holds: exchanges in the order they were asked, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

CASSETTE_FORMAT: Final = "harness-cassette/1"

EVALUATIONS: Final = "evaluations/"
"""How the name begins under which an evaluation is recorded; no scenario replays such a file."""

Headers: TypeAlias = tuple[tuple[str, str], ...]
"""Names in lower case, in the order they came."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One piece of a body as it arrived: its size, and the milliseconds since the piece before."""

    size_bytes: int
    delay_ms: int


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as it was sent, without what must not be kept."""

    method: str
    uri: str
    headers: Headers
    body: bytes


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """A response with its body decoded; ``chunks`` add up to the body, or are not known (empty)."""

    status: int
    reason: str
    headers: Headers
    body: bytes
    chunks: tuple[Chunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response.

    ``label`` says for what it was asked, where one file holds the requests of many (the case of an evaluation), and
    ``at`` when (ISO date and time).
    """

    request: RecordedRequest
    response: RecordedResponse
    label: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class RecordingInfo:
    """What whoever records knows about the run. ``recorded_at`` is an ISO date and time.

    ``ignore`` are paths of the request body that matching leaves out (``user``,
    ``messages[*].name``); they are written into the cassette, and every difference that they
    hide is logged at replay. ``n_kept`` of the exchanges were taken over from a recording made at ``kept_from``.
    """

    scenario: str
    digest: str
    recorded_at: str
    harness_version: str
    ignore: tuple[str, ...] = ()
    n_kept: int = 0
    kept_from: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The file that an imported cassette was made from: its path as it was named, the SHA-256 of its bytes, and
    which of its exchanges (from 1) were taken.
    """

    file: str
    sha256: str
    taken: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class About:
    """The metadata of a cassette of ours: which run, and which model and server answered.

    ``imported`` says which file it was made from; scenario, digest and date are then not known, and empty.
    """

    info: RecordingInfo
    model: str = ""
    fingerprint: str = ""
    server: str = ""
    host: str = ""
    imported: Source | None = None


@dataclass(frozen=True, slots=True)
class Cassette:
    """A recorded run. ``about`` is None for a file of vcrpy's own making."""

    exchanges: tuple[Exchange, ...]
    about: About | None = None
