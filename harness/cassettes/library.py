"""A folder of cassettes: what lies there, what of it is in use, what is wrong with it."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from harness.cassettes.exchange import EVALUATIONS, About, Cassette
from harness.cassettes.files import parse_cassette
from harness.cassettes.index import asked
from harness.cassettes.keep import secrets_in
from harness.cassettes.paths import SUFFIX
from harness.errors import CassetteError
from harness.redaction import find_secrets, redact_secrets

_TRIAL: Final = re.compile(r"\.(?:[2-9]|[1-9]\d+)$")
_NEVER_KEPT: Final = frozenset(
    {
        "authorization", "proxy-authorization", "cookie", "set-cookie", "api-key", "x-api-key", "x-goog-api-key",
        "openai-organization", "openai-project",
    }
)  # fmt: skip
"""Headers that name an account or open one; ours never hold them, a file of another recorder may."""


class Trouble(StrEnum):
    """What an audit finds."""

    DAMAGED = "damaged"
    SECRET = "secret"
    MISPLACED = "misplaced"
    ORPHAN = "orphan"
    UNUSED = "unused"
    DUPLICATE = "duplicate"
    NO_HEADER = "no-header"


@dataclass(frozen=True, slots=True)
class Held:
    """A file of the folder. ``cassette`` is None where it is damaged, and ``error`` says how.

    ``user`` is the scenario or the evaluation that replays it: None for neither, and "" where no scenarios are known.
    """

    path: Path
    data: bytes
    cassette: Cassette | None
    error: str
    user: str | None

    @property
    def about(self) -> About | None:
        """Its header, where it has one of ours."""
        return self.cassette.about if self.cassette else None


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with one file."""

    trouble: Trouble
    path: Path
    what: str


def read_folder(root: Path, users: Mapping[Path, str] | None) -> tuple[Held, ...]:
    """All ``.yaml`` files below ``root``, sorted by path: what else lies there is none of ours.

    ``users`` are the scenarios by the path of their cassette (of the first trial); None: not known.
    Raises CassetteError where there is no such folder, or nothing in it.
    """
    if not root.is_dir():
        raise CassetteError(f"{root}: no folder of cassettes. Name another with --cassettes, or record first")
    files = sorted(one for one in root.rglob("*") if one.suffix == SUFFIX and one.is_file())
    if not files:
        raise CassetteError(f"{root} holds no cassettes: record first (harness record)")
    return tuple(_held(path, users) for path in files)


def _held(path: Path, users: Mapping[Path, str] | None) -> Held:
    user = "" if users is None else users.get(_of_first_trial(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        return Held(path, b"", None, f"it cannot be read: {error.strerror}", user)
    try:
        cassette = parse_cassette(data, path.as_posix())
    except CassetteError as error:
        return Held(path, data, None, str(error), user)
    recorded = cassette.about.info.scenario if cassette.about is not None else ""
    if user is None and recorded.startswith(EVALUATIONS):
        user = recorded
    return Held(path, data, cassette, "", user)


def _of_first_trial(path: Path) -> Path:
    return path.with_name(_TRIAL.sub("", path.stem) + path.suffix)


# ---------------------------------------------------------------- audit


def audit(held: Sequence[Held], scenarios: Collection[str] | None, secrets: Collection[str]) -> tuple[Finding, ...]:
    """What is wrong, by file; () for a folder in order. ``scenarios`` are the ids that exist; None: not known."""
    twins = _twins(held)
    return tuple(
        Finding(trouble, one.path, what)
        for one in held
        for trouble, what in (*_in_itself(one, secrets), *_of_its_place(one, scenarios), *twins.get(one.path, ()))
    )


def _in_itself(one: Held, secrets: Collection[str]) -> Iterator[tuple[Trouble, str]]:
    if one.cassette is None:
        yield Trouble.DAMAGED, redact_secrets(one.error, secrets)
        found = find_secrets(one.data, secrets)
        if found:
            yield Trouble.SECRET, "; ".join(found)
        return
    for where, kinds in secrets_in(one.cassette, one.data, secrets):
        yield Trouble.SECRET, f"{where}: {'; '.join(kinds)}"
    for number, exchange in enumerate(one.cassette.exchanges, 1):
        for side, headers in (("request", exchange.request.headers), ("response", exchange.response.headers)):
            for name in dict.fromkeys(name for name, _ in headers if name in _NEVER_KEPT):
                yield Trouble.SECRET, f"{side} {number}: header {name!r} must not be kept"
    if one.about is None:
        yield (
            Trouble.NO_HEADER,
            "it does not say which model and server answered: record it again, or import it (harness cassettes import)",
        )


def _of_its_place(one: Held, scenarios: Collection[str] | None) -> Iterator[tuple[Trouble, str]]:
    if scenarios is None:
        return
    recorded = one.about.info.scenario if one.about is not None else ""
    if one.user is None and recorded and recorded not in scenarios:
        yield Trouble.ORPHAN, f"scenario {recorded!r} is no more"
    elif one.user is None and one.cassette is not None:
        yield Trouble.UNUSED, "no scenario replays it" + (f"; {recorded!r} looks elsewhere" if recorded else "")
    elif one.user is not None and recorded and recorded != one.user:
        yield Trouble.MISPLACED, f"scenario {one.user!r} replays it, and it was recorded for {recorded!r}"


def _twins(held: Sequence[Held]) -> dict[Path, list[tuple[Trouble, str]]]:
    """Files with the same requests and answers, the one in use left out; trials of one scenario may be the same."""
    same: dict[str, list[Held]] = defaultdict(list)
    for one in held:
        if one.cassette is not None:
            same[_content(one.cassette)].append(one)
    found: dict[Path, list[tuple[Trouble, str]]] = {}
    for first, *others in (sorted(many, key=lambda one: one.user is None) for many in same.values()):
        for other in others:
            if _of_first_trial(other.path) != _of_first_trial(first.path):
                found[other.path] = [(Trouble.DUPLICATE, f"it holds the same as {first.path}")]
    return found


def _content(cassette: Cassette) -> str:
    ignore = cassette.about.info.ignore if cassette.about is not None else ()
    digest = hashlib.sha256()
    for one in cassette.exchanges:
        request = asked(one.request.method, one.request.uri, one.request.body, ignore)
        for piece in (*(text.encode() for text in request.key), one.response.body):
            digest.update(len(piece).to_bytes(8, "big") + piece)
    return digest.hexdigest()


# ---------------------------------------------------------------- prune


def unused(held: Sequence[Held]) -> tuple[Held, ...]:
    """What no scenario replays, as far as it is readable: what is damaged is for a person to look at."""
    return tuple(one for one in held if one.user is None and one.cassette is not None)


def remove(held: Sequence[Held], root: Path) -> None:
    """Delete these files, and what folders below ``root`` are empty then."""
    for one in held:
        one.path.unlink()
        folder = one.path.parent
        while folder != root and root in folder.parents and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent
