"""Any OpenAI-compatible endpoint, Chat Completions, whole and streamed, through the ``openai`` client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import httpx2
import openai

from harness.models.clients import DEFAULT_TIMEOUT_MS, IN_PROCESS_BASE_URL, client_from_env, client_over
from harness.models.endpoint import Endpoint
from harness.models.profiles import AdapterProfile, profile_of_host
from harness.models.rendered import RenderedMessages
from harness.models.rules import chat_message, chat_parameters, normalised, own_parameters, whole_stream
from harness.protocols import Emit, Signal
from harness.types.doors import Answer, ModelCall
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatMessage, JsonText
from harness.types.scenario import NO_PARAMETERS
from harness.wire.completions import parse_completion
from harness.wire.requests import render_request, with_parameters
from harness.wire.streams import ChatStream

PATH: Final = "/chat/completions"


class OpenAIChatModel:
    """A Model behind a client. ``name`` is sent as ``model``; ``parameters`` (JSON text of an object)
    are sent below those of the call; with ``stream`` among them, answers are asked for in pieces.

    ``profile`` holds the rules of the provider; None: they are chosen by the client's host.
    """

    def __init__(
        self,
        client: openai.AsyncOpenAI,
        *,
        name: str,
        parameters: JsonText = NO_PARAMETERS,
        stream: bool = False,
        profile: AdapterProfile | None = None,
    ) -> None:
        self._endpoint = Endpoint(client)
        self._name = name
        self.profile = profile or profile_of_host(self._endpoint.host)
        self._rendered = RenderedMessages(self._message)
        self.parameters = own_parameters(parameters, stream=stream)

    @property
    def name(self) -> str:
        """The model's name, as sent."""
        return self._name

    @property
    def place(self) -> str:
        """Host and port of the endpoint."""
        return self._endpoint.place

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        """Ask the endpoint once.

        Raises ModelError: by status and body of an HTTP answer, TIMEOUT, TRANSPORT (names host and
        port), DAMAGED_RESPONSE. What a transport of ours raises passes through (CassetteMiss), and
        so does cancellation, which closes the request.
        """
        body, notes = self._request(call)
        if body.get("stream") is not True:
            return normalised(parse_completion(await self._endpoint.whole(PATH, body)), self.profile, notes)
        answer, is_whole = await self._endpoint.streamed(PATH, body, ChatStream(), parse_completion, emit)
        return whole_stream(normalised(answer, self.profile, notes, is_whole=is_whole))

    def _request(self, call: ModelCall) -> tuple[dict[str, Any], dict[str, None]]:
        messages, notes = self._rendered.of(call.agent, call.messages)
        asked = with_parameters(call, self.parameters)
        shaped = chat_parameters(json.loads(asked.parameters), self.profile, notes)
        return render_request(replace(asked, parameters=canonical_json(shaped)), self._name, messages), notes

    def _message(self, message: ChatMessage, notes: dict[str, None]) -> Iterator[Mapping[str, Any]]:
        yield chat_message(message, self.profile, notes)

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._endpoint.aclose()


def chat_model_from_env(
    environ: Mapping[str, str],
    transport: httpx2.AsyncBaseTransport | None = None,
    *,
    name: str,
    parameters: JsonText = NO_PARAMETERS,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
    stream: bool = False,
    profile: AdapterProfile | None = None,
) -> OpenAIChatModel:
    """A model that talks to the endpoint that the environment names.

    ``transport`` (such as one that records) stands between; without it the proxies of the machine's
    environment are used. Raises ConfigurationError where the key is missing or the URL is none.
    """
    client = client_from_env(environ, transport, timeout_ms=timeout_ms)
    return OpenAIChatModel(client, name=name, parameters=parameters, stream=stream, profile=profile)


def chat_model_over(
    transport: httpx2.AsyncBaseTransport,
    *,
    name: str,
    parameters: JsonText = NO_PARAMETERS,
    base_url: str = IN_PROCESS_BASE_URL,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
    stream: bool = False,
    profile: AdapterProfile | None = None,
) -> OpenAIChatModel:
    """A model whose every request is answered by ``transport``; needs no key and no network."""
    client = client_over(transport, base_url=base_url, timeout_ms=timeout_ms)
    return OpenAIChatModel(client, name=name, parameters=parameters, stream=stream, profile=profile)
