"""Faults of the loop around the same behaviour: what the model is shown, and what runs, is not what it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from harness.mutants.behaviours.base import Behaviour
from harness.mutants.behaviours.draft import Draft
from harness.types.codes import Effect, HeaderWhy, Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest, ModelRetry, RequestHeader, ToolEnd, ToolResult, ToolStart, UserMessage
from harness.types.messages import ChatMessage, ChatTool, JsonText, Messages
from harness.types.mutating import MutationKind


def no_system_prompt(run: Trajectory) -> Iterator[Behaviour]:
    """No request shows the system prompt, or only the first one does."""
    headers = [e for e in run.events if isinstance(e.fact, RequestHeader) and not e.agent and e.fact.system]
    if not headers or not isinstance(headers[0].fact, RequestHeader):
        return
    before = " ".join(str(message.content) for message in headers[0].fact.system)
    draft = Draft(run)
    for event in headers:
        draft.change(event, system=())
    yield _fault("the system prompt is not shown", headers[0], before, "nothing", draft.finished())
    requests = [event for event in run.events if isinstance(event.fact, ModelRequest) and not event.agent]
    if len(requests) < 2 or len(headers) != 1:
        return
    draft = Draft(run)
    later = replace(headers[0].fact, system=(), why=HeaderWhy.CHANGE)
    draft.put(draft.place(requests[1]), [draft.new(requests[1], later)])
    yield _fault("the second request shows no system prompt", requests[1], before, "nothing", draft.finished())


def input_twice(run: Trajectory) -> Iterator[Behaviour]:
    """The user's message stands twice in the conversation."""
    event = next((e for e in run.events if isinstance(e.fact, UserMessage) and not e.agent), None)
    if event is None or not isinstance(event.fact, UserMessage):
        return
    draft = Draft(run)
    draft.put(draft.place(event) + 1, [draft.new(event, event.fact)])
    text = str(event.fact.message.content)
    yield _fault("the user's message is shown twice", event, text, f"{text} {text}", draft.finished())


def results_shown_otherwise(run: Trajectory) -> Iterator[Behaviour]:
    """The model is shown another result than the tool gave, or none, where results are told beside requests."""
    if dict(run.header.observed).get(ToolResult.TYPE) is Origin.PROBE:
        return
    for what, edit in (
        ("the model is shown another result", lambda message: replace(message, content="something else")),
        ("the model is not shown a result", lambda message: None),
    ):
        made = _shown(run, edit)
        if made is not None:
            yield _fault(what, made[0], str(made[1].content), "something else" if edit(made[1]) else "nothing", made[2])


def _shown(
    run: Trajectory, edit: Callable[[ChatTool], ChatMessage | None]
) -> tuple[Event, ChatTool, Trajectory] | None:
    """With the first result that any request of the main agent shows edited in all its requests."""
    first: tuple[Event, int, ChatTool] | None = None
    events = list(run.events)
    for place, event in enumerate(events):
        if not isinstance(event.fact, ModelRequest) or event.agent:
            continue
        messages = list(event.fact.messages)
        if first is None:
            at = next((i for i, message in enumerate(messages) if isinstance(message, ChatTool)), None)
            found = messages[at] if at is not None else None
            first = (event, at, found) if at is not None and isinstance(found, ChatTool) else None
        if first is not None and first[1] < len(messages) and messages[first[1]] == first[2]:
            other = edit(first[2])
            messages[first[1] : first[1] + 1] = [] if other is None else [other]
            events[place] = replace(event, fact=replace(event.fact, messages=Messages.of(messages)))
    return None if first is None else (first[0], first[2], replace(run, events=tuple(events)))


def tools_dropped(run: Trajectory) -> Iterator[Behaviour]:
    """The second request offers no tools, where the run has some."""
    requests = [event for event in run.events if isinstance(event.fact, ModelRequest) and not event.agent]
    headers = [event for event in run.events if isinstance(event.fact, RequestHeader) and not event.agent]
    if not run.header.tools or len(requests) < 2 or len(headers) != 1:
        return
    draft = Draft(run)
    assert isinstance(headers[0].fact, RequestHeader)
    later = replace(headers[0].fact, tools=JsonText("[]"), why=HeaderWhy.CHANGE)
    draft.put(draft.place(requests[1]), [draft.new(requests[1], later)])
    names = ", ".join(tool.name for tool in run.header.tools if not tool.hidden)
    yield _fault("the second request offers no tools", requests[1], names, "nothing", draft.finished())


def a_body_twice(run: Trajectory) -> Iterator[Behaviour]:
    """A tool that may write runs a second time for the same call."""
    writing = {tool.name for tool in run.header.tools if tool.effect is Effect.WRITE and not tool.idempotent}
    for event in run.events:
        end = next((e for e in run.events if isinstance(e.fact, ToolEnd) and e.fact.start == event.seq), None)
        if isinstance(event.fact, ToolStart) and event.fact.name in writing and not event.agent and end is not None:
            assert isinstance(end.fact, ToolEnd)
            draft = Draft(run)
            again = draft.new(event, event.fact)
            draft.put(draft.place(end) + 1, [again, draft.new(end, replace(end.fact, start=again.seq))])
            yield _fault(f"{event.fact.name!r} runs twice for one call", event, "one body", "two", draft.finished())
            return


def retry_not_told(run: Trajectory) -> Iterator[Behaviour]:
    """A request is made again, and the log does not say so."""
    for event in run.events:
        if isinstance(event.fact, ModelRetry) and _asked_again(run, event):
            draft = Draft(run)
            draft.drop([event])
            yield _fault("a retry is not told", event, f"retry after {event.fact.code}", "nothing", draft.finished())
            return


def _asked_again(run: Trajectory, retry: Event) -> bool:
    following = (e.fact for e in run.events[retry.seq + 1 :] if e.agent == retry.agent and e.step == retry.step)
    return any(isinstance(fact, ModelRequest) for fact in following)


def _fault(text: str, event: Event, before: str, after: str, trajectory: Trajectory) -> Behaviour:
    return Behaviour(MutationKind.LOOP, text, event, before, after, trajectory)
