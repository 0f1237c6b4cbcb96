"""How fast may be asked, and how much may be spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.errors import ConfigurationError
from harness.folds.budget import cost_of
from harness.protocols import Clock
from harness.types.evaluation import Running
from harness.types.limits import Prices
from harness.types.reasons import Usage

_MINUTE_MS: Final = 60_000
_PER: Final = 1_000_000


class Pace:
    """Lets requests through at most as often as is allowed: so many a minute, so many tokens a minute.

    Requests are spread evenly. Of tokens a minute's worth may be used at once; what an answer used is known only
    behind it, so a request goes out while the minute has any left, and the next ones wait until the debt is paid.
    """

    def __init__(self, running: Running, clock: Clock) -> None:
        self._clock = clock
        self._gap_ms = _MINUTE_MS / running.requests_per_minute if running.requests_per_minute else 0.0
        self._per_ms = (running.tokens_per_minute or 0) / _MINUTE_MS
        self._free_at_ms = float(clock.now_ms())
        self._tokens_free_at_ms = float(clock.now_ms()) - _MINUTE_MS

    async def wait(self) -> None:
        """Return when the next request may go out."""
        now_ms = self._clock.now_ms()
        at_ms = max(float(now_ms), self._free_at_ms)
        if self._per_ms:
            at_ms = max(at_ms, self._tokens_free_at_ms)
        self._free_at_ms = at_ms + self._gap_ms
        wait_ms = -int(-(at_ms - now_ms) // 1)
        if wait_ms > 0:
            await self._clock.sleep_ms(wait_ms)

    def used(self, usage: Usage | None) -> None:
        """Take note of what an answer used."""
        if self._per_ms and usage is not None:
            n_tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
            earliest = self._clock.now_ms() - _MINUTE_MS  # what was not used in a minute is not saved up
            self._tokens_free_at_ms = max(self._tokens_free_at_ms, earliest) + n_tokens / self._per_ms


@dataclass(slots=True)
class Purse:
    """What was spent and what may be: tokens and micro-dollars; what runs is counted with the mean of what ended."""

    max_tokens: int | None = None
    max_micro_usd: int | None = None
    n_tokens: int = 0
    n_answers: int = 0
    n_asked: int = 0
    n_unknown: int = 0
    cost: int = 0
    """Micro-dollars times a million, so that nothing is rounded before the end."""

    @property
    def micro_usd(self) -> int:
        """Micro-dollars so far, rounded up."""
        return -(-self.cost // _PER)

    def pay(self, usage: Usage | None, prices: Prices | None) -> None:
        """Take one answer into account."""
        if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
            self.n_unknown += 1
            return
        self.n_answers += 1
        self.n_tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self.cost += cost_of(usage, prices)

    @property
    def is_blind(self) -> bool:
        """Whether nothing tells yet what a request takes, so that what is open cannot be counted."""
        is_bounded = self.max_tokens is not None or self.max_micro_usd is not None
        return is_bounded and not self.n_answers and not self.n_unknown

    def spent(self) -> str:
        """Which bound another request would pass by the mean of what ended, in words; "" where it may be asked."""
        share = 1 + (self.n_asked + 1) / self.n_answers if self.n_answers else 1.0
        more = self.n_asked + 1
        if self.max_tokens is not None and _passes(self.n_tokens, share, self.max_tokens):
            each = f"; {more} more take about {self.n_tokens * (share - 1):.0f}"
            said = f"max_tokens is {self.max_tokens}, and {self.n_tokens} tokens are used"
            return said + (each if self.n_tokens < self.max_tokens else "")
        if self.max_micro_usd is not None and _passes(self.micro_usd, share, self.max_micro_usd):
            return f"max_cost_usd is {dollars(self.max_micro_usd)}, and {dollars(self.micro_usd)} are spent"
        return ""


def _passes(used: int, share: float, bound: int) -> bool:
    return used >= bound or used * share > bound


def dollars(micro_usd: int) -> str:
    """Micro-dollars in words, such as $0.0123."""
    return f"${micro_usd / _PER:.4f}"


def purse_of(running: Running, models: Mapping[str, Prices | None]) -> Purse:
    """An empty purse. Raises ConfigurationError for a bound on money where the price of a model is not known."""
    unknown = sorted(name for name, prices in models.items() if prices is None)
    if running.max_cost_micro_usd is not None and unknown:
        example = f'[tool.harness.prices] "{unknown[0]}" = {{input = 150000, output = 600000}}'
        raise ConfigurationError(
            f"running.max_cost_usd: nobody says what {unknown[0]!r} costs; say it in pyproject.toml, in micro-dollars "
            f"a million tokens: {example}"
        )
    return Purse(running.max_tokens, running.max_cost_micro_usd)
