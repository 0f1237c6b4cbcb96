"""What a run has used up, as a fold over its events: counted once, never beside them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.folds.circles import Circles
from harness.folds.sizes import RequestSizes
from harness.folds.usages import Usages
from harness.types.codes import LimitKind
from harness.types.events import Event
from harness.types.exchange import AssistantMessage, ModelFailed, ModelRequest, RequestHeader, ToolResult, ToolStart
from harness.types.lifecycle import InboxClaimed, TurnStart
from harness.types.limits import Limits, Prices
from harness.types.messages import Messages
from harness.types.reasons import LimitHit, Usage

_FOLDED = frozenset(
    {AssistantMessage, ModelFailed, ModelRequest, RequestHeader, ToolResult, ToolStart, TurnStart, InboxClaimed}
)
_PER = 1_000_000


class Budget:
    """Follows one agent; tokens and money are those of its child agents too.

    ``n_bodies`` counts bodies that calls of the open turn began (not those within them), ``n_tokens`` what was
    reported so far, ``micro_usd`` their price. ``n_unknown`` counts answers without usage, which count nothing.
    """

    def __init__(self, limits: Limits, agent: str = "", header: int = 0) -> None:
        self.limits = limits
        self._agent = agent
        self._children = f"{agent}/" if agent else ""
        self._n_seen = 0
        counted = (limits.tool_calls, limits.tokens, limits.cost_micro_usd, limits.context_tokens, limits.repeats)
        self._limited = any(limit is not None for limit in counted)
        self.n_bodies = self.n_tokens = self.n_unknown = self._cost = 0
        self._usages = Usages()
        self.circles = Circles(limits.repeats, agent) if limits.repeats else None
        self.sizes = RequestSizes(agent, header) if limits.context_tokens is not None else None

    @property
    def micro_usd(self) -> int:
        """Micro-dollars so far, rounded up."""
        return -(-self._cost // _PER)

    def catch_up(self, events: Sequence[Event]) -> Budget:
        """Take into account what was recorded since the last call; O(1) for each event, nothing without a limit."""
        if not self._limited:
            return self
        for number in range(self._n_seen, len(events)):
            self.apply(events[number])
        self._n_seen = len(events)
        return self

    def apply(self, event: Event) -> None:
        """Take one event into account."""
        fact = event.fact
        if type(fact) not in _FOLDED or not (event.agent == self._agent or event.agent.startswith(self._children)):
            return
        usage = self._usages.of(event)
        if usage is not None:
            self._use(usage, answered=type(fact) is AssistantMessage)
        if event.agent != self._agent:
            return
        if type(fact) is ToolStart:
            self.n_bodies += fact.attempt == 1 and fact.within is None
        elif type(fact) is TurnStart:
            self.n_bodies = 0
        if self.circles is not None:
            self.circles.apply(event)
        if self.sizes is not None:
            self.sizes.apply(event)

    def _use(self, usage: Usage, *, answered: bool) -> None:
        if usage.input_tokens is None and usage.output_tokens is None:
            self.n_unknown += answered
            return
        self.n_tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._cost += cost_of(usage, self.limits.prices)

    def spent(self) -> LimitHit | None:
        """The limit of tokens or money that is used up: nothing more may start (CONFORMANCE 100)."""
        limits = self.limits
        if limits.tokens is not None and self.n_tokens >= limits.tokens:
            return hit(LimitKind.TOKENS, limits.tokens, self.n_tokens)
        if limits.cost_micro_usd is not None and self.micro_usd >= limits.cost_micro_usd:
            return hit(LimitKind.COST, limits.cost_micro_usd, self.micro_usd)
        return None

    def too_big(self, messages: Messages) -> LimitHit | None:
        """The limit on one request, where a request that shows these messages is over it."""
        if self.sizes is None or self.limits.context_tokens is None:
            return None
        size = self.sizes.of(messages)
        return hit(LimitKind.CONTEXT, self.limits.context_tokens, size) if size > self.limits.context_tokens else None

    def in_circles(self, *, results: bool = True) -> LimitHit | None:
        """The limit on repeats that the latest answer reached (``results``: or its results)."""
        circles, rules = self.circles, self.limits.repeats
        if circles is None or rules is None:
            return None
        what = circles.in_words()
        if rules.same is not None and circles.n_same >= rules.same:
            return _repeats(rules.same, circles.n_same, f"the same was asked {circles.n_same} times in a row: {what}")
        if rules.alternating is not None and circles.n_rounds >= rules.alternating:
            text = f"two answers alternated for {circles.n_rounds} rounds, the latest: {what}"
            return _repeats(rules.alternating, circles.n_rounds, text)
        if results and rules.same_result is not None and circles.n_same_result >= rules.same_result:
            text = f"the results were the same {circles.n_same_result} times in a row, the latest of: {what}"
            return _repeats(rules.same_result, circles.n_same_result, text)
        return None


def cost_of(usage: Usage, prices: Prices | None) -> int:
    """The price of one request in millionths of a micro-dollar: as reported, else by the prices."""
    if usage.cost_micro_usd is not None or prices is None:
        return (usage.cost_micro_usd or 0) * _PER
    return (usage.input_tokens or 0) * prices.input + (usage.output_tokens or 0) * prices.output


def hit(which: LimitKind, value: int, reached: int, message: str | None = None) -> LimitHit:
    """The reason that names a limit; ``reached`` stands in it only where it says more than ``value``."""
    return LimitHit(which, value, reached if reached > value else None, message)


def _repeats(value: int, reached: int, message: str) -> LimitHit:
    return hit(LimitKind.REPEATS, value, reached, message)
