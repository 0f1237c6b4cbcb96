"""Repeats as a fold: how often in a row a model has asked the same, alternated, or seen the same results."""

from __future__ import annotations

from typing import Any

from harness.types.codes import InboxQueue
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ToolResult
from harness.types.jsontext import Refusal, parse_json
from harness.types.lifecycle import InboxClaimed, TurnStart
from harness.types.limits import Repeats
from harness.types.reasons import EmittedCall

_LONGEST = 160


def value_key(text: str) -> Any:
    """A hashable key of a JSON text: equal for equal values, whatever the key order; 1 is 1.0, true is no number."""
    value = parse_json(text or "{}")
    return ("text", text) if isinstance(value, Refusal) else _key(value)


def _key(value: Any) -> Any:
    if isinstance(value, dict):
        return ("object", frozenset((name, _key(item)) for name, item in value.items()))
    if isinstance(value, list):
        return ("list", tuple(map(_key, value)))
    return (type(value) in (int, float), type(value) is bool, value)


class Circles:
    """Follows the answers and results of one agent (see :class:`~harness.types.limits.Repeats`).

    ``n_same`` counts equal answers in a row, ``n_rounds`` rounds of two answers that alternate,
    ``n_same_result`` answers in a row whose results were equal. An answer without calls that count, or with
    excluded ones only, changes nothing.
    """

    def __init__(self, rules: Repeats, agent: str = "") -> None:
        self._rules = rules
        self._agent = agent
        self._reset()

    def _reset(self) -> None:
        self.n_same = self.n_same_result = self._n_alternating = 0
        self._last: tuple[Any, Any] = (None, None)
        self._calls: dict[str, EmittedCall] = {}
        self._results: set[Any] = set()
        self._seen: Any = None
        self.latest: tuple[EmittedCall, ...] = ()

    @property
    def n_rounds(self) -> int:
        """Whole rounds of an alternation; 0 where nothing alternates."""
        return (self._n_alternating + 2) // 2 if self._n_alternating else 0

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        fact = event.fact
        if event.agent != self._agent:
            return
        if type(fact) is AssistantMessage:
            counting = tuple(call for call in fact.tool_calls if call.name not in self._rules.exclude)
            if counting and not fact.interrupted:
                self._answer(counting)
        elif type(fact) is ToolResult and fact.call_id in self._calls:
            del self._calls[fact.call_id]
            self._results.add((fact.name, fact.code, fact.content))
            if not self._calls:
                self._answered()
        elif type(fact) is TurnStart or (type(fact) is InboxClaimed and fact.queue is not InboxQueue.INJECT):
            self._reset()

    def _answer(self, calls: tuple[EmittedCall, ...]) -> None:
        key = frozenset((call.name, value_key(call.arguments)) for call in calls)
        before, last = self._last
        self.n_same = self.n_same + 1 if key == last else 1
        self._n_alternating = self._n_alternating + 1 if key == before and key != last else 0
        self._last = (last, key)
        self._calls = {call.id: call for call in calls}
        self._results = set()
        self.latest = calls

    def _answered(self) -> None:
        results = frozenset(self._results)
        self.n_same_result = self.n_same_result + 1 if results == self._seen else 1
        self._seen = results

    def in_words(self) -> str:
        """What is asked again and again: ``lookup {"id":7}``, or several of them."""
        return shortened(" and ".join(dict.fromkeys(f"{call.name} {call.arguments}" for call in self.latest)))


def shortened(text: str) -> str:
    """At most so many characters of a text, with a mark where it was cut."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
