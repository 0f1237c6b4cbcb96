"""Loading: one document to one scenario value. A pure function: no code is imported, nothing runs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final

from pydantic import ValidationError

from harness.documents import Document, load_document, read_document
from harness.errors import InvalidValueError, ScenarioError
from harness.scenarios.complaints import dotted, scenario_error
from harness.scenarios.document import to_document
from harness.scenarios.fields import ScenarioFields
from harness.scenarios.roots import id_of, path_text
from harness.types.jsontext import canonical_json, clean_text
from harness.types.scenario import SCENARIO_FORMAT, Scenario

SUFFIXES: Final = (".yaml", ".yml")
UNNAMED: Final = "scenario"
"""The id of a scenario in Python form that was given none."""


def load_scenario(path: str | os.PathLike[str]) -> Scenario:
    """The scenario in a YAML file. Raises ScenarioError (file, line, field, what to do)."""
    name = os.fspath(path)
    return made_scenario(read_document(name), id_of(name))


def parse_scenario(text: str | bytes, file: str, id: str | None = None) -> Scenario:  # noqa: A002 - the field's name
    """The scenario in a text; without an ``id`` of its own it gets ``id``, else the file's stem."""
    return made_scenario(load_document(text, file), id or PurePath(file).stem or UNNAMED)


def made_scenario(document: Document, identity: str) -> Scenario:
    """The scenario of a document. Raises ScenarioError."""
    if not isinstance(document.value, dict):
        raise ScenarioError(f"is no scenario; it begins with 'format: {SCENARIO_FORMAT}'", file=document.file, line=1)
    if "format" not in document.value:
        raise ScenarioError(f"is no scenario; write 'format: {SCENARIO_FORMAT}' first", file=document.file, line=1)
    if str(document.value["format"]).startswith("harness-evaluation/"):
        raise ScenarioError(
            f"is an evaluation; run it with: harness evaluate {document.file}", file=document.file, line=1
        )
    try:
        fields = ScenarioFields.model_validate(document.value)
    except ValidationError as error:
        raise scenario_error(error, document.value, file=document.file, document=document) from None
    return finished(fields.made(identity), source=document.file, line=1)


def refusal(value: Scenario, path: tuple[str | int, ...], why: str) -> ScenarioError:
    """What is wrong with a field of a loaded scenario, with its line where its file is still there."""
    line = None
    if value.source.endswith(SUFFIXES):
        with suppress(ScenarioError):  # moved or changed since it was loaded
            line = read_document(value.source).line_of(path)
    place = value.source or f"scenario {value.id!r}"
    return ScenarioError(why, file=place, line=line, field=dotted(path))


def scenario(**fields: Any) -> Scenario:
    """A scenario in Python: the fields of the YAML form, with the same names and shapes.

    ``format`` may be left out. Tuples count as lists, sets as sorted lists. Equal fields give the
    value that the YAML form gives, but for ``source`` and ``line``. Raises ScenarioError.
    """
    try:
        value = plain({"format": SCENARIO_FORMAT, **fields})
        canonical_json(value)
        return finished(ScenarioFields.model_validate(value).made(UNNAMED))
    except InvalidValueError as error:
        raise ScenarioError(f"scenario(): {error}") from None
    except ValidationError as error:
        raise scenario_error(error, value, file="scenario()") from None


def finished(value: Scenario, *, source: str = "", line: int | None = None) -> Scenario:
    """The scenario with its digest and where it came from."""
    return replace(value, digest=digest_of(value), source=path_text(source), line=line)


def digest_of(value: Scenario) -> str:
    """The sha256 of the canonical JSON form without title, covers and source."""
    form = {key: part for key, part in to_document(value).items() if key not in ("title", "covers")}
    return hashlib.sha256(canonical_json(form).encode()).hexdigest()


def plain(value: Any) -> Any:
    """Tuples as lists, sets as sorted lists, enums as their words, text without half pairs."""
    if isinstance(value, str):
        return clean_text(str(value))
    if isinstance(value, Mapping):
        return {clean_text(key) if isinstance(key, str) else key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(part) for part in value), key=canonical_json)
    return value
