"""A model that gave no answer chose nothing: an error came from outside, or the loop did not wait or ask again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

from harness.compare import explain
from harness.compare.choices import Choices
from harness.folds import limits_to_json, parting_line
from harness.types.codes import Cause, Code, LimitKind, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, ModelRetry
from harness.types.reasons import Failed, LimitHit, Reason
from harness.types.records import Explanation, Share
from harness.types.scenario import Limits
from tests.compare.made import first, header, numbered, refund_run

SERVER, TIMEOUT = Code.SERVER, Code.TIMEOUT
ENDS = ("step/end", "turn/end", "run/end", "run/quiescent")
SAID = "It is refunded."


def came(*attempts: Any, reason: Reason | None = None, head: Any = None) -> Trajectory:
    """One request whose attempts came to these: a code, a text, or a text that was cut off (in a list)."""
    run = refund_run(answers=[([], "?")], head=head)
    at, asked = first(run, AssistantMessage), first(run, ModelRequest)
    failed = Failed(attempts[-1], "down") if isinstance(attempts[-1], Code) else Failed(SERVER, "down")
    facts: list[Any] = []
    for n, attempt in enumerate(attempts, 1):
        if n > 1 and isinstance(attempts[n - 2], Code) and not isinstance(attempt, list):
            facts += [ModelRetry(attempts[n - 2], n, 10), dataclasses.replace(run.events[asked].fact, attempt=n)]  # type: ignore[type-var]
        facts.append(_fact(attempt))
    new = tuple(dataclasses.replace(run.events[at], fact=fact) for fact in facts)
    ends = [event for event in run.events[at + 1 :] if event.fact.TYPE in ENDS]
    if type(attempts[-1]) is not str:
        why = reason or failed
        status = Status.LIMIT_REACHED if isinstance(why, LimitHit) else Status.FAILED
        changes = {"turn/end": {"status": status, "reason": why}, "run/end": {"status": status, "reason": why}}
        ends = [dataclasses.replace(e, fact=dataclasses.replace(e.fact, **changes.get(e.fact.TYPE, {}))) for e in ends]  # type: ignore[type-var]
    return numbered(run, (*run.events[:at], *new, *ends))


def _fact(attempt: Any) -> Any:
    match attempt:
        case Code():
            return ModelFailed(attempt, "down")
        case [text]:
            return AssistantMessage(text, interrupted=True)
        case _:
            return AssistantMessage(attempt)


def stopped(*attempts: Any, head: Any = None) -> Trajectory:
    """A run that its limit of time ended while it waited."""
    return came(*attempts, [""], reason=LimitHit(LimitKind.WALL_TIME, 5), head=head)


def explained(base: Trajectory, candidate: Trajectory) -> Explanation:
    found = explain(base, candidate)
    assert found is not None
    return found


SHORT = header(limits=limits_to_json(Limits(steps=5)))
ROWS: Sequence[tuple[str, Trajectory, Trajectory, Cause, str]] = (
    ("failed-and-answered", came(SERVER), came(SAID), Cause.OUTSIDE, "model error SERVER"),
    ("answered-and-failed", came(SAID), came(SERVER), Cause.OUTSIDE, "model error SERVER"),
    ("failed-otherwise", came(SERVER), came(TIMEOUT), Cause.OUTSIDE, "model error SERVER → TIMEOUT"),
    ("cut-off-by-an-error", came(SERVER, ["It is"]), came(SAID), Cause.OUTSIDE, "model error SERVER"),
    ("cut-off-by-an-error-at-first", came(["It is"], SERVER), came(SAID), Cause.OUTSIDE, "model error SERVER"),
    ("said-otherwise-and-cut-off", came(SERVER, ["No"]), came(SAID), Cause.MODEL, ""),
    ("second-attempt-failed-too", came(SERVER, SERVER), came(SERVER, SAID), Cause.OUTSIDE, "model error SERVER"),
    ("not-asked-again", came(SERVER), came(SERVER, SAID), Cause.LOOP, ""),
    ("asked-again-in-vain", came(SERVER), came(SERVER, TIMEOUT), Cause.LOOP, ""),
    ("not-waited-for", stopped(), came(SAID), Cause.LOOP, ""),
    ("not-waited-for-by-another-limit", came(SAID), stopped(head=SHORT), Cause.SETUP, "limits.steps"),
    ("another-answer", came("No."), came(SAID), Cause.MODEL, ""),
)


@pytest.mark.parametrize(("base", "candidate", "cause", "detail"), [pytest.param(*row[1:], id=row[0]) for row in ROWS])
def test_an_error_is_no_choice_of_the_model_and_neither_is_a_loop_that_did_not_wait(
    base: Trajectory, candidate: Trajectory, cause: Cause, detail: str
) -> None:
    found = explained(base, candidate)
    assert (found.cause, found.detail) == (cause, detail)


def test_the_line_shows_the_error_beside_the_answer() -> None:
    line = parting_line("refund", explained(came(SERVER), came(SAID)))
    assert line == (
        'refund  step 1: turn/end failed (error SERVER down) → answer "It is refunded."'
        "  cause: something came from outside (model error SERVER)"
    )


CALLS = refund_run(answers=[([("refund", '{"order":7}')], None), ([], "Done.")])


@pytest.mark.parametrize(
    ("trials", "candidate", "share"),
    [
        pytest.param(("A", "A", "A"), came("B"), Share(0, 3), id="another-text"),
        pytest.param(("A", "B", "B"), came("B"), Share(2, 3), id="that-text"),
        pytest.param(("A", CALLS, "B"), CALLS, Share(1, 3), id="that-call"),
    ],
)
def test_where_the_shown_run_of_the_base_gave_no_answer_its_other_trials_are_asked_all_the_same(
    trials: tuple[Any, ...], candidate: Trajectory, share: Share
) -> None:
    dead = came(SERVER)
    others = [came(one) if isinstance(one, str) else one for one in trials]
    effect = explained(dead, candidate).effect
    assert effect is not None
    assert Choices([dead, *others]).share(dead, candidate, effect) == share
