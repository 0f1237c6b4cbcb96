"""What is said on standard output: reports, or one JSON object."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final, TextIO

_STDOUT: Final = 1
_COMMAND: Final = re.compile(r"^(\s*)(?=::|##\[)", re.MULTILINE)
"""Where a line begins that continuous integration takes for a command."""
_ours: list[TextIO] = []
"""The stream that reports go to while ``sys.stdout`` is lent to others; the newest is the last."""
_secrets: set[str] = set()
"""What the environment of this command keeps secret, and the file of ``--env-file``."""


def keep_secret(environ: Mapping[str, str]) -> None:
    """From now on :func:`hidden` masks the secrets of this environment too."""
    from harness.redaction import known_secrets

    _secrets.update(known_secrets(environ))


def forget_secrets() -> None:
    """Where a new command begins."""
    _secrets.clear()


def hidden(text: str) -> str:
    """A text of somebody else's as it may be shown: without secrets of the environment, and without keys."""
    from harness.redaction import known_secrets, redact_secrets

    return redact_secrets(text, {*_secrets, *known_secrets(os.environ)})


@contextmanager
def kept_for_reports() -> Iterator[None]:
    """Standard output for what we say alone: whatever loops, tools and checks print goes to standard error.

    So does what their child processes print, and what is written to the descriptor itself.
    """
    stream, kept = sys.stdout, None
    if _descriptor(stream) == _STDOUT and _descriptor(sys.stderr) is not None:
        stream.flush()
        kept = os.dup(_STDOUT)
        os.dup2(sys.stderr.fileno(), _STDOUT)
        stream = os.fdopen(kept, "w", encoding="utf-8", errors="replace", closefd=False)
    _ours.append(stream)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _ours.pop()
        if kept is not None:
            sys.stdout.flush()  # what was printed meanwhile belongs to standard error
            os.dup2(kept, _STDOUT)
            os.close(kept)


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):  # a stream without one, or a closed one
        return None


def say(text: str) -> None:
    """Print a text: UTF-8 and LF whatever the locale, colour on terminals only.

    Where nobody reads any more (``harness show x | head``), nothing more is said; the work goes on.
    Raises RecordingFailed where standard output is a file on a full disk.
    """
    from harness.errors import RecordingFailed
    from harness.report import show

    stream = _ours[-1] if _ours else sys.stdout
    try:
        show(text, stream, os.environ)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if not isinstance(error, BrokenPipeError):
            raise RecordingFailed(f"standard output cannot be written: {error.strerror}") from None


def say_json(value: Any) -> None:
    """Print one JSON object on one line."""
    from harness.types.jsontext import canonical_json

    say(canonical_json(value))


def complain(text: str) -> None:
    """Print a message on standard error. None of its lines is a command to whoever runs this (``::error::``)."""
    from harness.report import show

    show(_COMMAND.sub(r"\1| ", text), sys.stderr, os.environ)


def on_one_line(text: object) -> str:
    """A foreign name or text for a message: line ends and what is not seen as escapes."""
    from harness.report.text import visible

    return visible(str(text))
