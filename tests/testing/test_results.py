"""What a run gives in Python: answer, messages, counts, status, reason, and what it raises (ARTICLES 11)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from harness.errors import (
    LimitReached,
    MaxStepsExceeded,
    RunCancelled,
    RunFailed,
    RunNotCompleted,
    RunUnfinished,
    ScenarioError,
)
from harness.folds import text_of
from harness.testing import BoundScenario, scenario, subject
from harness.types.codes import Outcome, Status
from harness.types.events import Trajectory
from harness.types.messages import ChatAssistant, ChatTool, ChatUser
from harness.types.reasons import FinalAnswer
from harness.types.records import Finding, Verdict
from tests.cli.lab import BAD, GOOD

pytestmark = pytest.mark.article("11")
AGAIN = [{"call": {"calculator": {"expression": "1 + 1"}}}] * 3


def made(**fields: object) -> BoundScenario:
    return scenario(**{"task": "x", "tools": ["calculator"], "script": [{"say": "x"}], **fields})


def test_a_good_run_has_its_answer_messages_steps_status_and_reason(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD, encoding="utf-8")
    run = scenario(path).run()
    assert run.passed
    assert (run.outcome, run.exit_code, run.status, run.n_steps) == (Outcome.PASS, 0, Status.COMPLETED, 2)
    assert run.answer == "It is 42."
    assert isinstance(run.reason, FinalAnswer)
    assert run.calls == ["calculator"]
    assert [type(message) for message in run.messages] == [ChatUser, ChatAssistant, ChatTool, ChatAssistant]
    assert [text_of(message.content) for message in run.messages][2] == "42"
    assert run.findings == ()
    assert run.path is None
    assert run.raise_for_status() is run


def test_a_failed_expectation_raises_nothing_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(BAD, encoding="utf-8")
    run = scenario(path).run()
    assert not run.passed
    assert run.exit_code == 1
    assert [finding.check for finding in run.findings] == ["expected_counts"]
    assert run.raise_for_status() is run


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        pytest.param({"script": AGAIN, "limits": {"steps": 2}, "allow_leftovers": True}, MaxStepsExceeded, "limit steps 2", id="steps"),
        pytest.param({"script": [{"hang": True}], "limits": {"wall_ms": 50}}, LimitReached, "limit wall-time 50", id="time"),
        pytest.param({"inject": [{"at": "user/message", "do": "cancel"}], "allow_leftovers": True}, RunCancelled, "cancelled by user", id="cancelled"),
        pytest.param({"script": [{"fail": "SERVER"}]}, RunFailed, "error SERVER", id="failed"),
        pytest.param({"script": [{"say": "cut", "finish": "length"}]}, RunUnfinished, "max-tokens", id="unfinished"),
    ],
)  # fmt: skip
def test_a_run_that_did_not_complete_raises_its_kind_with_the_reason(
    fields: dict[str, object], error: type[RunNotCompleted], words: str
) -> None:
    run = made(**fields).run()
    with pytest.raises(error, match=words) as caught:
        run.raise_for_status()
    assert type(caught.value) is error
    assert isinstance(caught.value, RunNotCompleted)


def test_it_runs_inside_a_running_event_loop() -> None:
    async def inside() -> str | None:
        return made().run().answer

    assert asyncio.run(inside()) == "x"


def test_a_folder_keeps_the_trajectory(tmp_path: Path) -> None:
    run = made(id="shop/one").run(folder=tmp_path)
    assert run.path == tmp_path / "trajectories/shop/one@default#1.jsonl"
    assert run.path.is_file()
    assert run.summary.file == "trajectories/shop/one@default#1.jsonl"


def test_a_check_object_of_ones_own_can_be_handed_in() -> None:
    class Short:
        name, needs, rules = "short", (), ()

        def __call__(self, trajectory: Trajectory) -> Verdict:
            long = len(trajectory) > 3
            return Verdict(
                self.name, Outcome.FAIL if long else Outcome.PASS, (Finding(self.name, "long"),) if long else ()
            )

    run = made().run(checks=[Short(), "pairing"])
    assert {verdict.check for verdict in run.verdicts} >= {"short", "pairing"}
    assert run.outcome is Outcome.FAIL


def test_a_file_and_fields_together_are_refused() -> None:
    with pytest.raises(TypeError, match="not both"):
        scenario("x.yaml", task="x")


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ScenarioError, match=r"gone\.yaml"):
        scenario("gone.yaml")


def test_a_failed_assertion_on_a_run_shows_what_was_found_and_what_is_undecided() -> None:
    failed = made(expect={"steps": 2}).run()
    open_ = made(expect={"turns": 2}).run(subject(lambda env: asyncio.sleep(0, env.task)))
    assert "expect 2 steps: there were 1" in repr(failed)
    assert "INCONCLUSIVE expected_counts" in repr(open_)
    for run in (failed, open_):
        assert repr(run) == f"<RunResult {'; '.join(map(str.strip, run.explain().splitlines()))}>"
        assert run.explain().startswith(f"{run.outcome}  scenario")
        assert len(repr(run)) < 1000
