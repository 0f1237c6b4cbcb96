"""Generated page: the checks, what each needs, and which mutants each is seen to refuse."""

from harness.checks import checks_table
from harness.mutants import MUTANTS, kill_table


def page() -> str:
    """All checks, then all mutants."""
    mutants = [f"| `{mutant.name}` | {mutant.about} |" for mutant in MUTANTS.values()]
    lines = [
        "# Checks",
        "",
        "Made by `make docs` from the checks. A check is a pure function from a trajectory to a verdict whose findings",
        "cite event numbers. What it needs and the header does not list as observed leaves it NOT_APPLICABLE, or",
        "INCONCLUSIVE where it was asked for by name. `reused_ids` informs and never fails. Checks of expectations are",
        "judged where a scenario expects something.",
        "",
        checks_table(),
        "## What each check refuses",
        "",
        "Mutants are named ways to break a good trajectory. Each check takes the good ones and refuses these:",
        "",
        kill_table(),
        "## Mutants",
        "",
        "| mutant | what is broken |",
        "|---|---|",
        *mutants,
    ]
    return "\n".join(lines) + "\n"
