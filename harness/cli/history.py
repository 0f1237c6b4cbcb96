"""``harness history``: what became of each scenario and case over many folders of runs and evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import AsJson


def history(
    folders: Annotated[list[Path], typer.Argument(help="Folders of runs and of evaluations, in any order.")],
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="All lines, not only the first 20.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show pass rates, costs and flakes over many folders of runs."""
    from harness.cli.output import say, say_json
    from harness.folds import to_plain
    from harness.report import Verbosity, history_text
    from harness.runner import history_of

    found = history_of(folders)
    if as_json:
        say_json(to_plain(found))
    else:
        say(history_text(found, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL))
