"""Real recorded streams: at the pace at which they came, cancelled in the middle, and recorded without their cancels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.runner import ModelSource, RunOptions, RunResult, RunSpec, cassettes_of, execute
from harness.scenarios import collect
from harness.types.codes import Outcome
from harness.types.exchange import AssistantChunk, AssistantMessage
from harness.types.scenario import Boundary, CancelAction, Injection, Scenario
from tests.cli.endpoint import calls, endpoint, says
from tests.conftest import REPO

RECORDED = {one.id.removeprefix("recorded/"): one for one in collect([REPO / "scenarios" / "recorded"], configured=())}
OPTIONS = RunOptions(cassettes=REPO / "cassettes")
STREAMED = sorted(name for name, one in RECORDED.items() if one.model is not None and one.model.stream)


def replayed(one: Scenario) -> RunResult:
    return execute(RunSpec(one, OPTIONS))


def chunks(run: RunResult) -> list[int | None]:
    """Times of the pieces, in ms."""
    return [event.time for event in run.trajectory if isinstance(event.fact, AssistantChunk)]


def timed(one: Scenario, *, timing: bool) -> Scenario:
    assert one.model is not None
    return replace(one, model=replace(one.model, timing=timing), inject=())


@pytest.mark.parametrize("name", STREAMED)
def test_pieces_come_when_they_came_and_without_it_all_at_once(name: str) -> None:
    whole = replace(RECORDED[name], expect=replace(RECORDED[name].expect))
    at_once, paced = (chunks(replayed(timed(whole, timing=timing))) for timing in (False, True))
    assert set(at_once) == {0}
    assert len(paced) == len(at_once)
    assert paced == sorted(paced)  # type: ignore[type-var]
    assert paced[-1] is not None
    assert paced[-1] > 500, "a real model takes its time"


@pytest.mark.conformance("69", "70")
@pytest.mark.parametrize("name", ["streamed_cancelled", "responses_streamed_cancelled"])
@pytest.mark.parametrize("nth", [1, 2, 7])
def test_a_cancel_in_any_piece_of_a_recording_takes_no_further_one(name: str, nth: int) -> None:
    one = RECORDED[name]
    run = replayed(replace(one, inject=(Injection(Boundary("assistant/chunk", nth=nth), CancelAction()),)))
    assert run.outcome is Outcome.PASS, run.verdicts
    assert len(chunks(run)) == nth
    kept = [event.fact for event in run.trajectory if isinstance(event.fact, AssistantMessage)]
    assert all(message.interrupted for message in kept)


def test_a_cancel_at_a_time_meets_the_stream_only_at_its_pace() -> None:
    one = RECORDED["streamed_cancelled_at_a_time"]
    later = Injection(Boundary("assistant/chunk", after_ms=500), CancelAction())
    paced = replayed(replace(one, inject=(later,)))
    assert paced.status == "cancelled"
    assert 1 < len(chunks(paced)) < len(chunks(replayed(timed(one, timing=True))))


def test_a_scenario_that_is_cancelled_is_recorded_whole_and_judged_when_it_is_replayed(tmp_path: Path) -> None:
    from harness.scenarios import parse_scenario

    text = """\
format: harness-scenario/1
task: What is 6 * 7?
tools: [calculator]
model: local-model
allow_leftovers: true
inject: [{at: tool/start, do: cancel}]
expect: {status: cancelled, steps: 1}
"""
    one = parse_scenario(text, "one.yaml", "one")

    def answer(body: dict[str, object]) -> dict[str, object]:
        last = body["messages"][-1]  # type: ignore[index]
        return says("42") if last["role"] == "tool" else calls("calculator", expression="6 * 7")

    with endpoint(answer) as url:  # type: ignore[arg-type]
        environ = (("OPENAI_API_KEY", "local-key-0123456789"), ("OPENAI_BASE_URL", url))
        spec = RunSpec(one, RunOptions(source=ModelSource.RECORD, cassettes=tmp_path, environ=environ))
        recorded = execute(spec)
    assert (recorded.status, recorded.n_steps, recorded.outcome) == ("completed", 2, Outcome.PASS)
    assert cassettes_of(spec)[0].exists()
    again = execute(RunSpec(one, RunOptions(cassettes=tmp_path)))
    assert (again.status, again.outcome) == ("cancelled", Outcome.PASS)
    assert "1 left over, as allowed" in str(again.verdicts)
    strict = execute(RunSpec(replace(one, allow_leftovers=False), RunOptions(cassettes=tmp_path)))
    assert strict.outcome is Outcome.FAIL
