"""What is said on standard output: reports, or one JSON object."""

from __future__ import annotations

import os
import sys
from typing import Any


def say(text: str) -> None:
    """Print a text: UTF-8 and LF whatever the locale, colour on terminals only.

    Where nobody reads any more (``harness show x | head``), nothing more is said; the work goes on.
    Raises RecordingFailed where standard output is a file on a full disk.
    """
    from harness.errors import RecordingFailed
    from harness.report import show

    try:
        show(text, sys.stdout, os.environ)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise RecordingFailed(f"standard output cannot be written: {error.strerror}") from None


def say_json(value: Any) -> None:
    """Print one JSON object on one line."""
    from harness.types.jsontext import canonical_json

    say(canonical_json(value))


def complain(text: str) -> None:
    """Print a message on standard error."""
    from harness.report import show

    show(text, sys.stderr, os.environ)
