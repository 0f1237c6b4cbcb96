"""Every shipped scenario run, made into a scenario again, and replayed: how many do as they did.

usage: lifting.py [FOLDER OR FILE OF OTHER PRODUCTS ...]

Prints what does not run as recorded, with the reasons that are told, and what is not followed to its end.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness.cli.check import trajectories  # noqa: E402
from harness.errors import NothingToRunError  # noqa: E402
from harness.runner import RunOptions, execute, lift_run, plan, replay_run  # noqa: E402
from harness.scenarios import collect  # noqa: E402
from harness.types.events import Trajectory  # noqa: E402
from harness.types.scenario import Scenario  # noqa: E402


def shipped() -> Iterator[tuple[Trajectory, Scenario | None]]:
    """A run of each shipped scenario."""
    found = collect([REPO / "scenarios"], configured=[str(REPO / "scenarios")])
    for spec in plan(found, RunOptions(cassettes=REPO / "cassettes")):
        yield execute(spec).trajectory, spec.scenario


def lifted_as(run: Trajectory) -> tuple[str, list[str]]:
    """What became of a lifted run, and why."""
    try:
        lifted = lift_run(run)
    except NothingToRunError:
        return "nothing to lift", []
    if lifted.problem:
        return "does not pass", [lifted.problem, *lifted.lost]
    return ("passes and differs", [lifted.differs, *lifted.lost]) if lifted.differs else ("as recorded", [])


def main(paths: list[str]) -> None:
    runs = ((run, None) for run in trajectories(list(map(Path, paths)), None)) if paths else shipped()
    counts: Counter[str] = Counter()
    for run, scenario in runs:
        what, why = lifted_as(run)
        counts[f"lifted: {what}"] += 1
        done = replay_run(run, RunOptions(), scenario=scenario)
        counts[f"replayed: {done.outcome}"] += 1
        why += [f"replay: {done.parting}"] if done.parting else []
        if why:
            sys.stdout.write("\n  ".join([f"{run.header.run_id}: {what}", *why]) + "\n")
    for what, n in sorted(counts.items()):
        sys.stdout.write(f"{n:5} {what}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
