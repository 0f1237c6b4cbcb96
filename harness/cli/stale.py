"""Recordings out of date, told once for each cause and not once for each run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from harness.runner.stale import Asking, Stale

_MOST_NAMES: Final = 5
_STREAMED: Final = ": parameter 'stream'"
AGAIN: Final = "harness record --stale"


def stale_lines(found: Sequence[Stale]) -> list[str]:
    """Two lines for each cause, and one command that records them all again; none without any."""
    if not found:
        return []
    lines = [line for one in found for line in cause_lines(one)]
    total = found[0].asking
    for one in found[1:]:
        total = total.plus(one.asking)
    return [*lines, f"  if that is meant: {AGAIN} asks {asking_text(total)}"]


def cause_lines(one: Stale) -> list[str]:
    """What changed and in how many recordings; both texts, and how far the runs still agreed."""
    n = len(one.specs)
    lines = [f"{one.cause}: {n} recording{'s' if n != 1 else ''} ({names_text(one.scenarios)})"]
    low, high = min(one.followed), max(one.followed)
    steps = f"{low}" if low == high else f"{low} to {high}"
    agreed = (
        f"{steps} leading step{'s' if (low, high) != (1, 1) else ''} still agree{'s' if (low, high) == (1, 1) else ''}"
    )
    lines.append(f"  {one.example}; {agreed}" if one.example else f"  {agreed}")
    if one.cause.endswith(_STREAMED):
        lines.append("  run and record with the same --stream (or HARNESS_STREAM, or 'stream' of the scenario's model)")
    return lines


def asking_text(asking: Asking) -> str:
    """``about 120 requests, 35,000 tokens, 0.31 USD``, as far as it is known."""
    text = f"about {asking.n_requests:,} request{'s' if asking.n_requests != 1 else ''}"
    if asking.n_tokens:
        text += f", {asking.n_tokens:,} tokens"
    if asking.micro_usd is None:
        return f"{text} (no price is known; see [tool.harness.prices])"
    return f"{text}, about {asking.micro_usd / 1_000_000:.2f} USD"


def names_text(names: Iterable[str]) -> str:
    """The first few names, and how many more there are."""
    known = list(names)
    shown = ", ".join(known[:_MOST_NAMES])
    return f"{shown} and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else shown
