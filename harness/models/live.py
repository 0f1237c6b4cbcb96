"""The adapter that a role of a scenario asks for, over a transport or at the endpoint of the environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, assert_never

import httpx2
import openai

from harness.models.clients import DEFAULT_TIMEOUT_MS, IN_PROCESS_BASE_URL, client_from_env, client_over
from harness.models.openai_chat import OpenAIChatModel
from harness.models.openai_responses import OpenAIResponsesModel
from harness.models.profiles import AdapterProfile, profile_named, profile_of_host
from harness.types.model_spec import ModelApi, ModelSpec

LiveModel: TypeAlias = OpenAIChatModel | OpenAIResponsesModel


def live_model(
    environ: Mapping[str, str],
    spec: ModelSpec,
    transport: httpx2.AsyncBaseTransport | None = None,
    *,
    timeout_ms: int = DEFAULT_TIMEOUT_MS,
) -> LiveModel:
    """A model at the endpoint that the environment names.

    Raises ConfigurationError (no key, no URL) and UnknownNameError (no such profile).
    """
    client = client_from_env(environ, transport, timeout_ms=timeout_ms)
    return _made(client, spec, _profile(spec, client.base_url.host))


def model_over(transport: httpx2.AsyncBaseTransport, spec: ModelSpec, *, host: str = "") -> LiveModel:
    """A model that a transport answers, under the rules of the endpoint at ``host``, where a recording was made."""
    return _made(client_over(transport, base_url=IN_PROCESS_BASE_URL), spec, _profile(spec, host))


def _profile(spec: ModelSpec, host: str) -> AdapterProfile:
    return profile_named(spec.profile) if spec.profile is not None else profile_of_host(host)


def _made(client: openai.AsyncOpenAI, spec: ModelSpec, profile: AdapterProfile) -> LiveModel:
    match spec.api:
        case ModelApi.CHAT:
            kind: type[LiveModel] = OpenAIChatModel
        case ModelApi.RESPONSES:
            kind = OpenAIResponsesModel
        case _:
            assert_never(spec.api)
    return kind(client, name=spec.name, parameters=spec.parameters, stream=spec.stream, profile=profile)
