"""``--html FILE``: one self-contained file beside what is said. It never changes what the command comes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Final

import typer

Html = Annotated[
    Path | None, typer.Option("--html", help="Write it as one HTML file too, which opens without a server.")
]

SUFFIXES: Final = (".html", ".htm")


def check_html(path: Path | None) -> None:
    """Refuse a place that cannot be written to before work begins that takes long. Raises ConfigurationError."""
    from harness.errors import ConfigurationError
    from harness.store import check_file

    if path is None:
        return
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigurationError(f"--html {path} is no name of a page: let it end in .html")
    check_file(path, "--html")


def write_beside(path: Path, make: Callable[[], bytes]) -> bool:
    """Write a report; where that fails it is told on standard error, and nothing else changes (INVARIANTS 31)."""
    from harness.cli.output import complain
    from harness.errors import HarnessError
    from harness.store import replace_file

    try:
        replace_file(path, [make()])
    except (HarnessError, OSError) as error:
        complain(f"{path} not written: {error}")
        return False
    return True
