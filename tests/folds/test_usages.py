"""What a run took is counted once for each request, by summary, segments and budget alike."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from harness.compare import align, segments_of
from harness.folds import Budget, summarise, told_usages
from harness.types.codes import Code, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest
from harness.types.facts import Fact
from harness.types.limits import Limits
from harness.types.messages import Messages
from harness.types.reasons import Usage
from tests.compare.made import header
from tests.loop.lab import play
from tests.strategies import trajectories

ENDLESS = Limits(tokens=10**30)
ASKED = ModelRequest(Messages.of([]))
TOLD = Usage(100, 7)
FAILED = ModelFailed(Code.SERVER, "broke", usage=TOLD)
SILENT = ModelFailed(Code.TRANSPORT, "broke")
PREFIX = AssistantMessage("Hal", interrupted=True, usage=TOLD)
WHOLE = AssistantMessage("Hallo", usage=Usage(50, 5))


def run_of(*facts: Fact | tuple[str, Fact]) -> Trajectory:
    named = [one if isinstance(one, tuple) else ("", one) for one in facts]
    events = (Event(seq, fact, Origin.PROBE, seq, agent) for seq, (agent, fact) in enumerate(named))
    return Trajectory(header(), tuple(events), source="made")


def budgeted(run: Trajectory) -> Budget:
    return Budget(ENDLESS).catch_up(run.events)


@pytest.mark.conformance("70", "144")
@pytest.mark.parametrize(
    ("facts", "n_tokens"),
    [
        pytest.param((ASKED, FAILED, PREFIX), 107, id="a-broken-stream-says-it-twice"),
        pytest.param((ASKED, SILENT, PREFIX), 107, id="its-prefix-alone-says-it"),
        pytest.param((ASKED, PREFIX), 107, id="cancelled"),
        pytest.param((ASKED, FAILED), 107, id="nothing-could-be-seen"),
        pytest.param((ASKED, FAILED, replace(ASKED, attempt=2), WHOLE), 162, id="tried-again"),
        pytest.param((ASKED, FAILED, ASKED, PREFIX), 214, id="two-requests-of-one-attempt"),
        pytest.param((ASKED, FAILED, replace(ASKED, attempt=2), replace(PREFIX, attempt=2)), 214, id="two-attempts"),
        pytest.param((ASKED, ("c", ASKED), ("c", FAILED), PREFIX, ("c", PREFIX)), 214, id="a-child-beside-it"),
        pytest.param((ASKED, FAILED, WHOLE), 162, id="a-whole-answer-always-counts"),
    ],
)
def test_each_request_counts_once(facts: tuple[Fact, ...], n_tokens: int) -> None:
    run = run_of(*facts)
    summary = summarise(run, (), "")
    assert (summary.input_tokens or 0) + (summary.output_tokens or 0) == n_tokens
    assert budgeted(run).n_tokens == n_tokens
    took = [segment.base for segment in segments_of(align(run, run, None))]
    assert sum((one.input_tokens or 0) + (one.output_tokens or 0) for one in took if one) == n_tokens


@given(trajectories())
def test_a_budget_counts_what_the_run_says_that_it_took(run: Trajectory) -> None:
    told = [(usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in told_usages(run)]
    assert budgeted(run).n_tokens == sum(told)


def test_a_stream_that_reports_its_usage_and_breaks_is_paid_once() -> None:
    tokens = {"prompt_tokens": 100, "completion_tokens": 7}
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hal"}}], "usage": tokens}
    error = {"error": {"message": "broke", "type": "invalid_request_error", "code": "invalid"}}
    run = play([{"chunks": [chunk, error]}])
    kinds = [type(event.fact) for event in run.trajectory if getattr(event.fact, "usage", None)]
    assert kinds == [ModelFailed, AssistantMessage]
    assert list(told_usages(run.trajectory)) == [Usage(100, 7)]
