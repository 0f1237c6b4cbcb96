"""Tells of runs as they end; a counter on long work where somebody looks on."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from harness.runner import Ran


class Progress:
    """One line a run as it ends, on standard output; the counter on standard error, terminals only."""

    def __init__(self, n_planned: int, *, verbose: bool, quiet: bool, folder: Path) -> None:
        self._n_planned = n_planned
        self._n_done = 0
        self._verbose = verbose
        self._quiet = quiet
        self._folder = folder
        self._counts = sys.stderr.isatty() and n_planned > 1

    def __enter__(self) -> Progress:
        self._count()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._erase()

    def tell(self, ran: Ran) -> None:
        """Tell of one run."""
        self._n_done += 1
        self._erase()
        if not self._quiet:
            self._print(ran)
        self._count()

    def _print(self, ran: Ran) -> None:
        from harness.report import run_lines, timeline
        from harness.store import read_trajectory

        if ran.summary is None:
            typer.echo(f"NOT RUN {ran.run_id}: {ran.error}")
            return
        if self._verbose:
            typer.echo(timeline(read_trajectory(self._folder / ran.summary.file), verbose=True))
        typer.echo(run_lines(ran.summary, verbose=self._verbose))

    def _count(self) -> None:
        if self._counts and self._n_done < self._n_planned:
            typer.echo(f"\r{self._n_done}/{self._n_planned} runs", nl=False, err=True)

    def _erase(self) -> None:
        if self._counts:
            typer.echo("\r\x1b[K", nl=False, err=True)
