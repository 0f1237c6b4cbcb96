"""Whether a body ran with the arguments that the model sent."""

from __future__ import annotations

from typing import Any

from harness.matching.values import same_json
from harness.types.jsontext import Refusal, canonical_json, parse_json


def ran_with(sent: str, used: str) -> bool:
    """True where a body that used ``used`` did what a call with the raw arguments ``sent`` asked for.

    Both are JSON texts of objects; nothing but white space is ``{}``. A loop may add arguments of its own,
    and may turn a scalar into another of the same spelling (``"5"`` into 5, never true into 1: raw and
    used value are both in the log, INVARIANTS 20). A used value that is no JSON is known by its type
    alone (``<date>``) and fits everything.
    """
    asked, given = _clean(parse_json(sent) if sent.strip() else {}), parse_json(used)
    if isinstance(asked, Refusal) or isinstance(given, Refusal):
        return sent == used
    if not isinstance(asked, dict) or not isinstance(given, dict):
        return same_json(asked, given)
    return all(key in given and _alike(value, given[key]) for key, value in asked.items())


def _clean(value: Any) -> Any:
    """The value as a body gets it: without lone surrogates, which an escape can hold."""
    return value if isinstance(value, Refusal) else parse_json(canonical_json(value))


def _alike(sent: Any, used: Any) -> bool:
    if isinstance(used, str) and used.startswith("<") and used.endswith(">"):
        return True
    if isinstance(sent, dict) and isinstance(used, dict):
        return sent.keys() == used.keys() and all(_alike(value, used[key]) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(used, list):
        return len(sent) == len(used) and all(map(_alike, sent, used))
    if isinstance(sent, dict | list) or isinstance(used, dict | list):
        return False
    return same_json(sent, used) or same_json(_spelled(sent), _spelled(used))


def _spelled(scalar: Any) -> Any:
    """What a scalar says as text, read as JSON where it is any."""
    if not isinstance(scalar, str):
        return scalar
    value = parse_json(scalar)
    return scalar if isinstance(value, Refusal | dict | list) else value
