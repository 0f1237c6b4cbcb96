"""Other people's trajectories: readers by name, and one that looks what a file is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path, PurePath
from typing import Final

from harness.errors import ForeignFormatError, InvalidValueError, UnknownNameError
from harness.formats.agentdojo import is_agentdojo, read_agentdojo
from harness.formats.article import FieldMap, is_article, read_article
from harness.formats.atif import is_atif, read_atif
from harness.formats.chat import is_chat, read_chat
from harness.formats.dsh import is_dsh, read_dsh
from harness.formats.inspect_log import is_inspect, read_inspect, task_of
from harness.formats.items import is_responses, read_responses
from harness.formats.nemo import is_nemo, read_nemo
from harness.formats.otel import is_otel, read_otel
from harness.formats.swe import is_mini, is_swe, read_mini, read_swe
from harness.formats.values import Document, parse_document, read_document
from harness.formats.writing import WRITERS, Writer, Written, write_foreign
from harness.types.events import TornTail, Trajectory
from harness.types.jsontext import clean_text
from harness.types.messages import RunId


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: how it is recognised, and how it is read. ``about`` is one line for people.

    ``by_session``: what its runs are called is an id of a session or trace, another one for each run of the same work.
    """

    about: str
    recognises: Callable[[Document], bool]
    read: Callable[[Document], Iterator[Trajectory]]
    by_session: bool = False
    work_of: Callable[[Document], str | None] | None = None
    """What a file is called by the work in it, where its own name is another one for each run of that."""


FORMATS: Final[dict[str, Reader]] = {
    "dsh": Reader("session logs of DeepSeek Harness", is_dsh, read_dsh, by_session=True),
    "atif": Reader("ATIF documents of Harbor, v1.0 to v1.8", is_atif, read_atif, by_session=True),
    "agentdojo": Reader("runs of AgentDojo", is_agentdojo, read_agentdojo),
    "nemo": Reader("rollouts of NeMo Gym, in lines", is_nemo, read_nemo),
    "inspect": Reader("logs of Inspect, as JSON and as .eval archives", is_inspect, read_inspect, work_of=task_of),
    "swe": Reader("runs of SWE-agent (.traj)", is_swe, read_swe),
    "mini": Reader("runs of mini-swe-agent, 1.x and 2.x", is_mini, read_mini),
    "otel": Reader("GenAI spans of OpenTelemetry (OTLP in JSON)", is_otel, read_otel, by_session=True),
    "responses": Reader("items of OpenAI's Responses API, or a response", is_responses, read_responses),
    "chat": Reader("OpenAI chat messages, also in lines and in tau-bench's runs", is_chat, read_chat),
    "article": Reader(
        "messages with callId or toolCallId, input or arguments, output or content", is_article, read_article
    ),
}
"""Readers by name, in the order in which they are tried on a file."""
SUFFIXES: Final = (".json", ".jsonl", ".traj", ".eval")
"""Files of a folder that are looked at; one that is named by itself may be called anything."""


def format_of(document: Document) -> str | None:
    """The format that a file is in; None for none of ours."""
    return next((name for name, reader in FORMATS.items() if reader.recognises(document)), None)


def sniff(path: str | PathLike[str]) -> str | None:
    """The format of a file by what is in it; None for none of ours, and for what is no JSON."""
    try:
        return format_of(read_document(Path(path)))
    except ForeignFormatError:
        return None


def read_foreign(
    path: str | PathLike[str],
    format: str | None = None,  # noqa: A002
    *,
    by_file: bool = False,
) -> Iterator[Trajectory]:
    """The trajectories of a file, one by one; ``format`` None looks what it is.

    ``by_file``: runs that are called by an id of their session are called ``<file>/run-<number in it>`` instead, so
    that two runs of the same work go by one name; so are those of a file that is called by the time of its run
    (Inspect): ``<task>/<sample>``. Raises UnknownNameError for a format that does not exist,
    ForeignFormatError for a file that is in none, or not in the one asked for.
    """
    if format is not None and format not in FORMATS:
        raise UnknownNameError(f"there is no format {format!r}. Formats: {', '.join(sorted(FORMATS))}")
    document = read_document(Path(path))
    name = format or format_of(document)
    if name is None:
        known = "; ".join(f"{key} ({reader.about})" for key, reader in sorted(FORMATS.items()))
        raise ForeignFormatError(f"{document.source}: in none of the formats that are read: {known}")
    yield from _read(document, name, by_file=by_file)


def read_if_known(path: str | PathLike[str], *, by_file: bool = False) -> Iterator[Trajectory]:
    """As :func:`read_foreign`, for files that stand together in a folder: none of ours gives nothing.

    Raises ForeignFormatError for a file that cannot be read or is damaged: that is never passed over.
    """
    document = read_document(Path(path))
    name = format_of(document)
    if name is not None:
        yield from _read(document, name, by_file=by_file)


def _read(document: Document, name: str, *, by_file: bool) -> Iterator[Trajectory]:
    reader, stem = FORMATS[name], PurePath(document.source).stem
    work = reader.work_of(document) if by_file and reader.work_of is not None else None
    try:
        for number, found in enumerate(_with_tail(reader.read(document), document.torn), start=1):
            header = found.header
            ours = name == "atif" and not header.run_id.startswith(f"{stem}/")  # written by us, with the run's own name
            if by_file and reader.by_session and not ours:
                yield replace(found, header=replace(header, run_id=RunId(f"{stem}/run-{number}")))
            elif work is not None:
                inside = header.run_id.removeprefix(f"{stem}/")
                yield replace(found, header=replace(header, run_id=RunId(clean_text(f"{work}/{inside}"))))
            else:
                yield found
    except InvalidValueError as error:
        raise ForeignFormatError(f"{document.source}: {error}") from error


def _with_tail(found: Iterator[Trajectory], torn: TornTail | None) -> Iterator[Trajectory]:
    """The last of a file says what was torn off the file's end, whatever its reader does."""
    if torn is None:
        yield from found
        return
    last: Trajectory | None = None
    try:
        for trajectory in found:
            if last is not None:
                yield replace(last, torn=None)
            last = trajectory
    except ForeignFormatError:
        if last is not None:
            yield last
        raise
    if last is not None:
        yield replace(last, torn=torn)


__all__ = [
    "FORMATS",
    "SUFFIXES",
    "WRITERS",
    "Document",
    "FieldMap",
    "Reader",
    "Writer",
    "Written",
    "format_of",
    "parse_document",
    "read_article",
    "read_foreign",
    "read_if_known",
    "sniff",
    "write_foreign",
]
