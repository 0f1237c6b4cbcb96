"""``harness show``: one trajectory, readable."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.options import Verbose


def show(
    file: Annotated[Path, typer.Argument(help="A trajectory (.jsonl), or a file of another product.")],
    form: Annotated[str, typer.Option("--format", help="text or mermaid (a sequence diagram).")] = "text",
    verbose: Verbose = False,
    number: Annotated[int, typer.Option("-n", "--number", help="Which trajectory of a file with several, from 1.")] = 1,
) -> None:
    """Print the timeline of a trajectory, or its sequence diagram."""
    from harness.cli.check import _in
    from harness.errors import ConfigurationError, UsageError
    from harness.report import mermaid, timeline

    if form not in ("text", "mermaid"):
        raise ConfigurationError(f"--format {form!r} is not one of text, mermaid")
    if file.is_dir():
        raise UsageError(f"{file} is a folder: name one trajectory in it")
    found = list(_in(file, None))
    if not 1 <= number <= len(found):
        raise UsageError(f"{file} holds {len(found)} trajectories; there is no number {number}")
    trajectory = found[number - 1]
    typer.echo(mermaid(trajectory) if form == "mermaid" else timeline(trajectory, verbose=verbose))
