"""Two requests compared in canonical form: what the model would read, ids renamed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from harness.folds.view import STREAMING
from harness.types.doors import ModelCall
from harness.wire.differences import parse_pattern, without
from harness.wire.differing import ORDER, Difference, body_differences
from harness.wire.requests import render_request

_MODEL = "model"


def first_difference(
    recorded: ModelCall, sent: ModelCall, *, ignore: Sequence[str] = (), start: int = 0
) -> Difference | None:
    """The difference that tells most (as a cassette's miss orders them); None where the model reads the same.

    The first ``start`` messages of both are known to be the same.
    """
    if _is_equal(recorded, sent, start):
        return None
    left, right = _canonical(recorded, ignore), _canonical(sent, ignore)
    if not (_names_model(recorded) and _names_model(sent)):  # a loop that names its model beside one that does not
        left, right = without(left, (_MODEL,)), without(right, (_MODEL,))
    found = sorted(body_differences(left, right), key=lambda one: ORDER.index(one.cause))
    return found[0] if found else None


def names_place(pattern: str, *calls: ModelCall) -> bool:
    """True where one of the requests, as they are compared, has a place of that pattern."""
    bodies = (_canonical(call, ()) for call in calls)
    return any(without(body, parse_pattern(pattern)) != body for body in bodies)


def _is_equal(recorded: ModelCall, sent: ModelCall, start: int) -> bool:
    same = (recorded.system, recorded.tools, recorded.parameters) == (sent.system, sent.tools, sent.parameters)
    if not same or len(recorded.messages) != len(sent.messages):
        return False
    pairs = zip(islice(recorded.messages, start, None), islice(sent.messages, start, None), strict=True)
    return all(one == other for one, other in pairs)


def _names_model(call: ModelCall) -> bool:
    return _MODEL in json.loads(call.parameters)


def _canonical(call: ModelCall, ignore: Sequence[str]) -> Any:
    body: Any = _renamed(render_request(replace(call, role="main"), _MODEL))
    for name in STREAMING:  # how an answer is to come is no matter of what the model reads
        body.pop(name, None)
    for pattern in ignore:
        body = without(body, parse_pattern(pattern))
    return body


def _renamed(body: dict[str, Any]) -> dict[str, Any]:
    """The body with ids of calls by first appearance: who made them does not count, which call they name does."""
    names: dict[str, str] = {}

    def name(identity: Any) -> Any:
        return names.setdefault(identity, f"id-{len(names) + 1}") if isinstance(identity, str) else identity

    for message in body["messages"]:
        for call in message.get("tool_calls") or ():
            if "id" in call:
                call["id"] = name(call["id"])
        if "tool_call_id" in message:
            message["tool_call_id"] = name(message["tool_call_id"])
    return body
