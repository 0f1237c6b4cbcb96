"""Tells of runs as they end; a counter on long work where somebody looks on."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.output import say

if TYPE_CHECKING:
    from harness.runner import Ran


class Counter:
    """``12/107 runs`` on standard error, rewritten in place; nothing where that is no terminal."""

    def __init__(self, n_planned: int | None, noun: str) -> None:
        self._of = "" if n_planned is None else f"/{n_planned}"
        self._noun = noun
        self._on = sys.stderr.isatty() and n_planned != 1
        self.n_done = 0

    def show(self) -> None:
        """Write the count."""
        if self._on:
            sys.stderr.write(f"\r{self.n_done}{self._of} {self._noun}")
            sys.stderr.flush()

    def erase(self) -> None:
        """Clear its line, so that something else can be written."""
        if self._on:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def broken_off(self) -> None:
        """A terminal has written ``^C``; what comes next begins a line of its own."""
        if sys.stderr.isatty():
            sys.stderr.write("\n")
            sys.stderr.flush()

    def step(self) -> None:
        """One more is done."""
        self.n_done += 1
        self.show()


class Progress:
    """Keeps what has run, and says a line of each run as it ends."""

    def __init__(self, n_planned: int, *, verbose: bool, quiet: bool, folder: Path) -> None:
        self.ended: list[Ran] = []
        self._counter = Counter(n_planned, "runs")
        self._verbose = verbose
        self._quiet = quiet
        self._folder = folder
        self._counter.show()

    def tell(self, ran: Ran) -> None:
        """Tell of one run."""
        self._counter.erase()
        self.ended.append(ran)
        if not self._quiet:
            self._print(ran)
        self._counter.step()

    def broken_off(self) -> None:
        """It was interrupted."""
        self._counter.broken_off()

    def close(self) -> None:
        """Leave no counter behind."""
        self._counter.erase()

    def _print(self, ran: Ran) -> None:
        from harness.report import Verbosity, run_text, timeline
        from harness.store import read_trajectory

        if ran.summary is None:
            say(f"NOT RUN  {ran.run_id}: {ran.error}")
            return
        verbosity = Verbosity.VERBOSE if self._verbose else Verbosity.NORMAL
        if self._verbose:
            say(timeline(read_trajectory(self._folder / ran.summary.file), verbosity=verbosity))
        say(run_text(ran.summary, folder=str(self._folder), verbosity=verbosity) + ("\n" if self._verbose else ""))
