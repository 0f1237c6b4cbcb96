"""What a host decides about a driver beyond its limits: one field for each thing that it may decide."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from harness.guarding import NO_GUARD, Guard
from harness.protocols import Signal
from harness.types.context import NO_CONTEXT, ContextSpec
from harness.types.messages import Messages
from harness.types.outcome import Judged
from harness.types.retrying import NO_RETRIES, RetryPolicy


@dataclass(frozen=True, slots=True)
class Policies:
    """The choices of one driver. Every default leaves the plain loop as it is.

    ``retry`` says when a failed request is made again; ``outcome`` judges each final answer, by its text and
    the messages so far; ``guard`` has the rules for calls, and who is asked about one; ``context`` says which
    messages a request shows, and ``summarise`` is asked for a summary (as which agent, of what text, until when)
    where older history is not to be folded by rule.
    """

    retry: RetryPolicy = NO_RETRIES
    outcome: Callable[[str, Messages], Coroutine[Any, Any, Judged]] | None = None
    guard: Guard = NO_GUARD
    context: ContextSpec = NO_CONTEXT
    summarise: Callable[[str, str, Signal], Coroutine[Any, Any, str]] | None = None
