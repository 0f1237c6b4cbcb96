"""The published JSON Schema of evaluations, generated from the fields that the loader uses."""

from __future__ import annotations

from typing import Any, Final

from harness.scenarios.evaluation_fields import EvaluationFields
from harness.scenarios.schema import schema_of

EVALUATION_SCHEMA_FILE: Final = "evaluation.schema.json"
"""The golden copy in this package; editors may be pointed at it."""


def evaluation_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of ``format: harness-evaluation/1``.

    It refuses all that the loader refuses by shape; what it cannot say (matchers, names of arms in the gate, rows of
    templates, histories) the loader still checks.
    """
    return schema_of(EvaluationFields)
