"""What is enforced on a run: steps, time, calls, tokens, money, context, repeats.

All are whole numbers; a limit that is None is not set. The defaults are stated here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DEFAULT_MAX_STEPS: Final = 10
DEFAULT_WALL_MS: Final = 600_000
DEFAULT_GRACE_MS: Final = 1_000
DEFAULT_TOOL_CAP: Final = 8
DEFAULT_REMINDERS: Final = (3, 5)
DEFAULT_REPEATS: Final = 8


@dataclass(frozen=True, slots=True)
class Prices:
    """Micro-dollars per million tokens (150000 is $0.15 per million)."""

    input: int
    output: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """When a model that goes round in circles is stopped (CONFORMANCE 61 and 62, ARTICLES 32).

    What is compared are answers: the set of their calls by name and canonical arguments (key order is
    irrelevant, 1 and 1.0 are one number), so that a batch of equal calls counts once. ``same`` stops the
    nth equal answer in a row, ``alternating`` the nth round of A, B, A, B, ``same_result`` what would follow
    n answers in a row with equal results, whatever they asked. ``remind`` are counts of equal answers at which
    the model is reminded. Tools of ``exclude`` neither count nor reset; another call or input of the
    user resets.
    """

    same: int | None = None
    alternating: int | None = None
    same_result: int | None = None
    remind: tuple[int, ...] = ()
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What is enforced. ``grace_ms`` passes between the cooperative signal and the hard stop.

    Of a turn: ``steps`` (None: unlimited, bounded by time, hooks and cancels alone), ``tool_calls`` (bodies),
    ``turn_wall_ms``, ``repeats``. Of the run: ``wall_ms``, ``tokens`` (input and output as reported) and
    ``cost_micro_usd`` (as reported, else by ``prices``), those of child agents included. Of one request:
    ``context_tokens`` (reported where the part was shown before, estimated where not).
    """

    steps: int | None = DEFAULT_MAX_STEPS
    wall_ms: int = DEFAULT_WALL_MS
    grace_ms: int = DEFAULT_GRACE_MS
    parallel_tools: int = DEFAULT_TOOL_CAP
    tool_timeout_ms: int | None = None
    turn_wall_ms: int | None = None
    tool_calls: int | None = None
    tokens: int | None = None
    cost_micro_usd: int | None = None
    prices: Prices | None = None
    context_tokens: int | None = None
    repeats: Repeats | None = None
