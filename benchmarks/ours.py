"""Our loop as the benchmarks drive it: driver, doors, recorder and file, joined as a run joins them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from harness.clock import Clocks, run_in_loop
from harness.loop import Driver
from harness.models import RecordingDoor, ScriptedModel
from harness.models.strict import StrictAnswers
from harness.recorder import Recorder
from harness.store import Existing, open_sink
from harness.tools import Door, FunctionTool
from harness.types.codes import ClockKind, Origin
from harness.types.events import Header
from harness.types.lifecycle import RunQuiescent
from harness.types.messages import ChatSystem, RunId
from harness.types.scenario import Limits
from harness.types.script import ScriptCall, ScriptReply

HEADER = Header(version="bench", run_id=RunId("bench"), subject="built-in")


def lookup(key: str, count: int) -> str:
    """Look a key up."""
    return f"value of {key} number {count}"


TOOL = FunctionTool(lookup)


@cache
def script(n_steps: int) -> tuple[ScriptReply, ...]:
    """``n_steps`` answers with one call each, then a last one."""
    calls = (
        ScriptCall("lookup", f'{{"key": "k{step}", "count": {step}}}', id=f"call_{step}")
        for step in range(1, n_steps + 1)
    )
    return (*(ScriptReply(calls=(call,)) for call in calls), ScriptReply(say="done"))


def run_loop(n_steps: int, path: Path) -> int:
    """One run of ``n_steps`` tool steps and an answer, its whole log in ``path``; gives the number of events."""

    async def main(clock: Clocks) -> int:
        with open_sink(path, HEADER, existing=Existing.REPLACE) as sink:
            log = Recorder(clock, sink)
            model = ScriptedModel(script(n_steps), scenario="bench", clock=clock, resolve=lambda name: name)
            driver = Driver(
                model=RecordingDoor(StrictAnswers(model), log),
                tools=Door([TOOL], log=log, clock=clock, redact=str),
                log=log,
                limits=Limits(steps=n_steps + 1),
                system=(ChatSystem("You look things up."),),
            )
            driver.open()
            driver.send("Look up everything.")
            await driver.run_until_idle()
            driver.close()
            log.record(RunQuiescent(), origin=Origin.PROBE)
            return len(log.events)

    return run_in_loop(ClockKind.VIRTUAL, main)
