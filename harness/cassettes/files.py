"""Cassette files: vcrpy's format, read strictly and written the same way each time.

vcrpy's own serializer does the YAML, so its files are read here and ours there; what vcrpy does
not know (pieces of bodies and their delays) stands in a key ``harness`` beside ``request`` and
``response``, which it skips. ``version`` is the last line of a file, so a torn one is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vcr.serializers import yamlserializer

from harness.cassettes.decode import decode_cassette
from harness.cassettes.exchange import CASSETTE_FORMAT, About, Cassette, Exchange, Headers
from harness.errors import CassetteError

MAX_BYTES: Final = 64 * 1024 * 1024
VCR_VERSION: Final = 1


class _DuplicateKeyError(ValueError):
    """A YAML mapping names a key twice."""


def _strict_mapping(loader: Any, node: Any) -> dict[Any, Any]:
    mapping: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise _DuplicateKeyError(f"line {key_node.start_mark.line + 1}: key {key!r} is not text")
        if key in mapping:
            raise _DuplicateKeyError(f"line {key_node.start_mark.line + 1}: key {key!r} stands twice")
        mapping[key] = loader.construct_object(value_node, deep=True)
    return mapping


_STRICT: Final = yamlserializer.with_custom_tags({"tag:yaml.org,2002:map": _strict_mapping})
_UNLOADABLE: Final[tuple[type[Exception], ...]] = (
    yamlserializer.yaml.YAMLError, ValueError, RecursionError, LookupError, TypeError, AttributeError,
)  # fmt: skip
"""What loading raises for text that is no YAML, not UTF-8 or too deep, for a key that stands twice, and for a
value that its tag does not fit (``!!int ""``, ``!!bool x``, a date that is none, a pickled body of vcrpy's)."""


def read_cassette(path: Path) -> Cassette:
    """The cassette in a file.

    Raises CassetteError for a file that is missing, empty, damaged or cut off, that holds no
    exchange, or whose shape is not vcrpy's; the text says which, and what to do.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise CassetteError(f"cassette {_name(path)!r} not found: record it first (harness record)") from None
    except OSError as error:
        raise CassetteError(f"cassette {_name(path)!r} cannot be read: {error.strerror}") from None
    return parse_cassette(data, _name(path))


def parse_cassette(data: bytes, source: str) -> Cassette:
    """The cassette in the bytes of a file; ``source`` names it in errors. See read_cassette."""
    if len(data) > MAX_BYTES:
        raise CassetteError(f"cassette {source!r} is larger than {MAX_BYTES} bytes: split the scenario")
    if not data.strip():
        raise CassetteError(f"cassette {source!r} is empty: no recordings; record it again (harness record)")
    try:
        document = load_yaml(data, source)
    except CassetteError as error:
        raise CassetteError(f"cassette {error}. Restore or record it again.") from None
    return decode_cassette(document, source)


def load_yaml(data: bytes, source: str) -> Any:
    """The document in the bytes of a file, no key twice. Raises CassetteError for what is damaged."""
    try:
        return _STRICT.deserialize(data.decode("utf-8"))
    except _UNLOADABLE as error:
        said = " ".join(str(error).split())[:300]
        raise CassetteError(f"{source!r} is damaged: {said}") from None


def _name(path: Path) -> str:
    return path.as_posix()


# ---------------------------------------------------------------- writing


def dump_cassette(cassette: Cassette) -> bytes:
    """The bytes of a cassette file: ASCII, LF line ends, same cassette, same bytes (PB-048)."""
    document: dict[str, Any] = {
        "interactions": [interaction_of(exchange) for exchange in cassette.exchanges],
        "version": VCR_VERSION,
    }
    if cassette.about is not None:
        document["metadata"] = {"harness": _about(cassette.about, len(cassette.exchanges))}
    text: str = yamlserializer.serialize(document)
    return text.encode("ascii")


def interaction_of(exchange: Exchange) -> dict[str, Any]:
    """One exchange as it stands in a file."""
    request, response = exchange.request, exchange.response
    fields: dict[str, Any] = {
        "request": {
            "method": request.method,
            "uri": request.uri,
            "headers": _headers(request.headers),
            "body": _text(request.body),
        },
        "response": {
            "status": {"code": response.status, "message": response.reason},
            "headers": _headers(response.headers),
            "body": {"string": _text(response.body)},
        },
    }
    ours: dict[str, Any] = {name: text for name in ("label", "at") if (text := getattr(exchange, name))}
    if response.chunks:
        ours["chunks"] = [{"bytes": one.size_bytes, "delay_ms": one.delay_ms} for one in response.chunks]
    return fields | ({"harness": ours} if ours else {})


def _headers(headers: Headers) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {}
    for name, value in headers:
        result.setdefault(name, []).append(value)
    return result


def _text(body: bytes) -> str | bytes:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body


def _about(about: About, n_exchanges: int) -> Mapping[str, Any]:
    fields: dict[str, Any] = {
        "format": CASSETTE_FORMAT,
        "interactions": n_exchanges,
        "scenario": about.info.scenario,
        "digest": about.info.digest,
        "recorded_at": about.info.recorded_at,
        "harness_version": about.info.harness_version,
        "model": about.model,
        "fingerprint": about.fingerprint,
        "server": about.server,
        "host": about.host,
    }
    if about.info.n_kept:
        fields |= {"kept": about.info.n_kept, "kept_from": about.info.kept_from}
    if about.info.ignore:
        fields["ignore"] = list(about.info.ignore)
    if about.imported is not None:
        source = about.imported
        fields["imported"] = {"file": source.file, "sha256": source.sha256, "taken": list(source.taken)}
    return fields
