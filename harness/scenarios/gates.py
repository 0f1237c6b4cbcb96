"""Gates: a document to a value, and the published JSON Schema. A pure function of the text."""

from __future__ import annotations

from typing import Any, Final

from pydantic import ValidationError

from harness.documents import load_document, shortened
from harness.errors import ConfigurationError, ScenarioError
from harness.scenarios.complaints import scenario_error
from harness.scenarios.gate_fields import GateFields
from harness.scenarios.schema import schema_of
from harness.types.gates import GATE_FORMAT, Gate

GATE_SCHEMA_FILE: Final = "gate.schema.json"
"""The golden copy in this package; editors may be pointed at it."""


def read_gate(text: str | bytes, name: str) -> Gate:
    """The gate in a text; ``name`` is what messages call it.

    Raises ConfigurationError (file, line, field, what to do).
    """
    try:
        return _read(text, name)
    except ScenarioError as error:
        raise ConfigurationError(f"the gate cannot be read: {error}") from None


def _read(text: str | bytes, name: str) -> Gate:
    document = load_document(text, name)
    if not isinstance(document.value, dict) or "format" not in document.value:
        raise ScenarioError(f"is no gate; write 'format: {GATE_FORMAT}' first", file=name, line=1)
    if document.value["format"] != GATE_FORMAT:
        shown = shortened(repr(document.value["format"]))
        line = document.line_of(["format"])
        raise ScenarioError(f"must be {GATE_FORMAT!r}, is {shown}", file=name, line=line, field="format")
    try:
        return GateFields.model_validate(document.value).made()
    except ValidationError as error:
        raise scenario_error(error, document.value, file=name, document=document) from None


def gate_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``format: harness-gate/1``.

    It refuses all that the reader refuses by shape; what it cannot say (days that no calendar has, a margin of 0) the
    reader still checks.
    """
    return schema_of(GateFields)
