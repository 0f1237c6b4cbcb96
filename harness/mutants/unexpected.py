"""Mutants of what a scenario expects: calls, answers, codes, counts, the end state."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.checks.expectations import END_STATE_NOTE
from harness.mutants.editing import (
    Mutant,
    Mutate,
    change,
    changed,
    doubled,
    on,
    with_events,
)
from harness.types.codes import Code
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ToolResult, UserMessage
from harness.types.lifecycle import (
    Note,
    StepStart,
)
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall


def _last_answer(**fields: object) -> Mutate:
    return on(AssistantMessage, changed(**fields), lambda fact: not fact.tool_calls, nth=-1)


def _extra_call(name: str) -> Mutate:
    """The first answer with calls asks for one more."""
    call = EmittedCall(CallId("extra"), name, '{"q":"z"}')

    def edit(trajectory: Trajectory, event: Event) -> Trajectory:
        calls = event.fact.tool_calls if isinstance(event.fact, AssistantMessage) else ()
        return change(trajectory, event, tool_calls=(*calls, call))

    return on(AssistantMessage, edit, lambda fact: bool(fact.tool_calls))


def _other_argument(trajectory: Trajectory, event: Event) -> Trajectory:
    calls = event.fact.tool_calls if isinstance(event.fact, AssistantMessage) else ()
    return change(trajectory, event, tool_calls=(replace(calls[0], arguments='{"q":"other"}'), *calls[1:]))


def _turned(trajectory: Trajectory, event: Event) -> Trajectory:
    calls = event.fact.tool_calls if isinstance(event.fact, AssistantMessage) else ()
    return change(trajectory, event, tool_calls=calls[::-1])


def _without_last_step(trajectory: Trajectory, event: Event) -> Trajectory:
    place = (event.turn, event.step)
    return with_events(trajectory, (other for other in trajectory.events if (other.turn, other.step) != place))


_NOTED: Final = JsonText('{"files":{"x.txt":"y"},"memory":{"b":1,"d":2}}')
_FORGOT: Final = JsonText('{"files":{"x.txt":"x"},"memory":{"b":1}}')
_NO_FILES: Final = JsonText('{"memory":{"b":1,"d":2}}')


def _left_behind(data: JsonText) -> Mutate:
    return on(Note, changed(data=data), lambda fact: fact.name == END_STATE_NOTE)


UNEXPECTED: Final = (
    Mutant("forbidden_tool_used", "a forbidden tool is called", _extra_call("delete")),
    Mutant("extra_call", "one call too many", _extra_call("note")),
    Mutant(
        "call_argument_changed",
        "a call with another argument",
        on(AssistantMessage, _other_argument, lambda fact: bool(fact.tool_calls)),
    ),
    Mutant(
        "calls_turned", "calls in another order", on(AssistantMessage, _turned, lambda fact: len(fact.tool_calls) > 1)
    ),
    Mutant("answer_changed", "another final answer", _last_answer(content="I do not know.")),
    Mutant("answer_emptied", "an empty final answer", _last_answer(content="")),
    Mutant(
        "answer_asks_on",
        "the last answer asks for a tool",
        _last_answer(tool_calls=(EmittedCall(CallId("more"), "look", "{}"),)),
    ),
    Mutant(
        "result_code_lost",
        "an error result without its code",
        on(ToolResult, changed(code=None), lambda fact: fact.is_error),
    ),
    Mutant(
        "result_code_changed",
        "an error result with another code",
        on(ToolResult, changed(code=Code.TOOL_TIMEOUT), lambda fact: fact.is_error),
    ),
    Mutant(
        "good_result_turned_error",
        "a good result becomes an error",
        on(ToolResult, changed(is_error=True, code=Code.TOOL_FAILED), lambda fact: not fact.is_error),
    ),
    Mutant("last_step_lost", "the last step is lost", on(StepStart, _without_last_step, nth=-1)),
    Mutant("answer_twice", "an answer is committed twice", on(AssistantMessage, doubled)),
    Mutant("input_twice", "the input enters twice", on(UserMessage, doubled)),
    Mutant("file_changed", "a file is not as expected", _left_behind(_NOTED)),
    Mutant("memory_forgotten", "something is not remembered", _left_behind(_FORGOT)),
    Mutant("files_not_noted", "the state has no files", _left_behind(_NO_FILES)),
)
