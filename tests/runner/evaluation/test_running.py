"""An evaluation is asked block by block; what was answered is never asked again, and what failed says whose fault it was."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError, UsageError
from harness.runner.specs import ModelSource
from harness.types.codes import Code
from harness.types.trials import AnswerOrigin, Owner
from tests.runner.evaluation.lab import (
    NOW,
    Endpoint,
    answers,
    evaluation,
    keys,
    lines,
    order_of,
    plan,
    run,
    status,
    with_running,
)


def test_every_case_is_asked_under_every_arm_as_often_as_was_said(tmp_path: Path) -> None:
    endpoint = Endpoint()
    ran = run(plan(tmp_path, evaluation(5, trials=3)), endpoint)
    wanted = {(f"case-{n}", arm, trial) for n in range(5) for arm in ("now", "new") for trial in (1, 2, 3)}
    found = keys(lines(tmp_path))
    assert (ran.n_now, len(endpoint.asked)) == (30, 30)
    assert set(found) == wanted
    assert len(found) == len(wanted)


def test_what_the_model_decided_and_who_it_was_is_in_the_line(tmp_path: Path) -> None:
    run(plan(tmp_path, evaluation(1, arms=("now",), trials=1)))
    (trial,) = lines(tmp_path)
    assert trial.answer is not None
    assert [(one.name, one.arguments) for one in trial.answer.calls] == [("get_order", '{"id": 0}')]
    assert trial.by is not None
    assert (trial.by.origin, trial.by.model, trial.by.fingerprint, trial.by.server, trial.by.at) == (AnswerOrigin.LIVE, "m-7", "b1", "llama.cpp", NOW)
    assert trial.usage is not None
    assert (trial.usage.input_tokens, trial.usage.output_tokens) == (10, 5)
    assert len(trial.request) == 64


def test_run_again_it_asks_nothing(tmp_path: Path) -> None:
    run(plan(tmp_path))
    before = (tmp_path / "out" / "trials.jsonl").read_bytes()
    endpoint = Endpoint()
    ran = run(plan(tmp_path), endpoint)
    assert (endpoint.asked, ran.n_now, ran.n_before) == ([], 0, 16)
    assert (tmp_path / "out" / "trials.jsonl").read_bytes() == before


def test_more_trials_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    run(plan(tmp_path, trials=1))
    endpoint = Endpoint()
    run(plan(tmp_path, trials=3), endpoint)
    assert len(endpoint.asked) == 16
    assert len(lines(tmp_path)) == 24


def test_a_torn_tail_is_cut_away_and_its_trial_asked_again(tmp_path: Path) -> None:
    run(plan(tmp_path))
    path = tmp_path / "out" / "trials.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    endpoint = Endpoint()
    ran = run(plan(tmp_path), endpoint)
    assert ran.n_cut_bytes > 0
    assert (len(endpoint.asked), len(lines(tmp_path))) == (1, 16)


@pytest.mark.parametrize(
    ("field", "value"),
    [pytest.param("digest", "f" * 64, id="cases-changed"), pytest.param("id", "other", id="another-evaluation")],
)
def test_trials_of_another_evaluation_are_never_mixed_in(field: str, value: str, tmp_path: Path) -> None:
    run(plan(tmp_path))
    before = (tmp_path / "out" / "trials.jsonl").read_bytes()
    with pytest.raises(ConfigurationError, match="another folder"):
        run(plan(tmp_path, evaluation(**{field: value}) if field != "id" else _renamed(value)))
    assert (tmp_path / "out" / "trials.jsonl").read_bytes() == before


def _renamed(name: str) -> Any:
    from dataclasses import replace

    return replace(evaluation(), id=name)


# ---------------------------------------------------------------- whose fault


@pytest.mark.parametrize("code", [pytest.param(429, id="rate-limit"), pytest.param(500, id="server"), pytest.param(503, id="unavailable")])
def test_a_failure_of_the_provider_is_asked_again_as_the_same_trial(code: int, tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(code) if number <= 2 else answers(body, number))
    ran = run(plan(tmp_path, with_running(evaluation(1, arms=("now",), trials=1), retries=2)), endpoint)
    (trial,) = lines(tmp_path)
    assert (trial.answer is not None, trial.n_retries, ran.stopped) == (True, 2, "")


def test_retry_after_is_waited_for(tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(429, **{"retry-after": "7"}) if number == 1 else answers(body, number))
    ran = run(plan(tmp_path, evaluation(1, arms=("now",), trials=1)), endpoint)
    assert 7_000 <= ran.took_ms < 7_100


def test_what_the_provider_failed_for_good_is_its_own_and_is_asked_again_next_time(tmp_path: Path) -> None:
    broken = Endpoint(lambda body, number: status(500) if order_of(body) == 2 else answers(body, number))
    made = with_running(evaluation(4, arms=("now",), trials=1), retries=1)
    run(plan(tmp_path, made), broken)
    (failed,) = [one for one in lines(tmp_path) if one.error]
    assert failed.error is not None
    assert (failed.error.owner, failed.error.code, failed.n_retries) == (Owner.PROVIDER, Code.SERVER, 1)
    whole = Endpoint()
    ran = run(plan(tmp_path, made), whole)
    assert ([order_of(body) for body in whole.asked], ran.n_now) == ([2], 1)


def test_an_answer_that_is_none_counts_against_the_agent(tmp_path: Path) -> None:
    def empty(body: dict[str, Any], number: int) -> dict[str, Any]:
        found = answers(body, number)
        found["choices"][0]["message"] = {"role": "assistant", "content": ""}
        found["choices"][0]["finish_reason"] = "stop"
        return found

    endpoint = Endpoint(empty)
    run(plan(tmp_path, evaluation(1, arms=("now",), trials=1)), endpoint)
    (trial,) = lines(tmp_path)
    assert trial.error is not None
    assert (trial.error.owner, trial.error.code, len(endpoint.asked)) == (Owner.AGENT, Code.EMPTY_RESPONSE, 1)
    assert trial.usage is not None  # what it took is counted


@pytest.mark.parametrize(
    ("code", "message"), [pytest.param(401, "AUTH", id="auth"), pytest.param(402, "QUOTA", id="quota")]
)
def test_a_refusal_of_everything_stops_at_once_and_says_so(code: int, message: str, tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(code))
    ran = run(plan(tmp_path, with_running(evaluation(8), at_once=2)), endpoint)
    assert message in ran.stopped
    assert (ran.exit_code, ran.n_now) == (5, 0)
    assert len(endpoint.asked) <= 2


def test_one_case_that_the_endpoint_calls_invalid_does_not_stop_the_others(tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(400) if order_of(body) == 1 else answers(body, number))
    ran = run(plan(tmp_path, evaluation(4, arms=("now",), trials=1)), endpoint)
    by_case = {one.case: one.error.owner if one.error else None for one in lines(tmp_path)}
    assert by_case == {"case-0": None, "case-1": Owner.HARNESS, "case-2": None, "case-3": None}
    assert ran.stopped == ""


def test_requests_that_are_all_invalid_stop_everything_and_leave_no_line(tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(400, "unknown model"))
    ran = run(plan(tmp_path, with_running(evaluation(8, arms=("now",)), at_once=1)), endpoint)
    assert "unknown model" in ran.stopped
    assert ran.exit_code == 5
    assert (len(endpoint.asked), lines(tmp_path)) == (3, [])


def test_an_endpoint_that_nobody_answers_at_ends_it(tmp_path: Path) -> None:
    endpoint = Endpoint(lambda body, number: status(503))
    ran = run(plan(tmp_path, with_running(evaluation(40, trials=1), retries=0, at_once=1)), endpoint)
    assert "in a row" in ran.stopped
    assert (ran.exit_code, ran.n_now) == (5, 10)


# ---------------------------------------------------------------- how fast, how much


def test_requests_keep_the_pace_that_was_asked_for(tmp_path: Path) -> None:
    ran = run(plan(tmp_path, with_running(evaluation(6, arms=("now",), trials=1), requests_per_minute=60)))
    assert ran.took_ms == 5_000


def test_a_minute_has_only_so_many_tokens(tmp_path: Path) -> None:
    ran = run(plan(tmp_path, with_running(evaluation(8, arms=("now",), trials=1), tokens_per_minute=60, at_once=1)))
    # 15 tokens each: four go out of the first minute's worth, the others pay a quarter of a minute each
    assert 45_000 <= ran.took_ms <= 60_000


def test_at_most_so_many_are_asked_at_once(tmp_path: Path) -> None:
    now, most = Counter[str](), [0]

    class Slow(Endpoint):
        async def handle_async_request(self, request: Any) -> Any:
            import asyncio

            now["open"] += 1
            most[0] = max(most[0], now["open"])
            await asyncio.sleep(1)
            now["open"] -= 1
            return await super().handle_async_request(request)

    ran = run(plan(tmp_path, with_running(evaluation(6, trials=1), at_once=3)), Slow())
    assert (most[0], ran.took_ms) == (3, 4_000)


def test_a_bound_on_tokens_ends_it_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    made = with_running(evaluation(8), max_tokens=60, at_once=1)
    ran = run(plan(tmp_path, made))
    assert "60" in ran.spent
    assert ran.n_tokens == 60
    again = run(plan(tmp_path, made), endpoint := Endpoint())
    assert (again.n_now, endpoint.asked) == (0, [])


@pytest.mark.parametrize(("bound", "used"), [(50, 45), (60, 60), (15, 15), (29, 15)])
@pytest.mark.parametrize("at_once", [1, 4, 16])
def test_a_bound_on_tokens_is_kept_however_many_are_open(bound: int, used: int, at_once: int, tmp_path: Path) -> None:
    ran = run(plan(tmp_path, with_running(evaluation(8), max_tokens=bound, at_once=at_once)))
    assert (ran.n_tokens, f"max_tokens is {bound}" in ran.spent) == (used, True)


def test_a_bound_on_money_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"\[tool.harness.prices\]"):
        run(plan(tmp_path, with_running(evaluation(), max_cost_micro_usd=100)))


def test_progress_tells_how_long_it_may_take(tmp_path: Path) -> None:
    told: list[Any] = []
    run(plan(tmp_path, with_running(evaluation(4, trials=1), requests_per_minute=60)), tell=told.append)
    assert [one.n_done for one in told] == list(range(1, 9))
    assert told[3].left_ms == pytest.approx(4_000, abs=1_100)


# ---------------------------------------------------------------- what cannot be planned


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"arms": ("old",)}, "there are now, new", id="unknown-arm"),
        pytest.param({"trials": 0}, "at least 1", id="no-trials"),
        pytest.param({"jobs": 2}, "at_once", id="workers-for-an-endpoint"),
        pytest.param({"source": ModelSource.SCRIPTED}, "no script", id="scripted"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_asked(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        plan(tmp_path, **options)
