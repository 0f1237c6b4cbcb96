"""What a recorded request was asked of: a dialect that we replay, or something else, by name."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

import httpx2

from harness.cassettes.exchange import RecordedRequest
from harness.types.jsontext import Refusal, parse_json


class Dialect(StrEnum):
    """The HTTP dialects whose answers replay."""

    CHAT = "chat"
    RESPONSES = "responses"


class Foreign(StrEnum):
    """What else is found in recordings. It is no model request, or one of a protocol that is not ours."""

    ANTHROPIC = "anthropic"
    GOOGLE = "google"
    COHERE = "cohere"
    OLLAMA = "ollama"
    BEDROCK = "bedrock"
    LEGACY_COMPLETIONS = "legacy-completions"
    EMBEDDINGS = "embeddings"
    AUDIO = "audio"
    IMAGES = "images"
    MODERATION = "moderation"
    JSON_RPC = "json-rpc"
    TELEMETRY = "telemetry"
    PROVIDER_STATE = "provider-state"
    DOWNLOAD = "download"
    OTHER = "other"


MEANING: Final[dict[Foreign, str]] = {
    Foreign.ANTHROPIC: "the Messages protocol of Anthropic",
    Foreign.GOOGLE: "the generateContent protocol of Google",
    Foreign.COHERE: "the chat protocol of Cohere",
    Foreign.OLLAMA: "Ollama's own protocol",
    Foreign.BEDROCK: "the protocol of Bedrock",
    Foreign.LEGACY_COMPLETIONS: "completions without messages",
    Foreign.EMBEDDINGS: "embeddings, no answer of a model",
    Foreign.AUDIO: "audio",
    Foreign.IMAGES: "images",
    Foreign.MODERATION: "a moderation, no answer of a model",
    Foreign.JSON_RPC: "JSON-RPC, as MCP and A2A speak it",
    Foreign.TELEMETRY: "telemetry",
    Foreign.PROVIDER_STATE: "state that a provider keeps, no model request",
    Foreign.DOWNLOAD: "a download",
    Foreign.OTHER: "no request that is known here",
}
_BY_END: Final = (
    ("/chat/completions", Dialect.CHAT),
    ("/responses", Dialect.RESPONSES),
    ("/messages", Foreign.ANTHROPIC),
    ("/messages/count_tokens", Foreign.ANTHROPIC),
    ("/embeddings", Foreign.EMBEDDINGS),
    ("/embed", Foreign.EMBEDDINGS),
    (":embedcontent", Foreign.EMBEDDINGS),
    (":batchembedcontents", Foreign.EMBEDDINGS),
    (":generatecontent", Foreign.GOOGLE),
    (":streamgeneratecontent", Foreign.GOOGLE),
    (":counttokens", Foreign.GOOGLE),
    ("/api/chat", Foreign.OLLAMA),
    ("/api/generate", Foreign.OLLAMA),
    ("/converse", Foreign.BEDROCK),
    ("/converse-stream", Foreign.BEDROCK),
    ("/invoke", Foreign.BEDROCK),
    ("/invoke-with-response-stream", Foreign.BEDROCK),
    ("/moderations", Foreign.MODERATION),
    ("/completions", Foreign.LEGACY_COMPLETIONS),
)
_BY_PART: Final = (
    ("/audio/", Foreign.AUDIO),
    ("/images/", Foreign.IMAGES),
    ("/traces", Foreign.TELEMETRY),
    ("/telemetry", Foreign.TELEMETRY),
    ("/tracing/", Foreign.TELEMETRY),
    ("/conversations", Foreign.PROVIDER_STATE),
    ("/responses/", Foreign.PROVIDER_STATE),
    ("/batches", Foreign.PROVIDER_STATE),
    ("/files", Foreign.PROVIDER_STATE),
)


def kind_of(request: RecordedRequest) -> Dialect | Foreign:
    """What was asked of, by method, path, host and, where those say nothing, body."""
    url = httpx2.URL(request.uri)
    path = url.path.lower().rstrip("/")
    found: Dialect | Foreign | None = None
    if request.method.upper() == "POST":
        if "cohere" in url.host and path.endswith("/chat"):
            return Foreign.COHERE
        found = next((kind for end, kind in _BY_END if path.endswith(end)), None)
    if found is None:
        found = next((kind for part, kind in _BY_PART if part in f"{path}/"), None)
    if found is None and _is_json_rpc(request.body):
        return Foreign.JSON_RPC
    if found is None and request.method.upper() in ("GET", "HEAD"):
        return Foreign.DOWNLOAD
    return found or Foreign.OTHER


def _is_json_rpc(body: bytes) -> bool:
    value: Any = parse_json(body.decode("utf-8", "replace"))
    first = value[0] if isinstance(value, list) and value else value
    return not isinstance(first, Refusal) and isinstance(first, dict) and "jsonrpc" in first
