"""`provenance`: values in the answer or in arguments occur in what the run had been told before (ARTICLES 30)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.expectations import asks, expected_of
from harness.folds import text_of
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.jsontext import Refusal, canonical_json, parse_json
from harness.types.scenario import Provenance


def _provenance(trajectory: Trajectory) -> Iterator[Found]:
    wanted = expected_of(trajectory).provenance
    if wanted is None:
        return
    told = ""
    final = _final_answer(trajectory)
    for event in trajectory.events:
        fact = event.fact
        if isinstance(fact, AssistantMessage):
            yield from _of_arguments(wanted, event, fact, told)
            if event is final:
                yield from _of_answer(wanted, event, fact, told)
        told += _telling(event)


def _telling(event: Event) -> str:
    """What an event tells the model; its own words are no evidence."""
    match event.fact:
        case UserMessage(message=message):
            return "\n" + text_of(message.content)
        case ToolResult(content=content, is_error=False):
            return "\n" + text_of(content)
        case RequestHeader(system=system):
            return "".join("\n" + text_of(message.content) for message in system)
        case _:
            return ""


def _final_answer(trajectory: Trajectory) -> Event | None:
    answers = (e for e in reversed(trajectory.events) if isinstance(e.fact, AssistantMessage) and not e.agent)
    return next(answers, None)


def _of_answer(wanted: Provenance, event: Event, fact: AssistantMessage, told: str) -> Iterator[Found]:
    text = text_of(fact.content)
    for pattern in wanted.answer:
        for claim in dict.fromkeys(match.group(0) for match in re.finditer(pattern, text)):
            if not _occurs(claim, told):
                yield found(f"the answer says {claim!r}, which no result and no input told", event)


def _of_arguments(wanted: Provenance, event: Event, fact: AssistantMessage, told: str) -> Iterator[Found]:
    names = dict(wanted.arguments)
    for call in fact.tool_calls:
        values = parse_json(call.arguments or "{}") if call.name in names else {}
        if isinstance(values, Refusal) or not isinstance(values, dict):
            continue  # malformed arguments are another check's
        for name in names.get(call.name, ()):
            for value in _scalars(values.get(name)):
                if not _occurs(value, told):
                    where = f"argument {name!r} of call {call.id!r} of {call.name!r}"
                    yield found(f"{where} is {value!r}, which no result and no input told", event)


def _scalars(value: Any) -> Iterator[str]:
    """Texts and numbers of a value, all the way down; true, false, null and "" claim nothing."""
    if isinstance(value, dict):
        for part in value.values():
            yield from _scalars(part)
    elif isinstance(value, list):
        for part in value:
            yield from _scalars(part)
    elif isinstance(value, str):
        yield from (value,) if value.strip() else ()
    elif value is not None and not isinstance(value, bool):
        yield canonical_json(value)


def _occurs(claim: str, told: str) -> bool:
    """Whether a claim stands in what was told, not as a part of a longer word or number."""
    edge = r"(?<![\w.])" if re.match(r"\w", claim) else ""
    end = r"(?!\w|\.\d)" if re.search(r"\w$", claim) else ""
    return re.search(edge + re.escape(claim) + end, told, re.IGNORECASE) is not None


PROVENANCE = BuiltCheck(
    name="provenance",
    about="values that the scenario names, in the answer or in arguments, occur in an earlier result or input",
    needs=(("assistant/message", None), ("tool/result", None)),
    rules=("article:30",),
    findings=_provenance,
    applies=asks("provenance"),
    expectation=True,
)
