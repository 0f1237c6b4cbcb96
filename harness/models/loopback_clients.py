"""Clients of the scripted server on loopback, for loops that run in real time."""

from __future__ import annotations

import httpx2
import openai

from harness.models.clients import IN_PROCESS_KEY


def loopback_client(base_url: str) -> openai.AsyncOpenAI:
    """An asynchronous client; no proxy of the machine's environment stands between."""
    http = httpx2.AsyncClient(trust_env=False, timeout=openai.DEFAULT_TIMEOUT)
    return openai.AsyncOpenAI(api_key=IN_PROCESS_KEY, base_url=base_url, http_client=http)


def loopback_sync_client(base_url: str) -> openai.OpenAI:
    """A synchronous client; no proxy of the machine's environment stands between."""
    http = httpx2.Client(trust_env=False, timeout=openai.DEFAULT_TIMEOUT)
    return openai.OpenAI(api_key=IN_PROCESS_KEY, base_url=base_url, http_client=http)
