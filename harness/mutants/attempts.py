"""A run whose requests failed and were made again, and its mutants: attempts out of place."""

from __future__ import annotations

from typing import Final

from harness.mutants.editing import Mutant, changed, doubled, drop, on
from harness.mutants.pen import Pen
from harness.types.codes import Code, Status
from harness.types.events import Trajectory
from harness.types.exchange import ModelFailed, ModelRequest, ModelRetry
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall, FinalAnswer
from harness.types.scenario import Expectations, Limits


def retried() -> Trajectory:
    """Two attempts for the first answer, three for the second."""
    pen, call = Pen(), EmittedCall(CallId("c1"), "look", JsonText('{"q":"a"}'))
    pen.turn("look")
    pen.ask()
    pen.ask_again(Code.RATE_LIMIT, 2)
    pen.answer("I look.", call, attempt=2)
    pen.run_calls(call)
    pen.end_step()
    pen.ask()
    pen.ask_again(Code.SERVER, 2)
    pen.ask_again(Code.TIMEOUT, 3)
    pen.answer("Found a.", attempt=3)
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    return pen.trajectory(
        "retried", Limits(), Expectations(steps=2, answer=JsonText('"Found a."'), result_codes=((1, "OK"),))
    )


def _again(request: ModelRequest) -> bool:
    return request.attempt == 2


ATTEMPTS: Final = (
    Mutant(
        "attempt_not_counted", "a second attempt says it is the first", on(ModelRequest, changed(attempt=1), _again)
    ),
    Mutant("attempt_skipped", "a second attempt says it is the third", on(ModelRequest, changed(attempt=3), _again)),
    Mutant("retry_not_told", "a request is made again and no retry is told", on(ModelRetry, drop)),
    Mutant("retried_without_failure", "a request is made again although none failed", on(ModelFailed, drop)),
    Mutant("retried_too_soon", "the pause before an attempt is not kept", on(ModelRetry, changed(delay_ms=60_000))),
    Mutant("retry_of_another_code", "the retry tells another failure", on(ModelRetry, changed(code=Code.QUOTA))),
    Mutant("retry_told_twice", "one retry is told twice", on(ModelRetry, doubled)),
)
"""Each is made wherever an original has attempts."""
