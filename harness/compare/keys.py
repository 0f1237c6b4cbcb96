"""What of an event is compared block by block, as raw tuples; the strict form takes JSON texts by value."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from harness.folds import value_key
from harness.folds.view import without_streaming
from harness.types.exchange import AssistantMessage, RequestHeader, ToolResult, UserMessage
from harness.types.lifecycle import InboxQueued, RunEnd, RunQuiescent, TurnEnd
from harness.types.reasons import Waiting
from harness.wire.responses_items import without_kept_items

_NO_IDS: Final = frozenset({"id", "call_id", "wire_id", "message_ids", "attempt", "start", "end", "why"})
_ANSWER: Final = "answer"


def answer_key(fact: AssistantMessage) -> Hashable:
    """What a model said and called, without its ids, its tokens and its own name."""
    calls: tuple[Any, ...] = fact.tool_calls
    if len(calls) == 1:  # nearly all answers that call at all: no loop for them
        (call,) = calls
        calls = ((call.name, call.arguments, call.type),)
    elif calls:
        calls = tuple([(call.name, call.arguments, call.type) for call in calls])
    extra = fact.extra if fact.extra is None else without_kept_items(fact.extra)
    return (_ANSWER, calls, fact.content, fact.reasoning, fact.refusal, fact.finish_reason, fact.interrupted, extra)


def result_key(place: int, fact: ToolResult) -> Hashable:
    """What a tool answered, by the place of its call in the answer (-1: called in another block)."""
    return (place, fact.content, fact.is_error, fact.code, fact.message, fact.truncated, fact.name)


def header_key(fact: RequestHeader) -> Hashable:
    """What stands before the messages of a request; not whether the answer was to come in pieces."""
    return (fact.TYPE, fact.system, fact.tools, without_streaming(fact.parameters))


def input_key(fact: UserMessage) -> Hashable:
    """What was said to the agent."""
    return (fact.TYPE, fact.message.content, fact.message.extra)


def queued_key(fact: InboxQueued) -> Hashable:
    """What was put into which queue."""
    return (fact.TYPE, fact.queue, tuple([(one.message.content, one.message.extra) for one in fact.messages]))


def end_key(fact: TurnEnd | RunEnd) -> Hashable:
    """How it ended, and why; not the id of the call that is waited for."""
    if isinstance(fact.reason, Waiting):
        return other_key(fact)
    return (fact.TYPE, fact.status, fact.reason)


def quiescent_key(fact: RunQuiescent) -> Hashable:
    """What kinds of work are still running, in order."""
    return (fact.TYPE, tuple([alive.kind for alive in fact.alive]))


def other_key(fact: Any) -> Hashable:
    """Any other committed fact by its kind and fields, without ids and places."""
    return (fact.TYPE, _without_ids(fact))


def _without_ids(value: Any) -> Hashable:
    if is_dataclass(value) and not isinstance(value, type):
        return tuple(_without_ids(getattr(value, name)) for name in _compared(type(value)))
    if isinstance(value, tuple):
        return tuple(map(_without_ids, value))
    return value  # type: ignore[no-any-return]


@cache
def _compared(cls: type[Any]) -> tuple[str, ...]:
    return tuple(spec.name for spec in fields(cls) if spec.name not in _NO_IDS)


def by_value(key: Sequence[Hashable]) -> Hashable:
    """A block's key with the arguments of calls as values: another spelling of the same JSON is the same."""
    return tuple([_answer_by_value(part) if type(part) is tuple and part[0] is _ANSWER else part for part in key])


def _answer_by_value(part: tuple[Any, ...]) -> Hashable:
    calls = tuple([(name, value_key(arguments), kind) for name, arguments, kind in part[1]])
    return (_ANSWER, calls, *part[2:])
