"""What a final answer came to, where a scenario says who judges it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.types.codes import Code, Status
from harness.types.reasons import Failed, FinalAnswer
from tests.loop.lab import play

STATUS: dict[str, Any] = {"status": "STATUS"}
FIELDS: dict[str, Any] = {"fields": ["cause", "evidence"]}
VERIFIER: dict[str, Any] = {"verifier": "tests.loop.outcome_verifiers:needs_401"}


@pytest.mark.parametrize(
    ("rules", "answer", "status"),
    [
        pytest.param(STATUS, "It is.\nSTATUS: completed", Status.COMPLETED, id="says-completed"),
        pytest.param(STATUS, "Which one?\n**STATUS:** waiting_for_user", Status.WAITING_FOR_USER, id="in-bold"),
        pytest.param(STATUS, '{"STATUS": "incomplete", "x": 1}', Status.INCOMPLETE, id="as-json"),
        pytest.param(STATUS, "It is.", Status.INCOMPLETE, id="says-nothing"),
        pytest.param(STATUS, "STATUS: great", Status.INCOMPLETE, id="says-another-word"),
        pytest.param(FIELDS, "Cause: the key.\nEvidence: the log.", Status.COMPLETED, id="both-fields"),
        pytest.param(FIELDS, "Cause: the key.", Status.INCOMPLETE, id="a-field-is-missing"),
        pytest.param(FIELDS, "Cause: the key.\nEvidence:\n", Status.INCOMPLETE, id="a-field-is-empty"),
        pytest.param(FIELDS, '{"cause": "key", "evidence": ["log"]}', Status.COMPLETED, id="fields-as-json"),
        pytest.param(VERIFIER, "a 401", Status.COMPLETED, id="verified"),
        pytest.param(VERIFIER, "an error", Status.INCOMPLETE, id="not-verified"),
        pytest.param({**STATUS, **VERIFIER}, "STATUS: completed", Status.INCOMPLETE, id="verifier-has-the-last-word"),
    ],
)
def test_the_outcome_is_what_the_rules_say_and_the_answer_stays(
    rules: dict[str, Any], answer: str, status: Status
) -> None:
    run = play([{"say": answer}], tools=[], outcome=rules)
    assert (run.status, run.answer) == (status, answer)
    assert isinstance(run.reason, FinalAnswer)
    assert run.reason.outcome == (None if status is Status.COMPLETED else status)
    assert bool(run.reason.why) is (status is not Status.COMPLETED)
    assert run.findings == ()


@pytest.mark.conformance("12")
def test_a_verifier_that_throws_fails_its_turn_only() -> None:
    rules = {"verifier": "tests.loop.outcome_verifiers:throws"}
    run = play([{"say": "x"}], tools=[], outcome=rules)
    assert isinstance(run.reason, Failed)
    assert (run.reason.code, run.answer) == (Code.HOOK_FAILED, "x")
    assert "broken" in run.reason.message
