"""RELIABILITY P2 as a program: same scenario and seed, same bytes.

usage: determinism.py [PATH ...]

Every scenario is run twice under each of PYTHONHASHSEED 0, 1 and random, in a process of its own for
each pass. Under the virtual clock the files must be identical but for ``header.volatile``; under the
system clock their committed views must be equal. Exit code 1 names what differs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.folds import committed_view  # noqa: E402
from harness.store import read_bytes  # noqa: E402
from harness.types.codes import ClockKind  # noqa: E402

SEEDS = ("0", "1", "random")
PASSES_PER_SEED = 2


@dataclass(frozen=True, slots=True)
class Pass:
    """All trajectories of one pass, by their path in the folder."""

    name: str
    files: dict[str, bytes]


def one_pass(name: str, seed: str, paths: list[str]) -> Pass:
    """Run all scenarios once in a fresh process. Raises SystemExit where nothing could be run."""
    with tempfile.TemporaryDirectory(prefix="determinism-") as folder:
        command = [sys.executable, "-m", "harness", "run", *paths, "--out", folder, "--json"]
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=REPO, env=environ, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{name}: exit code {done.returncode}\n{done.stderr}")
        root = Path(folder, "trajectories")
        return Pass(name, {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*.jsonl"))})


def without_volatile(data: bytes) -> bytes:
    """The file with the volatile part of its header taken out."""
    head, _, rest = data.partition(b"\n")
    header = json.loads(head)
    header.pop("volatile", None)
    return json.dumps(header).encode() + b"\n" + rest


def differences(reference: Pass, other: Pass) -> list[str]:
    """What differs between two passes, one line a file."""
    found = [
        f"{name}: only in one of {reference.name}, {other.name}" for name in reference.files.keys() ^ other.files.keys()
    ]
    for name in sorted(reference.files.keys() & other.files.keys()):
        first, second = reference.files[name], other.files[name]
        if without_volatile(first) == without_volatile(second):
            continue
        one, two = read_bytes(first, name), read_bytes(second, name)
        if one.header.clock is ClockKind.SYSTEM and committed_keys(first, name) == committed_keys(second, name):
            continue
        found.append(f"{name}: {reference.name} and {other.name} differ ({one.header.clock}, {two.header.clock} clock)")
    return found


def committed_keys(data: bytes, name: str) -> list[tuple[object, ...]]:
    """The committed view of a file, as it is compared."""
    return [viewed.key for viewed in committed_view(read_bytes(data, name))]


def main(paths: list[str]) -> int:
    """Run all passes, compare each with the first, tell."""
    passes = [
        one_pass(f"seed {seed}, pass {number}", seed, paths)
        for seed in SEEDS
        for number in range(1, PASSES_PER_SEED + 1)
    ]
    reference = passes[0]
    if not reference.files:
        print("no trajectory was written: nothing was compared")
        return 4
    found = [line for other in passes[1:] for line in differences(reference, other)]
    virtual = sum(read_bytes(data, name).header.clock is ClockKind.VIRTUAL for name, data in reference.files.items())
    for line in found:
        print(line)
    print(
        f"{len(reference.files)} scenarios x {len(passes)} passes (PYTHONHASHSEED {', '.join(SEEDS)}): "
        f"{virtual} under the virtual clock compared byte by byte, {len(reference.files) - virtual} under the system "
        f"clock by committed view; {len(found)} differences"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["scenarios"]))
