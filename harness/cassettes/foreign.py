"""Other people's recordings: vcrpy's files in YAML and JSON, and variants of its layout that are in use.

Read is what vcrpy writes today; bodies as trees (``parsed_body`` in place of ``body``), ``base64_string``, and
``status_code`` with ``content`` as older stubs wrote them. What a body was is not guessed: one that
fits none of these is damage, of its exchange and not of the file.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from harness.cassettes.decode import decode_exchange
from harness.cassettes.exchange import Exchange
from harness.cassettes.files import MAX_BYTES, load_yaml
from harness.errors import CassetteError, InvalidValueError
from harness.types.jsontext import Refusal, canonical_json, parse_json

SUFFIXES: Final = (".yaml", ".yml", ".json")
_MOST_VALUES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Damaged:
    """An exchange that cannot be read, and why. ``address`` is what is left of its request."""

    why: str
    address: str = ""


Read: TypeAlias = Exchange | Damaged


def read_foreign(path: Path) -> tuple[Read, ...]:
    """The exchanges of a file in their order; at least one.

    Raises CassetteError for a file that is missing, empty, too large, damaged as a whole, or no recording.
    """
    name = path.as_posix()
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CassetteError(f"{name!r} cannot be read: {error.strerror}") from None
    return parse_foreign(data, name)


def parse_foreign(data: bytes, source: str) -> tuple[Read, ...]:
    """The exchanges in the bytes of a file; ``source`` names it in errors. See read_foreign."""
    if len(data) > MAX_BYTES:
        raise CassetteError(f"{source!r} is larger than {MAX_BYTES} bytes")
    if not data.strip():
        raise CassetteError(f"{source!r} is empty")
    document = _load(data, source)
    if isinstance(document, list):
        raise CassetteError(f"{source!r} has the layout of vcrpy before 1.0: migrate it with vcrpy, then import it")
    interactions = document.get("interactions") if isinstance(document, dict) else None
    if not isinstance(interactions, list):
        raise CassetteError(f"{source!r} is no recording of vcrpy: it has no list of interactions")
    if not interactions:
        raise CassetteError(f"{source!r} holds no recordings")
    return tuple(_read(one, f"interaction {number}") for number, one in enumerate(interactions, 1))


def _load(data: bytes, source: str) -> Any:
    if data.lstrip()[:1] not in (b"{", b"["):
        return load_yaml(data, source)
    value = parse_json(data.decode("utf-8", "replace"))
    if isinstance(value, Refusal):
        raise CassetteError(f"{source!r} is damaged: {value.message}")
    return value


def _read(raw: Any, where: str) -> Read:
    try:
        return decode_exchange(_in_our_layout(raw), where)
    except CassetteError as error:
        return Damaged(str(error), _address(raw))


def _address(raw: Any) -> str:
    request = raw.get("request") if isinstance(raw, Mapping) else None
    fields = request if isinstance(request, Mapping) else {}
    return " ".join(str(fields[name]).partition("?")[0][:200] for name in ("method", "uri") if name in fields)


# ---------------------------------------------------------------- layouts


def _in_our_layout(raw: Any) -> dict[str, Any]:
    """The interaction as vcrpy writes it today, without what we do not know."""
    request = _part(raw, "request")
    response = _part(raw, "response")
    status = response.get("status", {"code": response.get("status_code"), "message": ""})
    if isinstance(status, Mapping):
        status = {key: status[key] for key in ("code", "message") if status.get(key) is not None}
    headers = response.get("headers")
    if "parsed_body" in response:  # such a body is decoded already, whatever its header says
        headers = _without_encoding(headers)
    return {
        "request": {
            "method": request.get("method"),
            "uri": request.get("uri"),
            "headers": request.get("headers"),
            "body": _text(request),
        },
        "response": {"status": status, "headers": headers, "body": {"string": _text(response)}},
        **_ours(raw.get("harness")),
    }


def _ours(extra: Any) -> dict[str, Any]:
    """The pieces of a body, in a file that is one of ours."""
    return {"harness": extra} if isinstance(extra, Mapping) and "chunks" in extra else {}


def _part(raw: Any, name: str) -> Mapping[str, Any]:
    part = raw.get(name) if isinstance(raw, Mapping) else None
    if not isinstance(part, Mapping):
        raise CassetteError(f"it has no {name}")
    return part


def _without_encoding(headers: Any) -> Any:
    if not isinstance(headers, Mapping):
        return headers
    return {name: value for name, value in headers.items() if str(name).lower() != "content-encoding"}


def _text(part: Mapping[str, Any]) -> Any:
    body = part.get("body", part.get("content"))
    if isinstance(body, Mapping):
        if isinstance(body.get("base64_string"), str):
            return _from_base64(body["base64_string"])
        body = body.get("string")
    if body is None and part.get("parsed_body") is not None:
        return _from_tree(part["parsed_body"])
    return body


def _from_tree(tree: Any) -> str:
    """The JSON of a body that was kept as a tree; its spelling is lost, its value is not."""
    _refuse_endless(tree)
    try:
        text = canonical_json(tree)
    except InvalidValueError as error:
        raise CassetteError(f"its parsed_body is no JSON: {error}") from None
    if len(text) > MAX_BYTES:
        raise CassetteError(f"its parsed_body is larger than {MAX_BYTES} bytes")
    return text


def _refuse_endless(tree: Any) -> None:
    """Aliases of YAML let a short file name more values than any memory holds, and a value contain itself."""
    waiting, n_values = [tree], 0
    while waiting:
        value = waiting.pop()
        n_values += 1
        if n_values > _MOST_VALUES:
            raise CassetteError(f"its parsed_body names more than {_MOST_VALUES} values")
        if isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)


def _from_base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise CassetteError(f"its base64_string is none: {error}") from None
