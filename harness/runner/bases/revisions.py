"""The state of the code in ``run.json``: written there when runs begin, read again when they are compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from harness.errors import TrajectoryFormatError
from harness.folds import to_plain
from harness.runner.bases.repository import revision_of
from harness.store import read_info
from harness.types.review import Revision

FIELD: Final = "revision"


def revision_info(folder: Path) -> dict[str, Any]:
    """The field of ``run.json`` that says which code ran: ``{"revision": {"commit", "ref", "dirty"}}``.

    Nothing outside of a repository.
    """
    found = revision_of(folder)
    return {} if found.commit is None else {FIELD: to_plain(found)}


def recorded_revision(folder: Path) -> Revision:
    """What the ``run.json`` of a folder says of the code; nothing is known where there is none, or it does not say."""
    if not (folder / "run.json").is_file():
        return Revision()
    try:
        return said_revision(read_info(folder))
    except TrajectoryFormatError:
        return Revision()  # whoever reads the runs of this folder says what is wrong with it


def said_revision(info: Mapping[str, Any]) -> Revision:
    """What a ``run.json`` that was read says of the code."""
    said = info.get(FIELD)
    if not isinstance(said, dict) or not isinstance(said.get("commit"), str):
        return Revision()
    ref = said.get("ref")
    return Revision(said["commit"], ref if isinstance(ref, str) else "", said.get("dirty") is True)
