"""How a scripted failure or a fault looks on the wire: the status and the error body that the real API gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from harness.errors import ModelError
from harness.server.reply import DAMAGED_BODY, JSON, Broken, How, Reply
from harness.types.codes import Code
from harness.types.faults import FaultKind, WireFault
from harness.types.jsontext import clean_text
from harness.wire.failures import error_body, parse_error, render_error

_INVALID: Final = "invalid_request_error"
_BY_STATUS: Final[dict[int, tuple[str, str, str | None]]] = {
    400: ("We could not understand your request.", _INVALID, None),
    401: ("Incorrect API key provided.", _INVALID, "invalid_api_key"),
    403: ("You do not have access to this resource.", "permission_error", "permission_denied"),
    404: ("The model does not exist or you do not have access to it.", _INVALID, "model_not_found"),
    408: ("The request timed out.", "timeout_error", None),
    409: ("The resource was changed by another request.", "conflict_error", None),
    413: ("The request is too large.", _INVALID, "request_too_large"),
    422: ("The request could not be processed.", _INVALID, None),
    429: ("Rate limit reached for requests. Please try again later.", "requests", "rate_limit_exceeded"),
    500: ("The server had an error while processing your request.", "server_error", None),
    503: ("The engine is currently overloaded, please try again later.", "server_error", "service_unavailable"),
}
"""Status: message, type and code of the error object."""
_GATEWAYS: Final = {502: "Bad Gateway", 504: "Gateway Time-out"}
"""What stands before the API answers these, and it answers with a page, not with JSON."""
_LOST: Final = {
    FaultKind.CUT_AFTER: (Code.TRANSPORT, "its connection was cut"),
    FaultKind.MALFORMED_AFTER: (Code.DAMAGED_RESPONSE, "it held a piece that is no JSON"),
    FaultKind.STALL_AFTER: (Code.TIMEOUT, "it stopped coming"),
}


def failed_reply(error: ModelError) -> Reply:
    """What a server says to a model's failure. Raises Broken where it breaks the connection, and ours as it is."""
    if error.body is not None:
        return Reply(200, clean_text(error.body).encode("utf-8"))
    if error.code == Code.DAMAGED_RESPONSE:
        return Reply(200, DAMAGED_BODY, {"content-type": "text/plain"})
    if error.code == Code.TRANSPORT:
        raise Broken(How.RESET, str(error)) from error
    if error.code in (Code.PROVIDER_ABORTED, Code.NO_FINISH_REASON):  # a stream behind us that was cut
        raise Broken(How.HANG_UP, str(error)) from error
    rendered = render_error(error)
    if rendered is None:
        raise error
    status, headers, body = rendered
    return Reply(status, body, headers)


def went_wrong(fault: WireFault) -> ModelError | None:
    """How a request fails that gets no answer because of this fault; None where an answer is made."""
    match fault.kind:
        case FaultKind.FAIL if fault.fail is not None:
            return ModelError(fault.fail.message, code=fault.fail.code, retry_after_ms=fault.fail.retry_after_ms)
        case FaultKind.STATUS:
            reply = _status_reply(fault)
            return parse_error(reply.status, reply.headers, reply.body)
        case FaultKind.RESET:
            return ModelError("the connection was reset before an answer", code=Code.TRANSPORT)
        case FaultKind.EMPTY:
            return ModelError("the answer had an empty body", code=Code.DAMAGED_RESPONSE)
        case FaultKind.CONTENT_TYPE:
            what = f"a page of type {fault.content_type} came in place of the answer"
            return ModelError(what, code=Code.DAMAGED_RESPONSE)
        case _:
            return None


def instead(fault: WireFault, error: ModelError) -> Reply:
    """What the client gets in place of an answer. Raises Broken."""
    match fault.kind:
        case FaultKind.STATUS:
            return _status_reply(fault)
        case FaultKind.RESET:
            raise Broken(How.RESET, str(error))
        case FaultKind.EMPTY:
            return Reply(200)
        case FaultKind.CONTENT_TYPE:
            text = _page("This page is here on purpose") if "html" in fault.content_type else DAMAGED_BODY
            return Reply(200, text, {"content-type": fault.content_type})
        case _:
            return failed_reply(error)


def lost_on_its_way(fault: WireFault, number: int) -> ModelError | None:
    """How an answer that is made is lost because of this fault; None where it arrives."""
    if fault.kind not in _LOST:
        return None
    code, what = _LOST[fault.kind]
    return ModelError(f"the answer to request {number} was lost: {what} ({fault.text})", code=code)


def unanswerable(error: Exception) -> tuple[int, bytes]:
    """Status and body for what no provider says: a dry script, a fault of ours. No client tries 410 again."""
    code = str(error.code).lower() if isinstance(error, ModelError) else "internal"
    return 410, error_body(f"harness: {error}", kind="harness_error", code=code)


def _status_reply(fault: WireFault) -> Reply:
    status = fault.status or 500
    headers: dict[str, str] = _pause(fault.retry_after_ms)
    if status in _GATEWAYS and not fault.message:
        return Reply(status, _page(f"{status} {_GATEWAYS[status]}"), {"content-type": "text/html", **headers})
    generic = ("The request failed.", "server_error" if status >= 500 else _INVALID, None)
    message, kind, code = _BY_STATUS.get(status, generic)
    return Reply(status, error_body(fault.message or message, kind=kind, code=code), {"content-type": JSON, **headers})


def _page(text: str) -> bytes:
    return f"<html><head><title>{text}</title></head><body><h1>{text}</h1></body></html>".encode()


def _pause(retry_after_ms: int | None) -> dict[str, str]:
    if retry_after_ms is None:
        return {}
    return {"retry-after-ms": str(retry_after_ms), "retry-after": str(math.ceil(retry_after_ms / 1000))}


def told_in_stream(error: ModelError) -> bool:
    """Whether a provider that has begun to stream still says this, in an event; else the connection breaks."""
    return error.code not in (Code.TRANSPORT, Code.PROVIDER_ABORTED, Code.NO_FINISH_REASON)


def headers_of(reply: Reply) -> Mapping[str, str]:
    """The headers of a reply; a stream has no length."""
    length = {} if reply.pieces is not None else {"content-length": str(len(reply.body))}
    return {**reply.headers, **length}
