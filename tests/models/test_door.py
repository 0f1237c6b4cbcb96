"""The recording door: what was asked is in the log before it is asked, and every failure has a code."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import ConfigurationError, ModelError, RecordingFailed
from harness.models import RecordingDoor
from harness.protocols import Emit, Signal
from harness.recorder import Recorder
from harness.types.codes import Code, HeaderWhy, Origin
from harness.types.doors import Answer, ModelCall
from harness.types.exchange import AssistantChunk, ModelFailed, ModelRequest, RequestHeader
from harness.types.lifecycle import Note
from harness.types.messages import ChatSystem, JsonText
from tests.models.support import Flag, call, kinds, virtually


class Plain:
    """A model made of one function of the call."""

    name = "plain"

    def __init__(self, reply: Callable[[ModelCall, Emit], Answer]) -> None:
        self.reply = reply
        self.seen: list[ModelCall] = []

    async def answer(self, call: ModelCall, *, signal: Signal, emit: Emit) -> Answer:
        self.seen.append(call)
        return self.reply(call, emit)


def fine(_: ModelCall, __: Emit) -> Answer:
    return Answer("fine")


def failing(error: BaseException) -> Plain:
    def reply(_: ModelCall, __: Emit) -> Answer:
        raise error

    return Plain(reply)


def ask_all(model: Any, *calls: ModelCall, log: Recorder | None = None, **options: Any) -> tuple[list[Any], Recorder]:
    """Answers or errors of one door asked for each call, and its log."""

    async def main(clock: Any) -> tuple[list[Any], Recorder]:
        events = Recorder(clock) if log is None else log
        door = RecordingDoor(model, events, **options)
        results: list[Any] = []
        for asked in calls:
            try:
                results.append(await door.ask(asked, signal=Flag()))
            except Exception as error:
                results.append(error)
        return results, events

    return virtually(main)


def facts(log: Recorder, kind: type[Any]) -> list[Any]:
    return [event.fact for event in log.events if isinstance(event.fact, kind)]


def test_the_request_is_recorded_before_the_model_is_asked() -> None:
    seen: list[list[str]] = []

    async def main(clock: Any) -> None:
        log = Recorder(clock)

        def reply(_: ModelCall, __: Emit) -> Answer:
            seen.append(kinds(log))
            return Answer("x")

        await RecordingDoor(Plain(reply), log).ask(call(turn=2, step=3), signal=Flag())
        assert {(event.origin, event.turn, event.step) for event in log.events} == {(Origin.PROBE, 2, 3)}

    virtually(main)
    assert seen == [["request/header", "model/request"]]


def test_the_header_is_written_only_where_it_changed() -> None:
    same = call()
    calls = [
        same,
        same,
        replace(same, system=(ChatSystem(content="new"),)),
        replace(same, parameters=JsonText('{"seed":1}')),
    ]
    _, log = ask_all(Plain(fine), *calls)
    assert kinds(log) == ["request/header", *["model/request"] * 2, *["request/header", "model/request"] * 2]
    assert [header.why for header in facts(log, RequestHeader)] == [
        HeaderWhy.INITIAL,
        HeaderWhy.CHANGE,
        HeaderWhy.CHANGE,
    ]


def test_a_log_that_goes_on_gets_a_header_of_resumption() -> None:
    _, log = ask_all(Plain(fine), call())
    _, log = ask_all(Plain(fine), call(), call(), log=log)
    assert [header.why for header in facts(log, RequestHeader)] == [HeaderWhy.INITIAL, HeaderWhy.RESUME]


def test_a_childs_requests_carry_its_agent_and_its_own_header() -> None:
    _, log = ask_all(Plain(fine), call())
    _, log = ask_all(Plain(fine), call(), log=log, agent="c1")
    assert [(event.agent, event.fact.why) for event in log.events if isinstance(event.fact, RequestHeader)] == [
        ("", HeaderWhy.INITIAL),
        ("c1", HeaderWhy.INITIAL),
    ]


def test_the_models_own_parameters_are_recorded_and_sent() -> None:
    model = Plain(fine)
    model.parameters = JsonText('{"seed":1,"top_p":0.5}')  # type: ignore[attr-defined]
    _, log = ask_all(model, call(parameters='{"seed":2}'))
    assert facts(log, RequestHeader)[0].parameters == model.seen[0].parameters == '{"seed":2,"top_p":0.5}'


def test_chunks_are_recorded_as_they_come_and_notes_after_the_answer() -> None:
    def reply(_: ModelCall, emit: Emit) -> Answer:
        emit(JsonText('"a"'))
        return Answer("a", notes=("the first of 2 choices was taken",))

    _, log = ask_all(Plain(reply), replace(call(), attempt=2))
    assert facts(log, AssistantChunk) == [AssistantChunk(JsonText('"a"'), attempt=2)]
    assert facts(log, ModelRequest)[0].attempt == 2
    assert kinds(log)[-1] == "note"
    assert facts(log, Note) == [Note("model/answer", JsonText('"the first of 2 choices was taken"'))]


class Unrenderable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.conformance("149", "150")
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        pytest.param(ModelError("slow", code="RATE_LIMIT"), Code.RATE_LIMIT, "slow", id="code"),
        pytest.param(
            ModelError(""), Code.UNKNOWN, "the model failed without a message (UNKNOWN)", id="no-code-no-message"
        ),
        pytest.param(ModelError("odd", code="NEW_CODE"), Code.UNKNOWN, "odd", id="unknown-code"),
        pytest.param(ValueError("key sk-123"), Code.INTERNAL, "the model raised ValueError", id="foreign"),
        pytest.param(Unrenderable(), Code.INTERNAL, "the model raised Unrenderable", id="unrenderable"),
        pytest.param(
            ConfigurationError("say so"), Code.INTERNAL, "the model raised ConfigurationError: say so", id="ours"
        ),
    ],
)
def test_a_failure_is_recorded_with_code_and_message_and_raised(error: Exception, code: Code, message: str) -> None:
    (raised,), log = ask_all(failing(error), call())
    assert facts(log, ModelFailed) == [ModelFailed(code, message)]
    assert isinstance(raised, ModelError)
    assert raised is error or raised.code == "INTERNAL"
    assert str(raised) == message


def test_texts_of_failures_are_redacted() -> None:
    def redact(text: str) -> str:
        return text.replace("sk-123", "<secret>")

    (foreign,), log = ask_all(failing(ValueError("key sk-123")), call(), redact=redact)
    assert facts(log, ModelFailed)[0].message == str(foreign) == "the model raised ValueError: key <secret>"
    error = ModelError("key sk-123", code="AUTH", retry_after_ms=5)
    error.body = "{}"
    (ours,), log = ask_all(failing(error), call(), redact=redact)
    assert (str(ours), ours.code, ours.retry_after_ms, ours.body) == ("key <secret>", "AUTH", 5, "{}")


@pytest.mark.conformance("156")
def test_without_a_model_a_request_fails_clearly() -> None:
    (error,), log = ask_all(None, call())
    assert isinstance(error, ModelError)
    assert error.code == "NO_MODEL"
    assert "give the scenario a script" in str(error)
    assert kinds(log) == ["request/header", "model/request", "model/error"]


def test_a_recording_that_fails_is_not_taken_for_a_failure_of_the_model() -> None:
    (error,), log = ask_all(failing(RecordingFailed("disk full")), call())
    assert isinstance(error, RecordingFailed)
    assert facts(log, ModelFailed) == []


def test_cancellation_passes_through_and_is_no_failure() -> None:
    (log,) = [None]

    async def main(clock: Any) -> Recorder:
        events = Recorder(clock)
        with pytest.raises(asyncio.CancelledError):
            await RecordingDoor(failing(asyncio.CancelledError()), events).ask(call(), signal=Flag())
        return events

    log = virtually(main)
    assert kinds(log) == ["request/header", "model/request"]
