"""A person at a terminal answers questions about calls."""

from __future__ import annotations

import asyncio
import sys
from typing import TextIO

from harness.protocols import Signal
from harness.types.policy import ApprovalReply, Question

_WORDS = {
    "y": ApprovalReply.ALLOW,
    "yes": ApprovalReply.ALLOW,
    "allow": ApprovalReply.ALLOW,
    "n": ApprovalReply.REJECT,
    "no": ApprovalReply.REJECT,
    "reject": ApprovalReply.REJECT,
    "p": ApprovalReply.PARK,
    "park": ApprovalReply.PARK,
}
_LONGEST = 500


class TerminalApprover:
    """Asks on ``output`` and reads a line from ``source``, without holding up the event loop (system clock).

    Where ``source`` is no terminal, or it ends, nobody is there: unavailable. None: the process's own streams.
    """

    name = "terminal"

    def __init__(self, source: TextIO | None = None, output: TextIO | None = None) -> None:
        self._source, self._output = source, output

    @property
    def is_there(self) -> bool:
        """Whether a person can be asked: the input is a terminal."""
        source = self._source or sys.stdin
        return source is not None and not source.closed and source.isatty()

    async def ask(self, question: Question, *, signal: Signal) -> ApprovalReply:
        """The person's word: yes, no, or park (the run ends, and waits for ``harness run --resume``)."""
        source = self._source or sys.stdin
        if not self.is_there:
            return ApprovalReply.UNAVAILABLE
        self._say(_text(question))
        while line := await _line(source):
            reply = _WORDS.get(line.strip().lower())
            if reply is not None:
                return reply
            self._say("Please answer y (yes), n (no) or p (park: decide later). ")
        self._say("\n")  # the cursor still stands behind the question
        return ApprovalReply.UNAVAILABLE

    def _say(self, text: str) -> None:
        output = self._output or sys.stderr
        output.write(text)
        output.flush()


def _text(question: Question) -> str:
    arguments = question.arguments
    if len(arguments) > _LONGEST:
        arguments = f"{arguments[:_LONGEST]} … ({len(arguments)} characters)"
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in arguments)
    why = f" ({question.why})" if question.why else ""
    return f"\nMay {question.tool} run with {shown}?{why} [y/n/p] "


async def _line(source: TextIO) -> str:
    """The next line; "" at the end. A cancel of the waiting task leaves the stream as it was."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(source.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(source.fileno())
    return source.readline()
