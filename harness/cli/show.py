"""``harness show``: one trajectory, readable."""

from __future__ import annotations

from enum import Enum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

if TYPE_CHECKING:
    from harness.types.events import Trajectory


class ShowFormat(Enum):
    """How a trajectory is shown."""

    TEXT = "text"
    MERMAID = "mermaid"
    CHAT = "chat"
    ATIF = "atif"


def show(
    file: Annotated[Path, typer.Argument(help="A trajectory (.jsonl), or a file of another product.")],
    form: Annotated[
        ShowFormat,
        typer.Option(
            "--format", help="text; mermaid: a diagram for Markdown; chat or atif: as a file that other products read."
        ),
    ] = ShowFormat.TEXT,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Write it to this new file instead of showing it."),
    ] = None,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Whole texts, and every event.")] = False,
    number: Annotated[int, typer.Option("-n", "--number", help="Which trajectory of a file with several, from 1.")] = 1,
) -> None:
    """Show one run: its steps, a diagram, or another product's file."""
    from harness.cli.check import trajectories_in
    from harness.errors import UsageError

    if file.is_dir():
        raise UsageError(f"{file} is a folder: name one trajectory in it")
    if number < 1:
        raise UsageError(f"--number is {number}; it counts from 1")
    found = list(islice(trajectories_in(file), number))
    if len(found) < number:
        raise UsageError(f"{file} holds {len(found)}; there is no trajectory number {number}")
    text = _as_text(found[-1], form, verbose=verbose)
    if out is None:
        from harness.cli.output import say

        say(text)
    else:
        _write(out, text)


def _as_text(trajectory: Trajectory, form: ShowFormat, *, verbose: bool) -> str:
    from harness.cli.output import complain
    from harness.formats import write_foreign
    from harness.report import Verbosity, mermaid, timeline

    match form:
        case ShowFormat.MERMAID:
            return mermaid(trajectory)
        case ShowFormat.TEXT:
            return timeline(trajectory, verbosity=Verbosity.VERBOSE if verbose else Verbosity.NORMAL)
        case ShowFormat.CHAT | ShowFormat.ATIF:
            written = write_foreign(trajectory, form.value)
            if written.losses:
                complain(f"not carried by {form.value}: {'; '.join(written.losses)}")
            return written.text.removesuffix("\n")
        case _:
            assert_never(form)


def _write(path: Path, text: str) -> None:
    """A new file with the text. Raises UsageError for one that is there already, or that cannot be made."""
    from harness.errors import UsageError

    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text + "\n")
    except FileExistsError:
        raise UsageError(f"{path}: is there already; name another file, or remove it first") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from None
