"""Self-distrust as a program: every broken loop and trajectory is refused, and nothing sound is.

usage: mutants.py

Prints which checks refuse each mutant, the kill rate, and for each check the mutants that it alone refuses.
False alarms are looked for in the originals, in the sound loops, in all shipped scripted scenarios, and in
``../shared/data`` where that is there. Exit code 1 names what survives or is accused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPO))

from harness import checks  # noqa: E402
from harness.errors import HarnessError  # noqa: E402
from harness.formats import read_if_known  # noqa: E402
from harness.mutants import LEGAL, MUTANTS, kills, originals  # noqa: E402
from harness.runner import RunOptions, execute, plan  # noqa: E402
from harness.runner.broken import false_alarms, loop_kills  # noqa: E402
from harness.scenarios import collect  # noqa: E402
from harness.types.codes import Outcome  # noqa: E402
from harness.types.events import Trajectory  # noqa: E402

SHARED = REPO.parent / "shared" / "data"
UNPAIRED = {"nemo-gym/anyswe_agent.rollouts_opencode.jsonl": 1, "nemo-gym/biomnibench_da.rollouts.jsonl": 5}
"""Files of others in which results are truly missing (their notes say so), and how many trajectories lack some."""


def table() -> dict[str, set[str]]:
    """Every mutant, and the checks that refuse it; loops are told as ``loop:name``."""
    refused: dict[str, set[str]] = {name: set() for name in MUTANTS}
    for kill in kills():
        refused[kill.mutant] |= set(kill.checks)
    return refused | {f"loop:{kill.mutant}": set(kill.checks) for kill in loop_kills()}


def survivors(refused: dict[str, set[str]]) -> list[str]:
    """Mutants that no check refuses anywhere, and pairs of mutant and original that none refuses."""
    alive = [f"{kill.mutant} of {kill.original}" for kill in kills() if not kill.checks and (kill.mutant, kill.original) not in LEGAL]
    return [name for name, by in refused.items() if not by] + alive


def alone(refused: dict[str, set[str]]) -> dict[str, list[str]]:
    """For each check the mutants that it alone refuses."""
    return {check: [name for name, by in refused.items() if by == {check}] for check in checks.CHECKS}


def of_one_original() -> dict[str, set[str]]:
    """The checks that refuse a mutant, original by original: what another refuses there it may not refuse here."""
    return {f"{kill.mutant} of {kill.original}": set(kill.checks) for kill in kills()}


def accused(trajectory: Trajectory) -> Iterator[str]:
    for verdict in checks.judge(trajectory):
        if verdict.outcome is Outcome.FAIL:
            first = verdict.findings[0].message if verdict.findings else verdict.why
            yield f"{trajectory.source}: {verdict.check}: {first}"


def alarms_on_shipped() -> list[str]:
    """What the built-in loop is accused of in the shipped scenarios that have a script."""
    told: list[str] = []
    for spec in plan([one for one in collect([REPO / "scenarios"]) if one.script is not None], RunOptions()):
        told += [
            f"{spec.scenario.id}: {verdict.check}"
            for verdict in execute(spec).verdicts
            if verdict.outcome is Outcome.FAIL
        ]
    return told


def alarms_on_data(folder: Path) -> tuple[int, list[str]]:
    """How many of other people's trajectories were judged, and what they are accused of without being at fault.

    Where results are truly missing ``pairing`` must say so, of as many as are known and of nothing else.
    """
    n_judged = 0
    told: list[str] = []
    for path in sorted(one for one in folder.rglob("*") if one.suffix in (".json", ".jsonl") and one.is_file()):
        here: list[str] = []
        try:
            for trajectory in read_if_known(path):
                n_judged += 1
                here += accused(trajectory)
        except HarnessError as error:
            print(f"  not judged: {path.relative_to(folder)}: {error}")
        n_known = UNPAIRED.get(path.relative_to(folder).as_posix(), 0)
        if n_known != len(here) or any(": pairing: call " not in one for one in here):
            told += here or [f"{path}: {n_known} trajectories lack results, and nobody says so"]
    return n_judged, told


def main() -> int:
    refused = table()
    for name, by in refused.items():
        print(f"{name}: {', '.join(sorted(by)) or 'SURVIVES'}")
    left = survivors(refused)
    print(f"\nkill rate: {len(refused) - len(set(left) & set(refused))} of {len(refused)}")
    here = alone(of_one_original())
    for check, everywhere in alone(refused).items():
        names = everywhere or here[check]
        print(f"{check} alone refuses {len(names)}: {', '.join(names[:3]) or 'none'}")
    alarms = [one for original in originals().values() for one in accused(original)] + false_alarms() + alarms_on_shipped()
    if SHARED.is_dir():
        n_judged, told = alarms_on_data(SHARED)
        print(f"{n_judged} trajectories of others judged; {len(told)} accused")
        alarms += told
    else:
        print("skipped: no trajectories of others, since ../shared/data is not there")
    print("\n".join([*(f"SURVIVES {one}" for one in left), *(f"FALSE ALARM {one}" for one in alarms)]))
    return 1 if left or alarms else 0


if __name__ == "__main__":
    sys.exit(main())
