"""Clients: to the endpoint that the environment names, over a transport of ours, and for a user's own loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import httpx2
import openai

from harness.errors import ConfigurationError
from harness.models.bounded import bound_body

PUBLIC_BASE_URL: Final = "https://api.openai.com/v1"
IN_PROCESS_BASE_URL: Final = "http://model.harness.invalid/v1"
"""Never resolved: a transport in this process answers. ``.invalid`` is reserved for that (RFC 2606)."""
IN_PROCESS_KEY: Final = "harness"
DEFAULT_TIMEOUT_MS: Final = 600_000
CONNECT_TIMEOUT_MS: Final = 10_000


def client_from_env(
    environ: Mapping[str, str],
    transport: httpx2.AsyncBaseTransport | None = None,
    *,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> openai.AsyncOpenAI:
    """A client to the endpoint of OPENAI_BASE_URL, with the key of OPENAI_API_KEY.

    Raises ConfigurationError where the key is missing or the URL is none.
    """
    key = environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        raise ConfigurationError(
            "a live model needs a key: set OPENAI_API_KEY (any text for a local server), and OPENAI_BASE_URL "
            f"for an endpoint other than {PUBLIC_BASE_URL}; or run with recordings"
        )
    base_url = _checked_url(environ.get("OPENAI_BASE_URL", "").strip() or PUBLIC_BASE_URL)
    return _client(transport, key=key, base_url=base_url, timeout_ms=timeout_ms)


def client_over(
    transport: httpx2.AsyncBaseTransport, *, base_url: str = IN_PROCESS_BASE_URL, timeout_ms: int = DEFAULT_TIMEOUT_MS
) -> openai.AsyncOpenAI:
    """A client whose every request is answered by ``transport``; needs no key and no network."""
    return _client(transport, key=IN_PROCESS_KEY, base_url=base_url, timeout_ms=timeout_ms)


def in_process_client(transport: httpx2.AsyncBaseTransport) -> openai.AsyncOpenAI:
    """A client for a user's own loop, with the client's usual retries and time-outs.

    All its requests are answered by ``transport``; the base URL is a reserved host that no resolver
    knows, so that nothing can leave the process by mistake.
    """
    http = httpx2.AsyncClient(transport=transport, trust_env=False, timeout=openai.DEFAULT_TIMEOUT)
    return openai.AsyncOpenAI(api_key=IN_PROCESS_KEY, base_url=IN_PROCESS_BASE_URL, http_client=http)


def _client(
    transport: httpx2.AsyncBaseTransport | None, *, key: str, base_url: str, timeout_ms: int
) -> openai.AsyncOpenAI:
    timeout = httpx2.Timeout(timeout_ms / 1000, connect=min(timeout_ms, CONNECT_TIMEOUT_MS) / 1000)
    hooks = {"response": [bound_body]}
    http = httpx2.AsyncClient(transport=transport, trust_env=transport is None, timeout=timeout, event_hooks=hooks)
    return openai.AsyncOpenAI(api_key=key, base_url=base_url, http_client=http, timeout=timeout, max_retries=0)


def _checked_url(text: str) -> str:
    try:
        url = httpx2.URL(text)
    except httpx2.InvalidURL as error:
        raise ConfigurationError(f"OPENAI_BASE_URL is no URL: {error}") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigurationError("OPENAI_BASE_URL must look like http://host:port/v1; it names no host")
    if url.userinfo:
        raise ConfigurationError("OPENAI_BASE_URL may hold no user name or password; put the key in OPENAI_API_KEY")
    return text
