"""Finds who answers for a person, by what the options say."""

from __future__ import annotations

from typing import Final

from harness import plugins
from harness.errors import UnknownNameError, UsageError
from harness.protocols import Approver
from harness.subjects.terminal import TerminalApprover

TERMINAL: Final = "terminal"


def find_approver(name: str | None) -> Approver | None:
    """``terminal``, or ``package.module:name`` of an approver or of a function that makes one; None for None.

    Raises UnknownNameError for a name that leads nowhere, UsageError for what is no approver.
    """
    if name is None:
        return None
    if name == TERMINAL:
        return TerminalApprover()
    if ":" not in name:
        raise UnknownNameError(f"no approver is named {name!r}; there are {TERMINAL}, and package.module:name")
    found = plugins.resolve(name)
    approver = found() if (callable(found) and not hasattr(found, "ask")) or isinstance(found, type) else found
    if not (hasattr(approver, "ask") and isinstance(getattr(approver, "name", None), str)):
        raise UsageError(f"{name!r} is no approver: it needs a name and 'async def ask(question, *, signal)'")
    made: Approver = approver
    return made
