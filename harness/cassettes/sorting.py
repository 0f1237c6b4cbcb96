"""Whether a recorded exchange replays as a model's answer, and if not, why: judged by the readers that replay uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

import httpx2

from harness.cassettes.exchange import Exchange
from harness.cassettes.foreign import Damaged, Read
from harness.cassettes.keep import kept_uri
from harness.cassettes.kinds import MEANING, Dialect, Foreign, kind_of
from harness.errors import ModelError
from harness.redaction import find_secrets, redact_secrets
from harness.types.codes import Code
from harness.types.doors import Answer
from harness.types.jsontext import Refusal, parse_json
from harness.wire.completions import parse_completion
from harness.wire.responses import ResponsesStream, parse_response
from harness.wire.streams import AnswerStream, ChatStream

Judge = Callable[[str, Answer, bool], tuple[Answer, ModelError | None]]
"""An answer under the rules of the provider at that host, and what makes it unusable for a loop: None where nothing
does. The last argument says that the answer came to the end that its server marks.
"""

STREAMED: Final = " streamed"
_WAITING: Final = ("queued", "in_progress")
_STREAM_STARTS: Final = (b"data:", b"event:", b"id:", b":")


class Refused(StrEnum):
    """Why an exchange of our dialects does not replay."""

    HTTP = "http"
    NO_FINISH_REASON = "no-finish-reason"
    TRUNCATED = "truncated"
    UNFINISHED = "unfinished"
    DAMAGED = "damaged"
    PROVIDER_ERROR = "provider-error"
    EMPTY = "empty"
    SECRET = "secret"
    NO_REQUEST = "no-request"


@dataclass(frozen=True, slots=True)
class Sorted:
    """One exchange of a file. ``verdict`` is one word or two: ``chat``, ``chat streamed``, ``responses``,
    ``responses streamed`` where it replays, else the reason's, such as ``anthropic`` or ``http 429``.
    """

    number: int
    verdict: str
    replays: bool
    why: str = ""
    n_calls: int = 0
    notes: tuple[str, ...] = ()
    exchange: Exchange | None = None
    answer: Answer | None = None


def sort_exchange(number: int, one: Read, judge: Judge, secrets: tuple[str, ...] = ()) -> Sorted:
    """The verdict of an exchange; what it quotes holds no secret."""
    found = _sorted(number, one, judge, secrets)
    return replace(found, why=redact_secrets(found.why, secrets)) if found.why else found


def _sorted(number: int, one: Read, judge: Judge, secrets: tuple[str, ...]) -> Sorted:
    if isinstance(one, Damaged):
        return _no(number, Refused.DAMAGED, f"{one.address}: {one.why}" if one.address else one.why)
    kind = kind_of(one.request)
    if isinstance(kind, Foreign):
        return _no(number, kind, MEANING[kind])
    status = one.response.status
    if not 200 <= status < 300:
        return _no(number, f"{Refused.HTTP} {status}", f"HTTP status {status} {one.response.reason}".rstrip())
    places = (one.request.body, one.response.body, kept_uri(httpx2.URL(one.request.uri)).encode())
    leaks = next(filter(None, (find_secrets(place, secrets) for place in places)), None)
    if leaks:
        return _no(number, Refused.SECRET, "; ".join(leaks))
    if not isinstance(parse_json(one.request.body.decode("utf-8", "replace")), dict):
        return _no(
            number, Refused.NO_REQUEST, "what was asked is not in the file, so no request can be matched with it"
        )
    return _answered(number, one, kind, judge)


def _no(number: int, verdict: str, why: str) -> Sorted:
    return Sorted(number, str(verdict), False, why)


def _answered(number: int, one: Exchange, kind: Dialect, judge: Judge) -> Sorted:
    stream, body = is_streamed(one), one.response.body
    try:
        read, is_whole = read_answer(kind, body, stream=stream)
    except ModelError as error:
        return _no(number, _reason(error.code, body, stream=stream), str(error))
    answer, damage = judge(httpx2.URL(one.request.uri).host, read, is_whole)
    if damage is not None:
        return _no(number, _reason(damage.code, body, stream=stream), str(damage))
    verdict = f"{kind}{STREAMED}" if stream else str(kind)
    return Sorted(number, verdict, True, "", len(answer.calls), answer.notes, one, answer)


def _reason(code: str, body: bytes, *, stream: bool) -> Refused:
    match code:
        case Code.NO_FINISH_REASON:
            return Refused.TRUNCATED if stream and not _is_over(body) else Refused.NO_FINISH_REASON
        case Code.EMPTY_RESPONSE:
            return Refused.EMPTY
        case Code.DAMAGED_RESPONSE:
            return Refused.UNFINISHED if not stream and _is_waiting(body) else Refused.DAMAGED
        case _:
            return Refused.PROVIDER_ERROR


def _is_over(body: bytes) -> bool:
    return body.rstrip().endswith(b"data: [DONE]")


def _is_waiting(body: bytes) -> bool:
    """True for a response that the provider has only taken on (``background``)."""
    value = parse_json(body.decode("utf-8", "replace"))
    return not isinstance(value, Refusal) and isinstance(value, dict) and value.get("status") in _WAITING


def is_streamed(one: Exchange) -> bool:
    """True for an event stream: by how its body begins, and where that says nothing by its header."""
    begun = one.response.body.lstrip()
    if begun.startswith((b"{", b"[")):
        return False
    kinds = [text for name, text in one.response.headers if name == "content-type"]
    named = bool(kinds) and kinds[-1].split(";")[0].strip().lower() == "text/event-stream"
    return named or begun.startswith(_STREAM_STARTS)


def read_answer(kind: Dialect, body: bytes, *, stream: bool) -> tuple[Answer, bool]:
    """The answer in a body with a good status, and whether it came to its end. Raises ModelError for what is none."""
    if not stream:
        return (parse_completion(body) if kind is Dialect.CHAT else parse_response(body)), True
    reader: AnswerStream = ChatStream() if kind is Dialect.CHAT else ResponsesStream()
    for _ in reader.feed(body):
        pass
    return reader.answer(), reader.is_over
