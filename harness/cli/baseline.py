"""``harness baseline``: accepted variants of scenarios, and runs beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import AsJson, collected, environment, let_names_resolve

app = typer.Typer(help="What scenarios may do: accept, list, diff.", no_args_is_help=True)
Runs = Annotated[Path, typer.Argument(help="A folder of runs, a trajectory, or files of another product.")]
Folder = Annotated[
    Path | None, typer.Option("--baselines", help="Folder of accepted variants (default: reports/baselines).")
]
Scenarios = Annotated[
    list[Path] | None,
    typer.Option(
        "--scenarios", help="The scenarios that there are (default: those of [tool.harness], else scenarios)."
    ),
]


@app.callback()
def _group() -> None:
    pass


@app.command("accept")
def accept(
    runs: Runs,
    baselines: Folder = None,
    failing: Annotated[bool, typer.Option("--failing", help="Accept runs that did not pass, too.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop the variants of these scenarios that no accepted run took.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Keep what runs did as accepted variants of their scenarios, where it is new.

    Exit code 1: a run did not pass and was refused.
    """
    from harness.cli.output import say, say_json
    from harness.folds import to_plain
    from harness.redaction import known_secrets
    from harness.report import acceptance_text
    from harness.runner import accept_runs
    from harness.store import check_folder
    from harness.types.baselines import OldVariants, OnFailing, Taken

    root = _root(baselines)
    check_folder(root, "--baselines")
    let_names_resolve()
    done = accept_runs(
        runs,
        root,
        failing=OnFailing.ACCEPT if failing else OnFailing.REFUSE,
        old=OldVariants.DROP if replace else OldVariants.KEEP,
        secrets=known_secrets(dict(environment())),
    )
    if as_json:
        say_json(to_plain(done))
    else:
        say(acceptance_text(done, str(root)))
    raise typer.Exit(int(any(run.taken is Taken.REFUSED for run in done.runs)))


@app.command("list")
def list_variants(baselines: Folder = None, scenarios: Scenarios = None, as_json: AsJson = False) -> None:
    """List accepted variants and the runs that they come from; stale are those of another or no scenario."""
    from harness.cli.output import say, say_json
    from harness.folds import to_plain
    from harness.report import variants_text
    from harness.runner import Baselines

    root = _root(baselines)
    found = tuple(Baselines.read(root).variants(_digests(scenarios)))
    if as_json:
        say_json({"baselines": str(root), "variants": to_plain(found)})
    else:
        say(variants_text(found, str(root)))


@app.command("diff")
def diff(
    runs: Runs,
    baselines: Folder = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="All runs, also those that took a variant.")] = False,
    as_json: AsJson = False,
) -> None:
    """Tell of each run which accepted variant it took, else where it leaves the nearest, and why.

    Exit code 1: a run took none, or a scenario with variants has no run. 4: no run has a variant to compare with.
    """
    from harness.cli.output import say, say_json
    from harness.folds import EXIT_CODES, to_plain
    from harness.report import Verbosity, baseline_diff_text
    from harness.runner import diff_runs

    let_names_resolve()
    found = diff_runs(runs, _root(baselines))
    if as_json:
        say_json(to_plain(found))
    else:
        say(baseline_diff_text(found, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))
    raise typer.Exit(EXIT_CODES[found.outcome])


def _root(baselines: Path | None) -> Path:
    from harness.runner import BASELINES

    return baselines or BASELINES


def _digests(scenarios: list[Path] | None) -> dict[str, str] | None:
    """Digests of the scenarios that there are; None where there are none to ask."""
    from harness.cli.options import DEFAULT_SCENARIOS
    from harness.runner.settings import settings

    let_names_resolve()
    configured = settings().scenarios
    if not (scenarios or configured or Path(*DEFAULT_SCENARIOS).exists()):
        return None
    return {one.id: one.digest for one in collected(scenarios, configured, "")}
