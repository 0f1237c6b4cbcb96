"""Two runs matched, two folders compared from their summaries, and the memory that 10,000 runs a side take.

    python benchmarks/comparing.py 10000        the memory alone, with so many runs a side
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measure import Row, ratio, rounds
from harness.compare import blocks_of, compare_runs, digest_of
from harness.compare.alignment import pair_blocks
from harness.folds import summarise, to_plain
from harness.runner import ModelSource, RunOptions, RunSpec, execute, judge
from harness.scenarios import scenario
from harness.store import trajectory_path, write_trajectory
from harness.subjects import BuiltInLoop
from harness.types.events import Trajectory
from harness.types.records import RunSummary

REPO = Path(__file__).resolve().parent.parent
N_CALLS = 10
N_SUMMARIES = 1_000
N_RUNS = 10_000
N_TIMES = 200
MOST_MB = 200.0
MOST_TIMES_PARSED = 10 / 3.7
"""10 µs from what is kept at load, where comparing parsed calls takes 3.7."""
MOST_TIMES_RAW = 60 / 54
"""60 µs, where parsing and comparing the calls of raw messages takes 54."""
MOST_GROWTH = 1.1
PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def rows(folder: Path) -> Iterator[Row]:
    """Matching, comparing from summaries, memory."""
    yield from _matching()
    yield from _summaries()
    yield from _memory(folder)


def run_of(n_calls: int) -> Trajectory:
    """A run of so many calls, each in a step of its own."""
    spec = scenario(
        id="bench/calls",
        task="Refund order 7, please.",
        limits={"steps": n_calls + 2},
        tools={
            "stub": {"lookup": {"returns": {"id": 7, "total": 19.9}}},
            "schemas": {"lookup": {"type": "object", "properties": {"key": {"type": "string"}}}},
        },
        script=[*({"call": {"lookup": {"key": f"order {n}"}}} for n in range(n_calls)), {"say": "Refunded."}],
    )
    result = execute(RunSpec(spec, RunOptions(source=ModelSource.SCRIPTED)), subject=BuiltInLoop())
    if result.n_steps != n_calls + 1:
        raise RuntimeError(f"not the run that is measured: {result.n_steps} steps")
    return result.trajectory


def raw_messages(run: Trajectory) -> list[dict[str, Any]]:
    """The run as chat messages, calls and results alone: what the floor is given."""
    messages: list[dict[str, Any]] = []
    for event in run:
        fact = event.fact
        if fact.TYPE == "assistant/message":
            calls = [{"function": {"name": c.name, "arguments": c.arguments}} for c in fact.tool_calls]  # type: ignore[union-attr]
            messages.append({"role": "assistant", "content": fact.content, "tool_calls": calls})  # type: ignore[union-attr]
        elif fact.TYPE == "tool/result":
            messages.append({"role": "tool", "content": fact.content})  # type: ignore[union-attr]
    return messages


def parsed(messages: list[dict[str, Any]]) -> list[Any]:
    """Calls with their arguments as values, and contents."""
    return [
        (
            message["role"],
            message["content"],
            [(c["function"]["name"], json.loads(c["function"]["arguments"])) for c in message.get("tool_calls", ())],
        )
        for message in messages
    ]


def _same(left: list[Any], right: list[Any]) -> bool:
    return all(one == other for one, other in zip(left, right, strict=True))


def _matching() -> Iterator[Row]:
    base, candidate = run_of(N_CALLS), run_of(N_CALLS)
    texts = (raw_messages(base), raw_messages(candidate))
    values = (parsed(texts[0]), parsed(texts[1]))
    blocks = (blocks_of(base), blocks_of(candidate))
    works = {
        "ours": partial(_repeat, lambda: pair_blocks(blocks_of(base), blocks_of(candidate))),
        "floor": partial(_repeat, lambda: _same(parsed(texts[0]), parsed(texts[1]))),
        "kept": partial(_repeat, lambda: pair_blocks(*blocks)),
        "compared": partial(_repeat, lambda: _same(*values)),
    }
    found = rounds(works, N_TIMES, 7)
    for what, ours, floor, most in (
        (f"match a pair, {N_CALLS} calls", "ours", "floor", MOST_TIMES_RAW),
        ("  from blocks kept at load", "kept", "compared", MOST_TIMES_PARSED),
    ):
        yield Row(
            what,
            "µs",
            median(found[ours]),
            median(found[floor]),
            value=ratio(found, ours, floor),
            budget=most,
            counts=ours == "kept",  # the run that is matched raw holds twelve events a call, not two messages
        )
    ratios = {n_calls: _beside_floor(n_calls) for n_calls in (10, 1_000)}
    value = 1 + math.log(ratios[1_000] / ratios[10]) / math.log(100)
    what = "  growth with the calls"
    yield Row(what, "", value, measure="floor's exponent 1", value=value, budget=MOST_GROWTH)


def _beside_floor(n_calls: int) -> float:
    """What is matched beside what is parsed: memory that grows slows both down alike."""
    one, other = run_of(n_calls), run_of(n_calls)
    texts = (raw_messages(one), raw_messages(other))
    n = max(3, 2_000 // n_calls)
    works = {
        "ours": partial(_times, n, partial(_blocks, one, other)),
        "floor": partial(_times, n, lambda: _same(parsed(texts[0]), parsed(texts[1]))),
    }
    return ratio(rounds(works, n * n_calls, 7))


def _blocks(one: Trajectory, other: Trajectory) -> object:
    return pair_blocks(blocks_of(one), blocks_of(other))


def _repeat(work: Any) -> None:
    _times(N_TIMES, work)


def _times(n: int, work: Any) -> None:
    for _ in range(n):
        work()


def _summaries() -> Iterator[Row]:
    run = run_of(3)
    one = summarise(run, judge(run), "x.jsonl")
    runs = [replace(one, run_id=f"family/{n}@default#1", scenario=f"family/{n}") for n in range(N_SUMMARIES)]  # type: ignore[arg-type]
    lines = [json.dumps(to_plain(run)) for run in runs] * 2
    digest = digest_of(run)

    def compare() -> None:
        comparison = compare_runs(runs, runs, _never, digest=lambda _side, _run: digest)
        if len(comparison.scenarios) != N_SUMMARIES or comparison.outcome != "PASS":
            raise RuntimeError("not the comparison that is measured")

    found = rounds({"ours": compare, "floor": lambda: [json.loads(line) for line in lines]}, 1_000, 5)
    yield Row(
        f"compare summaries, {N_SUMMARIES:,} a side",
        "ms",
        median(found["ours"]),
        median(found["floor"]),
        measure="ratio to json",
        value=ratio(found),
        budget=1.0,
    )


def _never(side: str, run: RunSummary) -> Trajectory:
    raise RuntimeError(f"{side}: {run.run_id} was loaded, though nothing differs")


def _memory(folder: Path) -> Iterator[Row]:
    peak = peak_mb(N_RUNS, folder)
    what = f"memory, {N_RUNS:,} runs a side"
    yield Row(what, "MB", peak, measure="MB", value=peak, budget=MOST_MB)


def peak_mb(n_runs: int, folder: Path) -> float:
    """The peak of ``harness compare`` on two folders of so many runs; every tenth pair differs."""
    with tempfile.TemporaryDirectory(prefix="compared-", dir=folder) as name:
        for side, every in (("base", 0), ("new", 10)):
            _write(Path(name, side), n_runs, every)
        command = [sys.executable, "-c", PEAK, sys.executable, "-m", "harness", "compare", "base", "new"]
        environment = {**os.environ, "PYTHONPATH": str(REPO)}
        done = subprocess.run(command, cwd=name, env=environment, capture_output=True, text=True, check=False)
    code, _, peak = done.stdout.strip().partition(" ")
    if code != "1":
        raise RuntimeError(f"exit code {code}: {done.stderr[-500:]}")
    return int(peak) / (1024 if sys.platform != "darwin" else 1024 * 1024)


def _write(folder: Path, n_runs: int, every: int) -> None:
    """So many runs under other names; each ``every``-th answers something else (0: none)."""
    run = run_of(N_CALLS)
    template = folder / "template.jsonl"
    folder.mkdir(parents=True)
    write_trajectory(template, run)
    text = template.read_text("utf-8")
    template.unlink()
    for n in range(n_runs):
        path = trajectory_path(folder, f"family-{n % 100}/run-{n}", "default", 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        own = text.replace("bench/calls", f"family-{n % 100}/run-{n}").replace("order 3", f"order 3, {n}")
        path.write_text(own.replace("order 7", "order 8") if every and n % every == 0 else own, "utf-8")
    folder.joinpath("run.json").write_text('{"checks":["pairing"],"format":"harness-run/1","version":"0"}\n', "utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="harness-bench-") as where:
        n = int(sys.argv[1]) if len(sys.argv) > 1 else N_RUNS
        mb = peak_mb(n, Path(where))
        print(f"{n:,} runs a side: peak {mb:.1f} MB, at most {MOST_MB:.0f}")
        sys.exit(0 if mb <= MOST_MB else 1)
