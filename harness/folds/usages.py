"""What the requests of a run say that they took, each request once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest
from harness.types.reasons import Usage


class Usages:
    """Follows events, each agent's in their order.

    A stream that reports its usage and then breaks says it in its failure, and again in the visible prefix that is
    kept of it (CONFORMANCE 70): the prefix of an attempt whose failure told it says nothing more.
    """

    def __init__(self) -> None:
        self._failed: dict[str, int] = {}

    def of(self, event: Event) -> Usage | None:
        """What an answer or a failure says: ``Usage()`` for an answer that says nothing, None for any other event."""
        fact = event.fact
        if isinstance(fact, ModelRequest):
            self._failed.pop(event.agent, None)
        elif isinstance(fact, ModelFailed) and fact.usage is not None:
            self._failed[event.agent] = fact.attempt
            return fact.usage
        elif isinstance(fact, AssistantMessage) and not (
            fact.interrupted and self._failed.get(event.agent) == fact.attempt
        ):
            return fact.usage or Usage()
        return None


def told_usages(events: Iterable[Event]) -> Iterator[Usage]:
    """What each request says that it took. An answer that says nothing knows nothing."""
    usages = Usages()
    return (usage for event in events if (usage := usages.of(event)) is not None)
