"""A thousand scenarios of three steps each, run and recorded one after the other in this process."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks import floor
from benchmarks.measure import Row, cpu_us, ratio
from harness.runner import ModelSource, RunOptions, RunSpec, execute
from harness.scenarios import scenario
from harness.subjects import BuiltInLoop

N_RUNS = 1000
N_ROUNDS = 5
WARM_UP = 200
MOST_TIMES_FLOOR = 8600 / 2000
"""2,000 runs a second where a floor that writes one file again and again does 7,000 to 10,200."""
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
    found: dict[str, list[float]] = {"ours": [], "a file each": [], "one file": []}
    n_runs = N_RUNS // N_ROUNDS
    (folder / "floor").mkdir()
    for at in range(N_ROUNDS):
        first = WARM_UP + at * n_runs + 1
        paths = [folder / "floor" / f"{trial}.jsonl" for trial in range(first, first + n_runs)]
        found["ours"].append(cpu_us(partial(_run, options, first, first + n_runs - 1), n_runs))
        found["a file each"].append(cpu_us(partial(floor.run_many, 2, paths), n_runs))
        found["one file"].append(cpu_us(partial(floor.run_many, 2, [folder / "floor.jsonl"] * n_runs), n_runs))
    grown = _resident_mb() - before
    for what, name in (("scenario of 3 steps, recorded", "a file each"), ("  the floor's in one file", "one file")):
        yield Row(
            what,
            "µs",
            median(found["ours"]),
            median(found[name]),
            value=ratio(found, floor=name),
            budget=MOST_TIMES_FLOOR,
            counts=False,
        )
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
