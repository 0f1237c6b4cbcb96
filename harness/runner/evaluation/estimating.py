"""What an evaluation would take, before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.folds.budget import cost_of
from harness.runner.evaluation.folder import trials_files, trials_in
from harness.runner.evaluation.plan import EvaluationPlan
from harness.types.jsontext import canonical_json
from harness.types.reasons import Usage
from harness.wire.requests import render_request

_MOST_LOOKED_AT: Final = 50
_BYTES_PER_TOKEN: Final = 4
_ANSWER_TOKENS: Final = 60
_PER: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Estimate:
    """How many requests are planned and how many of them have an answer; tokens of those that are left.

    ``measured`` says that the tokens are the mean of trials that are there, else they are guessed from the length of
    the requests. ``micro_usd`` None: nobody says what a model costs.
    """

    n_cases: int
    n_arms: int
    trials: int
    n_planned: int
    n_before: int
    input_tokens: int
    output_tokens: int
    micro_usd: int | None
    measured: bool

    @property
    def n_left(self) -> int:
        """Requests that would be made."""
        return self.n_planned - self.n_before


def estimate(plan: EvaluationPlan) -> Estimate:
    """What is left to be asked, and what that would take by the trials that are there, or by the requests' length."""
    n_before, measured = _measured(plan)
    n_left = plan.n_planned - n_before
    each = measured or _guessed(plan)
    used = Usage(input_tokens=round(each[0] * n_left), output_tokens=round(each[1] * n_left))
    prices = {plan.prices_of(arm) for arm in plan.arms}
    known = len(prices) == 1 and None not in prices
    micro_usd = -(-cost_of(used, next(iter(prices))) // _PER) if known else None
    n_cases = plan.n_planned // (len(plan.arms) * plan.trials)
    tokens = (used.input_tokens or 0, used.output_tokens or 0)
    return Estimate(
        n_cases, len(plan.arms), plan.trials, plan.n_planned, n_before, *tokens, micro_usd, measured is not None
    )


def _measured(plan: EvaluationPlan) -> tuple[int, tuple[float, float] | None]:
    arms = {plan.evaluation.arms[arm].name for arm in plan.arms}
    n_before = n_told = n_in = n_out = 0
    for trial in trials_in(trials_files(plan.options.folder)):
        n_before += trial.arm in arms and trial.trial <= plan.trials
        if trial.usage is not None and trial.usage.input_tokens is not None:
            n_told += 1
            n_in += trial.usage.input_tokens
            n_out += trial.usage.output_tokens or 0
    return min(n_before, plan.n_planned), (n_in / n_told, n_out / n_told) if n_told else None


def _guessed(plan: EvaluationPlan) -> tuple[float, float]:
    evaluation = plan.evaluation
    n_cases = min(len(evaluation.cases), _MOST_LOOKED_AT)
    sizes = [
        len(canonical_json(render_request(plan.request_of(evaluation, evaluation.arms[arm], case, plan.snapshot), "m")))
        for case in map(evaluation.cases.__getitem__, range(n_cases))
        for arm in plan.arms
    ]
    return sum(sizes) / len(sizes) / _BYTES_PER_TOKEN, float(_ANSWER_TOKENS)
