"""Failed requests: one code for what happened, whatever the provider's way to say it."""

import json

import pytest

from harness.errors import ModelError
from harness.wire.chat import parse_error, render_error

LOCAL_OVERFLOW = (
    b'{"error":{"code":400,"message":"request (6020 tokens) exceeds the available context size (4096 tokens), '
    b'try increasing it","type":"exceed_context_size_error","n_prompt_tokens":6020,"n_ctx":4096}}'
)


def body(**error: object) -> bytes:
    return json.dumps({"error": error}).encode()


@pytest.mark.conformance("149")
@pytest.mark.parametrize(
    ("status", "content", "code"),
    [
        pytest.param(400, LOCAL_OVERFLOW, "CONTEXT_OVERFLOW", id="llama-cpp-overflow"),
        pytest.param(
            400, body(code="context_length_exceeded", message="too long"), "CONTEXT_OVERFLOW", id="openai-overflow"
        ),
        pytest.param(413, body(message="maximum context length is 4096"), "CONTEXT_OVERFLOW", id="overflow-413"),
        pytest.param(400, body(code="insufficient_quota", message="x"), "QUOTA", id="quota-400"),
        pytest.param(429, body(code="insufficient_quota", message="x"), "QUOTA", id="quota-429"),
        pytest.param(402, b"", "QUOTA", id="payment"),
        pytest.param(429, body(message="slow down", type="requests"), "RATE_LIMIT", id="rate"),
        pytest.param(401, body(code="invalid_api_key", message="x"), "AUTH", id="key"),
        pytest.param(403, b"<html>no</html>", "AUTH", id="forbidden"),
        pytest.param(404, body(code="model_not_found", message="x"), "INVALID_REQUEST", id="model"),
        pytest.param(400, body(code="tool_use_failed", message="x"), "INVALID_REQUEST", id="groq"),
        pytest.param(422, b'{"detail": "no"}', "INVALID_REQUEST", id="unprocessable"),
        pytest.param(408, b"", "TIMEOUT", id="request-timeout"),
        pytest.param(504, b"", "TIMEOUT", id="gateway-timeout"),
        pytest.param(
            500, body(code=500, message="Failed to parse tools", type="server_error"), "SERVER", id="llama-cpp-500"
        ),
        pytest.param(529, b"overloaded", "SERVER", id="overloaded"),
        pytest.param(304, b"", "UNKNOWN", id="no-error-status"),
    ],
)
def test_status_and_body_together_give_the_code(status: int, content: bytes, code: str) -> None:
    error = parse_error(status, {}, content)
    assert error.code == code
    assert str(error).startswith(f"HTTP {status}: ")


@pytest.mark.parametrize(
    ("location", "words"),
    [
        pytest.param("https://api.example.com:8443/v1?key=canary", "to https://api.example.com:8443,", id="elsewhere"),
        pytest.param("http://ann:canary@[::1]/v1", "to http://[::1],", id="with-a-password"),
        pytest.param("//api.example.com/canary", "to //api.example.com,", id="without-scheme"),
        pytest.param("/canary/v1", "to another path of the same host,", id="another-path"),
        pytest.param("https://canary canary/", "to an address that cannot be read,", id="none"),
        pytest.param(None, "without saying where,", id="nowhere"),
    ],
)
def test_a_redirect_says_where_it_leads_and_nothing_that_could_be_secret(location: str | None, words: str) -> None:
    error = parse_error(307, {} if location is None else {"Location": location}, b"")
    assert (error.code, words in str(error), "OPENAI_BASE_URL" in str(error)) == ("UNKNOWN", True, True), str(error)
    assert "canary" not in str(error)


@pytest.mark.conformance("150")
@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param(b"", "no message", id="empty"),
        pytest.param(b"<html>Bad Gateway</html>", "Bad Gateway", id="html"),
        pytest.param(b'{"error": "plain"}', "plain", id="text-error"),
        pytest.param(b'{"message": "top"}', "top", id="message-on-top"),
        pytest.param(b'{"error": {"message": null}}', '"message": null', id="null-message"),
        pytest.param(b"\xff\xfe", "\ufffd", id="no-text"),
        pytest.param(b'{"error": {"message": "x\\ud83d"}}', "x\ufffd", id="surrogate"),
    ],
)
def test_a_failure_always_has_a_message(content: bytes, words: str) -> None:
    assert words in str(parse_error(502, {}, content))


def test_a_message_of_a_whole_page_is_cut() -> None:
    assert len(str(parse_error(500, {}, b"x" * 10_000))) < 600


NOON = "Sun, 06 Nov 1994 12:00:00 GMT"
NOON_MS = 784_123_200_000


@pytest.mark.parametrize(
    ("headers", "now_ms", "expected"),
    [
        pytest.param({}, None, None, id="none"),
        pytest.param({"Retry-After": "2"}, None, 2000, id="seconds"),
        pytest.param({"retry-after": "1.5"}, None, 1500, id="part-of-a-second"),
        pytest.param({"retry-after": "9", "retry-after-ms": "250"}, None, 250, id="milliseconds-win"),
        pytest.param({"retry-after": "-3"}, None, 0, id="negative"),
        pytest.param({"retry-after": "soon"}, None, None, id="word"),
        pytest.param({"retry-after": "nan"}, None, None, id="nan"),
        pytest.param({"retry-after": NOON}, None, None, id="date-without-now"),
        pytest.param({"retry-after": NOON}, NOON_MS - 3000, 3000, id="date"),
        pytest.param({"retry-after": NOON}, NOON_MS + 3000, 0, id="date-in-the-past"),
        pytest.param(
            {"retry-after": NOON, "date": "Sun, 06 Nov 1994 11:59:50 GMT"}, 0, 10_000, id="date-of-the-answer-wins"
        ),
        pytest.param({"retry-after": "Sun, 31 Feb 1994 12:00:00 GMT"}, 0, None, id="no-such-day"),
    ],
)
def test_retry_after_is_read_in_milliseconds(headers: dict[str, str], now_ms: int | None, expected: int | None) -> None:
    assert parse_error(429, headers, b"", now_ms=now_ms).retry_after_ms == expected


@pytest.mark.parametrize(
    "code", ["RATE_LIMIT", "QUOTA", "AUTH", "CONTEXT_OVERFLOW", "INVALID_REQUEST", "TIMEOUT", "SERVER"]
)
def test_a_failure_sent_by_a_server_is_read_as_the_same_failure(code: str) -> None:
    sent = render_error(ModelError("as told", code=code, retry_after_ms=1234))
    assert sent is not None
    error = parse_error(*sent)
    assert (error.code, error.retry_after_ms) == (code, 1234)
    assert "as told" in str(error)


@pytest.mark.parametrize(
    "code", ["SCRIPT_EXHAUSTED", "CASSETTE_MISS", "NO_MODEL", "INTERNAL", "TRANSPORT", "DAMAGED_RESPONSE"]
)
def test_a_failure_that_no_server_says_is_not_rendered(code: str) -> None:
    assert render_error(ModelError("ours", code=code)) is None
