"""What a host decides about a driver beyond its limits: one field for each thing that it may decide."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from harness.loop.offering import NO_OFFERING, Offering
from harness.types.messages import Messages
from harness.types.outcome import Judged
from harness.types.retrying import NO_RETRIES, RetryPolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """The choices of one driver. Every default leaves the plain loop as it is.

    ``retry`` says when a failed request is made again; ``outcome`` judges each final answer, by its text and
    the messages so far; ``offering`` says which tools are visible when, and the runtime context.
    """

    retry: RetryPolicy = NO_RETRIES
    outcome: Callable[[str, Messages], Coroutine[Any, Any, Judged]] | None = None
    offering: Offering = NO_OFFERING
