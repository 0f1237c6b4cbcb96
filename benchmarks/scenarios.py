"""A thousand scenarios of three steps each, run and recorded one after the other in this process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks import floor
from benchmarks.measure import Row, cpu_us
from harness.runner import ModelSource, RunOptions, RunSpec, execute
from harness.scenarios import scenario
from harness.subjects import BuiltInLoop

N_RUNS = 1000
WARM_UP = 200
MOST_GROWTH_MB = 10.0
SCENARIO = scenario(
    id="bench/three",
    task="Refund order 7, please.",
    tools={
        "stub": {"lookup": {"returns": {"id": 7, "total": 19.9}}},
        "schemas": {"lookup": {"type": "object", "properties": {"key": {"type": "string"}}}},
    },
    script=[{"call": {"lookup": {"key": "a"}}}, {"call": {"lookup": {"key": "b"}}}, {"say": "Refunded."}],
)


def rows(folder: Path) -> Iterator[Row]:
    """Runs a second (checks off the hot path), and memory that stays behind."""
    options = RunOptions(source=ModelSource.SCRIPTED, checks=(), folder=folder / "runs")
    _run(options, 1, WARM_UP)
    before = _resident_mb()
    run_us = cpu_us(partial(_run, options, WARM_UP + 1, WARM_UP + N_RUNS), N_RUNS)
    grown = _resident_mb() - before
    floor_us = cpu_us(partial(floor.run_many, N_RUNS, 2, folder / "floor.jsonl"), N_RUNS)
    yield Row("scenario of 3 steps, recorded", "µs", run_us, floor_us, measure="ratio", value=run_us / floor_us)
    yield Row("memory after 1,000 runs", "MB", grown, measure="MB", value=grown, budget=MOST_GROWTH_MB)


def _run(options: RunOptions, first: int, last: int) -> None:
    for trial in range(first, last + 1):
        result = execute(RunSpec(SCENARIO, options, trial), subject=BuiltInLoop())
        if result.n_steps != 3:
            raise RuntimeError(f"trial {trial} took {result.n_steps} steps")


def _resident_mb() -> float:
    gc.collect()
    with open("/proc/self/status", encoding="ascii") as status:
        (line,) = (line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024
