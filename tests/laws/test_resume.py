"""Killed at a write and resumed, no call takes effect twice; cut anywhere, every shipped run is repaired in good order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.checks import CHECKS, BuiltCheck, judge
from harness.errors import UsageError
from harness.folds import parked_at, repaired
from harness.scenarios import collect
from harness.store import dump_trajectory, write_trajectory
from harness.testing import BoundScenario, EffectLedger
from harness.types.codes import ClockKind, Outcome
from harness.types.events import Trajectory
from harness.types.lifecycle import ApprovalAsked, RunEnd
from harness.types.records import Verdict
from tests.conftest import REPO
from tests.laws import resume

OF_THE_LOOP = tuple(
    name for name, check in CHECKS.items() if not (isinstance(check, BuiltCheck) and check.expectation)
)
SHIPPED = [
    one
    for one in collect([REPO / "scenarios"])
    if one.script is not None and one.clock is not ClockKind.SYSTEM and one.skip is None
]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kill -9 needs a system with fork")
@pytest.mark.conformance("130", "138", "140")
def test_a_run_killed_at_any_write_and_resumed_sends_nothing_twice_and_nothing_unlogged() -> None:
    script = Path(resume.__file__)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = re.search(r"(\d+) kills, (\d+) resumed, (\d+) effects, none twice, (\d+) outcomes unknown", done.stdout)
    assert told is not None, done.stdout
    kills, resumed, effects, unknown = map(int, told.groups())
    assert (kills > 20, resumed > 15, effects > 15) == (True, True, True)
    assert unknown > 0, "no kill came between an effect and its result: nothing was shown"


def test_a_call_that_a_resume_runs_again_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outbox = tmp_path / "effects.jsonl"
    monkeypatch.setenv(resume.OUTBOX, str(outbox))
    run = resume.outbox_scenario().run(folder=tmp_path / "runs")
    assert run.path is not None
    start = next(event.seq for event in run.trajectory.events if event.fact.TYPE == "tool/start")
    path = tmp_path / "run.jsonl"
    write_trajectory(path, replace(run.trajectory, events=run.trajectory.events[: start + 1]))
    outbox.unlink()
    for to, text in (("ada", "1"), ("cy", "3")):
        EffectLedger(outbox).add("send", {"to": to, "text": text})  # as if the script's second turn had been done before
    tally = resume.Tally()
    resume.judge_killed(path, outbox, tmp_path / "again", tally, "made up")
    assert [line.partition(":")[2].strip() for line in tally.wrong] == [
        "cy:3 was sent before its call was in the file",
        "sent twice: ['cy:3']",
        "fails ['effects']",
    ]


def deaths(trajectory: Trajectory, step: int, first: int) -> list[Trajectory]:
    end = next(event.seq for event in trajectory.events if isinstance(event.fact, RunEnd))
    return [replace(trajectory, events=trajectory.events[:n]) for n in range(1 + first % step, end + 1, step)]


@pytest.mark.conformance("130", "133", "134", "137", "139")
@pytest.mark.parametrize("number", range(len(SHIPPED)), ids=[one.id for one in SHIPPED])
def test_a_shipped_run_cut_at_some_event_is_repaired_and_resumed_in_good_order(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(REPO)
    bound = BoundScenario(SHIPPED[number])
    step = 1 if os.environ.get("HARNESS_LAWS_FULL") else 9
    for died in deaths(bound.run().trajectory, step, number):
        whole = repaired(died)
        assert dump_trajectory(whole) == dump_trajectory(repaired(died))
        assert failures(judge(whole)) == [], len(died.events)
        path = tmp_path / f"{len(died.events)}.jsonl"
        write_trajectory(path, died)
        try:
            run = bound.resume(path, answers=answers_to(whole, number))
        except UsageError as error:
            assert "nothing is left to do" in str(error)  # noqa: PT017
            continue
        assert failures(run.verdicts) == [], len(died.events)


def answers_to(trajectory: Trajectory, number: int) -> dict[str, str]:
    """An answer to the question that it is parked at."""
    asked = parked_at(trajectory)
    if asked is None or not isinstance(asked.fact, ApprovalAsked):
        return {}
    return {asked.fact.call_id: "allow" if number % 2 else "reject"}


def failures(verdicts: Iterable[Verdict]) -> list[tuple[str, str]]:
    """What the loop is blamed for; what the scenario wished of the whole run may not come about."""
    bad = (Outcome.FAIL, Outcome.ERROR)
    return [(one.check, one.why) for one in verdicts if one.outcome in bad and one.check in OF_THE_LOOP]
