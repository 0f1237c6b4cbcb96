"""Cassettes of ours out of other people's recordings: what replays is taken, the rest is told with its reason."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from harness.cassettes.exchange import (
    About,
    Cassette,
    Exchange,
    Headers,
    RecordedRequest,
    RecordedResponse,
    RecordingInfo,
    Source,
)
from harness.cassettes.files import dump_cassette
from harness.cassettes.foreign import SUFFIXES, parse_foreign
from harness.cassettes.keep import SERVER_NAME, kept_headers, kept_uri, secrets_in
from harness.cassettes.record import REQUEST_HEADERS, RESPONSE_HEADERS
from harness.cassettes.replace import replace_file
from harness.cassettes.sorting import Judge, Refused, Sorted, sort_exchange
from harness.errors import CassetteError, NothingToRunError, UsageError
from harness.redaction import redact_secrets
from harness.types.names import portable_path

_SUFFIX: Final = ".yaml"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to import: where it lies, what it is called in messages and headers, and where its cassette goes."""

    path: Path
    name: str
    target: Path


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one file. ``target`` is None where nothing of it replays; ``error`` where it is unreadable."""

    name: str
    exchanges: tuple[Sorted, ...] = ()
    target: Path | None = None
    error: str = ""


def find_recordings(paths: Sequence[Path], out: Path) -> tuple[Found, ...]:
    """The files to import, sorted: those named, and all ``.yaml``, ``.yml`` and ``.json`` below a folder.

    A file's place below the folder that was named is kept below ``out``. Raises UsageError for a path that is
    missing, for two files that would become one, and where a cassette is there already.
    """
    found = [one for path in paths for one in _below(path, out)]
    if not found:
        raise NothingToRunError(f"nothing to import: no {', '.join(SUFFIXES)} below {', '.join(map(str, paths))}")
    taken: dict[Path, Found] = {}
    for one in found:
        other = taken.setdefault(one.target, one)
        if other is not one:
            raise UsageError(_both(other, one))
        if one.target.exists() or one.target.is_symlink():
            raise UsageError(f"{one.target} is there already, and nothing is overwritten: name another folder with -o")
    return tuple(found)


def _both(one: Found, other: Found) -> str:
    if one.path.resolve() == other.path.resolve():
        return f"{other.path} is named twice: name it once"
    return f"{one.path} and {other.path} would both become {other.target}: import them into two folders"


def _below(path: Path, out: Path) -> list[Found]:
    if path.is_file():
        return [_found(path, path.name, path.name, out)]
    if not path.is_dir():
        raise UsageError(f"{path}: no such file or folder")
    files = sorted(one for one in path.rglob("*") if one.suffix in SUFFIXES and one.is_file())
    top = path.resolve().name
    return [
        _found(one, one.relative_to(path).as_posix(), f"{top}/{one.relative_to(path).as_posix()}", out) for one in files
    ]


def _found(path: Path, place: str, name: str, out: Path) -> Found:
    return Found(path, name, out / (portable_path(place.removesuffix(path.suffix)) + _SUFFIX))


# ---------------------------------------------------------------- one file


def import_file(found: Found, judge: Judge, *, version: str, secrets: tuple[str, ...] = ()) -> tuple[Imported, bytes]:
    """The verdicts of a file's exchanges, and the bytes of its cassette (empty where nothing replays)."""
    name = redact_secrets(found.name, secrets)
    try:
        data = found.path.read_bytes()
        read = parse_foreign(data, found.name)
    except OSError as error:
        return Imported(name, error=f"{name!r} cannot be read: {error.strerror}"), b""
    except CassetteError as error:
        return Imported(name, error=redact_secrets(str(error), secrets)), b""
    ordered = tuple(sort_exchange(number, one, judge, secrets) for number, one in enumerate(read, 1))
    if not any(one.replays for one in ordered):
        return Imported(name, ordered), b""
    cassette = _cassette(ordered, Source(found.name, hashlib.sha256(data).hexdigest(), _taken(ordered)), version)
    written = dump_cassette(cassette)
    leak = next(secrets_in(cassette, written, secrets), None)
    if leak is not None:  # in the name of the file, say: nothing of it is taken
        why = f"a secret would be written: {leak[0]} ({'; '.join(leak[1])}). Take it out, also out of the file's name"
        return Imported(name, tuple(_leaking(one) for one in ordered), error=f"{name!r}: {why}"), b""
    return Imported(name, ordered, found.target), written


def _leaking(one: Sorted) -> Sorted:
    why = "the cassette of its file would hold a secret"
    return Sorted(one.number, Refused.SECRET, False, why) if one.replays else one


def write_all(files: Sequence[tuple[Path, bytes]]) -> None:
    """Write new files, all of them or none. Raises RecordingFailed when the disk refuses."""
    done: list[Path] = []
    try:
        for path, data in files:
            replace_file(path, data)
            done.append(path)
    except BaseException:
        for path in done:
            path.unlink(missing_ok=True)
        raise


def _taken(ordered: Sequence[Sorted]) -> tuple[int, ...]:
    return tuple(one.number for one in ordered if one.replays)


def _cassette(ordered: Sequence[Sorted], source: Source, version: str) -> Cassette:
    whole = [one for one in ordered if one.exchange is not None and one.answer is not None]
    exchanges = tuple(_kept(one.exchange) for one in whole if one.exchange is not None)
    answers = [one.answer for one in whole if one.answer is not None]
    servers = (_server(one.exchange.response.headers) for one in whole if one.exchange is not None)
    hosts = (httpx2.URL(one.request.uri).host for one in exchanges)
    info = RecordingInfo(scenario="", digest="", recorded_at="", harness_version=version)
    return Cassette(
        exchanges,
        About(
            info,
            model=_each_once(one.model or "" for one in answers),
            fingerprint=_each_once(one.fingerprint or "" for one in answers),
            server=_each_once(servers),
            host=_each_once(hosts),
            imported=source,
        ),
    )


def _kept(one: Exchange) -> Exchange:
    request, response = one.request, one.response
    return Exchange(
        RecordedRequest(
            request.method,
            kept_uri(httpx2.URL(request.uri)),
            kept_headers(httpx2.Headers(list(request.headers)), REQUEST_HEADERS),
            request.body,
        ),
        RecordedResponse(
            response.status,
            response.reason,
            kept_headers(httpx2.Headers(list(response.headers)), RESPONSE_HEADERS),
            response.body,
            response.chunks,
        ),
    )


def _server(headers: Headers) -> str:
    name = next((text for key, text in headers if key == "server"), "")
    return name if SERVER_NAME.fullmatch(name) else ""


def _each_once(texts: Iterable[str]) -> str:
    """Several in one file are all named, in the order in which they answered."""
    return ", ".join(dict.fromkeys(text for text in texts if text))
