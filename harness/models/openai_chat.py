"""Any OpenAI-compatible endpoint, whole Chat Completions answers, through the ``openai`` client.

Requests go through ``client.post`` with a body that is rendered already: the typed ``create`` walks
all messages by type annotation, which makes a turn quadratic (performance page). The
client never retries; who asks owns the retry policy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

import httpx2
import openai

from harness.errors import ConfigurationError, ModelError
from harness.models.profiles import sends_no_finish_reason
from harness.protocols import Emit, Signal
from harness.types.codes import Code
from harness.types.doors import Answer, ModelCall
from harness.types.messages import JsonText
from harness.types.scenario import NO_PARAMETERS
from harness.wire.completions import parse_completion
from harness.wire.failures import parse_error
from harness.wire.requests import render_request, with_parameters

PUBLIC_BASE_URL: Final = "https://api.openai.com/v1"
IN_PROCESS_BASE_URL: Final = "http://model.harness.invalid/v1"
"""Never resolved: a transport in this process answers. ``.invalid`` is reserved for that (RFC 2606)."""
IN_PROCESS_KEY: Final = "harness"
DEFAULT_TIMEOUT_MS: Final = 600_000
CONNECT_TIMEOUT_MS: Final = 10_000
_USER_INFO: Final = re.compile(r"//[^/@\s]*@")


class OpenAIChatModel:
    """A Model behind a client. ``name`` is sent as ``model``; ``parameters`` (JSON text of an object)
    are sent below those of the call.
    """

    def __init__(self, client: openai.AsyncOpenAI, *, name: str, parameters: JsonText = NO_PARAMETERS) -> None:
        self._client = client
        self._name = name
        self._no_finish = sends_no_finish_reason(client.base_url.host)
        self.parameters = parameters

    @property
    def name(self) -> str:
        """The model's name, as sent."""
        return self._name

    @property
    def place(self) -> str:
        """Host and port of the endpoint."""
        return place_of(self._client.base_url)

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """Ask the endpoint once.

        Raises ModelError: by status and body of an HTTP answer, TIMEOUT, TRANSPORT (names host and
        port), DAMAGED_RESPONSE. What a transport of ours raises passes through (CassetteMiss), and
        so does cancellation, which closes the request.
        """
        body = render_request(with_parameters(call, self.parameters), self._name)
        answer = parse_completion(await self._post(body))
        return replace(answer, no_finish_expected=True) if self._no_finish else answer

    async def _post(self, body: dict[str, Any]) -> bytes:
        try:
            response = await self._client.post(
                "/chat/completions", cast_to=httpx2.Response, body=body, options={"max_retries": 0}
            )
        except openai.APIStatusError as error:
            found = error.response
            raise parse_error(found.status_code, found.headers, found.content) from None
        except openai.APIConnectionError as error:  # APITimeoutError is one of these
            self._unreachable(error)
        return response.content

    def _unreachable(self, error: openai.APIConnectionError) -> NoReturn:
        place = place_of(self._client.base_url)
        if isinstance(error, openai.APITimeoutError):
            why = type(error.__cause__).__name__ if error.__cause__ else "time-out"
            raise ModelError(f"no answer from {place} in time ({why})", code=Code.TIMEOUT) from error
        cause = error.__cause__ or error
        text = _USER_INFO.sub("//", str(cause)) or "no details"
        raise ModelError(
            f"cannot talk to {place} ({type(cause).__name__}: {text}). Is the endpoint up, and OPENAI_BASE_URL right?",
            code=Code.TRANSPORT,
        ) from error

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._client.close()


def place_of(url: httpx2.URL) -> str:
    """Host and port of a URL, and nothing that could be secret."""
    port = url.port or {"https": 443, "http": 80}.get(url.scheme)
    return f"{url.host}:{port}" if port else url.host


def chat_model_from_env(
    environ: Mapping[str, str],
    transport: httpx2.AsyncBaseTransport | None = None,
    *,
    name: str,
    parameters: JsonText = NO_PARAMETERS,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> OpenAIChatModel:
    """A model that talks to the endpoint that the environment names.

    ``transport`` (such as one that records) stands between; without it the proxies of the machine's
    environment are used. Raises ConfigurationError where the key is missing or the URL is none.
    """
    key = environ.get("OPENAI_API_KEY", "").strip()
    if not key:
        raise ConfigurationError(
            "a live model needs a key: set OPENAI_API_KEY (any text for a local server), and OPENAI_BASE_URL "
            f"for an endpoint other than {PUBLIC_BASE_URL}; or run with recordings"
        )
    base_url = _checked_url(environ.get("OPENAI_BASE_URL", "").strip() or PUBLIC_BASE_URL)
    client = _client(transport, key=key, base_url=base_url, timeout_ms=timeout_ms)
    return OpenAIChatModel(client, name=name, parameters=parameters)


def chat_model_over(
    transport: httpx2.AsyncBaseTransport,
    *,
    name: str,
    parameters: JsonText = NO_PARAMETERS,
    base_url: str = IN_PROCESS_BASE_URL,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> OpenAIChatModel:
    """A model whose every request is answered by ``transport``; needs no key and no network."""
    client = _client(transport, key=IN_PROCESS_KEY, base_url=base_url, timeout_ms=timeout_ms)
    return OpenAIChatModel(client, name=name, parameters=parameters)


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
    http = httpx2.AsyncClient(transport=transport, trust_env=transport is None, timeout=timeout)
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
