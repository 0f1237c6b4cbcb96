"""Failed model requests: HTTP answers to our codes and back (CONFORMANCE 149, 150)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from harness.errors import ModelError
from harness.types.codes import Code
from harness.wire.error_objects import error_code, error_message

_HTTP_DATE: Final = re.compile(r"\w{3}, (\d{2}) (\w{3}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PLACE: Final = re.compile(
    r"((?:https?:)?//)(?:[^/?#@\s]*@)?((?:\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})(?::\d{1,5})?)(?=[/?#]|\Z)",
    re.ASCII | re.IGNORECASE,
)
"""Scheme, and host with port, of an absolute address."""
_RENDERED: Final[dict[str, tuple[int, str, str | None]]] = {
    Code.RATE_LIMIT: (429, "rate_limit_error", "rate_limit_exceeded"),
    Code.QUOTA: (429, "insufficient_quota", "insufficient_quota"),
    Code.AUTH: (401, "authentication_error", "invalid_api_key"),
    Code.CONTEXT_OVERFLOW: (400, "invalid_request_error", "context_length_exceeded"),
    Code.INVALID_REQUEST: (400, "invalid_request_error", None),
    Code.TIMEOUT: (504, "timeout_error", None),
    Code.SERVER: (500, "server_error", None),
}
"""Codes that a server can answer with: status, type and code of the error object."""


def parse_error(status: int, headers: Mapping[str, str], body: bytes, *, now_ms: int | None = None) -> ModelError:
    """The ModelError of an HTTP answer that is no success.

    ``now_ms`` (Unix epoch) is what a Retry-After date is counted from where the answer carries no
    ``Date`` of its own; without either a date gives no delay.
    """
    error = _error_object(body)
    said = _leads_elsewhere(headers) if 301 <= status <= 308 and status != 304 else error_message(error, body)
    text = f"HTTP {status}: {said}"
    return ModelError(text, code=error_code(status, error), retry_after_ms=_retry_after_ms(headers, now_ms))


def render_error(error: ModelError) -> tuple[int, dict[str, str], bytes] | None:
    """Status, headers and body of a server that fails with ``error``; None where no server says that."""
    known = _RENDERED.get(error.code)
    if known is None:
        return None
    status, kind, code = known
    headers = {"content-type": "application/json"}
    if error.retry_after_ms is not None:
        headers["retry-after-ms"] = str(error.retry_after_ms)
        headers["retry-after"] = str(math.ceil(error.retry_after_ms / 1000))
    return status, headers, error_body(str(error), kind=kind, code=code)


def error_body(message: str, *, kind: str, code: str | None = None, param: str | None = None) -> bytes:
    """An error object as OpenAI sends it."""
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json.dumps({"error": error}, ensure_ascii=True).encode("ascii")


def known_code(word: str) -> Code:
    """The code of that name; UNKNOWN for any other word."""
    return Code(word) if word in Code.__members__ else Code.UNKNOWN


# ---------------------------------------------------------------- reading


def _error_object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(value, Mapping):
        return {}
    inner = value.get("error")
    if isinstance(inner, Mapping):
        return inner
    return {**value, "message": inner} if isinstance(inner, str) else value


def _leads_elsewhere(headers: Mapping[str, str]) -> str:
    """Where a redirect leads, by host alone: the rest of an address may hold a secret."""
    place = next((text.strip() for name, text in headers.items() if name.lower() == "location"), "")
    found = _PLACE.match(place)
    where = "to an address that cannot be read"
    if not place:
        where = "without saying where"
    elif found is not None:
        where = f"to {found[1].lower()}{found[2]}"
    elif not re.match(r"[a-z][a-z0-9+.-]*:|//", place, re.IGNORECASE):
        where = "to another path of the same host"
    return f"the endpoint leads elsewhere, {where}, and no request is sent on. Set OPENAI_BASE_URL to where the API is"


# ---------------------------------------------------------------- Retry-After


def _retry_after_ms(headers: Mapping[str, str], now_ms: int | None) -> int | None:
    lower = {key.lower(): value for key, value in headers.items()}
    exact = _number(lower.get("retry-after-ms"))
    if exact is not None:
        return round(exact)
    value = lower.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return round(seconds * 1000)
    until_ms = _date_ms(value)
    since_ms = _date_ms(lower.get("date"))
    since_ms = now_ms if since_ms is None else since_ms
    return None if until_ms is None or since_ms is None else max(0, until_ms - since_ms)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date_ms(text: str | None) -> int | None:
    found = _HTTP_DATE.fullmatch((text or "").strip())
    if found is None or found[2] not in _MONTHS:
        return None
    day, year, hour, minute, second = (int(found[index]) for index in (1, 3, 4, 5, 6))
    try:
        date = datetime(year, _MONTHS.index(found[2]) + 1, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    return round(date.timestamp() * 1000)


_NO_ANSWER: Final = re.compile(
    r"no chat completion: (response|choices)\b|no response: (response|output)\b(?!\[)"
    r"|neither a stream nor an answer came|the answer of \S+ is not encoded|the stream held nothing"
)


def is_no_answer(code: str, message: str) -> bool:
    """Whether a failed request was answered with what is no answer at all: a page of HTML, no JSON, no choices.

    That is the endpoint's doing (or a proxy's), and says nothing about a model, unlike an answer that is damaged. It is
    told from the words of the doors, since a trajectory holds no more than a code and these.
    """
    return code in (Code.DAMAGED_RESPONSE, Code.NO_FINISH_REASON) and _NO_ANSWER.match(message) is not None
