"""From a loaded document to a cassette: every field checked once, at this door."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import Any, Final, NoReturn

import httpx2

from harness.cassettes.exchange import (
    CASSETTE_FORMAT,
    About,
    Cassette,
    Chunk,
    Exchange,
    Headers,
    RecordedRequest,
    RecordedResponse,
    RecordingInfo,
    Source,
)
from harness.cassettes.packed import unpacked
from harness.errors import CassetteError, ModelError

_NOT_REPLAYED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
_TEXT_STARTS: Final = (b"{", b"[", b"data:", b"event:", b"id:", b":")
"""How JSON and event streams begin; no compressed body does."""
_ABOUT_TEXTS: Final = (
    "scenario", "digest", "recorded_at", "harness_version", "model", "fingerprint", "server", "host",
)  # fmt: skip


def decode_cassette(document: Any, source: str) -> Cassette:
    """The cassette of a loaded document. Raises CassetteError naming source and field."""
    return _Decoder(source).cassette(document)


def decode_exchange(interaction: Any, where: str) -> Exchange:
    """One exchange of a loaded document, for a reader of single ones. Raises CassetteError naming the field."""
    return _Decoder("").exchange(interaction, where)


class _Decoder:
    def __init__(self, source: str) -> None:
        self.source = source

    def refuse(self, where: str, what: str) -> NoReturn:
        if not self.source:
            raise CassetteError(f"{where}: {what}")
        raise CassetteError(f"cassette {self.source!r}, {where}: {what}. Restore or record it again.")

    def mapping(self, value: Any, where: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.refuse(where, f"a mapping is expected, not {type(value).__name__}")
        for key in value:
            if key not in known:
                self.refuse(where, f"unknown key {key!r}")
        return value

    def cassette(self, document: Any) -> Cassette:
        top = self.mapping(document, "top level", ("interactions", "metadata", "version"))
        if top.get("version") != 1:
            self.refuse("top level", f"version is {top.get('version')!r}, not 1: cut off, or of another kind")
        interactions = top.get("interactions")
        if not isinstance(interactions, list):
            self.refuse("interactions", "a list is expected")
        if not interactions:
            raise CassetteError(f"cassette {self.source!r} holds no recordings; record it again (harness record)")
        exchanges = tuple(self.exchange(one, f"interaction {n}") for n, one in enumerate(interactions, 1))
        return Cassette(exchanges, self.about(top.get("metadata"), len(exchanges)))

    def exchange(self, value: Any, where: str) -> Exchange:
        fields = self.mapping(value, where, ("request", "response", "harness"))
        request = self.request(fields.get("request"), f"{where}, request")
        extra = fields.get("harness")
        ours = {} if extra is None else self.mapping(extra, f"{where}, harness", ("chunks", "label", "at"))
        label, at = ours.get("label", ""), ours.get("at", "")
        if not isinstance(label, str) or not isinstance(at, str):
            self.refuse(f"{where}, harness", "label and at must be text")
        chunks = ours.get("chunks", () if label or at else None) if extra is not None else ()
        return Exchange(request, self.response(fields.get("response"), chunks, f"{where}, response"), label, at)

    def request(self, value: Any, where: str) -> RecordedRequest:
        fields = self.mapping(value, where, ("method", "uri", "headers", "body"))
        method, uri = fields.get("method"), fields.get("uri")
        if not isinstance(method, str) or not isinstance(uri, str):
            self.refuse(where, "method and uri must be text")
        try:
            httpx2.URL(uri)
        except httpx2.InvalidURL as error:
            self.refuse(where, f"the uri is no address: {error}")
        body = self.body(fields.get("body"), f"{where}, body")
        return RecordedRequest(method, uri, self.headers(fields.get("headers"), where), body)

    def response(self, value: Any, chunks: Any, where: str) -> RecordedResponse:
        fields = self.mapping(value, where, ("status", "headers", "body"))
        status = self.mapping(fields.get("status"), f"{where}, status", ("code", "message"))
        code, reason = status.get("code"), status.get("message") or ""
        if type(code) is not int or not 100 <= code <= 599 or not isinstance(reason, str):
            self.refuse(f"{where}, status", f"code {code!r} is no HTTP status")
        headers = self.headers(fields.get("headers"), where)
        holder = self.mapping(fields.get("body"), f"{where}, body", ("string",))
        body = self.plain(self.body(holder.get("string"), f"{where}, body"), headers, where)
        kept = tuple((name, text) for name, text in headers if name not in _NOT_REPLAYED)
        return RecordedResponse(code, reason, kept, body, self.chunks(chunks, len(body), where))

    def body(self, value: Any, where: str) -> bytes:
        if value is None:
            return b""
        if isinstance(value, str):
            return value.encode("utf-8")
        if isinstance(value, BytesIO):
            return value.getvalue()
        if not isinstance(value, bytes):
            self.refuse(where, f"text or bytes are expected, not {type(value).__name__}")
        return value

    def plain(self, body: bytes, headers: Headers, where: str) -> bytes:
        encodings = [text for name, text in headers if name == "content-encoding"]
        if not encodings:
            return body
        try:
            return unpacked(body, ",".join(encodings))
        except ModelError as error:
            self.refuse(f"{where}, body", str(error))
        except httpx2.DecodingError:
            # vcrpy can store a body decoded while the header stays; then it reads as text.
            if body.startswith(_TEXT_STARTS):
                return body
            self.refuse(f"{where}, body", f"it is not {', '.join(encodings)} as its header says")

    def headers(self, value: Any, where: str) -> Headers:
        result: list[tuple[str, str]] = []
        for name, texts in (value or {}).items() if isinstance(value, dict | None) else ((where, None),):
            many = [texts] if isinstance(texts, str) else texts
            if not isinstance(many, list) or not all(isinstance(text, str) for text in many):
                self.refuse(f"{where}, headers", f"texts are expected for {name!r}")
            result.extend((name.lower(), text) for text in many)
        return tuple(result)

    def chunks(self, listed: Any, n_bytes: int, where: str) -> tuple[Chunk, ...]:
        if listed == ():
            return ()
        if not isinstance(listed, list):
            self.refuse(f"{where}, chunks", "a list is expected")
        chunks = tuple(self.chunk(one, f"{where}, chunks") for one in listed)
        if sum(chunk.size_bytes for chunk in chunks) != n_bytes:
            self.refuse(f"{where}, chunks", f"they do not add up to the body's {n_bytes} bytes")
        return chunks

    def chunk(self, value: Any, where: str) -> Chunk:
        fields = self.mapping(value, where, ("bytes", "delay_ms"))
        size, delay = fields.get("bytes"), fields.get("delay_ms")
        if type(size) is not int or type(delay) is not int or size < 0 or delay < 0:
            self.refuse(where, "bytes and delay_ms must be whole numbers from 0")
        return Chunk(size, delay)

    def about(self, metadata: Any, n_exchanges: int) -> About | None:
        if not isinstance(metadata, dict) or "harness" not in metadata:
            return None
        fields = self.mapping(
            metadata["harness"],
            "metadata",
            ("format", "interactions", "ignore", "kept", "kept_from", "imported", *_ABOUT_TEXTS),
        )
        if fields.get("format") != CASSETTE_FORMAT:
            self.refuse("metadata", f"format {fields.get('format')!r} is not {CASSETTE_FORMAT!r}")
        if fields.get("interactions") != n_exchanges:
            self.refuse("metadata", f"{fields.get('interactions')!r} interactions were written, {n_exchanges} are here")
        texts = {name: fields.get(name) for name in _ABOUT_TEXTS}
        ignore = fields.get("ignore", [])
        if not isinstance(ignore, list) or not all(isinstance(text, str) for text in [*texts.values(), *ignore]):
            self.refuse("metadata", "texts are expected")
        known = {name: str(text) for name, text in texts.items()}
        n_kept, kept_from = fields.get("kept", 0), fields.get("kept_from", "")
        if type(n_kept) is not int or not 0 <= n_kept <= n_exchanges or not isinstance(kept_from, str):
            self.refuse("metadata", f"kept is {n_kept!r} of {n_exchanges}, from {kept_from!r}")
        info = RecordingInfo(
            scenario=known["scenario"],
            digest=known["digest"],
            recorded_at=known["recorded_at"],
            harness_version=known["harness_version"],
            ignore=tuple(ignore),
            n_kept=n_kept,
            kept_from=kept_from,
        )
        named = (known["model"], known["fingerprint"], known["server"], known["host"])
        return About(info, *named, imported=self.source_of(fields.get("imported")))

    def source_of(self, value: Any) -> Source | None:
        if value is None:
            return None
        fields = self.mapping(value, "metadata, imported", ("file", "sha256", "taken"))
        file, digest, taken = fields.get("file"), fields.get("sha256"), fields.get("taken")
        if not isinstance(file, str) or not isinstance(digest, str):
            self.refuse("metadata, imported", "file and sha256 must be text")
        if not isinstance(taken, list) or not all(type(one) is int for one in taken):
            self.refuse("metadata, imported", "taken must be a list of whole numbers")
        return Source(file, digest, tuple(taken))
