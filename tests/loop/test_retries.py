"""Failed requests: which are tried again, after which pause, what a stop does to it, and what is left of them."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ModelError, ScenarioError
from harness.folds import committed_view
from harness.loop import Hooks, Policies
from harness.loop.attempts import answered
from harness.loop.stop import StopSignal
from harness.loop.turn import Turn
from harness.models import RecordingDoor
from harness.models.strict import StrictAnswers
from harness.protocols import Emit, Signal
from harness.report.timeline import timeline
from harness.runner import RunResult
from harness.subjects import BUILT_IN_PROFILE
from harness.testing import scenario
from harness.types.codes import Code, FinishReason, LimitKind, Status
from harness.types.doors import Answer, ModelCall
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import AssistantChunk, AssistantMessage, ModelFailed, ModelRequest, ModelRetry
from harness.types.jsontext import canonical_json
from harness.types.lifecycle import Note
from harness.types.messages import ChatUser, JsonText, Messages, RunId
from harness.types.profile_loop import RetryCounting
from harness.types.profile_run import RetriedErrors, RetryDelay
from harness.types.reasons import Failed, FinalAnswer, LimitHit
from harness.types.retrying import MODEL_ROLE_NOTE, NO_RETRIES, TRANSIENT, RetryPolicy
from harness.types.scenario import Limits
from harness.types.script import ScriptFailure, ScriptReply
from tests.loop.desk import Desk, in_virtual_time
from tests.loop.lab import calculate, kinds, play

LOCAL = (Code.NO_MODEL, Code.SCRIPT_EXHAUSTED, Code.CASSETTE_MISS, Code.REPLAY_DIFFERS, Code.HOOK_FAILED, Code.RECORDING_FAILED)
DAMAGED = (Code.DAMAGED_RESPONSE, Code.NO_FINISH_REASON, Code.PROVIDER_ABORTED)
NEVER = (Code.AUTH, Code.QUOTA, Code.INVALID_REQUEST, Code.CONTEXT_OVERFLOW)
THREE = {"attempts": 3, "base_ms": 1_000, "cap_ms": 60_000}


def facts(run: RunResult, kind: type[Any]) -> list[Any]:
    return [event.fact for event in run.trajectory if isinstance(event.fact, kind)]


def attempts(run: RunResult, kind: type[Any] = ModelRequest) -> list[int]:
    return [fact.attempt for fact in facts(run, kind)]


def pauses(run: RunResult) -> list[int]:
    return [fact.delay_ms for fact in facts(run, ModelRetry)]


def ended_ms(run: RunResult) -> int:
    return max(event.time or 0 for event in run.trajectory)


def wrong(run: RunResult) -> list[str]:
    """What the checks find, but for a failed end that these tests ask for themselves."""
    return [finding.message for finding in run.findings if finding.check != "expected_end"]


def fail(code: str, **fields: Any) -> dict[str, Any]:
    return {"fail": {"code": code, **fields}}


# ---------------------------------------------------------------- which, how often, how long


@pytest.mark.conformance("149", "151")
@pytest.mark.parametrize("code", [*TRANSIENT, *DAMAGED, *NEVER])
def test_of_all_failures_only_the_transient_ones_are_tried_again(code: Code) -> None:
    run = play([fail(code), {"say": "there"}], retry=THREE)
    if code in TRANSIENT:
        assert (run.status, run.answer, attempts(run)) == (Status.COMPLETED, "there", [1, 2])
    else:
        assert (run.status, attempts(run)) == (Status.FAILED, [1])
    assert wrong(run) == []


@pytest.mark.conformance("102", "151", "152")
def test_the_profile_says_what_is_tried_again_and_what_it_counts_as() -> None:
    profile = BUILT_IN_PROFILE
    assert profile.retry_counting is RetryCounting.ATTEMPT_OF_ONE_STEP
    assert profile.retried_errors is RetriedErrors.TRANSIENT
    assert profile.retry_delay is RetryDelay.RETRY_AFTER_AND_BACKOFF
    assert not set(TRANSIENT) & set(NEVER)


@pytest.mark.conformance("151", "154")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        pytest.param({"empty": True}, Code.EMPTY_RESPONSE, id="empty"),
        pytest.param({"say": "cut", "finish": ""}, Code.NO_FINISH_REASON, id="no-finish-reason"),
        pytest.param({"say": "cut", "finish": "aborted"}, Code.PROVIDER_ABORTED, id="aborted-by-the-provider"),
        pytest.param({"say": "cut", "finish": "error"}, Code.SERVER, id="ended-with-an-error"),
        pytest.param({"calls": [{"name": None}]}, Code.DAMAGED_RESPONSE, id="call-without-a-name"),
    ],
)
@pytest.mark.parametrize("asked", [False, True], ids=["by-default", "where-asked-for"])
def test_a_damaged_answer_is_tried_again_by_its_class(reply: dict[str, Any], code: Code, asked: bool) -> None:
    retry = {**THREE, "codes": [code.value]} if asked else THREE
    run = play([reply, {"say": "whole"}], retry=retry)
    assert [failed.code for failed in facts(run, ModelFailed)] == [code]
    assert (run.answer == "whole") is (asked or code in TRANSIENT)
    assert wrong(run) == []


@pytest.mark.conformance("102")
def test_without_a_policy_there_is_one_attempt_and_its_words_are_the_run_s() -> None:
    run = play([fail("SERVER", message="overloaded"), {"say": "never"}])
    assert run.reason == Failed(Code.SERVER, "overloaded")
    assert (attempts(run), facts(run, ModelRetry)) == ([1], [])


@pytest.mark.conformance("89", "102", "152")
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_there_are_as_many_attempts_as_allowed_and_the_last_failure_says_so(most: int) -> None:
    run = play([fail("SERVER", message="down")] * 9, retry={"attempts": most}, limits={"steps": 1})
    assert attempts(run) == attempts(run, ModelFailed) == list(range(1, most + 1))
    assert attempts(run, ModelRetry) == list(range(1, most))
    assert run.reason == Failed(Code.SERVER, "down" if most == 1 else f"down (after {most} attempts)")
    assert wrong(run) == []


@pytest.mark.conformance("89", "102")
def test_attempts_belong_to_one_step_and_each_step_has_all_of_them() -> None:
    script = [fail("SERVER"), calculate("1 + 1"), fail("TIMEOUT"), fail("TIMEOUT"), {"say": "2"}]
    run = play(script, retry=THREE, limits={"steps": 2}, expect={"steps": 2, "status": "completed"})
    assert attempts(run) == [1, 2, 1, 2, 3]
    assert attempts(run, AssistantMessage) == [2, 3]
    assert wrong(run) == []


@pytest.mark.conformance("152")
@pytest.mark.parametrize(
    ("policy", "asked_for", "waited"),
    [
        pytest.param({"base_ms": 100}, None, [100, 200, 400, 800], id="doubled"),
        pytest.param({"base_ms": 100, "cap_ms": 250}, None, [100, 200, 250, 250], id="capped"),
        pytest.param({"base_ms": 100, "factor": 1}, None, [100, 100, 100, 100], id="even"),
        pytest.param({"base_ms": 0}, None, [0, 0, 0, 0], id="at-once"),
        pytest.param({"base_ms": 100}, 300, [300] * 4, id="retry-after-in-place-of-the-pause"),
        pytest.param({"base_ms": 100, "cap_ms": 250}, 7_000, [7_000] * 4, id="retry-after-beyond-the-cap"),
    ],
)
def test_each_pause_is_the_declared_one_told_before_it_and_kept(
    policy: dict[str, int], asked_for: int | None, waited: list[int]
) -> None:
    hint = {} if asked_for is None else {"retry_after_ms": asked_for}
    run = play([fail("RATE_LIMIT", **hint)] * 4 + [{"say": "x"}], retry={"attempts": 5, **policy})
    assert pauses(run) == waited
    times = [event.time or 0 for event in run.trajectory if isinstance(event.fact, ModelRequest)]
    assert [after - before for before, after in pairwise(times)] == waited
    order = [kind for kind in kinds(run) if kind in ("model/request", "model/error", "model/retry")]
    assert order == ["model/request", "model/error", "model/retry"] * 4 + ["model/request"]
    assert wrong(run) == []


@pytest.mark.conformance("152")
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 100), st.integers(0, 10**9))
def test_a_pause_grows_to_its_cap_and_a_hint_takes_its_place(
    base: int, cap: int, factor: int, n: int, hint: int
) -> None:
    policy = RetryPolicy(1_000, base, cap, factor)
    pauses_ms = [policy.delay_ms(number, Code.SERVER, None) or 0 for number in (n, n + 1)]
    assert 0 <= pauses_ms[0] <= pauses_ms[1] <= cap
    assert policy.delay_ms(n, Code.SERVER, hint) == hint
    assert policy.delay_ms(n, Code.AUTH, hint) is policy.delay_ms(1_000, Code.SERVER, hint) is None


@pytest.mark.conformance("151")
@pytest.mark.parametrize("code", [*NEVER, *LOCAL])
def test_a_scenario_cannot_ask_for_retries_of_what_stays_wrong(code: Code) -> None:
    with pytest.raises(ScenarioError, match=code):
        scenario(task="x", script=[{"say": "x"}], retry={"codes": [code.value]})


@pytest.mark.conformance("157")
def test_a_script_that_ran_dry_is_not_tried_again() -> None:
    run = play([fail("SERVER")], retry={**THREE, "attempts": 5})
    assert attempts(run) == [1, 2]
    assert isinstance(run.reason, Failed)
    assert run.reason.code is Code.SCRIPT_EXHAUSTED


# ---------------------------------------------------------------- nothing leaks


WORK = [calculate("1 + 1"), {"call": {"calculator": {"expression": "2 + 2"}}, "say": "and"}, {"say": "2 and 4"}]


@pytest.mark.conformance("144", "102")
@pytest.mark.parametrize("k", range(len(WORK)))
@given(codes=st.lists(st.sampled_from(TRANSIENT), min_size=1, max_size=3))
def test_what_failed_before_it_succeeded_is_as_if_it_had_succeeded(k: int, codes: list[Code]) -> None:
    plain = play(WORK)
    again = play([*WORK[:k], *(fail(code) for code in codes), *WORK[k:]], retry={"attempts": 4})
    assert [one.key for one in committed_view(again.trajectory)] == [
        one.key for one in committed_view(plain.trajectory)
    ]
    assert (again.answer, again.status) == (plain.answer, plain.status)
    assert attempts(again)[k : k + len(codes) + 1] == list(range(1, len(codes) + 2))
    shown = [len(fact.messages) for fact in facts(again, ModelRequest)]
    assert shown[k : k + len(codes) + 1] == [shown[k]] * (len(codes) + 1)
    assert wrong(again) == []


class Breaking:
    """Sends pieces of its answer; the connection breaks behind the kth, the first ``n_failures`` times."""

    name = "breaking"

    def __init__(self, k: int, n_failures: int) -> None:
        self._k = k
        self._left = n_failures

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        for number, piece in enumerate(PIECES):
            if self._left and number == self._k:
                break
            emit(canonical_json(piece))
            await asyncio.sleep(0)
        if self._left:
            self._left -= 1
            raise ModelError("connection reset", code=Code.TRANSPORT)
        return Answer("".join(PIECES), finish_reason=FinishReason.STOP)


PIECES = ("The ", "answer ", "is ", "42.")


def streamed(k: int, n_failures: int) -> list[Event]:
    async def main(clock: Any) -> list[Event]:
        desk = Desk(clock, [], policies=Policies(retry=RetryPolicy(4)))
        desk.driver._desk.model = RecordingDoor(StrictAnswers(Breaking(k, n_failures)), desk.log)
        desk.driver.open()
        desk.driver.send("go")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert desk.complaints() == []
        return list(desk.log.events)

    events: list[Event] = in_virtual_time(main)
    return events


@pytest.mark.conformance("144")
@pytest.mark.parametrize("k", range(len(PIECES) + 1))
@pytest.mark.parametrize("n_failures", [1, 3])
def test_nothing_of_an_answer_that_broke_behind_its_kth_piece_reaches_the_next(k: int, n_failures: int) -> None:
    events = streamed(k, n_failures)
    header = Header(version="0", run_id=RunId("x"), subject="x")
    views = [committed_view(Trajectory(header, tuple(made), source="x")) for made in (events, streamed(0, 0))]
    assert [one.key for one in views[0]] == [one.key for one in views[1]]
    chunks = [event.fact.attempt for event in events if isinstance(event.fact, AssistantChunk)]
    whole = [n_failures + 1] * len(PIECES)
    assert chunks == [n + 1 for n in range(n_failures) for _ in range(k)] + whole
    (said,) = [event.fact for event in events if isinstance(event.fact, AssistantMessage)]
    assert (said.content, said.attempt) == ("".join(PIECES), n_failures + 1)


@pytest.mark.conformance("129")
def test_the_usage_of_a_failed_attempt_is_counted_once() -> None:
    used = {"usage": {"input": 30, "output": 4}}
    run = play([{"empty": True, **used}, {"empty": True}, {"say": "x", **used}], retry=THREE)
    assert [failed.usage and failed.usage.input_tokens for failed in facts(run, ModelFailed)] == [30, None]
    assert (run.summary.input_tokens, run.summary.output_tokens) == (60, 8)
    assert wrong(run) == []


@pytest.mark.conformance("100")
def test_tokens_used_up_by_a_failed_attempt_allow_no_further_one() -> None:
    run = play(
        [{"empty": True, "usage": {"input": 80, "output": 20}}, {"say": "x"}], retry=THREE, limits={"tokens": 100}
    )
    assert run.reason == LimitHit(LimitKind.TOKENS, 100)
    assert (attempts(run), pauses(run)) == ([1], [])
    assert wrong(run) == []


# ---------------------------------------------------------------- stops


@pytest.mark.conformance("78", "79")
@pytest.mark.parametrize("at", ["model/error", "model/retry"])
@pytest.mark.parametrize("when", ["inside", "next-tick", {"after_ms": 0}, {"after_ms": 7}], ids=str)
@pytest.mark.parametrize("scope", ["turn", "run"])
def test_a_cancel_around_a_failure_ends_promptly_and_nothing_is_asked_again(at: str, when: Any, scope: str) -> None:
    run = play(
        [fail("RATE_LIMIT", retry_after_ms=300_000), {"say": "never"}],
        retry=THREE,
        inject=[{"at": {"kind": at, "when": when}, "do": {"cancel": {"by": "user", "scope": scope}}}],
    )
    assert run.status is Status.CANCELLED
    assert (attempts(run), ended_ms(run) < 10) == ([1], True)
    if at == "model/error" and when == "inside":
        assert pauses(run) == []
    assert wrong(run) == []


@pytest.mark.conformance("79")
def test_a_cancel_in_the_tick_in_which_the_pause_ends_wins() -> None:
    run = play(
        [fail("RATE_LIMIT"), {"say": "never"}],
        retry=THREE,
        inject=[{"at": {"kind": "model/retry", "when": {"after_ms": 1_000}}, "do": "cancel"}],
    )
    assert run.status is Status.CANCELLED
    answered = facts(run, AssistantMessage)
    assert answered == []
    assert wrong(run) == []


@pytest.mark.conformance("78", "111")
def test_what_is_sent_after_a_cancel_in_a_pause_is_answered() -> None:
    async def main(clock: Any) -> None:
        script = [ScriptReply(fail=ScriptFailure("SERVER")), ScriptReply(say="second")]
        desk = Desk(clock, script, policies=Policies(retry=RetryPolicy(3, 60_000)))
        desk.at("model/retry", desk.driver.cancel)
        desk.driver.open()
        desk.driver.send("one")
        await desk.driver.run_until_idle()
        desk.driver.send("two")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert [end.status for end in desk.ends()] == [Status.CANCELLED, Status.COMPLETED]
        assert clock.now_ms() < 60_000
        assert desk.complaints() == []

    in_virtual_time(main)


@pytest.mark.conformance("78")
def test_a_cancel_of_the_surrounding_task_ends_the_pause() -> None:
    async def main(clock: Any) -> None:
        desk = Desk(clock, [ScriptReply(fail=ScriptFailure("SERVER"))], policies=Policies(retry=RetryPolicy(3, 60_000)))
        desk.driver.open()
        desk.driver.send("one")
        task = asyncio.ensure_future(desk.driver.run_until_idle())
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        desk.driver.close()
        assert [end.status for end in desk.ends()] == [Status.CANCELLED]
        assert clock.now_ms() < 60_000
        assert desk.complaints() == []

    in_virtual_time(main)


@pytest.mark.conformance("101", "152")
@pytest.mark.parametrize(("limit", "kind"), [("wall_ms", LimitKind.WALL_TIME), ("turn_wall_ms", LimitKind.TURN_TIME)])
def test_a_time_limit_ends_a_pause_that_is_longer(limit: str, kind: LimitKind) -> None:
    run = play([fail("RATE_LIMIT", retry_after_ms=900_000), {"say": "never"}], retry=THREE, limits={limit: 5_000})
    assert run.reason == LimitHit(kind, 5_000)
    assert (attempts(run), ended_ms(run)) == ([1], 5_000)
    assert wrong(run) == []


@pytest.mark.conformance("155")
@pytest.mark.parametrize("hook", ["pre_step", "turn_stopping"])
def test_a_hook_that_throws_is_not_tried_again_whatever_it_throws(hook: str) -> None:
    called: list[int] = []

    async def broken(*_: object) -> Any:
        called.append(1)
        raise ModelError("slow down", code=Code.RATE_LIMIT, retry_after_ms=1)

    async def main(clock: Any) -> None:
        desk = Desk(
            clock,
            [ScriptReply(say="x")],
            hooks=Hooks(**{hook: (broken,)}),
            policies=Policies(retry=RetryPolicy(3)),
        )
        desk.driver.open()
        desk.driver.send("one")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert [end.status for end in desk.ends()] == [Status.FAILED]
        assert all(isinstance(end.reason, Failed) and end.reason.code is Code.HOOK_FAILED for end in desk.ends())
        assert "model/retry" not in desk.kinds()
        assert len(called) == 1

    in_virtual_time(main)


@pytest.mark.conformance("11", "152")
def test_a_listener_that_throws_at_a_retry_changes_nothing() -> None:
    throw = [{"at": "model/retry", "do": "throw"}]
    run = play([fail("SERVER"), {"say": "there"}], retry=THREE, inject=throw)
    assert (run.answer, pauses(run), attempts(run)) == ("there", [1_000], [1, 2])
    assert wrong(run) == []


# ---------------------------------------------------------------- another model takes over


FALLBACK = {"fallback": {"script": [{"say": "from the other"}]}}


@pytest.mark.article("20", "21")
def test_after_the_last_attempt_the_other_model_is_asked_and_that_is_told() -> None:
    run = play([fail("SERVER")] * 2, models=FALLBACK, retry={"attempts": 2, "fallback": True})
    assert (run.status, run.answer, attempts(run)) == (Status.COMPLETED, "from the other", [1, 2, 3])
    (note,) = [fact for fact in facts(run, Note) if fact.name == MODEL_ROLE_NOTE]
    assert note.data == '"fallback"'
    assert pauses(run) == [500, 0]
    assert wrong(run) == []


@pytest.mark.article("20")
@pytest.mark.conformance("151")
@pytest.mark.parametrize("code", [*TRANSIENT, *DAMAGED, *NEVER])
def test_the_other_model_answers_what_was_worth_a_retry_and_what_only_the_main_one_refuses(code: Code) -> None:
    other = {"fallback": {**FALLBACK["fallback"], "allow_leftovers": True}}
    run = play([fail(code)], models=other, retry={"fallback": True})
    assert (run.answer == "from the other") is (code in (*TRANSIENT, Code.AUTH, Code.QUOTA))
    assert wrong(run) == []


@pytest.mark.article("20")
def test_the_other_model_has_one_attempt_and_the_next_step_begins_with_the_main_one() -> None:
    run = play(
        [fail("QUOTA"), {"say": "main again"}],
        models={"fallback": {"script": [calculate("1 + 1")]}},
        retry={"attempts": 3, "fallback": True},
    )
    assert [fact.content for fact in facts(run, AssistantMessage)] == [None, "main again"]
    assert attempts(run) == [1, 2, 1]
    assert wrong(run) == []


@pytest.mark.article("20")
@pytest.mark.conformance("149")
def test_where_the_other_model_fails_too_the_run_fails_with_its_words() -> None:
    run = play(
        [fail("SERVER"), {"say": "never"}],
        models={"fallback": {"script": [fail("SERVER", message="both down")]}},
        retry={"fallback": True},
    )
    assert run.reason == Failed(Code.SERVER, "both down (after 2 attempts)")
    assert attempts(run) == [1, 2]
    assert wrong(run) == []


def test_a_fallback_without_its_model_is_refused_by_name() -> None:
    with pytest.raises(ScenarioError, match="'models' has no 'fallback'"):
        scenario(task="x", script=[{"say": "x"}], retry={"fallback": True})


@pytest.mark.conformance("156")
def test_a_driver_whose_door_has_no_such_model_says_so() -> None:
    async def main(clock: Any) -> None:
        policy = RetryPolicy(fallback=True)
        desk = Desk(clock, [ScriptReply(fail=ScriptFailure("SERVER"))], policies=Policies(retry=policy))
        desk.driver.open()
        desk.driver.send("one")
        await desk.driver.run_until_idle()
        (end,) = desk.ends()
        assert isinstance(end.reason, Failed)
        assert end.reason.code is Code.NO_MODEL
        assert "models.fallback" in str(end.reason.message)

    in_virtual_time(main)


# ---------------------------------------------------------------- the place of context overflow


@pytest.mark.conformance("153")
@pytest.mark.parametrize(
    ("shortens", "n_overflows", "was_answered"),
    [
        pytest.param(True, 1, True, id="shortened-once"),
        pytest.param(True, 2, False, id="never-twice"),
        pytest.param(False, 1, False, id="nothing-to-shorten"),
    ],
)
def test_who_shortens_the_history_allows_exactly_one_more_attempt(
    shortens: bool, n_overflows: int, was_answered: bool
) -> None:
    called: list[int] = []

    shorter = Messages.of([ChatUser("short")])

    async def shorten() -> Messages | None:
        called.append(1)
        return shorter if shortens else None

    async def main(clock: Any) -> None:
        script = [ScriptReply(fail=ScriptFailure("CONTEXT_OVERFLOW"))] * n_overflows + [ScriptReply(say="x")]
        desk = Desk(clock, script)
        long = Messages.of([ChatUser("very long")])
        call = ModelCall((), long, JsonText("[]"), JsonText("{}"), turn=1, step=1)
        part = answered(desk.driver._desk, Turn(1, StopSignal(), 1, True), call, shorten=shorten)
        if was_answered:
            answer, attempt = await part
            assert (answer.content, attempt) == ("x", 2)
        else:
            with pytest.raises(ModelError) as told:
                await part
            assert told.value.code == Code.CONTEXT_OVERFLOW
        shown = [list(asked.messages) for asked in desk.model.asked]
        assert shown == [list(long), list(shorter)][: 1 + shortens]
        assert len(called) == 1

    in_virtual_time(main)


def test_the_timeline_tells_each_attempt() -> None:
    run = play([fail("RATE_LIMIT", message="slow down"), {"say": "x"}], retry=THREE)
    text = timeline(run.trajectory)
    assert "model error RATE_LIMIT: slow down (attempt 1)" in text
    assert "retry in 1000 ms after RATE_LIMIT (attempt 1)" in text
    assert "attempt 2" in text


def test_nothing_is_tried_again_by_default() -> None:
    assert (NO_RETRIES.attempts, NO_RETRIES.fallback) == (1, False)
    assert Policies().retry == NO_RETRIES
    assert FinalAnswer() == play([{"say": "x"}], limits={"steps": Limits().steps}).reason
