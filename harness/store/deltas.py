"""``keep`` and ``append``: requests on disk without their history, and back (**wire**).

A request of the built-in loop shares its buffer with the one before, so the delta costs only what
is new. Others (foreign loops, windows, compaction) are compared message by message, in one pass.
"""

from __future__ import annotations

from harness.store.ondisk import RequestLine
from harness.types.exchange import ModelRequest
from harness.types.messages import ChatMessage, Messages

Range = tuple[int, int]


class Deltas:
    """Turns the requests of one trajectory into lines, agent by agent, in order."""

    __slots__ = ("_previous",)

    def __init__(self) -> None:
        self._previous: dict[str, Messages] = {}

    def line_of(self, request: ModelRequest, agent: str) -> RequestLine:
        """The request as it is written behind all that went before."""
        messages = request.messages
        previous = self._previous.get(agent)
        if previous is None:
            keep: tuple[Range, ...] = ()
            n_kept = 0
        elif messages.extends(previous):
            n_kept = len(previous)
            keep = ((0, n_kept),) if n_kept else ()
        else:
            keep = kept_ranges(previous, messages)
            n_kept = sum(end - start for start, end in keep)
        self._previous[agent] = messages
        return RequestLine(keep, messages[n_kept:], request.attempt)

    def remember(self, request: ModelRequest, agent: str) -> None:
        """Take note of a request that is in the file already."""
        self._previous[agent] = request.messages


def kept_ranges(previous: Messages, messages: Messages) -> tuple[Range, ...]:
    """Rising ranges of ``previous`` that together are the longest possible beginning of ``messages``.

    Each message takes the earliest equal one behind those taken, which keeps the most; every
    message of either side is looked at once.
    """
    ranges: list[Range] = []
    start = at = 0
    for message in messages:
        found = _find(previous, message, at)
        if found is None:
            break
        if found != at:
            if at > start:
                ranges.append((start, at))
            start = found
        at = found + 1
    if at > start:
        ranges.append((start, at))
    return tuple(ranges)


def _find(previous: Messages, message: ChatMessage, at: int) -> int | None:
    for index in range(at, len(previous)):
        candidate = previous[index]
        if candidate is message or candidate == message:
            return index
    return None


class Rebuilder:
    """Turns lines back into requests; requests that only grow share one buffer."""

    __slots__ = ("_buffers",)

    def __init__(self) -> None:
        self._buffers: dict[str, list[ChatMessage]] = {}

    def request_of(self, line: RequestLine, agent: str) -> ModelRequest:
        """The whole request. Raises ValueError for ranges that the previous request does not have."""
        buffer = self._buffers.get(agent, [])
        check_ranges(line.keep, len(buffer))
        if line.keep == ((0, len(buffer)),):
            buffer.extend(line.append)
        else:
            buffer = [message for start, end in line.keep for message in buffer[start:end]]
            buffer.extend(line.append)
        self._buffers[agent] = buffer
        return ModelRequest(Messages(buffer, len(buffer)), line.attempt)


def check_ranges(keep: tuple[Range, ...], n_previous: int) -> None:
    """Raise ValueError unless the ranges rise, hold something, and lie in the previous request."""
    at = 0
    for start, end in keep:
        if not at <= start < end <= n_previous:
            raise ValueError(
                f"keep [{start}, {end}] does not fit: the agent's previous request has {n_previous} messages"
                f" and ranges must rise (here from {at})"
            )
        at = end
