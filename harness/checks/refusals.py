"""Which provider would refuse a history, and why: information about any run, above all about imported ones.

`provider_history` judges what a loop sent; here nothing was sent by us, so the conversation as it stands is judged,
with calls under the ids that the file gives them. The table is closed and holds only rules that the errors of the
providers state; where they are known to be lenient, nothing is said. Nobody fails by it: a history may end on an open
call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from harness.checks.reading import by_agent, has_substance, is_import, wire_id
from harness.folds import sent_ids
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.jsontext import parse_json
from harness.types.messages import CallId
from harness.types.reasons import EmittedCall
from harness.types.records import ProviderRefusal

_OPENAI_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANTHROPIC_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ANTHROPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_GEMINI_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_LONGEST_OPENAI_ID: Final = 40


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer, its calls under the ids that are shown, and which results stand directly behind it."""

    event: Event
    message: AssistantMessage
    calls: tuple[tuple[str, EmittedCall], ...]
    answered: frozenset[CallId]
    before: Event | None
    is_last: bool


@dataclass(frozen=True, slots=True)
class _History:
    """One agent's conversation, grouped; ``strays`` are results that answer no call directly before them."""

    answers: tuple[_Answer, ...]
    users: tuple[tuple[Event, UserMessage], ...]
    strays: tuple[tuple[Event, ToolResult], ...]
    answered: frozenset[CallId]


_Rule = Callable[[_History], Iterator[tuple[str, Event]]]


def provider_refusals(trajectory: Trajectory) -> tuple[ProviderRefusal, ...]:
    """The providers that would refuse the conversation of a run, or to go on from it, in the order of the table."""
    histories = [_history(events, imported=is_import(trajectory)) for events in by_agent(trajectory).values()]
    found = []
    for provider, rules in PROVIDERS.items():
        said = [one for history in histories for rule in rules for one in rule(history)]
        if said:
            said.sort(key=lambda one: one[1].seq)
            why = tuple(dict.fromkeys(text for text, _ in said))
            found.append(ProviderRefusal(provider, why, tuple(sorted({event.seq for _, event in said}))))
    return tuple(found)


# ---------------------------------------------------------------- the history


def _history(events: list[Event], *, imported: bool) -> _History:
    shown = [event for event in events if isinstance(event.fact, UserMessage | AssistantMessage | ToolResult)]
    last = max((at for at, event in enumerate(shown) if isinstance(event.fact, AssistantMessage)), default=-1)
    answers: list[_Answer] = []
    strays: list[tuple[Event, ToolResult]] = []
    at = 0
    while at < len(shown):
        event = shown[at]
        first = at if isinstance(event.fact, ToolResult) else at + 1
        behind = at + 1
        while behind < len(shown) and isinstance(shown[behind].fact, ToolResult):
            behind += 1
        results = [(one, one.fact) for one in shown[first:behind] if isinstance(one.fact, ToolResult)]
        asked: set[CallId] = set()
        if isinstance(event.fact, AssistantMessage):
            asked = {call.id for call in event.fact.tool_calls}
            calls = _named(event.fact.tool_calls, imported=imported)
            given = frozenset(result.call_id for _, result in results)
            before = shown[at - 1] if at else None
            answers.append(_Answer(event, event.fact, calls, given, before, at == last))
        strays += _strays(results, asked)
        at = behind
    users = tuple((event, event.fact) for event in shown if isinstance(event.fact, UserMessage))
    answered = frozenset(event.fact.call_id for event in shown if isinstance(event.fact, ToolResult))
    return _History(tuple(answers), users, tuple(strays), answered)


def _named(calls: tuple[EmittedCall, ...], *, imported: bool) -> tuple[tuple[str, EmittedCall], ...]:
    ids = map(wire_id, calls) if imported else sent_ids(calls)
    return tuple(zip(ids, calls, strict=True))


def _strays(results: list[tuple[Event, ToolResult]], asked: set[CallId]) -> Iterator[tuple[Event, ToolResult]]:
    left = set(asked)
    for event, result in results:
        if result.call_id not in left:
            yield event, result
        left.discard(result.call_id)


# ---------------------------------------------------------------- rules


def _unanswered(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if call.id not in answer.answered:
                late = call.id in history.answered
                what = "whose result is not directly behind it" if late else "without result"
                yield f"call {name!r} of {call.name!r} {what}", answer.event


def _stray(history: _History) -> Iterator[tuple[str, Event]]:
    for event, result in history.strays:
        yield f"a result for {result.call_id!r} that answers no open call directly before it", event


def _no_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if not name:
                yield f"a call of {call.name!r} with an empty id", answer.event


def _same_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        names = [name for name, _ in answer.calls if name]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            yield f"two calls of one answer under the id {name!r}", answer.event


def _long_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, _ in answer.calls:
            if len(name) > _LONGEST_OPENAI_ID:
                yield f"the id {name[:60]!r} is longer than {_LONGEST_OPENAI_ID} characters", answer.event


def _odd_id(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, _ in answer.calls:
            if name and not _ANTHROPIC_ID.fullmatch(name):
                yield f"the id {name[:60]!r} has other characters than letters, digits, _ and -", answer.event


def _name_like(pattern: re.Pattern[str]) -> _Rule:
    def rule(history: _History) -> Iterator[tuple[str, Event]]:
        for answer in history.answers:
            for name, call in answer.calls:
                if not pattern.fullmatch(call.name):
                    yield f"call {name!r} has the name {call.name[:60]!r}, which is not allowed", answer.event

    return rule


def _no_object(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if not isinstance(parse_json(call.arguments), dict):
                yield f"the arguments of call {name!r} are no JSON object", answer.event


def _null_answer(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        message = answer.message
        if message.content is None and not message.tool_calls and not message.refusal:
            yield "an answer with neither content nor calls", answer.event


def _empty_content(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        message = answer.message
        if not (answer.is_last or message.tool_calls or message.refusal or has_substance(message.content)):
            yield "an answer without text that is not the last message", answer.event
    for event, user in history.users:
        if not has_substance(user.message.content):
            yield "a message of the user without text", event


def _call_behind_answer(history: _History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        lonely = answer.before is None or isinstance(answer.before.fact, AssistantMessage)
        if answer.calls and lonely:
            name = answer.calls[0][0]
            yield f"call {name!r} follows neither the user nor a result", answer.event


PROVIDERS: Final[dict[str, tuple[_Rule, ...]]] = {
    "openai": (_unanswered, _stray, _no_id, _same_id, _long_id, _name_like(_OPENAI_NAME), _null_answer),
    "anthropic": (
        _unanswered,
        _stray,
        _no_id,
        _same_id,
        _odd_id,
        _name_like(_ANTHROPIC_NAME),
        _no_object,
        _empty_content,
    ),
    "gemini": (_unanswered, _stray, _name_like(_GEMINI_NAME), _no_object, _call_behind_answer),
}
"""What each provider is known to refuse with status 400 (page on formats)."""
