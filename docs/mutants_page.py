"""Generated page: broken loops and broken trajectories, and which checks refuse them."""

from functools import cache

from harness.checks import CHECKS
from harness.mutants import kill_table
from harness.mutants.loops import LOOPS
from harness.runner.broken import loop_kills


@cache
def page() -> str:
    """All broken loops with their accusers, and all checks with what they refuse."""
    accusers = {kill.mutant: kill.checks for kill in loop_kills()}
    loops = [
        f"| `{one.name}` | {one.about} | {_where(one.scenario, one.sweep)} | {', '.join(accusers[one.name])} |"
        for one in LOOPS.values()
    ]
    only = {check: [name for name, by in accusers.items() if by == (check,)] for check in CHECKS}
    lines = [
        "# Mutants",
        "",
        "Made by `make docs`; `make mutants` proves it anew, and that nothing sound is accused. A mutant is a loop or",
        "a trajectory that is broken on purpose; each must be refused by some check. Broken loops really run: loops of",
        "their own over `env`, as a user's is, or the built-in loop in a broken world.",
        "",
        "## Broken loops",
        "",
        "| loop | what is broken | where it shows | accused by |",
        "|---|---|---|---|",
        *loops,
        "",
        "## Broken loops that one check alone accuses",
        "",
        "| check | loops |",
        "|---|---|",
        *(f"| `{check}` | {', '.join(names)} |" for check, names in only.items() if names),
        "",
        "## Broken trajectories",
        "",
        kill_table(),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _where(scenario: str, sweep: str) -> str:
    return f"{scenario}, swept with {sweep}" if sweep else scenario
