"""``harness show``: one trajectory, readable."""

from __future__ import annotations

from enum import Enum
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer


class ShowFormat(Enum):
    """How a trajectory is shown."""

    TEXT = "text"
    MERMAID = "mermaid"


def show(
    file: Annotated[Path, typer.Argument(help="A trajectory (.jsonl), or a file of another product.")],
    form: Annotated[
        ShowFormat, typer.Option("--format", help="text, or mermaid: a sequence diagram for Markdown.")
    ] = ShowFormat.TEXT,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Whole texts, and every event.")] = False,
    number: Annotated[int, typer.Option("-n", "--number", help="Which trajectory of a file with several, from 1.")] = 1,
) -> None:
    """Show one run step by step, or as a sequence diagram."""
    from harness.cli.check import trajectories_in
    from harness.cli.output import say
    from harness.errors import UsageError
    from harness.report import Verbosity, mermaid, timeline

    if file.is_dir():
        raise UsageError(f"{file} is a folder: name one trajectory in it")
    if number < 1:
        raise UsageError(f"--number is {number}; it counts from 1")
    found = list(islice(trajectories_in(file), number))
    if len(found) < number:
        raise UsageError(f"{file} holds {len(found)}; there is no trajectory number {number}")
    verbosity = Verbosity.VERBOSE if verbose else Verbosity.NORMAL
    trajectory = found[-1]
    say(mermaid(trajectory) if form is ShowFormat.MERMAID else timeline(trajectory, verbosity=verbosity))
