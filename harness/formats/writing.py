"""Writers by name: a trajectory as a document of another product's format, and what that cannot carry."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from harness.errors import ForeignFormatError, UnknownNameError
from harness.formats.atif_write import atif_document
from harness.formats.chat_write import chat_document
from harness.formats.losses import losses_of
from harness.types.events import Trajectory


@dataclass(frozen=True, slots=True)
class Writer:
    """A format that is written. ``holds`` names the field that may not be empty."""

    about: str
    document: Callable[[Trajectory], dict[str, Any]]
    holds: str


WRITERS: Final[dict[str, Writer]] = {
    "chat": Writer("OpenAI chat messages", chat_document, "messages"),
    "atif": Writer("ATIF v1.8", atif_document, "steps"),
}
"""Writers by name."""


@dataclass(frozen=True, slots=True)
class Written:
    """A document as text, with what it could not carry, a line each."""

    text: str
    losses: tuple[str, ...]


def write_foreign(trajectory: Trajectory, form: str) -> Written:
    """The root agent's conversation in a format, indented, with a line feed at its end.

    Raises UnknownNameError for a format that is not written, ForeignFormatError for a trajectory without a message.
    """
    if form not in WRITERS:
        raise UnknownNameError(f"no format {form!r} is written. Written are: {', '.join(sorted(WRITERS))}")
    writer = WRITERS[form]
    document = writer.document(trajectory)
    if not document[writer.holds]:
        name = trajectory.source or trajectory.header.run_id
        raise ForeignFormatError(f"{name}: nothing to write as {form}: the root agent has no message")
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)
    return Written(text + "\n", losses_of(trajectory, form))
