"""Good trajectories whose older history was replaced or left out of a window, and the ways to get that wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.folds import windowed
from harness.mutants.editing import Mutant, Mutate, change, changed, drop, find, like, move, put, show
from harness.mutants.pen import Pen
from harness.types.codes import Code, Status
from harness.types.events import Event, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    UserMessage,
)
from harness.types.jsontext import canonical_json
from harness.types.limits import Limits
from harness.types.messages import CallId, ChatMessage, ChatTool, ChatUser
from harness.types.profile_loop import RequestHistory
from harness.types.reasons import EmittedCall, FinalAnswer
from harness.types.scenario import Expectations

_FOLD: Final = ChatUser("Earlier: look 2x (2 ok).")
_WINDOW: Final = 2


def compacted() -> Trajectory:
    """A result is rewritten; a request is too long, so older work is folded and the request made once more."""
    pen = Pen()
    pen.turn("look twice")
    places = []
    for number in (1, 2):
        call = EmittedCall(CallId(f"c{number}"), "look", f'{{"q":"{number}"}}')
        pen.ask()
        places.append(len(pen.events))
        pen.answer(None, call)
        pen.run_calls(call)
        places.append(len(pen.events) - 1)
        pen.end_step()
    pen.write(ContextReplaced(places[1], places[1], ChatTool("c1", "found 1")))
    pen.ask()
    pen.write(ModelFailed(Code.CONTEXT_OVERFLOW, "too long"))
    pen.write(ContextReplaced(places[0], places[3], _FOLD))
    pen.write(ModelRetry(Code.CONTEXT_OVERFLOW, 1, 0))
    pen.again(2)
    pen.answer("Found it twice.", attempt=2)
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer(), run=False)
    pen.turn("and again?")
    pen.ask()
    pen.answer("Done.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    expect = Expectations(
        status="completed", steps=4, messages=5, turns=2, answer=canonical_json("Done."),
        result_codes=((1, "OK"), (2, "OK")),
    )  # fmt: skip
    return pen.trajectory("compacted", Limits(), expect)


def narrowed() -> Trajectory:
    """Requests show the task and the last messages."""
    pen = Pen(show=lambda messages: windowed(messages, _WINDOW))
    pen.turn("look three times")
    for number in (1, 2, 3):
        call = EmittedCall(CallId(f"c{number}"), "look", f'{{"q":"{number}"}}')
        pen.ask()
        pen.answer(None, call)
        pen.run_calls(call)
        pen.end_step()
    pen.ask()
    pen.answer("Done.")
    pen.end_step()
    pen.end(Status.COMPLETED, FinalAnswer())
    expect = Expectations(
        status="completed", steps=4, messages=8, answer=canonical_json("Done."),
        result_codes=((1, "OK"), (2, "OK"), (3, "OK")),
    )  # fmt: skip
    made = pen.trajectory("narrowed", Limits(), expect)
    profile = replace(made.header.profile, request_history=RequestHistory.WINDOWED)
    return replace(made, header=replace(made.header, profile=profile))


# ---------------------------------------------------------------- edits


def _folded(edit: Callable[[Trajectory, Event], Trajectory | None]) -> Mutate:
    """Edit the replacement of several messages."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        event = find(trajectory, ContextReplaced, lambda fact: fact.start != fact.end)
        return None if event is None else edit(trajectory, event)

    return mutate


def _inside_a_pair(trajectory: Trajectory, event: Event) -> Trajectory | None:
    rewritten = find(trajectory, ContextReplaced, lambda fact: fact.start == fact.end)
    return None if rewritten is None else change(trajectory, event, start=rewritten.seq)


def _turned(trajectory: Trajectory, event: Event) -> Trajectory:
    fact = event.fact
    assert isinstance(fact, ContextReplaced)
    return change(trajectory, event, start=fact.end, end=fact.start)


def _rewritten_under_another_id(trajectory: Trajectory) -> Trajectory | None:
    event = find(trajectory, ContextReplaced, lambda fact: fact.start == fact.end)
    return None if event is None else change(trajectory, event, message=ChatTool("c2", "found 1"))


def _open_input_lost(trajectory: Trajectory) -> Trajectory | None:
    """The second turn's input is folded away before anything answered it."""
    answer = find(trajectory, AssistantMessage, lambda fact: fact.content == "Found it twice.")
    asked = find(trajectory, UserMessage, nth=-1)
    if answer is None or asked is None:
        return None
    return put(trajectory, asked, like(asked, ContextReplaced(answer.seq, asked.seq, ChatUser("x"))))


def _later(edit: Callable[[list[ChatMessage]], bool]) -> Mutate:
    """Edit the last request of the run that has a replaced context."""

    def mutate(trajectory: Trajectory) -> Trajectory | None:
        fold = find(trajectory, ContextReplaced, lambda fact: fact.start != fact.end)
        return None if fold is None else show(trajectory, edit, last=True)

    return mutate


def _other_words(messages: list[ChatMessage]) -> bool:
    messages[1] = ChatUser("Earlier: nothing.")
    return True


def _left_out(messages: list[ChatMessage]) -> bool:
    del messages[1]
    return True


def _still_shown(messages: list[ChatMessage]) -> bool:
    messages.insert(1, ChatUser("look twice"))
    return True


def _in_window(edit: Callable[[list[ChatMessage]], bool]) -> Mutate:
    def mutate(trajectory: Trajectory) -> Trajectory | None:
        narrow = trajectory.header.profile.request_history is RequestHistory.WINDOWED
        return show(trajectory, edit, last=True) if narrow else None

    return mutate


def _not_to_the_end(messages: list[ChatMessage]) -> bool:
    del messages[-2:]
    return True


def _without_task(messages: list[ChatMessage]) -> bool:
    del messages[0]
    return True


def _retried_for_nothing(trajectory: Trajectory, event: Event) -> Trajectory:
    return drop(trajectory, event)


def _too_late(trajectory: Trajectory, event: Event) -> Trajectory | None:
    again = find(trajectory, ModelRequest, lambda fact: fact.attempt == 2)
    return None if again is None else move(trajectory, event, again)


def _retried_twice(trajectory: Trajectory, event: Event) -> Trajectory | None:
    again = find(trajectory, ModelRequest, lambda fact: fact.attempt == 2)
    answer = find(trajectory, AssistantMessage, lambda fact: fact.attempt == 2)
    failure = find(trajectory, ModelFailed)
    if again is None or answer is None or failure is None or not isinstance(again.fact, ModelRequest):
        return None
    third = like(again, replace(again.fact, attempt=3))
    more = like(failure, ModelFailed(Code.CONTEXT_OVERFLOW, "still too long", 2))
    changed_answer = change(trajectory, answer, attempt=3)
    place = find(changed_answer, ModelRequest, lambda fact: fact.attempt == 2)
    return None if place is None else put(changed_answer, place, more, third)


REPLACED: Final = (
    Mutant("cut_inside_a_pair", "a call stays, and its result is folded away", _folded(_inside_a_pair)),
    Mutant("replacement_turned", "a replacement that ends before it begins", _folded(_turned)),
    Mutant("replacement_of_nothing", "a replacement of what is no message", _folded(changed(start=0))),
    Mutant(
        "replacement_grows", "a replacement longer than what it stands for",
        _folded(changed(message=ChatUser("Earlier, in many words: " + "and then " * 40))),
    ),
    Mutant("result_rewritten_under_another_id", "more of a result than its content", _rewritten_under_another_id),
    Mutant("open_input_folded_away", "input is folded away before it was answered", _open_input_lost),
    Mutant("fold_shown_changed", "the request shows another fold than was recorded", _later(_other_words)),
    Mutant("fold_not_shown", "the request shows neither the fold nor what it stands for", _later(_left_out)),
    Mutant("folded_and_still_shown", "the request shows what was folded away", _later(_still_shown)),
    Mutant("window_invents", "a window shows what was never said", _in_window(_other_words)),
    Mutant("window_stops_short", "a window without the newest messages", _in_window(_not_to_the_end)),
    Mutant("window_without_task", "a window without the newest input", _in_window(_without_task)),
    Mutant("overflow_retried_for_nothing", "a request too long is made again as it was", _folded(_retried_for_nothing)),
    Mutant("overflow_replaced_too_late", "it is made again before anything was replaced", _folded(_too_late)),
    Mutant("overflow_retried_twice", "a request too long is made a third time", _folded(_retried_twice)),
)  # fmt: skip
