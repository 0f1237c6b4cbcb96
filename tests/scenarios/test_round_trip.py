"""Laws: writing and reading give the value back; the schema takes what the loader takes."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given

from harness import scenarios
from harness.documents import dump_yaml, load_document
from harness.errors import ScenarioError
from harness.scenarios import SCHEMA_FILE, parse_scenario, scenario, scenario_schema, to_document
from harness.types.jsontext import canonical_json
from harness.types.scenario import Scenario
from tests.scenarios.strategies import DOCUMENTS
from tests.scenarios.test_loading import BAD, HEAD

GOLDEN = Path(scenarios.__file__).parent / SCHEMA_FILE
BEYOND_SHAPE = {
    "two-faults-of-one-request",
    "bad-regex", "otherwise-first", "finish-of-a-hang", "code-without-raises", "unknown-matcher", "bad-matcher",
    "fault-out-of-place", "fault-in-the-next-tick", "fault-at-a-tick", "throw-at-a-tick", "fault-of-another-door", "main-is-no-other-role", "history-of-failures", "rule-behind-the-last", "rule-with-a-bad-matcher",
    "fallback-to-itself", "base-above-cap", "base-above-the-default-cap", "agent-without-a-step", "evidence-of-no-argument",
}  # fmt: skip
"""What only the loader refuses: rules between fields, and what no schema can say."""


def loaded(document: dict[str, Any]) -> Scenario:
    return replace(parse_scenario(dump_yaml(document), "x.yaml"), source="", line=None)


@cache
def validator() -> Any:
    return jsonschema_rs.validator_for(scenario_schema())


@given(DOCUMENTS)
def test_writing_a_scenario_and_reading_it_gives_it_back(document: dict[str, Any]) -> None:
    value = loaded(document)
    written = to_document(value)
    again = loaded(written)
    assert again == value
    assert to_document(again) == written


@given(DOCUMENTS)
def test_the_python_form_is_equal_to_the_document(document: dict[str, Any]) -> None:
    named = {"id": "x", **document}
    assert scenario(**named) == loaded(named)


@given(DOCUMENTS)
def test_the_schema_takes_what_the_loader_takes_and_writes(document: dict[str, Any]) -> None:
    assert [error.message for error in validator().iter_errors(document)] == []
    assert [error.message for error in validator().iter_errors(to_document(loaded(document)))] == []


@given(DOCUMENTS)
def test_the_document_is_plain_json_and_reads_back_as_written(document: dict[str, Any]) -> None:
    written = to_document(loaded(document))
    assert canonical_json(load_document(dump_yaml(written), "x").value) == canonical_json(written)


@pytest.mark.parametrize("body", [pytest.param(row.values[0], id=row.id) for row in BAD if row.id not in BEYOND_SHAPE])
def test_the_schema_refuses_what_the_loader_refuses_by_shape(body: str) -> None:
    document = load_document(HEAD + body, "x").value
    assert not validator().is_valid(document)


def test_the_published_schema_is_the_generated_one() -> None:
    """After a change of the fields: write ``scenario_schema()`` to the file, and look at the difference."""
    assert json.loads(GOLDEN.read_text("utf-8")) == scenario_schema()


def test_a_renamed_field_is_seen_by_all_three() -> None:
    document = {"format": "harness-scenario/1", "assignment": "t"}
    with pytest.raises(ScenarioError):
        loaded(document)
    with pytest.raises(ScenarioError):
        scenario(assignment="t")
    assert not validator().is_valid(document)
