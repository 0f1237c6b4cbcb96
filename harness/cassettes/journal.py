"""A recording that grows while it is made: one line an exchange, so that nothing that was paid for is lost.

A cassette is written whole (its last line says that it is). What an evaluation asks comes over hours, in any order,
and its process may die; so each exchange goes into a journal beside the cassette first, in one write behind which it
is safe, and the journal is folded into the cassette at the end, or at the beginning of the next run.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from jiter import from_json

from harness.cassettes.decode import decode_exchange
from harness.cassettes.exchange import About, Cassette, Exchange, RecordingInfo
from harness.cassettes.files import dump_cassette, interaction_of
from harness.cassettes.keep import refuse_secrets, texts_of
from harness.cassettes.refresh import older_recording
from harness.cassettes.replace import replace_file
from harness.errors import CassetteError, RecordingFailed

SUFFIX: Final = ".journal"
_BYTES: Final = "base64"


def journal_path(cassette: Path) -> Path:
    """Where the journal of a cassette lies: beside it."""
    return cassette.with_name(cassette.name + SUFFIX)


class Journal:
    """Takes exchanges one by one; each is in the file when ``append`` returns. Raises RecordingFailed."""

    def __init__(self, cassette: Path, secrets: Collection[str]) -> None:
        self.path = journal_path(cassette)
        self._secrets = tuple(secrets)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._descriptor = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise RecordingFailed(f"{self.path.as_posix()}: cannot be opened: {error.strerror}") from error

    def append(self, exchange: Exchange) -> None:
        """Keep one exchange. Raises SecretFoundError where it holds a secret; nothing of it is written then."""
        line = json.dumps(interaction_of(exchange), default=_packed, separators=(",", ":")).encode("ascii") + b"\n"
        refuse_secrets(Cassette((exchange,)), line, self._secrets, file=self.path.as_posix())
        try:
            while line:
                line = line[os.write(self._descriptor, line) :]
        except OSError as error:
            raise RecordingFailed(f"{self.path.as_posix()}: cannot record: {error.strerror}") from error

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _packed(value: object) -> dict[str, str]:
    assert isinstance(value, bytes)  # nothing else in an exchange is no JSON
    return {_BYTES: base64.b64encode(value).decode("ascii")}


def read_journal(cassette: Path) -> tuple[Exchange, ...]:
    """What a journal holds; () where there is none. A torn last line was never acknowledged.

    Raises CassetteError for damage before it.
    """
    path = journal_path(cassette)
    try:
        *lines, _ = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise CassetteError(f"{path.as_posix()!r} cannot be read: {error.strerror}") from error
    return tuple(_exchange(line, f"{path.as_posix()!r}, line {number}") for number, line in enumerate(lines, 1))


def cut_journal(cassette: Path) -> None:
    """Cut a torn last line away, so that what comes next begins a line of its own."""
    path = journal_path(cassette)
    try:
        data = path.read_bytes()
        if not data.endswith(b"\n"):
            os.truncate(path, data.rfind(b"\n") + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise RecordingFailed(f"{path.as_posix()}: cannot be cut: {error.strerror}") from error


def _exchange(line: bytes, where: str) -> Exchange:
    try:
        value = from_json(line, catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError as error:
        raise CassetteError(f"{where} is damaged: {error}. Remove that line to go on without it.") from None
    return decode_exchange(_unpacked(value), where)


def _unpacked(value: Any) -> Any:
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return base64.b64decode(value[_BYTES])
        return {key: _unpacked(item) for key, item in value.items()}
    return value


# ---------------------------------------------------------------- into the cassette


def fold_journal(
    path: Path, info: RecordingInfo, *, order: Sequence[str], secrets: Collection[str], whole: bool = False
) -> Cassette | None:
    """Fold what the journal holds into the cassette, whose exchanges stand in the ``order`` of their labels.

    The newest exchange of a label takes the place of those before it; with ``whole`` labels outside of ``order`` are
    forgotten. The journal is removed once the cassette is in its place. None: there was no journal. Raises
    CassetteError for a damaged journal, SecretFoundError, RecordingFailed; both files then stay as they were.
    """
    new = read_journal(path)
    if not new:
        journal_path(path).unlink(missing_ok=True)
        return None
    older = older_recording(path)
    fresh = {one.label: one for one in new}
    kept = [one for one in (older.exchanges if older is not None else ()) if one.label not in fresh]
    place = {label: number for number, label in enumerate(order)}
    found = [one for one in (*kept, *fresh.values()) if not whole or one.label in place]
    exchanges = tuple(sorted(found, key=lambda one: place.get(one.label, len(place))))
    cassette = Cassette(exchanges, about_of(info, exchanges))
    data = dump_cassette(cassette)
    refuse_secrets(cassette, data, secrets, file=path.as_posix())
    replace_file(path, data)
    journal_path(path).unlink(missing_ok=True)
    return cassette


def about_of(info: RecordingInfo, exchanges: Sequence[Exchange]) -> About:
    """The metadata of these exchanges: which model and server answered, as far as they say so themselves.

    The date is that of the first of them that has one.
    """
    texts = [texts_of(one.response.body) for one in exchanges[:1]]
    dates = sorted(one.at for one in exchanges if one.at)
    return About(
        replace(info, recorded_at=dates[0]) if dates else info,
        model=next((one["model"] for one in texts if "model" in one), ""),
        fingerprint=next((one["system_fingerprint"] for one in texts if "system_fingerprint" in one), ""),
        server=next(_servers(exchanges), ""),
        host=next((_host(one.request.uri) for one in exchanges), ""),
    )


def _servers(exchanges: Iterable[Exchange]) -> Iterator[str]:
    return (text for one in exchanges for name, text in one.response.headers if name == "server")


def _host(uri: str) -> str:
    return uri.partition("://")[2].partition("/")[0]
