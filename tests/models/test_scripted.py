"""The scripted model says what its script says, and a script that does not fit fails loudly."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from harness.errors import InvalidValueError, ModelError, ScriptExhausted
from harness.models import ScriptedModel
from harness.types.codes import FinishReason, Outcome
from harness.types.doors import Answer, AnsweredCall, ModelCall
from harness.types.messages import ChatAssistant, ChatCall, ChatTool, ChatUser, JsonText
from harness.types.reasons import Usage
from harness.types.script import ScriptBranch, ScriptCall, ScriptCase, ScriptFailure, ScriptFollows, ScriptReply, When
from tests.models.support import Flag, call, ignore, virtually

SAY = ScriptReply(say="done")
GO = ScriptReply(calls=(ScriptCall("go", "{}"),))


def unknown(name: str) -> Any:
    raise AssertionError(f"nothing asked for {name!r}")


def ask_all(
    script: Any,
    *calls: ModelCall,
    resolve: Callable[[str], Any] = unknown,
    allow_leftovers: bool = False,
) -> tuple[list[Answer | ModelError], ScriptedModel, int]:
    """Ask once for each call; answers and failures in order, the model, and how long it took (ms)."""

    async def main(clock: Any) -> tuple[list[Answer | ModelError], ScriptedModel, int]:
        model = ScriptedModel(
            script, scenario="family/refund", clock=clock, resolve=resolve, allow_leftovers=allow_leftovers
        )
        answers: list[Answer | ModelError] = []
        for asked in calls:
            try:
                answers.append(await model.answer(asked, signal=Flag(), emit=ignore))
            except ModelError as error:
                answers.append(error)
        return answers, model, clock.now_ms()

    return virtually(main)


def outcome(model: ScriptedModel) -> tuple[Outcome, list[str]]:
    (verdict,) = model.closing_verdicts()
    assert verdict.check == "script"
    return verdict.outcome, [finding.message for finding in verdict.findings]


# ---------------------------------------------------------------- replies


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(SAY, Answer("done", finish_reason=FinishReason.STOP, raw_finish_reason="stop"), id="say"),
        pytest.param(
            ScriptReply(say="wait", calls=(ScriptCall("go", "{"), ScriptCall("go", None, id=""), ScriptCall(None, "", no_id=True))),
            Answer(
                "wait",
                calls=(AnsweredCall("go", "{", "call_1_0"), AnsweredCall("go", None, ""), AnsweredCall(None, "", None)),
                finish_reason=FinishReason.TOOL_CALLS,
                raw_finish_reason="tool_calls",
            ),
            id="calls",
        ),
        pytest.param(
            ScriptReply(say="a", finish="length"),
            Answer("a", finish_reason=FinishReason.LENGTH, raw_finish_reason="length"),
            id="finish",
        ),
        pytest.param(ScriptReply(say="a", finish=""), Answer("a"), id="no-finish"),
        pytest.param(ScriptReply(empty=True), Answer(finish_reason=FinishReason.STOP, raw_finish_reason="stop"), id="empty"),
        pytest.param(
            ScriptReply(say="a", reasoning="r", refusal="no", input_tokens=3),
            Answer("a", reasoning="r", refusal="no", finish_reason=FinishReason.STOP, raw_finish_reason="stop", usage=Usage(input_tokens=3)),
            id="everything-else",
        ),
        pytest.param("done", Answer("done", finish_reason=FinishReason.STOP, raw_finish_reason="stop"), id="python-text"),
        pytest.param(Answer("mine"), Answer("mine"), id="python-answer"),
        pytest.param(lambda asked: f"{len(asked.messages)} messages", Answer("1 messages", finish_reason=FinishReason.STOP, raw_finish_reason="stop"), id="python-function"),
    ],
)  # fmt: skip
def test_a_reply_becomes_its_answer(reply: Any, expected: Answer) -> None:
    answers, model, _ = ask_all([reply], call())
    assert answers == [expected]
    assert outcome(model)[0] is Outcome.PASS


def test_made_up_call_ids_name_reply_and_index() -> None:
    two = ScriptReply(calls=(ScriptCall("a", "{}"), ScriptCall("b", "{}")))
    answers, _, _ = ask_all([GO, two], call(), call())
    assert [made.wire_id for answer in answers for made in answer.calls] == ["call_1_0", "call_2_0", "call_2_1"]  # type: ignore[union-attr]


def test_a_raw_response_is_read_as_if_it_came_over_the_network_and_kept_verbatim() -> None:
    raw = JsonText('{"choices": [{"message": {"content": null, "tool_calls": [{"id": ""}]}, "finish_reason": "eos"}]}')
    answers, _, _ = ask_all([ScriptReply(raw=raw), ScriptReply(raw=JsonText('{"choices": []}'))], call(), call())
    good, bad = answers
    assert isinstance(good, Answer)
    assert (good.calls[0].wire_id, good.raw_finish_reason, good.raw) == ("", "eos", raw)
    assert isinstance(bad, ModelError)
    assert bad.code == "DAMAGED_RESPONSE"


async def _later(asked: ModelCall) -> ScriptReply:
    await asyncio.sleep(3)
    return ScriptReply(say=f"step {asked.step}")


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda asked: ScriptReply(say=f"step {asked.step}"), id="plain"),
        pytest.param(_later, id="async"),
        pytest.param(lambda asked: Answer(f"step {asked.step}"), id="gives-an-answer"),
    ],
)
def test_a_named_function_gives_the_reply_of_the_request(function: Any) -> None:
    names: list[str] = []

    def resolve(name: str) -> Any:
        names.append(name)
        return function

    answers, _, _ = ask_all([ScriptReply(function="pack.age:name")], call(step=7), resolve=resolve)
    assert isinstance(answers[0], Answer)
    assert answers[0].content == "step 7"
    assert names == ["pack.age:name"]


def test_something_that_is_no_reply_is_refused_by_its_type() -> None:
    with pytest.raises(InvalidValueError, match=r"'family/refund', reply 1: int is no reply"):
        ask_all([7], call())


def test_a_delay_passes_on_the_runs_clock() -> None:
    _, _, took_ms = ask_all([ScriptReply(say="late", delay_ms=3_600_000)], call())
    assert took_ms == 3_600_000


def test_a_failure_uses_up_its_own_entry_only() -> None:
    fail = ScriptReply(fail=ScriptFailure("RATE_LIMIT", "slow down", 2000))
    answers, model, _ = ask_all([fail, SAY], call(), call())
    assert isinstance(answers[0], ModelError)
    assert (answers[0].code, str(answers[0]), answers[0].retry_after_ms) == ("RATE_LIMIT", "slow down", 2000)
    assert isinstance(answers[1], Answer)
    assert answers[1].content == "done"
    assert outcome(model)[0] is Outcome.PASS


def test_a_python_script_may_hold_a_failure() -> None:
    (error,), _, _ = ask_all([ModelError("no", code="SERVER")], call())
    assert isinstance(error, ModelError)
    assert error.code == "SERVER"


def test_the_model_keeps_what_it_was_asked() -> None:
    calls = [call(step=1), call(step=2)]
    _, model, _ = ask_all([GO, SAY], *calls)
    assert model.asked == calls


def test_a_reply_that_hangs_ends_when_the_signal_is_set() -> None:
    async def main(clock: Any) -> str:
        model = ScriptedModel([ScriptReply(hang=True)], scenario="s", clock=clock, resolve=unknown)
        signal = Flag()
        asyncio.get_running_loop().call_later(5, signal.set)
        with pytest.raises(ModelError) as caught:
            await model.answer(call(), signal=signal, emit=ignore)
        assert clock.now_ms() == 5000
        return caught.value.code

    assert virtually(main) == "PROVIDER_ABORTED"


def test_a_reply_that_hangs_lets_cancellation_through() -> None:
    async def main(clock: Any) -> None:
        model = ScriptedModel([ScriptReply(hang=True)], scenario="s", clock=clock, resolve=unknown)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await model.answer(call(), signal=Flag(), emit=ignore)

    virtually(main)


# ---------------------------------------------------------------- too short, too long


@pytest.mark.conformance("157")
@pytest.mark.public_case("PB-050")
def test_a_script_that_is_too_short_names_scenario_place_request_and_what_to_do() -> None:
    answers, model, _ = ask_all([GO], call(), call(turn=1, step=2))
    error = answers[1]
    assert isinstance(error, ScriptExhausted)
    assert error.code == "SCRIPT_EXHAUSTED"
    assert str(error) == (
        "'family/refund' asked for request 2 but its script has 1 reply (turn 1, step 2, reply 2). "
        "Add a reply to the script, or lower limits.steps."
    )
    assert outcome(model) == (Outcome.FAIL, [str(error)])


@pytest.mark.conformance("157")
@pytest.mark.public_case("PB-050")
def test_a_script_that_is_too_long_fails_the_run_and_counts_what_is_unused() -> None:
    _, model, _ = ask_all([SAY, SAY, SAY], call())
    assert outcome(model) == (
        Outcome.FAIL,
        ["'family/refund': 2 replies unused after 1 request. Remove them from the script, or say allow_leftovers."],
    )


@pytest.mark.public_case("PB-050")
def test_leftovers_may_be_allowed_but_a_dry_script_may_not() -> None:
    _, model, _ = ask_all([SAY, SAY], call(), allow_leftovers=True)
    assert outcome(model) == (Outcome.PASS, [])
    _, model, _ = ask_all([SAY], call(), call(), allow_leftovers=True)
    assert outcome(model)[0] is Outcome.FAIL


@pytest.mark.public_case("PB-050")
def test_an_empty_script_is_dry_at_the_first_request_and_again_at_the_next() -> None:
    answers, _, _ = ask_all([], call(turn=None, step=None), call())
    assert [type(answer) for answer in answers] == [ScriptExhausted, ScriptExhausted]
    assert "asked for request 1 but its script has 0 replies (reply 1)." in str(answers[0])


def test_a_script_under_history_that_is_dry_tells_the_answers_shown_and_the_replies_it_has() -> None:
    shown = (ChatUser("go"), *(ChatAssistant(text) for text in "abc"))

    async def main(clock: Any) -> list[str]:
        model = ScriptedModel([SAY, SAY, SAY], scenario="refund", clock=clock, resolve=unknown, follows=ScriptFollows.HISTORY)
        for _ in range(5):  # runs that begin anew
            await model.answer(call(), signal=Flag(), emit=ignore)
        with pytest.raises(ScriptExhausted) as error:
            await model.answer(call(*shown), signal=Flag(), emit=ignore)
        assert outcome(model)[1][0] == str(error.value)
        return [str(error.value)]

    assert virtually(main) == [
        "'refund': a request shows 3 answers, and its script has 3 replies (turn 1, step 1). Add a reply to the script."
    ]


# ---------------------------------------------------------------- branches


def branch(*cases: tuple[When, str]) -> ScriptBranch:
    return ScriptBranch(tuple(ScriptCase(when, (ScriptReply(say=text),)) for when, text in cases))


def shown(result: str, *, name: str | None = None) -> ModelCall:
    made = ChatAssistant(tool_calls=(ChatCall("c1", "search", "{}"), ChatCall("c2", "read", "{}")))
    return call(
        ChatUser(content="go"),
        made,
        ChatTool(call_id="c1", content=result, name=name),
        ChatTool(call_id="c2", content="book"),
    )


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        pytest.param(shown("nothing found"), "none", id="result-by-call"),
        pytest.param(shown("nothing found", name="search"), "none", id="result-by-name"),
        pytest.param(shown("three hits"), "some", id="falls-to-the-next-case"),
        pytest.param(call(ChatUser(content="nothing found")), "last", id="no-result-of-that-tool"),
    ],
)
def test_a_branch_takes_the_first_case_that_holds(asked: ModelCall, expected: str) -> None:
    script = branch(
        (When(tool="search", matches="nothing"), "none"),
        (When(tool="search"), "some"),
        (When(matches="found$"), "last"),
    )
    answers, model, _ = ask_all([script], asked)
    assert isinstance(answers[0], Answer)
    assert answers[0].content == expected
    assert outcome(model)[0] is Outcome.PASS


def test_after_a_case_the_script_goes_on_behind_its_branch() -> None:
    inner = ScriptBranch((ScriptCase(When(), (SAY, branch((When(), "inner")))),))
    answers, model, _ = ask_all([inner, ScriptReply(say="behind")], call(), call(), call())
    assert [answer.content for answer in answers if isinstance(answer, Answer)] == ["done", "inner", "behind"]
    assert outcome(model)[0] is Outcome.PASS


def test_replies_left_inside_a_case_are_counted() -> None:
    inner = ScriptBranch((ScriptCase(When(), (SAY, SAY)),))
    _, model, _ = ask_all([inner, SAY], call())
    assert "2 replies unused" in outcome(model)[1][0]


def test_a_branch_without_a_case_that_holds_is_dry() -> None:
    answers, model, _ = ask_all([branch((When(matches="x"), "a"), (When(tool="t"), "b"))], call())
    assert isinstance(answers[0], ScriptExhausted)
    assert "none of 2 cases of a branch fits what it was shown" in str(answers[0])
    assert outcome(model)[0] is Outcome.FAIL


def test_a_condition_may_be_a_function_of_the_request() -> None:
    script = branch((When(function="m:late"), "late"), (When(), "early"))
    answers, _, _ = ask_all([script], call(step=9), resolve=lambda name: lambda asked: asked.step > 5)
    assert isinstance(answers[0], Answer)
    assert answers[0].content == "late"


@pytest.mark.parametrize(
    ("when", "words"),
    [
        pytest.param(When(matches="("), "no regular expression", id="pattern"),
        pytest.param(When(function="m:f"), "is async", id="async-condition"),
    ],
)
def test_a_condition_that_cannot_be_asked_is_refused(when: When, words: str) -> None:
    class Awaited:
        def __await__(self) -> Any: ...

    with pytest.raises(InvalidValueError, match=words):
        ask_all([branch((when, "x"))], call(), resolve=lambda name: lambda asked: Awaited())


def test_a_script_that_follows_the_history_answers_a_loop_that_begins_anew_as_at_first() -> None:
    said = ChatAssistant("one", None, None, ())
    shown = [[], [said], [], [said], [said, said]]

    async def main(clock: Any) -> list[object]:
        model = ScriptedModel(
            [ScriptReply(say="one"), ScriptReply(say="two")],
            scenario="s",
            clock=clock,
            resolve=unknown,
            follows=ScriptFollows.HISTORY,
        )
        answers: list[object] = []
        for messages in shown:
            try:
                answers.append((await model.answer(call(ChatUser("x"), *messages), signal=Flag(), emit=ignore)).content)
            except ScriptExhausted as error:
                answers.append(str(error))
        return answers

    *texts, dry = virtually(main)
    assert texts == ["one", "two", "one", "two"]
    assert "has 2 replies" in str(dry)
