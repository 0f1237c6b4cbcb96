"""Error objects of providers: which of our codes they stand for, and what they say.

The code is decided by what the body says before what the status says: one provider's 400 is
another's 413, and a used-up budget comes as 429 (CONFORMANCE 149, 150).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from harness.errors import ModelError
from harness.types.codes import Code
from harness.types.jsontext import clean_text

_LONGEST_MESSAGE: Final = 500
_LONGEST_WORD: Final = 16
"""So much of a message that is one word alone: fewer characters than any key has."""
_LAST_WORD: Final = re.compile(r"[^\s\"'<>,;(){}\[\]]*\Z")
_OVERFLOW: Final = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _](?:length|size|window)|maximum context"
    r"|prompt is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_BY_WORD: Final = (
    (re.compile(r"insufficient_quota|billing|quota_exceeded|credit", re.IGNORECASE), Code.QUOTA),
    (re.compile(r"rate_?limit|too_many_requests", re.IGNORECASE), Code.RATE_LIMIT),
    (re.compile(r"invalid_api_key|authentication|permission|unauthorized", re.IGNORECASE), Code.AUTH),
    (re.compile(r"timeout", re.IGNORECASE), Code.TIMEOUT),
    (re.compile(r"invalid_request|tool_use_failed|not_found|bad_request", re.IGNORECASE), Code.INVALID_REQUEST),
    (re.compile(r"server_error|overloaded|unavailable|internal", re.IGNORECASE), Code.SERVER),
)
_BY_STATUS: Final = {
    401: Code.AUTH,
    402: Code.QUOTA,
    403: Code.AUTH,
    408: Code.TIMEOUT,
    413: Code.INVALID_REQUEST,
    429: Code.RATE_LIMIT,
    504: Code.TIMEOUT,
    524: Code.TIMEOUT,
}


def error_in(raw: Mapping[str, Any]) -> ModelError:
    """The ModelError of an error object that came in place of an answer, with status 200."""
    value = raw["error"]
    error = value if isinstance(value, Mapping) else {"message": value}
    status = error.get("code")
    if not isinstance(status, int) or isinstance(status, bool) or not 400 <= status <= 599:
        status = 200
    message = f"an error in place of an answer: {error_message(error, b'')}"
    return ModelError(message, code=error_code(status, error))


def error_message(error: Mapping[str, Any], body: bytes) -> str:
    """The words of an error object; the beginning of ``body`` where it has none."""
    texts = (error.get(key) for key in ("message", "detail", "title"))
    found = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    if found is None:
        found = body[: 4 * _LONGEST_MESSAGE].decode("utf-8", "replace").strip() or "no message"
    found = clean_text(found)
    if len(found) <= _LONGEST_MESSAGE:
        return found
    # Half a key would be known to nobody as one: the cut comes before the word that it would go through.
    return (_LAST_WORD.sub("", found[:_LONGEST_MESSAGE]) or found[:_LONGEST_WORD]) + "…"


def error_code(status: int, error: Mapping[str, Any]) -> Code:
    """Our code for an error object that came with an HTTP status."""
    words = " ".join(str(error.get(key)) for key in ("code", "type") if isinstance(error.get(key), str))
    if status < 500 and _OVERFLOW.search(f"{words} {error.get('message', '')}"):
        return Code.CONTEXT_OVERFLOW
    if status in (400, 403, 404, 429) or status < 300:
        for pattern, code in _BY_WORD[: 1 if status >= 300 else None]:
            if pattern.search(words):
                return code
    return _by_status(status)


def _by_status(status: int) -> Code:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if 400 <= status < 500:
        return Code.INVALID_REQUEST
    return Code.SERVER if 500 <= status < 600 else Code.UNKNOWN
