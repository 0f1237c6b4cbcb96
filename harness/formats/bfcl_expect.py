"""BFCL's acceptable values as matchers of an evaluation: ``$one_of`` several, ``$optional`` where it may be left out.

Values are compared as every evaluation compares them: text exactly, numbers by value, objects whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from harness.matching import exactly

_LEFT_OUT: Final = ""


def expected_call(answers: dict[str, list[Any]]) -> dict[str, Any]:
    """The matcher of a call's arguments."""
    return {key: _matcher(choices, _one) for key, choices in answers.items()}


def _matcher(choices: Any, meant: Callable[[Any], Any]) -> Any:
    if not isinstance(choices, list):
        return exactly(choices)
    there = [meant(choice) for choice in choices if choice != _LEFT_OUT]
    if not there:
        # Nothing but "": left out, or empty text. Nothing at all stands for a list that is left out or empty.
        return {"$optional": _LEFT_OUT if choices else []}
    found = there[0] if len(there) == 1 else {"$one_of": there}
    return {"$optional": found} if _LEFT_OUT in choices else found


def _one(choice: Any) -> Any:
    """One acceptable value. An object has acceptable values at each key, alone or in a list; deeper it is literal."""
    if isinstance(choice, dict):
        return {key: _matcher(choices, exactly) for key, choices in choice.items()}
    if isinstance(choice, list):
        return [_one(part) if isinstance(part, dict) else exactly(part) for part in choice]
    return choice
