"""What of an exchange may be kept: allow-lists, never deny-lists, and no secret at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import httpx2

from harness.cassettes.bodies import Path, show_path
from harness.cassettes.exchange import About, Cassette, Exchange, Headers, RecordingInfo
from harness.errors import SecretFoundError
from harness.redaction import find_secrets
from harness.types.jsontext import Refusal, canonical_json, parse_json

KEPT_QUERY: Final = frozenset({"api-version"})
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
SERVER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./_()+-]{0,60}")


def kept_headers(headers: httpx2.Headers, allowed: Collection[str]) -> Headers:
    """The headers whose names are allowed, in lower case whatever their spelling was."""
    return tuple((name.lower(), value) for name, value in headers.multi_items() if name.lower() in allowed)


def kept_uri(url: httpx2.URL) -> str:
    """Scheme, host and path; no user or password, no port, of the query only ``api-version``.

    A loopback address is written ``localhost``, so that a recording made twice is the same.
    """
    host = "localhost" if url.host in _LOOPBACK else url.host
    kept = [(name, value) for name, value in url.params.multi_items() if name in KEPT_QUERY]
    clean = httpx2.URL(scheme=url.scheme, host=host, path=url.path)
    return str(clean.copy_merge_params(dict(kept)) if kept else clean)


def about(info: RecordingInfo, exchanges: Sequence[Exchange], last: httpx2.Response, url: httpx2.URL) -> About:
    """The metadata: which model and server answered, as far as they say so themselves."""
    texts = [texts_of(exchange.response.body) for exchange in exchanges]
    server = last.headers.get("server", "")
    return About(
        info,
        model=next((one["model"] for one in texts if "model" in one), ""),
        fingerprint=next((one["system_fingerprint"] for one in texts if "system_fingerprint" in one), ""),
        server=server if SERVER_NAME.fullmatch(server) else "",
        host="localhost" if url.host in _LOOPBACK else url.host,
    )


def texts_of(body: bytes) -> dict[str, str]:
    """What a response says of itself; of a stream the first event that says it (llama.cpp's last names the model)."""
    text = body.decode("utf-8", "replace")
    frames = [line[5:] for line in text.split("\n") if line.startswith("data:")] or [text]
    found: dict[str, str] = {}
    for frame in frames:
        value = parse_json(frame)
        # An event of the Responses API holds the response that it tells of.
        for one in (value, value.get("response")) if isinstance(value, dict) else ():
            if isinstance(one, dict):
                found = {name: item for name, item in one.items() if isinstance(item, str)} | found
        if "model" in found:
            break
    return found


# ---------------------------------------------------------------- secrets


def refuse_secrets(cassette: Cassette, data: bytes, secrets: Collection[str], *, file: str = "") -> None:
    """Raise SecretFoundError, saying where, if a secret stands in a cassette or in its ``file``'s bytes."""
    place = f"{file}: " if file else ""
    for where, found in secrets_in(cassette, data, secrets):
        raise SecretFoundError(
            f"{place}a secret would be recorded: {where} ({'; '.join(found)}). Nothing was written; the old file stays "
            "as it was. Keep the secret out of prompts, tools and answers, then record again."
        )


def secrets_in(cassette: Cassette, data: bytes, secrets: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where a secret stands in a cassette or in its file's bytes, and what kind of one, never shown."""
    for number, exchange in enumerate(cassette.exchanges, 1):
        request, response = exchange.request, exchange.response
        is_told = exchange.label and not find_secrets(exchange.label.encode("utf-8", "replace"), secrets)
        of = f" of {exchange.label!r}" if is_told else ""
        yield from _in(f"request {number}{of}, URI", request.uri.encode(), secrets)
        yield from _in_body(f"request {number}{of}, body", request.body, secrets)
        yield from _in_body(f"response {number}{of}, body", response.body, secrets)
        for side, headers in (("request", request.headers), ("response", response.headers)):
            for name, value in headers:
                yield from _in(f"{side} {number}{of}, header {name!r}", value.encode(), secrets)
    yield from _in("the file as a whole", data, secrets)


def _in(where: str, data: bytes, secrets: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = find_secrets(data, secrets)
    if found:
        yield where, found


def _in_body(where: str, body: bytes, secrets: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    found = find_secrets(body, secrets)
    if not found:
        return
    value = parse_json(body.decode("utf-8", "replace"))
    for path, leaf in () if isinstance(value, Refusal) else _leaves(value, ()):
        if find_secrets(leaf.encode("utf-8", "replace"), secrets):
            yield f"{where}, {show_path(path)}", found
            return
    yield where, found


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _leaves(item, (*path, at))
    else:
        yield path, value if isinstance(value, str) else canonical_json(value)
