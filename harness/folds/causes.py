"""Why two runs part, in words that every report uses."""

from __future__ import annotations

from typing import Final

from harness.types.codes import Cause, DivergenceKind
from harness.types.records import Divergence, Explanation, Share

INPUTS: Final = frozenset(
    {
        Cause.SYSTEM_PROMPT,
        Cause.TOOL_DESCRIPTION,
        Cause.TOOL_SCHEMA,
        Cause.TOOLS_OFFERED,
        Cause.PARAMETERS,
        Cause.USER_INPUT,
        Cause.CONTEXT,
    }
)
"""Causes that are an input of the model."""
CAUSE_WORDS: Final[dict[Cause, str]] = {
    Cause.SYSTEM_PROMPT: "system prompt changed",
    Cause.TOOL_DESCRIPTION: "tool description changed",
    Cause.TOOL_SCHEMA: "tool schema changed",
    Cause.TOOLS_OFFERED: "tools offered changed",
    Cause.PARAMETERS: "request parameter changed",
    Cause.USER_INPUT: "user input changed",
    Cause.CONTEXT: "context changed",
    Cause.OUTSIDE: "something came from outside",
    Cause.OTHER_MODEL: "another model",
    Cause.MODEL: "the model chose differently on the same input",
    Cause.TOOL: "the tool answered differently",
    Cause.LOOP: "the loop behaved differently",
    Cause.RECORDING: "recording out of date",
    Cause.SETUP: "setup changed",
    Cause.DETAIL: "same behaviour, other details",
}


def cause_text(explanation: Explanation, base_chose: Share | None = None) -> str:
    """``tool description changed (refund)``; how often the base chose so; how many more inputs differ."""
    cause = explanation.cause
    text = CAUSE_WORDS[cause] + (f" ({explanation.detail})" if explanation.detail else "")
    if cause in (Cause.MODEL, Cause.OTHER_MODEL) and base_chose is not None and base_chose.of > 1:
        text += f"; the base chose this in {base_chose.n} of {base_chose.of}"
    n_more = explanation.n_inputs - 1
    if cause in INPUTS and n_more > 0:
        text += f" and {n_more} more input{'s' if n_more > 1 else ''}"
    if explanation.effect is None and cause in INPUTS:
        text += "; nothing was done differently"
    return text


def where_text(found: Divergence) -> str:
    """``step 3``, ``turn 2 step 1 system prompt line 4``: place, and the field where it is not the plain choice."""
    place = f"step {found.step}" if found.step is not None else ""
    if found.turn is not None and found.turn > 1:
        place = f"turn {found.turn} {place}".strip()
    plain = found.kind == DivergenceKind.MODEL and found.path in ("call 1", "answer")
    return " ".join(part for part in (place, "" if plain and place else found.path) if part)


def parting_line(name: str, explanation: Explanation, base_chose: Share | None = None) -> str:
    """``refund  step 3: refund(7) → cancel_order(7)  cause: tool description changed (refund)``.

    Holds foreign text as it is: whoever prints it makes that safe to show.
    """
    shown = explanation.shown
    sides = " → ".join("(nothing)" if side is None else side or "(empty)" for side in (shown.base, shown.candidate))
    return f"{name}  {where_text(shown)}: {sides}  cause: {cause_text(explanation, base_chose)}"
