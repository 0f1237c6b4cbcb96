"""How much memory an evaluation takes, by its number of cases: it must hardly grow.

    python benchmarks/evaluating.py                10,000 and 100,000 cases; exit 1 where the bound is broken
    python benchmarks/evaluating.py 1000 10000     other numbers

Each run is the real command line in a process of its own, from the file of cases to the report, with a function that
answers; its peak is what the system says of that process. Two arms, one trial each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
MOST_GROWTH = 1.2
"""The peak with ten times the cases, at most, in peaks of the smaller evaluation."""
PARAMETERS = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
DOCUMENT = {
    "format": "harness-evaluation/1",
    "id": "many",
    "tools": {"schemas": [{"name": "get_order", "description": "Finds an order.", "parameters": PARAMETERS}]},
    "model": {"from": "benchmarks.evaluating:answer"},
    "arms": {"now": {}, "new": {"system": "Be brief."}},
    "cases": {"from": "cases.jsonl"},
    "gate": {"margin": 0.1},
}
PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def answer(call):  # type: ignore[no-untyped-def]  # what a user writes
    """The right call, but for one order in a hundred."""
    from harness.types.script import ScriptCall, ScriptReply

    number = int(call.messages[-1].content.split()[-1].rstrip("?"))
    return ScriptReply(calls=(ScriptCall("get_order", json.dumps({"id": number if number % 100 else -1})),))


@dataclass(frozen=True)
class Measured:
    """One run: its cases, the peak of its process in MiB, and how long it took in seconds."""

    n_cases: int
    peak_mib: float
    took_s: float

    def line(self) -> str:
        return f"{self.n_cases:>9,} cases x 2 arms: peak {self.peak_mib:7.1f} MiB, {self.took_s:6.1f} s"


def measured(n_cases: int) -> Measured:
    """Run an evaluation of so many cases. Raises RuntimeError where it did not come to its end."""
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        Path(folder, "many.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
        with Path(folder, "cases.jsonl").open("w", encoding="utf-8") as file:
            for n in range(n_cases):
                file.write(
                    json.dumps({"id": f"case-{n}", "ask": f"Where is order {n}?", "expect": {"get_order": {"id": n}}})
                    + "\n"
                )
        command = [sys.executable, "-c", PEAK, sys.executable, "-m", "harness", "evaluate", "many.json", "--out", "out"]
        began_s = time.monotonic()
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(REPO)},
            capture_output=True,
            text=True,
            check=False,
        )
        took_s = time.monotonic() - began_s
    code, _, peak = done.stdout.strip().partition(" ")
    if code not in ("0", "1", "3"):
        raise RuntimeError(f"exit code {code}: {done.stderr[-500:]}")
    divisor = 1024 if sys.platform != "darwin" else 1024 * 1024
    return Measured(n_cases, int(peak) / divisor, took_s)


def main(numbers: list[int]) -> int:
    few, many = (measured(n) for n in numbers)
    growth = many.peak_mib / few.peak_mib
    for one in (few, many):
        print(one.line())
    verdict = "PASS" if growth <= MOST_GROWTH else "FAIL"
    print(f"{verdict}: the peak grows to {growth:.3f} of the smaller one; at most {MOST_GROWTH} is allowed")
    return 0 if growth <= MOST_GROWTH else 1


if __name__ == "__main__":
    sys.exit(main([int(one) for one in sys.argv[1:]] or [10_000, 100_000]))
