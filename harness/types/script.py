"""What a scripted model says: replies, and branches on what was observed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from harness.types.chunking import ChunkPlan
from harness.types.messages import JsonText


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A call that a scripted answer makes.

    ``arguments`` is text, so that malformed arguments can be scripted. ``id`` None lets the model
    give one (``call_<reply>_<index>``); ``""`` stays empty; ``no_id`` leaves it out altogether.
    """

    name: str | None
    arguments: str | None
    id: str | None = None
    no_id: bool = False


@dataclass(frozen=True, slots=True)
class ScriptFailure:
    """A scripted failure of a request: one of the model codes, its message, Retry-After in ms."""

    code: str
    message: str = "scripted failure"
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ScriptReply:
    """One answer of a scripted model.

    Exactly one of: an answer (``say`` and ``calls``), ``fail``, ``hang`` (until cancelled),
    ``function`` (``package.module:name``, gets the request, gives a reply), ``raw`` (a Chat
    Completions response as JSON text). ``finish`` overrides the raw finish reason; ``""`` leaves it
    out. ``delay_ms`` passes on the run's clock before the answer. ``empty`` is an answer with
    nothing in it. ``chunks``: how the answer is streamed, or (GIVEN) the streamed answer itself.
    """

    say: str | None = None
    calls: tuple[ScriptCall, ...] = ()
    fail: ScriptFailure | None = None
    hang: bool = False
    function: str | None = None
    raw: JsonText | None = None
    finish: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    delay_ms: int = 0
    input_tokens: int | None = None
    output_tokens: int | None = None
    empty: bool = False
    chunks: ChunkPlan | None = None


@dataclass(frozen=True, slots=True)
class When:
    """A condition on what was observed: the newest tool result (of ``tool``) or the last message.

    ``matches`` is a regular expression searched in the text; ``function`` names a Python function
    of the request that answers True or False. Without conditions: always.
    """

    tool: str | None = None
    matches: str | None = None
    function: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptCase:
    """One way on: taken when its condition holds and no earlier one did."""

    when: When
    script: tuple[ScriptEntry, ...]


@dataclass(frozen=True, slots=True)
class ScriptBranch:
    """Ways on that depend on what was observed; without a match the script is dry."""

    cases: tuple[ScriptCase, ...]


ScriptEntry: TypeAlias = ScriptReply | ScriptBranch


class ScriptFollows(StrEnum):
    """Which reply a request gets: the next one, or the one after as many answers as the request shows.

    By history a loop that begins anew is answered anew; a script without branches and failures only.
    """

    ORDER = "order"
    HISTORY = "history"
