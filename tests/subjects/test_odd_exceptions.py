"""Exceptions of odd kinds, from every side: the run ends as failed, in good order, and is judged."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from harness.loop import Enter, Hooks
from harness.protocols import World
from harness.runner import RunResult
from harness.subjects import BuiltInLoop
from harness.testing import Env, scenario, subject
from harness.types.codes import Code, LimitKind, Outcome, Status
from harness.types.events import Event, Trajectory
from harness.types.lifecycle import RunQuiescent
from harness.types.reasons import Cancelled, Failed, LimitHit
from harness.types.records import Verdict

MODULE = "functions_of_odd_exceptions"
FAILS = {"status": "failed"}


class NoText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NumberAsText(Exception):
    def __str__(self) -> str:
        return 5  # type: ignore[return-value]


ODD: dict[str, tuple[Callable[[], BaseException], str]] = {
    "without-text": (lambda: NoText(), "NoText"),
    "with-a-number-as-text": (lambda: NumberAsText(), "NumberAsText"),
    "a-cancel-of-its-own": (lambda: asyncio.CancelledError("mine"), "CancelledByItself"),
    "a-group": (lambda: ExceptionGroup("several", [ValueError("a")]), "ExceptionGroup: several (1 sub-exception)"),
    "a-lone-surrogate": (lambda: ValueError("a\ud800b"), "ValueError: a\ufffdb"),
    "stop-async-iteration": (lambda: StopAsyncIteration(), "StopAsyncIteration"),
}
ROWS = pytest.mark.parametrize(("make", "words"), list(ODD.values()), ids=list(ODD))
EXCEPTIONS = [name for name in ODD if name != "a-cancel-of-its-own"]
Make = Callable[[], BaseException]


def failure(run: RunResult) -> Failed:
    assert run.status is Status.FAILED
    assert isinstance(run.reason, Failed)
    assert isinstance(run.trajectory.events[-1].fact, RunQuiescent)
    assert run.outcome is Outcome.PASS, run.findings
    return run.reason


@pytest.mark.conformance("9", "150", "154")
@ROWS
def test_a_loop_that_raises_fails(make: Make, words: str) -> None:
    async def loop(env: Env) -> str:
        await asyncio.sleep(1)
        raise make()

    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, expect=FAILS).run(subject(loop))
    assert failure(run).message.startswith(words)


@pytest.mark.conformance("9", "12", "150")
@ROWS
def test_a_hook_that_raises_fails_its_turn(make: Make, words: str) -> None:
    async def hook(*_: object) -> Enter:
        raise make()

    hooks = Hooks(pre_step=(hook,))
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, expect=FAILS).run(BuiltInLoop(hooks))
    reason = failure(run)
    assert reason.code is Code.HOOK_FAILED
    assert words in reason.message


@pytest.mark.conformance("9", "149", "150", "154")
@ROWS
def test_a_model_that_raises_fails_the_run(make: Make, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(_: object) -> str:
        raise make()

    module = ModuleType(MODULE)
    module.answer = answer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    reason = failure(scenario(task="x", script=[{"function": f"{MODULE}:answer"}], expect=FAILS).run())
    assert reason.code is Code.INTERNAL
    assert words.split(":")[0] in reason.message


class ListenedTo(BuiltInLoop):
    def __init__(self, listener: Callable[[Event], None]) -> None:
        super().__init__()
        self.listener = listener

    async def run(self, world: World) -> None:
        world.log.listen(self.listener)
        await super().run(replace(world))


@pytest.mark.conformance("11")
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_a_listener_that_raises_changes_nothing(name: str) -> None:
    def listener(_: Event) -> None:
        raise ODD[name][0]()

    run = scenario(task="x", script=[{"say": "x"}]).run(ListenedTo(listener))
    assert (run.status, run.outcome) == (Status.COMPLETED, Outcome.PASS)


class OddCheck:
    name = "odd"
    needs: tuple[Any, ...] = ()
    rules: tuple[str, ...] = ()

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, trajectory: Trajectory) -> Verdict:
        raise self.error


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_a_check_that_raises_is_an_error_of_that_check(name: str) -> None:
    make, words = ODD[name]
    run = scenario(task="x", script=[{"say": "x"}]).run(checks=[OddCheck(make())])
    (verdict,) = [verdict for verdict in run.verdicts if verdict.check == "odd"]
    assert verdict.outcome is Outcome.ERROR
    assert words in verdict.why


async def hangs(*_: object) -> Enter:
    await asyncio.Event().wait()
    return Enter()


@pytest.mark.conformance("67", "68")
def test_a_hook_that_never_ends_is_stopped_like_a_request() -> None:
    hooks = Hooks(pre_step=(hangs,))
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, limits={"wall_ms": 500}).run(
        BuiltInLoop(hooks)
    )
    assert run.reason == LimitHit(LimitKind.WALL_TIME, 500)
    cancel = [{"at": {"kind": "turn/start", "when": {"after_ms": 50}}, "do": {"cancel": {}}}]
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, inject=cancel).run(BuiltInLoop(hooks))
    assert isinstance(run.reason, Cancelled)
    assert run.trajectory.events[-1].time == 50
