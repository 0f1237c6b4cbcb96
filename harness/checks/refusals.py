"""Which provider would refuse a history, and why: information about any run, above all about imported ones.

`provider_history` judges what a loop sent; here nothing was sent by us, so the conversation as it stands is judged,
with calls under the ids that the file gives them. The table is closed and holds only rules that the errors of the
providers state; where they are known to be lenient, nothing is said, and nothing of what was not recorded. Nobody
fails by it: a history may end on an open call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from harness.checks.reading import by_agent, has_substance
from harness.checks.refusal_history import Answer, History, history_shown
from harness.folds.imported import is_import
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage
from harness.types.jsontext import parse_json
from harness.types.reasons import EmittedCall
from harness.types.records import ProviderRefusal

_OPENAI_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANTHROPIC_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_ANTHROPIC_ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
_GEMINI_NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
_LONGEST_CHAT_ID: Final = 40
_LONGEST_RESPONSES_ID: Final = 64
_OF_RESPONSES: Final = frozenset({"responses", "nemo-gym"})
"""Imports whose history is one of the Responses API (what the header calls its subject is the format)."""


_Rule = Callable[[History], Iterator[tuple[str, Event]]]


def provider_refusals(trajectory: Trajectory) -> tuple[ProviderRefusal, ...]:
    """The providers that would refuse the conversation of a run, or to go on from it, in the order of the table."""
    histories = [history_shown(events, imported=is_import(trajectory)) for events in by_agent(trajectory).values()]
    found = []
    responses = is_import(trajectory) and trajectory.header.subject in _OF_RESPONSES
    for provider, of_chat in PROVIDERS.items():
        rules = RESPONSES.get(provider, of_chat) if responses else of_chat
        said = [one for history in histories for rule in rules for one in rule(history)]
        if said:
            said.sort(key=lambda one: one[1].seq)
            why = tuple(dict.fromkeys(text for text, _ in said))
            found.append(ProviderRefusal(provider, why, tuple(sorted({event.seq for _, event in said}))))
    return tuple(found)


# ---------------------------------------------------------------- rules


def _unanswered(history: History) -> Iterator[tuple[str, Event]]:
    for name, call, answer in _not_behind(history):
        late = call.id in history.answered
        what = "whose result is not directly behind it" if late else "without result"
        yield f"call {name!r} of {call.name!r} {what}", answer.event


def _never_answered(history: History) -> Iterator[tuple[str, Event]]:
    for name, call, answer in _not_behind(history):
        if call.id not in history.answered:
            yield f"call {name!r} of {call.name!r} without result", answer.event


def _not_behind(history: History) -> Iterator[tuple[str, EmittedCall, Answer]]:
    for answer in history.answers if history.whole else ():
        for name, call in answer.calls:
            if call.id not in answer.answered:
                yield name, call, answer


def _stray(history: History) -> Iterator[tuple[str, Event]]:
    for event, result in history.strays if history.whole else ():
        yield f"a result for {result.call_id!r} that answers no open call directly before it", event


def _unasked(history: History) -> Iterator[tuple[str, Event]]:
    asked = {call.id: answer.event.seq for answer in history.answers for _, call in answer.calls}
    for event, result in history.strays if history.whole else ():
        if asked.get(result.call_id, event.seq) >= event.seq:
            yield f"a result for {result.call_id!r} that answers no call before it", event


def _no_id(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if not name:
                yield f"a call of {call.name!r} without an id", answer.event


def _missing_id(history: History) -> Iterator[tuple[str, Event]]:
    """The older form of Chat messages, a ``function_call``, has no ids and is taken without."""
    with_ids = replace(history, answers=tuple(answer for answer in history.answers if answer.has_ids))
    yield from _no_id(with_ids)


def _same_id(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        names = [name for name, _ in answer.calls if name]
        for name in dict.fromkeys(name for name in names if names.count(name) > 1):
            yield f"two calls of one answer under the id {name!r}", answer.event


def _longer_than(longest: int) -> _Rule:
    def rule(history: History) -> Iterator[tuple[str, Event]]:
        for answer in history.answers:
            for name, _ in answer.calls:
                if len(name) > longest:
                    yield f"the id {name[:60]!r} is longer than {longest} characters", answer.event

    return rule


def _odd_id(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, _ in answer.calls:
            if name and not _ANTHROPIC_ID.fullmatch(name):
                yield f"the id {name[:60]!r} has other characters than letters, digits, _ and -", answer.event


def _name_like(pattern: re.Pattern[str]) -> _Rule:
    def rule(history: History) -> Iterator[tuple[str, Event]]:
        for answer in history.answers:
            for name, call in answer.calls:
                if not pattern.fullmatch(call.name):
                    yield f"call {name!r} has the name {call.name[:60]!r}, which is not allowed", answer.event

    return rule


def _no_object(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        for name, call in answer.calls:
            if not isinstance(parse_json(call.arguments), dict):
                yield f"the arguments of call {name!r} are no JSON object", answer.event


def _null_answer(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        message = answer.message
        if answer.told and message.content is None and not message.tool_calls and not message.refusal:
            yield "an answer with neither content nor calls", answer.event


def _empty_content(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers:
        message = answer.message
        silent = answer.is_last or not answer.told
        if not (silent or message.tool_calls or message.refusal or has_substance(message.content)):
            yield "an answer without text that is not the last message", answer.event
    for event, user in history.users:
        if not has_substance(user.message.content):
            yield "a message of the user without text", event


def _call_behind_answer(history: History) -> Iterator[tuple[str, Event]]:
    for answer in history.answers if history.whole else ():
        lonely = answer.before is None or isinstance(answer.before.fact, AssistantMessage)
        if answer.calls and lonely:
            name = answer.calls[0][0]
            yield f"call {name!r} follows neither the user nor a result", answer.event


PROVIDERS: Final[dict[str, tuple[_Rule, ...]]] = {
    "openai": (
        _unanswered,
        _stray,
        _missing_id,
        _same_id,
        _longer_than(_LONGEST_CHAT_ID),
        _name_like(_OPENAI_NAME),
        _null_answer,
    ),
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
RESPONSES: Final[dict[str, tuple[_Rule, ...]]] = {
    "openai": (
        _never_answered,
        _unasked,
        _no_id,
        _same_id,
        _longer_than(_LONGEST_RESPONSES_ID),
        _name_like(_OPENAI_NAME),
    ),
}
"""The same for a history of the Responses API: it pairs by id wherever a result stands, and takes longer ids."""
