"""Scenarios looked for in all of a folder, wherever they lie and whatever names them: is there any?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, NoReturn

from harness.documents import MAX_BYTES, load_document
from harness.errors import ScenarioError
from harness.scenarios.collecting import MARK, PASSED_OVER
from harness.scenarios.loading import SUFFIXES

_FORMAT: Final = "harness-scenario/"


def scenarios_anywhere(folder: str | os.PathLike[str]) -> Iterator[str]:
    """YAML files in a folder that say anywhere that they are scenarios, by name; in hidden folders, too.

    Links to folders are not followed. Raises ScenarioError for what cannot be read.
    """
    for place, folders, names in os.walk(folder, onerror=_unreadable):
        folders[:] = sorted(name for name in folders if name != ".git" and name not in PASSED_OVER)
        for name in sorted(names):
            file = os.path.join(place, name)
            if name.endswith(SUFFIXES) and os.path.isfile(file) and _says_so(file):
                yield file


def _says_so(file: str) -> bool:
    try:
        with open(file, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        _unreadable(error)
    if _FORMAT.encode("ascii") not in data:
        return False
    try:
        value = load_document(data, file).value
    except ScenarioError:  # a scenario that does not load is one nevertheless
        return MARK.search(data) is not None
    return isinstance(value, dict) and str(value.get("format")).startswith(_FORMAT)


def _unreadable(error: OSError) -> NoReturn:
    raise ScenarioError(f"cannot be read ({error.strerror})", file=str(error.filename)) from error
