"""One run that ends badly takes no other with it."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from harness.runner import Ran, RunOptions, plan, run_specs
from harness.scenarios import scenario

MODULE = "tools_of_the_pool"


class Panic(BaseException):
    """What an extension module raises when it fails: no Exception."""


def panics() -> str:
    """Fail as an extension module does."""
    raise Panic("index out of bounds")


def cancels_all() -> str:
    """Cancel everything there is."""
    import asyncio

    for task in asyncio.all_tasks():
        task.cancel()
    return "done"


@pytest.mark.parametrize("name", ["panics", "cancels_all"])
def test_a_run_that_something_beside_every_exception_ends_is_an_error_of_that_run_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType(MODULE)
    module.tools = [panics, cancels_all]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    bad = scenario(id="bad", task="x", tools={"from": f"{MODULE}:tools"}, script=[{"call": {name: {}}}, {"say": "x"}])
    good = scenario(id="good", task="x", script=[{"say": "x"}])
    told: list[Ran] = []
    ended, passed = run_specs(plan([bad, good], RunOptions()), jobs=1, tell=told.append)
    assert told == [ended, passed]
    assert (ended.exit_code, passed.exit_code) == (5, 0)
    assert ended.error is not None
    assert {"panics": "Panic: index out of bounds", "cancels_all": "CancelledError"}[name] in ended.error


def test_an_interrupt_ends_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupts() -> str:
        """Interrupt."""
        raise KeyboardInterrupt

    module = ModuleType(MODULE)
    module.tools = [interrupts]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, MODULE, module)
    stopped = scenario(task="x", tools={"from": f"{MODULE}:tools"}, script=[{"call": {"interrupts": {}}}])
    with pytest.raises(KeyboardInterrupt):
        run_specs(plan([stopped], RunOptions()), jobs=1, tell=lambda _: None)
