"""What an arm changes, in words; and which factors those are."""

from __future__ import annotations

from harness.types.evaluation import Arm


def factors_of(arm: Arm) -> tuple[str, ...]:
    """The names of the factors that an arm sets. Descriptions of tools and of parameters are one factor."""
    found = {
        "system prompt": arm.system is not None,
        "descriptions": bool(arm.descriptions or arm.parameter_descriptions),
        "names": bool(arm.rename),
        "tool_choice": arm.tool_choice is not None,
        "order of tools": arm.order is not None,
        "distractors": arm.distractors > 0,
        "history": arm.history_turns > 0,
        "injected text": arm.inject is not None,
        "no tools": not arm.offer_tools,
        "model": arm.model is not None,
    }
    return tuple(name for name, is_set in found.items() if is_set)


def changes_between(first: Arm, arm: Arm) -> tuple[str, ...]:
    """What another arm changes against the first: what it sets itself, and what it leaves as the evaluation has it."""
    own = changes_of(arm)
    left = [name for name in factors_of(first) if name not in factors_of(arm)]
    return (*own, *(f"without the {name} of {first.name}" for name in left))


def changes_of(arm: Arm) -> tuple[str, ...]:
    """What an arm changes, one thing a line, in the order of :func:`factors_of`; empty: nothing."""
    lines = {
        "system prompt": "another system prompt",
        "descriptions": _descriptions(arm),
        "names": "renamed: " + ", ".join(f"{old} to {new}" for old, new in arm.rename),
        "tool_choice": f"tool_choice {arm.tool_choice}",
        "order of tools": f"tools {arm.order}",
        "distractors": f"{arm.distractors} distractors",
        "history": f"{arm.history_turns} turns before the question",
        "injected text": "injected text",
        "no tools": "no tools",
        "model": f"model {arm.model.name if arm.model else ''}",
    }
    return tuple(lines[name] for name in factors_of(arm))


def _descriptions(arm: Arm) -> str:
    tools, parameters = len(arm.descriptions), len(arm.parameter_descriptions)
    said = [f"{n} of {what}" for n, what in ((tools, "tools"), (parameters, "parameters")) if n]
    return "other descriptions: " + ", ".join(said)
