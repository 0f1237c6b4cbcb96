"""A summary holds what the trajectory says, and verdicts add up in one order of severity."""

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.folds import EXIT_CODES, outcome_of, summarise, worst_outcome
from harness.types.codes import Outcome, Status
from harness.types.exchange import AssistantMessage
from harness.types.reasons import Usage
from harness.types.records import CallSummary, Verdict
from tests.compare.made import ANSWERS, refund_run, with_facts

PASS, FAIL, ERROR, INVALID = Outcome.PASS, Outcome.FAIL, Outcome.ERROR, Outcome.INVALID


def test_a_summary_is_derived_from_the_trajectory_alone() -> None:
    answers = (([("lookup_order", '{"b":1, "a":2}')], None), ([("refund", "{bad")], None), ANSWERS[-1])
    found = summarise(refund_run(answers=answers), (Verdict("pairing", PASS),), "t/x.jsonl")
    assert found.calls == (
        CallSummary("lookup_order", '{"a":2,"b":1}', "OK"),  # type: ignore[arg-type]
        CallSummary("refund", "{bad", "OK"),  # type: ignore[arg-type]
    )
    assert (found.scenario, found.arm, found.trial, found.file) == ("shop/refund", "default", 1, "t/x.jsonl")
    assert (found.subject, found.model, found.outcome) == ("built-in", "scripted", PASS)
    assert (found.status, found.reason, found.answer) == (Status.COMPLETED, "final-answer", "Refunded.")
    assert (found.n_turns, found.n_steps, found.n_requests, found.n_messages) == (1, 3, 3, 7)
    assert (found.input_tokens, found.output_tokens, found.cost_micro_usd) == (60, 6, None)
    assert found.duration_ms == len(refund_run(answers=answers)) - 1


@pytest.mark.parametrize("known", [pytest.param(1, id="of-one-answer"), pytest.param(2, id="of-two")])
def test_what_one_answer_does_not_say_is_not_known_of_the_run(known: int) -> None:
    left = iter(range(3))

    def told(fact: Any) -> Any:
        if not isinstance(fact, AssistantMessage):
            return fact
        told = next(left) < known
        return dataclasses.replace(fact, usage=Usage(7, 1 if told else None, cost_micro_usd=5 if told else None))

    found = summarise(with_facts(refund_run(), told), (), "")
    assert (found.input_tokens, found.output_tokens, found.cost_micro_usd) == (21, None, None)


def test_what_nobody_counted_is_unknown_and_not_zero() -> None:
    bare = with_facts(refund_run(), lambda f: dataclasses.replace(f, usage=None) if hasattr(f, "usage") else f)
    found = summarise(dataclasses.replace(bare, events=bare.events[:-2]), (), "")
    assert (found.input_tokens, found.output_tokens) == (None, None)
    assert (found.status, found.reason, found.outcome) == (None, "interrupted", INVALID)


@pytest.mark.parametrize(
    ("outcomes", "worst", "exit_code"),
    [
        pytest.param([PASS, Outcome.NOT_APPLICABLE], PASS, 0, id="pass"),
        pytest.param([PASS, Outcome.INCONCLUSIVE], Outcome.INCONCLUSIVE, 3, id="inconclusive"),
        pytest.param([Outcome.INCONCLUSIVE, INVALID], INVALID, 4, id="invalid-before-inconclusive"),
        pytest.param([INVALID, ERROR], ERROR, 5, id="error-before-invalid"),
        pytest.param([ERROR, FAIL], FAIL, 1, id="fail-before-error"),
        pytest.param([Outcome.NOT_APPLICABLE], INVALID, 4, id="nothing-was-decided"),
        pytest.param([], INVALID, 4, id="nothing"),
    ],
)
def test_mixed_outcomes_come_to_the_worst_in_the_order_of_the_design(
    outcomes: list[Outcome], worst: Outcome, exit_code: int
) -> None:
    assert outcome_of(Verdict("c", outcome) for outcome in outcomes) is worst
    assert EXIT_CODES[worst] == exit_code


@given(st.lists(st.sampled_from(list(Outcome))), st.lists(st.sampled_from(list(Outcome))))
def test_the_worst_does_not_depend_on_order_or_repetition(one: list[Outcome], other: list[Outcome]) -> None:
    assert worst_outcome(one + other) is worst_outcome(other + one + other)
    assert set(EXIT_CODES) == set(Outcome)
