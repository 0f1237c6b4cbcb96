"""Options of ``harness compare`` about its gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from harness.types.review import GateSource, Severity

if TYPE_CHECKING:
    from harness.runner import GateText
    from harness.runner.review.goal_posts import Moved


def _print_schema(value: bool) -> None:
    if value:
        import json

        from harness.cli.output import say
        from harness.scenarios.gates import gate_schema

        say(json.dumps(gate_schema(), indent=2, ensure_ascii=False))
        raise typer.Exit


GateFile: TypeAlias = Annotated[
    Path | None, typer.Option("--gate", help="Rules that judge (default: every difference fails).")
]
Inconclusive: TypeAlias = Annotated[
    Severity | None, typer.Option("--inconclusive", help="What becomes of rules that cannot be decided.")
]
GateSchema: TypeAlias = Annotated[
    bool,
    typer.Option("--gate-schema", callback=_print_schema, is_eager=True, help="Print the JSON Schema of gates, exit."),
]


def gate_of(path: Path | None, inconclusive: Severity | None, moved: Moved | None = None) -> GateText | None:
    """The gate that was asked for, as it was at the merge base where that is known. Raises ConfigurationError."""
    from harness.errors import ConfigurationError
    from harness.runner.bases.repository import short
    from harness.runner.review.gate_texts import gate_text
    from harness.runner.review.reviewing import read_if_there

    if path is None:
        if inconclusive is not None:
            raise ConfigurationError("--inconclusive is for the rules of a gate: name one with --gate")
        return None
    found = gate_text(path, moved)
    try:
        read_if_there(found)  # what cannot be read is refused before anything runs
    except ConfigurationError as error:
        if moved is None or found.source is not GateSource.MERGE_BASE:
            raise
        raise ConfigurationError(
            f"{error}. That is its text at the merge base {short(moved.merge_base)}, which judges whatever the change "
            "makes of it: repair it there first, or let the one that was committed last judge (--base-ref HEAD)"
        ) from None
    return found
