"""Limits on calls, tokens, money, context, time and repeats: exact, told as they are, in the declared order."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import ScenarioError
from harness.testing import scenario
from harness.types.codes import LimitKind, Outcome, Status
from harness.types.reasons import Cancelled, FinalAnswer, LimitHit
from tests.loop.lab import calculate, codes, kinds, play, starts

PRICES = {"input": 1_000_000, "output": 2_000_000}
SLOW = {"use": ["probe_slow"], "options": {"probe_slow": {"ms": 60_000}}}


def used(expression: str = "1 + 1") -> dict[str, Any]:
    return {**calculate(expression), "usage": {"input": 80, "output": 20}}


@pytest.mark.conformance("93", "100")
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4])
def test_exactly_as_many_bodies_run_as_the_limit_on_calls_allows(limit: int) -> None:
    run = play(
        [calculate("1"), {"calls": [{"calculator": {"expression": str(n)}} for n in range(3)]}, {"say": "x"}],
        limits={"tool_calls": limit},
    )
    assert len(starts(run)) == min(limit, 4)
    if limit == 4:
        assert run.reason == FinalAnswer()
    else:
        asked = 1 if limit == 0 else 4
        assert run.reason == LimitHit(LimitKind.TOOL_CALLS, limit, asked)
        assert codes(run) == [None] * limit + ["SKIPPED"] * (asked - limit)
    assert run.findings == ()


@pytest.mark.conformance("100")
@pytest.mark.parametrize(
    ("limits", "which", "n_requests", "n_bodies", "reached"),
    [
        pytest.param({"tokens": 200}, LimitKind.TOKENS, 2, 1, None, id="tokens-to-the-token"),
        pytest.param({"tokens": 150}, LimitKind.TOKENS, 2, 1, 200, id="tokens-overrun-is-told"),
        pytest.param({"tokens": 201}, LimitKind.TOKENS, 3, 2, 300, id="one-token-left"),
        pytest.param({"cost_micro_usd": 240, "prices": PRICES}, LimitKind.COST, 2, 1, None, id="cost"),
        pytest.param({"cost_micro_usd": 200, "prices": PRICES}, LimitKind.COST, 2, 1, 240, id="cost-overrun-is-told"),
    ],
)
def test_budgets_stop_before_the_next_body_and_the_next_request(
    limits: dict[str, Any], which: LimitKind, n_requests: int, n_bodies: int, reached: int | None
) -> None:
    run = play([used(str(n)) for n in range(5)], limits=limits)
    assert isinstance(run.reason, LimitHit)
    assert (run.reason.which, run.reason.reached) == (which, reached)
    assert (kinds(run).count("model/request"), len(starts(run))) == (n_requests, n_bodies)
    assert run.findings == ()


@pytest.mark.conformance("91", "100")
def test_an_answer_that_overruns_the_tokens_is_still_an_answer() -> None:
    run = play([{"say": "done", "usage": {"input": 900, "output": 900}}], limits={"tokens": 10})
    assert (run.status, run.answer) == (Status.COMPLETED, "done")


@pytest.mark.article("22")
def test_a_request_bigger_than_the_limit_is_not_made_and_its_size_is_told() -> None:
    reported = {**calculate("1"), "usage": {"input": 5_000, "output": 1}}
    run = play([reported, {"say": "never"}], limits={"context_tokens": 4_000})
    assert isinstance(run.reason, LimitHit)
    assert run.reason.which is LimitKind.CONTEXT
    assert (run.reason.reached or 0) > 5_000
    first = play([{"say": "never"}], task="x" * 4_000, tools=[], limits={"context_tokens": 900})
    assert (first.status, kinds(first).count("model/request")) == (Status.LIMIT_REACHED, 0)


@pytest.mark.conformance("61")
@pytest.mark.article("32")
@pytest.mark.public_case("PB-026")
def test_repeats_count_values_in_answers_and_say_what_repeated() -> None:
    run = play([calculate("1 + 1")] * 5, limits={"repeats": 3})
    assert isinstance(run.reason, LimitHit)
    assert (run.reason.which, run.n_steps, codes(run)) == (LimitKind.REPEATS, 3, [None, None, "SKIPPED"])
    assert "3 times in a row" in str(run.reason.message)
    assert "1 + 1" in str(run.reason.message)
    batch = [{"calls": [{"calculator": {"expression": "1"}}] * 3}, {"say": "x"}]
    assert play(batch, limits={"repeats": 2}).status is Status.COMPLETED


@pytest.mark.conformance("61")
def test_another_call_and_a_new_turn_reset_and_an_excluded_tool_does_neither() -> None:
    a, b = calculate("1"), calculate("2")
    assert play([a, a, b, a, a, {"say": "x"}], limits={"repeats": 3}).status is Status.COMPLETED
    turns = play([a, a, {"say": "x"}, a, a, {"say": "y"}], tasks=["1", "2"], limits={"repeats": 3})
    assert turns.status is Status.COMPLETED
    tools = {"use": ["calculator"], "stub": {"poll": {"returns": 0}}}
    poll = {"call": {"poll": {}}}
    rules = {"repeats": {"same": 3, "exclude": ["poll"]}}
    assert play([poll] * 6 + [{"say": "x"}], tools=tools, limits=rules).status is Status.COMPLETED
    assert play([a, poll, a, poll, a, {"say": "x"}], tools=tools, limits=rules).status is Status.LIMIT_REACHED


@pytest.mark.conformance("62")
def test_alternation_and_one_result_for_varying_arguments_are_caught() -> None:
    a, b = calculate("1"), calculate("2")
    run = play([a, b] * 4, limits={"repeats": {"alternating": 3}})
    assert (run.status, run.n_steps) == (Status.LIMIT_REACHED, 6)
    vary = play([calculate(text) for text in ("2", "1+1", "3-1", "4-2")], limits={"repeats": {"same_result": 3}})
    assert (vary.status, vary.n_steps, codes(vary)) == (Status.LIMIT_REACHED, 3, [None] * 3)


@pytest.mark.article("32")
def test_the_default_thresholds_remind_at_three_and_five_and_stop_at_eight() -> None:
    run = play([calculate("1")] * 9, limits={"repeats": {}})
    said = [str(m.content) for m in run.messages if m.role == "user"]
    assert [text.split(" times")[0].split()[-1] for text in said[1:]] == ["3", "5"]
    assert (run.status, run.n_steps) == (Status.LIMIT_REACHED, 8)
    assert run.findings == ()


@pytest.mark.conformance("100")
def test_the_time_of_a_turn_ends_that_turn_and_the_next_one_goes_on() -> None:
    run = play([{"call": "probe_slow"}, {"say": "y"}], tasks=["1", "2"], tools=SLOW, limits={"turn_wall_ms": 2_000})
    ends = [e.fact.reason for e in run.trajectory if e.fact.TYPE == "turn/end"]  # type: ignore[union-attr]
    assert ends == [LimitHit(LimitKind.TURN_TIME, 2_000), FinalAnswer()]
    assert run.findings == ()


@pytest.mark.conformance("101")
@pytest.mark.parametrize(
    ("without", "told"),
    [
        pytest.param((), LimitKind.STEPS, id="steps-first"),
        pytest.param(("steps",), LimitKind.TOKENS, id="then-tokens"),
        pytest.param(("steps", "tokens"), LimitKind.COST, id="then-cost"),
        pytest.param(("steps", "tokens", "cost_micro_usd", "prices"), LimitKind.CONTEXT, id="then-context"),
        pytest.param(
            ("steps", "tokens", "cost_micro_usd", "prices", "context_tokens"), LimitKind.REPEATS, id="then-repeats"
        ),
    ],
)
def test_of_limits_that_hold_at_once_the_first_of_the_declared_order_is_told(
    without: tuple[str, ...], told: LimitKind
) -> None:
    limits = {
        "steps": 2, "tokens": 500, "cost_micro_usd": 500, "prices": PRICES, "context_tokens": 300,
        "repeats": {"same": 2},
    }  # fmt: skip
    kept = {name: value for name, value in limits.items() if name not in without}
    refused = {"call": {"nowhere": {}}}  # no body is to start, so all that holds is seen at the next request
    script = [{**refused, "usage": {"input": n, "output": 20}} for n in (80, 400, 400)]
    run = play(script, limits={**kept, "steps": kept.get("steps", "none")})
    assert isinstance(run.reason, LimitHit)
    assert run.reason.which is told


@pytest.mark.conformance("101")
def test_a_cancel_comes_before_the_time_of_the_turn_that_stopped_it() -> None:
    cancel = {"at": {"kind": "tool/start", "when": {"after_ms": 2_050}}, "do": "cancel"}
    tools = {"use": ["probe_stubborn"], "options": {"probe_stubborn": {"ms": 60_000}}}
    run = play(
        [{"call": "probe_stubborn"}], tools=tools, limits={"turn_wall_ms": 2_000, "grace_ms": 100}, inject=[cancel]
    )
    assert isinstance(run.reason, Cancelled)


@pytest.mark.article("27")
def test_without_a_step_limit_more_than_ten_steps_are_legal_and_declared() -> None:
    run = play([calculate("1")] * 12 + [{"say": "x"}], limits={"steps": "none"})
    assert (run.status, run.n_steps, run.outcome) == (Status.COMPLETED, 13, Outcome.PASS)
    assert '"steps":null' in str(run.trajectory.header.limits)


def test_money_without_prices_is_refused_since_nothing_would_count() -> None:
    with pytest.raises(ScenarioError, match="prices"):
        scenario(task="go", limits={"cost_micro_usd": 5}, script=[{"say": "x"}])
