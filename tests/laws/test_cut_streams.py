"""A sample of `make cut-streams`, and what the program must find and distrust."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.models import chat_model_over
from harness.models.profiles import profile_of_host
from harness.runner import RunOptions, RunSpec, execute
from harness.runner.specs import ModelSource
from harness.scenarios import parse_scenario
from harness.types.codes import FinishReason, Status
from harness.types.exchange import AssistantMessage, ToolStart
from harness.types.lifecycle import RunEnd
from harness.types.messages import JsonText
from harness.types.model_spec import ModelApi
from harness.wire.streams import AnswerStream, ChatStream
from tests.laws.cut_streams import FOREIGN, REFUSED, TOOLS, from_the_beginning, judge, outcomes, reader_of
from tests.laws.streamed_bodies import Body, finish_at, framed, recorded_bodies, scripted_bodies
from tests.models.bodies import delta, streamed

REPO = Path(__file__).resolve().parents[2]
CALL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "6 * 7"}'}}
WITH_A_CALL = Body("one call", ModelApi.CHAT, framed([*map(json.dumps, (delta(content="ä 🌞"), delta(tool_calls=[CALL]), delta("tool_calls"))), "[DONE]"]))
SCRIPTED = [body for number, body in enumerate(scripted_bodies([REPO / "scenarios"])) if number % 23 == 0]


@pytest.mark.conformance("6", "98", "145")
def test_no_cut_of_a_scripted_stream_before_its_finish_reason_is_an_answer() -> None:
    totals = judge(SCRIPTED)
    assert totals.violations == []
    assert {api for api, number in totals.n_bodies.items() if number >= 5} == {"chat", "responses"}
    assert totals.n_cuts["from it on: " + TOOLS] > 0  # so that what must not come early does come


@pytest.mark.conformance("6")
def test_no_cut_of_a_recorded_stream_before_its_finish_reason_is_an_answer(shared: Path) -> None:
    bodies = list(recorded_bodies(shared / "data" / "cassettes"))
    assert (len(bodies), sum(body.api is ModelApi.RESPONSES for body in bodies)) == (43, 2)
    totals = judge(bodies)
    assert totals.violations == []
    assert totals.n_cuts.total() > 390_000


@pytest.mark.parametrize("body", [pytest.param(body, id=body.name) for body in (WITH_A_CALL, *SCRIPTED[:12])])
def test_reading_on_gives_for_each_cut_what_reading_anew_gives(body: Body) -> None:
    step = max(1, len(body.data) // 150)
    found = list(outcomes(body))
    assert len(found) == len(body.data) + 1
    cuts = {*range(0, len(found), step), *range(max(0, len(found) - 60), len(found)), *range(finish_at(body) - 5, min(len(found), finish_at(body) + 5))}
    assert [(cut, found[cut]) for cut in sorted(cuts) if found[cut] != from_the_beginning(body, cut)] == []


class Lax(ChatStream):
    """A reader that takes what came for an answer."""

    def answer(self) -> Any:
        return replace(super().answer(), finish_reason=FinishReason.STOP)


class Broken(ChatStream):
    """A reader out of which something else than an error of ours comes."""

    def feed(self, data: bytes) -> Iterator[JsonText]:
        if b"}" in data:
            raise KeyError("choices")
        return super().feed(data)


class Eager(ChatStream):
    """A reader that looks at an event whose line has not ended."""

    def answer(self) -> Any:
        if self._decoder._line and self._decoder._line.endswith(b'"finish_reason": "tool_calls"'):
                return replace(super().answer(), finish_reason=FinishReason.TOOL_CALLS)
        return super().answer()


@pytest.mark.parametrize(("reader", "words"), [(Lax, "completed"), (Broken, f"{FOREIGN} KeyError")])
def test_a_reader_that_breaks_the_law_is_found(reader: type[AnswerStream], words: str) -> None:
    (violation,) = judge([WITH_A_CALL], lambda _: reader()).violations
    assert words in violation


def test_a_shortcut_that_is_not_honest_would_be_seen_by_the_comparison() -> None:
    """Eager changes its mind without an event: reading on does not notice, reading anew does."""
    found = list(outcomes(WITH_A_CALL, lambda _: Eager()))
    assert any(found[cut] != from_the_beginning(WITH_A_CALL, cut, lambda _: Eager()) for cut in range(len(found)))


def test_the_place_of_the_finish_reason_is_the_end_of_its_line() -> None:
    at = finish_at(WITH_A_CALL)
    assert WITH_A_CALL.data[:at].endswith(b"}")
    assert b"finish_reason\": \"tool_calls" in WITH_A_CALL.data[at - 100 : at]
    assert finish_at(replace(WITH_A_CALL, data=WITH_A_CALL.data[: at - 1])) == at  # none any more: behind the body
    never = replace(WITH_A_CALL, data=framed([json.dumps(delta(content="x")), "[DONE]"]), profile=profile_of_host("a.snowflakecomputing.com"))
    assert never.data[finish_at(never) - 6 : finish_at(never)] == b"[DONE]"


SCENARIO = parse_scenario("format: harness-scenario/1\ntask: What is 6 * 7?\ntools: [calculator]\nlimits: {steps: 1}\n", "cut.yaml")
cut_at = 0


def cut_model(scenario: Any, clock: Any) -> Any:
    """A model over HTTP whose connection ends behind byte ``cut_at``."""
    return chat_model_over(streamed(WITH_A_CALL.data[:cut_at]), name="m", stream=True)


cut_model.clock = "virtual"  # type: ignore[attr-defined]


@pytest.mark.conformance("6", "98", "145")
def test_the_loop_starts_no_tool_for_a_stream_that_was_cut() -> None:
    global cut_at
    limit = finish_at(WITH_A_CALL)
    for cut_at in (*range(0, limit, 29), limit - 1, limit, limit + 2, len(WITH_A_CALL.data)):
        spec = RunSpec(SCENARIO, RunOptions(source=ModelSource.OWN, model=f"{__name__}:cut_model"))
        facts = [event.fact for event in execute(spec).trajectory]
        (end,) = [fact for fact in facts if isinstance(fact, RunEnd)]
        n_starts = sum(isinstance(fact, ToolStart) for fact in facts)
        n_whole = sum(isinstance(fact, AssistantMessage) and not fact.interrupted for fact in facts)
        if cut_at <= limit + 1:
            assert (end.status, n_starts, n_whole) == (Status.FAILED, 0, 0), cut_at
        else:
            assert (end.status, n_starts, n_whole) == (Status.LIMIT_REACHED, 1, 1), cut_at


def test_the_readers_are_those_of_the_adapters() -> None:
    from harness.models import openai_chat, openai_responses

    assert type(reader_of(ModelApi.CHAT)) is openai_chat.ChatStream
    assert type(reader_of(ModelApi.RESPONSES)) is openai_responses.ResponsesStream
    assert from_the_beginning(WITH_A_CALL, 0) == REFUSED
