"""Any endpoint that speaks the Responses API, whole and streamed, through the ``openai`` client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

import openai

from harness.models.endpoint import Endpoint
from harness.models.profiles import AdapterProfile, profile_of_host
from harness.models.rendered import RenderedMessages
from harness.models.rules import normalised, own_parameters, told_limit, whole_stream
from harness.protocols import Emit, Signal
from harness.types.doors import Answer, ModelCall
from harness.types.messages import ChatAssistant, ChatMessage, JsonText
from harness.types.scenario import NO_PARAMETERS
from harness.wire.requests import with_parameters
from harness.wire.responses import ResponsesStream, input_items, parse_response, render_response_request

PATH: Final = "/responses"


class OpenAIResponsesModel:
    """A Model behind a client, as :class:`~harness.models.openai_chat.OpenAIChatModel`, over ``/responses``.

    The whole conversation is sent with each request; nothing is kept at the provider between two of them, unless
    the parameters say so. Chunks are told in the Chat Completions form.
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
        self._rendered = RenderedMessages(self._items)
        self._custom: set[str | None] = set()
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
        """Ask the endpoint once. Raises ModelError as a chat model does; cancellation closes the request."""
        items, notes = self._rendered.of(call.agent, call.messages)
        asked = with_parameters(call, self.parameters)
        body = render_response_request(asked, self._name, items)
        notes |= _renamed(json.loads(asked.parameters), body)
        limit = told_limit(body, self.profile)
        parse = partial(parse_response, limit=limit)
        if body.get("stream") is not True:
            return self._noted(parse(await self._endpoint.whole(PATH, body)), notes)
        answer, _ = await self._endpoint.streamed(PATH, body, ResponsesStream(limit=limit), parse, emit)
        return whole_stream(self._noted(answer, notes))

    def _noted(self, answer: Answer, notes: Mapping[str, None]) -> Answer:
        """No Responses endpoint leaves its status out: the rule of a profile that it may holds for chat only."""
        return normalised(answer, self.profile, notes, is_whole=False)

    def _items(self, message: ChatMessage, notes: dict[str, None]) -> Iterator[Mapping[str, Any]]:
        if isinstance(message, ChatAssistant):
            self._custom.update(call.id for call in message.tool_calls if call.type == "custom")
        yield from input_items(message, self._custom)

    async def aclose(self) -> None:
        """Close the client's connections."""
        await self._endpoint.aclose()


def _renamed(given: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, None]:
    gone = sorted(set(given) - set(body))
    return {f"{name} was sent in the form of the Responses API": None for name in gone}
