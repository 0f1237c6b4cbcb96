"""One JSON document holds a whole review, under a schema that is generated from the same records."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given

from harness.folds import EXIT_CODES
from harness.folds.plain import from_plain
from harness.report import comparison_document, comparison_json
from harness.store import comparison_schema
from harness.types.codes import Outcome
from harness.types.review import Review
from tests.golden.write import COMPARISON, SHIPPED_COMPARISON_SCHEMA
from tests.report.reviews import GATED, UNGATED
from tests.report.test_every_report import SCHEMA
from tests.strategies import values_of


def test_the_shipped_schema_is_the_generated_one() -> None:
    assert json.loads(SHIPPED_COMPARISON_SCHEMA.read_bytes()) == comparison_schema(), "python -m tests.golden.write"


def test_the_golden_document_is_what_is_written_now_and_says_its_format_first() -> None:
    assert COMPARISON.read_text("utf-8") == comparison_json(GATED) + "\n"
    assert COMPARISON.read_text("utf-8").startswith('{"format":"harness-comparison/1",')


@pytest.mark.parametrize("review", [GATED, UNGATED], ids=["gated", "ungated"])
def test_a_review_comes_back_from_its_document(review: Review) -> None:
    document = json.loads(comparison_json(review))
    assert document == comparison_document(review)
    fields = {key: value for key, value in document.items() if key not in ("format", "exitCode")}
    assert from_plain(Review, fields) == review


@given(values_of(Review))
def test_any_review_keeps_to_the_schema_with_whole_numbers_exact(review: Review) -> None:
    text = comparison_json(review)
    document = json.loads(text)
    assert list(SCHEMA.iter_errors(document)) == []
    assert document["exitCode"] == EXIT_CODES[review.outcome]
    candidates = [row.candidate for row in review.comparison.scenarios if row.candidate]
    told = [row["candidate"] for row in document["comparison"]["scenarios"] if row.get("candidate")]
    assert [run["nSteps"] for run in told] == [run.n_steps for run in candidates]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"format": "harness-comparison/2"}, id="another-format"),
        pytest.param({"exitCode": 2}, id="an-exit-code-of-no-verdict"),
        pytest.param({"colour": "blue"}, id="an-unknown-field"),
        pytest.param({"verdict": {"outcome": "FINE", "text": ""}}, id="an-unknown-outcome"),
        pytest.param({"mergeBase": 7}, id="a-number-for-text"),
        pytest.param({"comparison": None}, id="nothing-compared"),
    ],
)
def test_the_schema_refuses_what_is_no_review(change: dict[str, Any]) -> None:
    assert SCHEMA.is_valid(comparison_document(GATED))
    assert not SCHEMA.is_valid({**comparison_document(GATED), **change})


@pytest.mark.parametrize("outcome", [one for one in Outcome if one is not Outcome.NOT_APPLICABLE])
def test_the_document_says_the_exit_code_of_the_verdict(outcome: Outcome) -> None:
    review = dataclasses.replace(GATED, verdict=dataclasses.replace(GATED.verdict, outcome=outcome))
    assert comparison_document(review)["exitCode"] == EXIT_CODES[outcome]
    assert SCHEMA.is_valid(comparison_document(review))
