"""Why trials have no answer is said with counts where a person looks."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest

from harness.evaluate.summary import summarise
from harness.report.evaluation_markdown import evaluation_markdown
from harness.report.evaluation_text import first_screen
from harness.types.codes import Code
from harness.types.evaluation import Evaluation
from harness.types.trials import Owner, Trial, TrialAnswer, TrialCall, TrialError
from tests.runner.evaluation.lab import SNAPSHOT, evaluation

BOOM = TrialError(Code.SERVER, "boom 17 of request 9f3a2", Owner.PROVIDER)
MOVED = TrialError(Code.TRANSPORT, "it redirects", Owner.PROVIDER)


def trials(made: Evaluation) -> list[Trial]:
    """Of each arm's eight: one answer, two that moved, five that went boom, each under another number."""
    found = []
    for arm in made.arms:
        for n in range(8):
            made_trial = Trial(f"case-{n}", arm.name, 1, "r" * 64)
            answer = TrialAnswer(calls=(TrialCall("get_order", json.dumps({"id": n})),))
            error = replace(BOOM, message=f"boom {n} of request 9f3a{n}") if n > 2 else MOVED
            found.append(replace(made_trial, answer=answer) if n == 0 else replace(made_trial, error=error))
    return found


def test_causes_stand_with_their_counts_on_the_screen_and_in_the_report() -> None:
    made = evaluation(8, arms=("now",), trials=1)
    summary = summarise(made, SNAPSHOT, trials(made))
    assert summary.errors is not None
    assert [(one.arm, one.owner, one.code, one.message, one.trials) for one in summary.errors] == [
        ("now", Owner.PROVIDER, Code.SERVER, "boom # of request #", 5),
        ("now", Owner.PROVIDER, Code.TRANSPORT, "it redirects", 2),
    ]
    for text in (first_screen(summary), evaluation_markdown(summary)):
        assert "5 trials, provider SERVER: boom # of request #" in text
        assert "2 trials, provider TRANSPORT: it redirects" in text


def test_the_order_in_which_trials_came_does_not_matter() -> None:
    made = evaluation(8, trials=1)
    shuffled = trials(made)
    Random(3).shuffle(shuffled)
    assert summarise(made, SNAPSHOT, shuffled).to_json() == summarise(made, SNAPSHOT, trials(made)).to_json()


@pytest.mark.parametrize("error", [None, TrialError(Code.EMPTY_RESPONSE, "nothing in it", Owner.AGENT)])
def test_nothing_is_said_where_every_trial_is_the_models_own(error: TrialError | None) -> None:
    made = evaluation(1, arms=("now",), trials=1)
    answer = TrialAnswer(content="Bye!") if error is None else None
    summary = summarise(made, SNAPSHOT, [Trial("case-0", "now", 1, "r" * 64, answer=answer, error=error)])
    assert summary.errors is None
    assert "errors" not in json.loads(summary.to_json())
    assert "cause" not in first_screen(summary)


def test_many_causes_are_counted_not_listed() -> None:
    made = evaluation(26, arms=("now",), trials=1)
    every = [Trial(f"case-{n}", "now", 1, "r" * 64, error=TrialError(Code.UNKNOWN, f"cause {chr(103 + n % 16)}{n // 16 * 'z'}y", Owner.PROVIDER)) for n in range(26)]
    summary = summarise(made, SNAPSHOT, every)
    assert len(summary.errors or ()) == 10
    assert "and 6 more causes" in first_screen(summary)
