"""A good trajectory that ends by a budget, and the ways to break its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.folds import limits_to_json
from harness.mutants.editing import Mutant, Mutate, changed, on, on_both, repeated_behind
from harness.mutants.pen import Pen
from harness.types.codes import Code, LimitKind, Status
from harness.types.events import Trajectory
from harness.types.exchange import AssistantMessage, ModelRequest, ToolResult, ToolStart
from harness.types.lifecycle import RunEnd, StepEnd, TurnEnd
from harness.types.limits import Limits, Prices, Repeats
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall, LimitHit, Usage
from harness.types.scenario import Expectations

LIMITS: Final = Limits(
    tool_calls=2,
    tokens=1_000,
    cost_micro_usd=1_000,
    prices=Prices(1_000_000, 2_000_000),
    context_tokens=1_000,
    repeats=Repeats(same=3, alternating=3, same_result=3),
)
_USED: Final = Usage(200, 50)


def budgeted() -> Trajectory:
    """Two equal calls run; the third is not run, for both calls and repeats are used up: calls are told."""
    pen = Pen()
    pen.turn("look again and again")
    for number in (1, 2, 3):
        call = EmittedCall(CallId(f"c{number}"), "look", '{"q":"a"}' if number < 3 else '{ "q": "a" }')
        pen.ask()
        pen.answer(None, call, usage=_USED)
        if number < 3:
            pen.run_calls(call)
        else:
            pen.result(call, "SKIPPED: the limit is reached, so this call was not run.", Code.SKIPPED)
        pen.end_step()
    pen.end(Status.LIMIT_REACHED, LimitHit(LimitKind.TOOL_CALLS, 2, 3))
    expect = Expectations(
        status="limit_reached", reason="limit", steps=3, result_codes=((1, "OK"), (2, "OK"), (3, "SKIPPED"))
    )
    return pen.trajectory("budgeted", LIMITS, expect)


def _limits(**fields: object) -> Mutate:
    """The same run under a limit that it breaks."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        if trajectory.header.limits != limits_to_json(LIMITS):
            return None
        limits = replace(LIMITS, **fields)  # type: ignore[arg-type]  # fields of Limits, by name
        return replace(trajectory, header=replace(trajectory.header, limits=limits_to_json(limits)))

    return mutate


def _told(reason: LimitHit) -> Mutate:
    def mutate(trajectory: Trajectory) -> Trajectory | None:
        of_it = lambda fact: isinstance(fact.reason, LimitHit) and fact.reason.which is LimitKind.TOOL_CALLS  # noqa: E731
        first = on(TurnEnd, changed(reason=reason), of_it)(trajectory)
        return first and on(RunEnd, changed(reason=reason), of_it)(first)

    return mutate


def _used(usage: Usage) -> Mutate:
    return on(AssistantMessage, changed(usage=usage), lambda fact: fact.usage == _USED)


def _skipped_runs(trajectory: Trajectory) -> Trajectory | None:
    if trajectory.header.limits != limits_to_json(LIMITS):
        return None
    return on_both(ToolStart, ToolResult, repeated_behind, nth=-1, other_nth=-1)(trajectory)


def _asked_once_more(trajectory: Trajectory) -> Trajectory | None:
    if trajectory.header.limits != limits_to_json(LIMITS):
        return None
    return on_both(ModelRequest, StepEnd, repeated_behind, nth=-1, other_nth=-1)(trajectory)


BUDGETED: Final = (
    Mutant("one_body_too_many", "a body more than the limit on calls", _limits(tool_calls=1)),
    Mutant("skipped_body_runs", "the body that the limit forbids runs all the same", _skipped_runs),
    Mutant("calls_told_early", "a limit on calls is told that was not reached", _limits(tool_calls=3)),
    Mutant(
        "calls_told_wrong", "the limit on calls that is named is not declared", _told(LimitHit(LimitKind.TOOL_CALLS, 5))
    ),
    Mutant("tokens_overrun", "a request after the tokens are used up", _limits(tokens=500)),
    Mutant("tokens_overrun_by_usage", "an answer used them up, and work goes on", _used(Usage(900, 100))),
    Mutant("tokens_told_early", "tokens are told that were not used", _told(LimitHit(LimitKind.TOKENS, 1_000))),
    Mutant(
        "tokens_told_wrong", "the tokens told are not those counted", _told(LimitHit(LimitKind.TOKENS, 1_000, 1_200))
    ),
    Mutant("cost_overrun", "a request after the money is spent", _limits(cost_micro_usd=600)),
    Mutant("cost_by_dearer_prices", "the prices say that it was spent", _limits(prices=Prices(9_000_000, 9_000_000))),
    Mutant("cost_told_early", "a cost is told that did not arise", _told(LimitHit(LimitKind.COST, 1_000))),
    Mutant("context_over", "a request bigger than the limit", _limits(context_tokens=210)),
    Mutant("context_over_at_once", "the first request bigger than the limit", _limits(context_tokens=20)),
    Mutant("context_over_as_reported", "the size as reported is over", _used(Usage(995, 0))),
    Mutant("repeats_go_on", "a request after the repeats that are allowed", _limits(repeats=Repeats(same=2))),
    Mutant("repeats_asked_again", "one more request of a model in circles", _asked_once_more),
    Mutant("same_result_goes_on", "a request after the same result twice", _limits(repeats=Repeats(same_result=2))),
    Mutant("repeats_told_wrong", "repeats are told that are not declared", _told(LimitHit(LimitKind.REPEATS, 7))),
)
