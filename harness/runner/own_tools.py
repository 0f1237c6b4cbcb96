"""Tools that a run is given by whoever runs it, in place of the scenario's."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from harness.protocols import Tool


class OwnTools(Protocol):
    """The tools of one run, and what must be open while it runs."""

    def tools(self, workspace: Path) -> tuple[Tool, ...]:
        """The tools that the run's header names; ``workspace`` is its folder. Nothing is started yet."""
        ...

    def opened(self) -> AbstractAsyncContextManager[None]:
        """Entered in the run's own event loop before its first event, and left whatever becomes of the run."""
        ...
