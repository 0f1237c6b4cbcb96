"""Verdicts of a trajectory: what was asked for, what was noted, and what the world is to blame for."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.errors import InvalidValueError
from harness.folds import outcome_of
from harness.runner import RunOptions, executing, judge, plan, run_one
from harness.runner.answers import endpoint_verdicts
from harness.store import open_sink
from harness.testing import scenario
from harness.types.codes import Code, Origin, Outcome
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelFailed
from harness.types.lifecycle import Note
from harness.types.records import Verdict

HELLO = scenario(task="x", script=[{"say": "x"}], expect={"steps": 9})


def noted(trajectory: Trajectory, name: str, data: str, origin: Origin = Origin.PROBE) -> Trajectory:
    """The trajectory with one more note before its last line."""
    *events, last = trajectory.events
    note = Event(len(events), Note(name, data), origin, last.time)
    return replace(trajectory, events=(*events, note, replace(last, seq=last.seq + 1)))


def outcomes(verdicts: Sequence[Verdict]) -> dict[str, Outcome]:
    return {verdict.check: verdict.outcome for verdict in verdicts}


def test_an_expectation_that_the_world_did_not_let_the_loop_meet_is_open_and_no_failure() -> None:
    failed = HELLO.run().trajectory
    assert outcomes(judge(failed))["expected_counts"] is Outcome.FAIL
    error = noted(failed, "verdicts", '[{"check":"endpoint","outcome":"ERROR"},{"check":"script","outcome":"FAIL"}]')
    found = outcomes(judge(error))
    assert found["expected_counts"] is Outcome.INCONCLUSIVE
    assert found["script"] is Outcome.INCONCLUSIVE
    assert found["pairing"] is not Outcome.INCONCLUSIVE
    assert outcome_of(judge(error)) is Outcome.ERROR


def test_what_a_check_finds_wrong_stays_wrong_whatever_the_world_did() -> None:
    run = scenario(
        task="x", tools=["calculator"], script=[{"call": {"calculator": {"expression": "1"}}}, {"say": "x"}]
    ).run()
    events = tuple(event for event in run.trajectory.events if event.fact.TYPE != "tool/result")
    broken = replace(run.trajectory, events=tuple(replace(event, seq=i) for i, event in enumerate(events)))
    verdicts = judge(noted(broken, "verdicts", '[{"check":"endpoint","outcome":"ERROR"}]'))
    assert outcomes(verdicts)["pairing"] is Outcome.FAIL
    assert outcome_of(verdicts) is Outcome.FAIL


def test_a_check_that_a_scenario_asks_for_and_nothing_can_show_is_open() -> None:
    fields = {"task": "x", "script": [{"say": "x"}]}
    assert outcomes(scenario(**fields).run().verdicts)["cancel_settled"] is Outcome.NOT_APPLICABLE
    run = scenario(**fields, checks=["cancel_settled"]).run()
    unseen = replace(run.trajectory.header, observed=())
    found = outcomes(judge(replace(run.trajectory, header=unseen)))
    assert found["cancel_settled"] is Outcome.INCONCLUSIVE
    assert found["pairing"] is Outcome.NOT_APPLICABLE


PLAIN = {"task": "x", "script": [{"say": "x"}]}
ASKED_OF_PLAIN = pytest.mark.parametrize(
    ("fields", "named", "outcome"),
    [
        pytest.param({}, ["answer"], Outcome.INVALID, id="named-and-nothing-to-judge"),
        pytest.param({}, ["answer", "pairing"], Outcome.INVALID, id="several-and-nothing-to-judge"),
        pytest.param({"checks": ["pairing"]}, None, Outcome.INVALID, id="asked-by-the-scenario"),
        pytest.param({}, ["answer", "termination"], Outcome.PASS, id="one-of-two-decides"),
        pytest.param({"expect": {"steps": 1}}, ["pairing"], Outcome.PASS, id="an-expectation-decides"),
        pytest.param(
            {"checks": ["pairing"]}, ["termination"], Outcome.PASS, id="another-than-the-scenario-asks-decides"
        ),
        pytest.param({}, None, Outcome.PASS, id="nothing-is-asked-for"),
    ],
)


@ASKED_OF_PLAIN
def test_checks_of_which_none_has_anything_to_judge_are_no_pass(
    fields: dict[str, Any], named: list[str] | None, outcome: Outcome
) -> None:
    run = scenario(**PLAIN, **fields).run(checks=named)
    assert run.outcome is outcome
    if outcome is Outcome.INVALID:
        (told,) = [verdict for verdict in run.verdicts if verdict.check == "asked_checks"]
        assert told.why.startswith("nothing was really checked (")
        assert run.exit_code == 4


def test_only_the_harness_own_notes_are_verdicts() -> None:
    text = '[{"check":"mine","outcome":"ERROR"}]'
    assert "mine" not in outcomes(judge(noted(HELLO.run().trajectory, "verdicts", text, Origin.SUBJECT)))


@pytest.mark.parametrize("data", ["{}", "[", "3"])
def test_a_damaged_note_is_told_by_its_event(data: str) -> None:
    trajectory = noted(HELLO.run().trajectory, "verdicts", data)
    with pytest.raises(InvalidValueError, match=f"event {len(trajectory) - 2}"):
        judge(trajectory)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        pytest.param(Code.TRANSPORT, 1, id="unreachable"),
        pytest.param(Code.TIMEOUT, 1, id="time-out"),
        pytest.param(Code.AUTH, 1, id="key-refused"),
        pytest.param(Code.QUOTA, 1, id="quota"),
        pytest.param(Code.INVALID_REQUEST, 0, id="our-own-request"),
        pytest.param(Code.DAMAGED_RESPONSE, 1, id="damaged"),
        pytest.param(Code.NO_FINISH_REASON, 1, id="cut"),
        pytest.param(Code.PROVIDER_ABORTED, 1, id="aborted-by-the-provider"),
        pytest.param(Code.UNKNOWN, 1, id="a-status-that-nothing-explains"),
        pytest.param(Code.EMPTY_RESPONSE, 0, id="a-model-that-says-nothing"),
        pytest.param(Code.CONTEXT_OVERFLOW, 0, id="our-conversation-is-too-long"),
    ],
)
def test_an_endpoint_is_to_blame_for_some_codes_only(code: Code, wanted: int) -> None:
    failed = scenario(task="x", script=[{"fail": code.value}]).run().trajectory
    found = endpoint_verdicts(failed.events)
    assert [verdict.outcome for verdict in found] == [Outcome.ERROR] * wanted
    errors = [event.seq for event in failed if isinstance(event.fact, ModelFailed)]
    assert all(finding.events == tuple(errors) for verdict in found for finding in verdict.findings)


def test_an_endpoint_that_failed_once_and_then_answered_is_not_to_blame() -> None:
    good = HELLO.run().trajectory
    event = Event(0, ModelFailed(Code.TRANSPORT, "gone"), Origin.PROBE)
    assert endpoint_verdicts((event, *good.events)) == ()


class FailingDisk:
    """``os.write`` until the n-th call (from 1), then no space is left."""

    def __init__(self, nth: int) -> None:
        self.n_left = nth

    def __call__(self, descriptor: int, data: bytes) -> int:
        self.n_left -= 1
        if self.n_left <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(descriptor, data)


def test_a_disk_that_fails_at_any_write_is_an_error_of_the_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The n-th write fails, n = 1, 2, … until nothing fails; never does a run pass without its file."""
    fields = {"task": "x", "tools": ["calculator"], "expect": {"steps": 2}}
    bound = scenario(**fields, script=[{"call": {"calculator": {"expression": "1"}}}, {"say": "x"}])
    (spec,) = plan([bound.scenario], RunOptions(folder=tmp_path))
    codes = []
    for nth in range(1, 100):
        disk = FailingDisk(nth)
        monkeypatch.setattr(executing, "open_sink", partial(open_sink, write=disk))
        ran = run_one(spec)
        codes.append(ran.exit_code)
        if disk.n_left > 0:
            break
        assert "No space left" in (ran.error or str(ran.summary))
    assert codes[:-1] == [5] * (len(codes) - 1)
    assert codes[-1] == 0
    assert len(codes) > 4
