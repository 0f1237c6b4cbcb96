"""Bodies of streams, and models that are answered by them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx2
import yaml
from yaml import SafeLoader

from harness.models import LiveModel, model_over
from harness.types.doors import Answer
from harness.types.messages import JsonText
from harness.types.model_spec import ModelApi, ModelSpec
from tests.models.support import Flag, call, virtually

LOADER = getattr(yaml, "CSafeLoader", SafeLoader)


def frames(*data: Any) -> bytes:
    """A body with one event for each value: text as it is, anything else as JSON."""
    texts = [one if isinstance(one, str) else json.dumps(one) for one in data]
    return "".join(f"data: {text}\n\n" for text in texts).encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """A chunk of a chat completion."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def streamed(body: bytes | Iterable[bytes], kind: str | None = "text/event-stream", status: int = 200) -> httpx2.MockTransport:
    """A transport that answers every request with that body."""
    headers = {} if kind is None else {"content-type": kind}

    def handler(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(status, headers=headers, stream=Pieces([body] if isinstance(body, bytes) else body))

    return httpx2.MockTransport(handler)


class Pieces(httpx2.AsyncByteStream):
    """A body in pieces."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = pieces

    async def __aiter__(self) -> Any:
        for piece in self.pieces:
            yield piece


def spec(api: ModelApi = ModelApi.CHAT, *, stream: bool = True, **fields: Any) -> ModelSpec:
    return ModelSpec("m", api=api, stream=stream, **fields)


def ask(model: LiveModel, asked: Any = None) -> tuple[Answer, list[JsonText]]:
    """The answer, and the chunks that were told on the way."""
    chunks: list[JsonText] = []

    async def main(_: Any) -> Answer:
        try:
            return await model.answer(asked or call(), signal=Flag(), emit=chunks.append)
        finally:
            await model.aclose()

    return virtually(main), chunks


def answered(body: bytes | Iterable[bytes], model: ModelSpec | None = None, *, host: str = "", kind: str | None = "text/event-stream") -> Answer:
    """The answer of a model whose request is answered with that body."""
    return ask(model_over(streamed(body, kind), model or spec(), host=host))[0]


def recorded(folder: Path, file: str, number: int = 0) -> tuple[bytes, dict[str, str], str]:
    """Body, headers and host of one recorded response (``number`` from 0)."""
    import gzip

    one = yaml.load((folder / f"{file}.yaml").read_bytes(), LOADER)["interactions"][number]
    response = one["response"]
    headers = {name.lower(): text if isinstance(text, str) else text[0] for name, text in response["headers"].items()}
    host = httpx2.URL(one["request"]["uri"]).host
    if "parsed_body" in response:
        return json.dumps(response["parsed_body"]).encode(), headers, host
    body = response["body"]["string"]
    body = body.encode() if isinstance(body, str) else body
    return (gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body), headers, host
