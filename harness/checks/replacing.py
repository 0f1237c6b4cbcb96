"""What stands for older history: `context_replaced`, `context_shown` and `context_overflow`."""

from __future__ import annotations

from collections.abc import Iterator

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.reading import at, by_agent, two_doors
from harness.folds import History, replacement_error
from harness.types.codes import Code
from harness.types.events import Event, Trajectory
from harness.types.exchange import AssistantMessage, ContextReplaced, ModelFailed, ModelRequest
from harness.types.lifecycle import StepEnd
from harness.types.messages import ChatMessage, ChatUser, Messages
from harness.types.profile_loop import RequestHistory
from harness.types.profile_run import Compaction, ContextOverflow


def _replaced(trajectory: Trajectory) -> Iterator[Found]:
    for agent, events in by_agent(trajectory).items():
        history = History(agent)
        for event in events:
            if isinstance(event.fact, ContextReplaced):
                fact = event.fact
                why = replacement_error(history.nodes, fact.start, fact.end, fact.message)
                if why:
                    text = f"events {fact.start} to {fact.end} may not be replaced{at(event)}: {why}"
                    yield found(text, event, rule=_rule_of(why))
            history.apply(event)


def _rule_of(why: str) -> str:
    if "no message" in why or "comes behind" in why:
        return "conformance:124"
    return "conformance:125" if "tool result" in why else "conformance:127"


def _why_not_replaced(trajectory: Trajectory) -> str:
    if trajectory.header.profile.compaction is not Compaction.WHERE_CALLS_BALANCE:
        return "the profile does not say where history is cut"
    return "" if any(isinstance(e.fact, ContextReplaced) for e in trajectory.events) else "no context was replaced"


CONTEXT_REPLACED = BuiltCheck(
    name="context_replaced",
    about="a replacement names messages of now, keeps calls with their results, shrinks, and loses no open input",
    needs=(("context/replaced", None), ("user/message", None), ("assistant/message", None), ("tool/result", None)),
    rules=tuple(f"conformance:{n}" for n in (124, 125, 127)),
    findings=_replaced,
    applies=_why_not_replaced,
)
"""`context_shown` cannot see these: what is replaced badly is shown as badly."""


# ---------------------------------------------------------------- what a request shows


def _shown(trajectory: Trajectory) -> Iterator[Found]:
    windowed = trajectory.header.profile.request_history is RequestHistory.WINDOWED
    for agent, events in by_agent(trajectory).items():
        history, replaced = History(agent), False
        for event in events:
            replaced = replaced or isinstance(event.fact, ContextReplaced)
            if isinstance(event.fact, ModelRequest):
                if windowed:
                    yield from _window(event, event.fact.messages, history.messages)
                elif replaced:
                    yield from _whole(event, event.fact.messages, history.messages)
            history.apply(event)


def _whole(event: Event, shown: Messages, conversation: Messages) -> Iterator[Found]:
    for place, (one, other) in enumerate(zip(shown, conversation, strict=False), start=1):
        if one != other:
            text = f"message {place} of the request{at(event)} is not that of the conversation as it was replaced"
            yield found(text, event, rule="conformance:122")
            return
    if len(shown) != len(conversation):
        text = f"the request{at(event)} shows {len(shown)} messages, the conversation has {len(conversation)}"
        yield found(text, event, rule="conformance:122")


def _window(event: Event, shown: Messages, conversation: Messages) -> Iterator[Found]:
    left = iter(conversation)
    for place, message in enumerate(shown, start=1):
        if not any(message == other for other in left):
            text = f"message {place} of the request{at(event)} is not in the conversation at that place"
            yield found(text, event, rule="conformance:7")
            return
    if conversation and (not shown or shown[-1] != conversation[-1]):
        text = f"the window of the request{at(event)} does not reach to the newest message"
        yield found(text, event, rule="conformance:7")
    task = _newest_input(conversation)
    if task is not None and task not in shown:
        yield found(f"the newest input is not in the window of the request{at(event)}", event, rule="conformance:7")


def _newest_input(conversation: Messages) -> ChatMessage | None:
    places = range(len(conversation) - 1, -1, -1)
    return next((conversation[place] for place in places if isinstance(conversation[place], ChatUser)), None)


def _why_not_shown(trajectory: Trajectory) -> str:
    if two_doors(trajectory):
        return "what the loop keeps beside its requests is not seen"
    windowed = trajectory.header.profile.request_history is RequestHistory.WINDOWED
    replaced = any(isinstance(event.fact, ContextReplaced) for event in trajectory.events)
    declared = trajectory.header.profile.compaction is Compaction.WHERE_CALLS_BALANCE
    return "" if windowed or (replaced and declared) else "no context was replaced, and no window is declared"


CONTEXT_SHOWN = BuiltCheck(
    name="context_shown",
    about="a request shows the conversation as it was replaced, or a window of it that holds the newest input",
    needs=(("model/request", None), ("user/message", None), ("assistant/message", None), ("tool/result", None)),
    rules=tuple(f"conformance:{n}" for n in (7, 122)),
    findings=_shown,
    applies=_why_not_shown,
)


# ---------------------------------------------------------------- overflow


def _overflow(trajectory: Trajectory) -> Iterator[Found]:
    for events in by_agent(trajectory).values():
        failed: Event | None = None
        first: Event | None = None
        replaced = False
        for event in events:
            match event.fact:
                case ModelFailed(code=Code.CONTEXT_OVERFLOW):
                    failed, replaced = event, False
                case ContextReplaced():
                    replaced = True
                case ModelRequest() if failed is not None:
                    if first is not None:
                        text = f"a request that was too long is made for the third time{at(event)}"
                        yield found(text, first, failed, event, rule="conformance:153")
                    if not replaced:
                        text = f"a request that was too long is made again{at(event)}, and nothing was replaced"
                        yield found(text, failed, event, rule="conformance:153")
                    first, failed = failed, None
                case AssistantMessage() | StepEnd():
                    failed = first = None
                case _:
                    pass


def _why_no_overflow(trajectory: Trajectory) -> str:
    if trajectory.header.profile.context_overflow is not ContextOverflow.COMPACTED_AND_RETRIED_ONCE:
        return "the profile does not say that such a request is made again"
    overflown = (e.fact for e in trajectory.events if isinstance(e.fact, ModelFailed))
    return "" if any(fact.code is Code.CONTEXT_OVERFLOW for fact in overflown) else "no request was too long"


CONTEXT_OVERFLOW = BuiltCheck(
    name="context_overflow",
    about="a request that was too long is made once more at most, and only with something replaced",
    needs=(("model/request", None), ("model/error", None), ("context/replaced", None)),
    rules=("conformance:153",),
    findings=_overflow,
    applies=_why_no_overflow,
)
