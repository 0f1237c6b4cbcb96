"""Worker processes and clusters: what each does is the same, what is lost is told, and only one writes a file."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigurationError, UnknownNameError, UsageError
from harness.runner import pool
from harness.runner.evaluation.backends import backend_named
from harness.runner.evaluation.batches import Answered, Batch, ask_batch, run_in_batches
from harness.runner.evaluation.folder import trials_files, trials_in
from harness.runner.evaluation.running import Ran
from harness.runner.evaluation.workers import joined, run_evaluation
from harness.runner.specs import ModelSource
from harness.store import trial_line
from harness.types.evaluation import Execute
from harness.types.scenario import Stub
from tests.conftest import REPO
from tests.runner.evaluation.lab import evaluation, lines, plan

OWN: dict[str, Any] = {"source": ModelSource.OWN, "model": "tests.runner.evaluation.lab:right"}


def one_by_one(batches: Iterable[Batch]) -> Iterator[Answered]:
    """A cluster of nobody: batches travel as they would, and are worked on here."""
    for batch in batches:
        yield pickle.loads(pickle.dumps(ask_batch(pickle.loads(pickle.dumps(batch)))))


def as_lines(tmp_path: Path) -> list[bytes]:
    return sorted(map(trial_line, lines(tmp_path)))


def test_batches_come_to_the_same_lines_as_one_process(tmp_path: Path) -> None:
    made = evaluation(7, trials=3)
    run_evaluation(plan(tmp_path / "a", made, **OWN))
    ran = run_in_batches(plan(tmp_path / "b", made, **OWN), one_by_one, size=4)
    assert (ran.n_now, ran.stopped) == (42, "")
    assert as_lines(tmp_path / "b") == as_lines(tmp_path / "a")


def test_a_batch_that_was_lost_is_asked_again_and_no_other(tmp_path: Path) -> None:
    made = evaluation(5, trials=2)
    asked: list[int] = []

    def losing(batches: Iterable[Batch]) -> Iterator[Answered]:
        for number, batch in enumerate(batches):
            asked.append(len(batch.asked))
            yield Answered((), "lost", 5) if number == 2 else ask_batch(batch)

    ran = run_in_batches(plan(tmp_path, made, **OWN), losing, size=4)
    assert (ran.n_now, ran.stopped, ran.exit_code) == (8, "lost", 5)
    asked.clear()
    again = run_in_batches(plan(tmp_path, made, **OWN), lambda batches: losing(list(batches)), size=100)
    assert (asked, again.n_now) == ([12], 12)


def test_a_function_that_fails_stops_its_batch_and_keeps_what_it_answered(tmp_path: Path) -> None:
    made = plan(tmp_path, evaluation(3, trials=1), source=ModelSource.OWN, model="tests.runner.evaluation.test_elsewhere:failing")
    ran = run_in_batches(made, one_by_one)
    assert "RuntimeError" in ran.stopped
    assert ran.n_now == len(lines(tmp_path))


def failing(call: Any) -> str:
    """Fails at the second case."""
    if "order 1" in str(call.messages[-1].content):
        raise RuntimeError("no such order")
    return "Hello"


def test_without_ray_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'agent-loop-harness\[ray\]'"):
        backend_named("ray")


class _Ray:
    """A cluster as far as the backend asks for one, in this process."""

    class exceptions:  # noqa: N801
        class RayError(Exception):
            """A worker died."""

    def is_initialized(self) -> bool:
        return True

    def remote(self, work: Any) -> Any:
        class Remote:
            @staticmethod
            def remote(batch: Batch) -> Any:
                return lambda: work(batch)

        return Remote

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}

    def wait(self, running: list[Any], *, num_returns: int) -> tuple[list[Any], list[Any]]:
        return running[-num_returns:], running[:-num_returns]

    def get(self, ready: list[Any]) -> list[Any]:
        return [one() for one in ready]


def test_the_backend_of_a_cluster_asks_everything_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", _Ray())  # type: ignore[arg-type]
    monkeypatch.setattr("harness.runner.evaluation.batches.BATCH", 3)
    made = evaluation(7, trials=3)
    run_evaluation(plan(tmp_path / "a", made, **OWN))
    assert backend_named("ray")(plan(tmp_path / "b", made, **OWN)).n_now == 42
    assert as_lines(tmp_path / "b") == as_lines(tmp_path / "a")


def test_a_cluster_is_not_for_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", _Ray())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="answer inside a process"):
        backend_named("ray")(plan(tmp_path))


def test_a_cluster_does_not_take_a_first_decision_for_a_whole_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", _Ray())  # type: ignore[arg-type]
    stubs = tuple((name, Stub(returns="1")) for name in ("get_order", "refund_order"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="whole loops"):
        backend_named("ray")(plan(tmp_path, evaluation(2, execute=Execute.STUBS, stubs=stubs), **OWN))
    assert not (tmp_path / "out" / "trials.jsonl").exists()


def test_an_unknown_backend_is_named() -> None:
    with pytest.raises(UnknownNameError, match="slurm"):
        backend_named("slurm")


# ---------------------------------------------------------------- worker processes


def test_shares_are_joined_and_the_first_failure_stands() -> None:
    parts = [Ran(n_before=4, n_now=2, took_ms=7), Ran(n_before=4, n_now=3, took_ms=9, stopped="a", exit_code=5), Ran(stopped="b", exit_code=2)]
    whole = joined(parts)
    assert (whole.n_before, whole.n_now, whole.took_ms, whole.stopped, whole.exit_code) == (4, 5, 9, "a", 5)


def test_a_worker_that_dies_is_told_and_what_it_answered_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own: dict[str, Any] = {"source": ModelSource.OWN, "model": "tests.runner.evaluation.test_elsewhere:dying"}
    monkeypatch.setenv("A_WORKER_DIES", "yes")
    ran = run_evaluation(plan(tmp_path, evaluation(6, trials=1), jobs=2, **own))
    assert "worker process died" in ran.stopped
    assert ran.exit_code == 5
    n_before = len(list(trials_in(trials_files(tmp_path / "out"))))
    monkeypatch.delenv("A_WORKER_DIES")
    again = run_evaluation(plan(tmp_path, evaluation(6, trials=1), **own))
    assert (again.n_before, again.n_now) == (n_before, 12 - n_before)
    assert len(list(trials_in(trials_files(tmp_path / "out")))) == 12


def dying(call: Any) -> str:
    """Kills its process at one case, as long as it is told to."""
    if "order 3" in str(call.messages[-1].content) and "A_WORKER_DIES" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
    return "Hello"


@pytest.mark.skipif(sys.platform != "linux", reason="only this system lets a process die with its parent")
def test_workers_die_with_the_process_that_started_them(tmp_path: Path) -> None:
    program = (
        "import os, sys, time\n"
        "from harness.runner.pool import spread\n"
        "from tests.runner.evaluation.test_elsewhere import waits\n"
        f"list(spread(waits, [{str(tmp_path / 'a')!r}, {str(tmp_path / 'b')!r}], jobs=2, lost=str))\n"
    )
    script = tmp_path / "program.py"
    script.write_text("if __name__ == '__main__':\n    " + program.replace("\n", "\n    "))
    parent = subprocess.Popen([sys.executable, str(script)], env={**os.environ, "PYTHONPATH": str(REPO)})
    pids = [_pid(tmp_path / name) for name in ("a", "b")]
    parent.kill()
    parent.wait(timeout=60)
    for pid in pids:
        _gone(pid)


def waits(path: str) -> str:
    """Writes down its process and waits for ever."""
    Path(path + ".part").write_text(json.dumps(os.getpid()))
    os.rename(path + ".part", path)
    while True:
        time.sleep(1)


def _pid(path: Path) -> int:
    deadline = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < deadline, "the worker did not start"
        time.sleep(0.01)
    return int(path.read_text())


def _gone(pid: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError(f"worker {pid} outlived the process that started it")


def test_what_one_of_several_raises_ends_the_others() -> None:
    import asyncio

    ended: list[str] = []

    async def work() -> None:
        number = len(ended)
        ended.append("began")
        if number == 1:
            raise ValueError("enough")
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("ended")

    with pytest.raises(ValueError, match="enough"):
        asyncio.run(pool.side_by_side(3, work))
    assert ended.count("ended") == ended.count("began") - 1
