"""What a full cancel sweep of two turns costs, beside as many single runs of the same scenario."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.measure import Row, cpu_us, ratio
from harness.runner import ModelSource, RunOptions, RunSpec, execute, plan_sweeps, sweep_one
from harness.scenarios import scenario
from harness.subjects import BuiltInLoop

N_ROUNDS = 5
MOST_TIMES_SINGLE = 1.5
SCENARIO = scenario(
    id="bench/two-turns",
    tasks=["Refund order 7, please.", "And order 8."],
    tools={
        "stub": {"lookup": {"returns": {"id": 7, "total": 19.9}}},
        "schemas": {"lookup": {"type": "object", "properties": {"key": {"type": "string"}}}},
    },
    script=[
        {"call": {"lookup": {"key": "7"}}},
        {"say": "Refunded."},
        {"calls": [{"lookup": {"key": "8"}}, {"lookup": {"key": "9"}}]},
        {"say": "That one too."},
    ],
)
OPTIONS = RunOptions(source=ModelSource.SCRIPTED)


def rows(folder: Path) -> Iterator[Row]:
    """CPU of one cell of the sweep beside one single run, both judged by all checks, neither written."""
    (wanted,) = plan_sweeps([SCENARIO], OPTIONS, ["cancel"])
    swept = sweep_one(wanted)
    if not swept.clean:
        raise RuntimeError(f"the sweep is not clean: {swept}")
    n_runs = swept.n_runs
    works = {"sweep": partial(sweep_one, wanted), "single": partial(_single, n_runs)}
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(N_ROUNDS):
        for name, work in works.items():
            found[name].append(cpu_us(work, n_runs))
    yield Row(
        f"a run of a sweep of {n_runs}",
        "µs",
        median(found["sweep"]),
        median(found["single"]),
        measure="× single",
        value=ratio(found, "sweep", "single"),
        budget=MOST_TIMES_SINGLE,
    )


def _single(n_runs: int) -> None:
    for trial in range(1, n_runs + 1):
        result = execute(RunSpec(SCENARIO, OPTIONS, trial), subject=BuiltInLoop())
        if result.n_steps != 4:
            raise RuntimeError(f"trial {trial} took {result.n_steps} steps")
