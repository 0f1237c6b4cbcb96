"""The loop with its full log: ours beside the floor and two peers, and how each grows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from benchmarks import floor, ours, peers
from benchmarks.measure import Row, Work, cpu_us, exponent, ratio, rounds

TIMES = {30: 15, 300: 9, 3000: 5}
BUDGET, AIM = 5.0, 2.5
STEEPEST, AIM_STEEPEST = 1.1, 1.05


def rows(folder: Path) -> Iterator[Row]:
    """CPU of one tool step at 30, 300 and 3,000 steps, and the growth between them."""
    path = folder / "loop.jsonl"
    compare_files(folder)
    unit: dict[int, float] = {}
    for n_steps, times in TIMES.items():
        works: dict[str, Work] = {
            "ours": partial(ours.run_loop, n_steps, path),
            "floor": partial(floor.run_loop, n_steps, path),
            "lean": partial(floor.run_loop, n_steps, path, floor.LeanLog),
        }
        found = rounds(works, n_steps, times)
        unit[n_steps] = median(found["ours"])
        yield Row(
            f"tool step, N={n_steps}",
            "µs",
            unit[n_steps],
            median(found["floor"]),
            tuple(_peers(n_steps, folder)) if n_steps <= 300 else (),
            value=ratio(found),
            budget=BUDGET,
            aim=AIM,
        )
        lean = ratio(found, floor="lean")
        yield Row(
            "  beside the lean floor",
            "µs",
            unit[n_steps],
            median(found["lean"]),
            value=lean,
            budget=BUDGET,
            aim=AIM,
            counts=False,
        )
    yield Row(
        "growth of a run",
        "",
        exponent(unit),
        measure="exponent",
        value=exponent(unit),
        budget=STEEPEST,
        aim=AIM_STEEPEST,
    )


def _peers(n_steps: int, folder: Path) -> Iterator[tuple[str, float]]:
    yield "bare loop", cpu_us(partial(floor.run_bare, n_steps), n_steps)
    for name, work in (("pydantic-ai", peers.pydantic_ai), ("inspect", partial(peers.inspect, folder=folder))):
        work(2)
        yield name, cpu_us(partial(work, n_steps), n_steps)


def compare_files(folder: Path) -> None:
    """Floor and ours write the same events of a step, or the comparison means nothing. Raises RuntimeError."""
    ours.run_loop(3, folder / "ours.jsonl")
    floor.run_loop(3, folder / "floor.jsonl")
    mine, other = _steps(folder / "ours.jsonl"), _steps(folder / "floor.jsonl")
    if mine != other:
        pairs = [pair for pair in zip(mine, other, strict=False) if pair[0] != pair[1]]
        raise RuntimeError(f"the floor writes other events than we do: {pairs[:1] or (len(mine), len(other))}")


def _steps(path: Path) -> list[dict[str, Any]]:
    """The events of steps, without what depends on the lines before them (numbers) and on the clock."""
    events = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    left_out = ("seq", "time", "start")
    return [
        {key: value for key, value in event.items() if key not in left_out}
        for event in events
        if "step" in event and event["type"] != "request/header"
    ]
