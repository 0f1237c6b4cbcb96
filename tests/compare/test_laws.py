"""Laws of comparison: nothing differs from itself, noise is nothing, and every other field counts."""

from __future__ import annotations

import dataclasses
from typing import Any, get_type_hints

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.compare import align, digest_of, explain, first_divergence
from harness.compare.plain import first_difference
from harness.folds import Viewed, committed_view
from harness.types.codes import ApprovalOutcome, CancelBy, CancelScope, InboxQueue, Origin, QueueDisposition
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import (
    AssistantMessage,
    ContextReplaced,
    ModelFailed,
    ModelRequest,
    ModelRetry,
    ToolEnd,
    ToolResult,
    ToolStart,
)
from harness.types.facts import FACT_TYPES, Fact, is_ignorable
from harness.types.jsontext import parse_json
from harness.types.lifecycle import (
    ApprovalAnswered,
    ApprovalAsked,
    CancelDelivered,
    CancelRequested,
    InboxDiscarded,
    RunQuiescent,
    TurnEnd,
)
from harness.types.messages import CallId, MessageId, Messages
from tests.compare.made import first, numbered, refund_run
from tests.strategies import trajectories, values_of

NOISE = (ToolStart, ToolEnd, ModelFailed, ModelRetry)
IDS = {"call_id", "wire_id", "id", "message_ids"}
IDENTITY = {"format", "run_id", "arm", "trial", "version", "volatile"}


@given(trajectories())
def test_a_run_compared_with_itself_has_no_difference(trajectory: Trajectory) -> None:
    assert first_divergence(trajectory, trajectory) is None
    assert explain(trajectory, copied(trajectory)) is None
    assert digest_of(trajectory) == digest_of(copied(trajectory))
    assert [v.key for v in committed_view(trajectory)] == [v.key for v in committed_view(copied(trajectory))]


def copied(value: Any) -> Any:
    """A deep copy that shares nothing, so that no shortcut by identity answers."""
    if isinstance(value, Messages):
        return Messages.of(copied(message) for message in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **{f.name: copied(getattr(value, f.name)) for f in dataclasses.fields(value)})
    return tuple(map(copied, value)) if isinstance(value, tuple) else value


def renamed(value: Any) -> Any:
    """The same with every call id and message id another one (empty ones stay empty)."""
    if isinstance(value, Messages):
        return Messages.of(renamed(message) for message in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        changes = {f.name: _renamed_field(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **changes)
    return tuple(map(renamed, value)) if isinstance(value, tuple) else value


def _renamed_field(name: str, value: Any) -> Any:
    if name not in IDS:
        return renamed(value)
    if isinstance(value, tuple):
        return tuple(f"other-{item}" if item else item for item in value)
    return f"other-{value}" if value else value


@given(trajectories(), st.integers(1, 9))
def test_other_ids_times_and_origins_are_no_difference(trajectory: Trajectory, factor: int) -> None:
    assume(not any(isinstance(event.fact, ContextReplaced) for event in trajectory))
    events = tuple(
        dataclasses.replace(event, fact=renamed(event.fact), time=(event.time or 0) * factor, origin=Origin.IMPORT)
        for event in trajectory
        if not is_ignorable(event.fact) and not isinstance(event.fact, NOISE)
    )
    noisy = dataclasses.replace(trajectory, events=tuple(dataclasses.replace(e, seq=i) for i, e in enumerate(events)))
    assert first_divergence(trajectory, noisy) is None
    assert first_divergence(noisy, trajectory) is None
    assert digest_of(trajectory) == digest_of(noisy)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths of all fields inside a fact that are neither ids nor attempts."""
    if isinstance(value, tuple):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, (*path, i))]
    if not dataclasses.is_dataclass(value):
        return [path]
    fields = [f.name for f in dataclasses.fields(value) if f.name not in IDS and f.name not in ("attempt", "role")]
    return [leaf for name in fields for leaf in leaves(getattr(value, name), (*path, name))]


def compared_leaves(fact: Any) -> list[tuple[Any, ...]]:
    if is_ignorable(fact) or isinstance(fact, (*NOISE, ModelRequest, RunQuiescent)):
        return []
    return leaves(fact)


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part] if isinstance(part, int) else getattr(value, part)
    return value


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with something else at a path."""
    if not path:
        return new
    part, *rest = path
    if isinstance(part, int):
        return (*value[:part], changed(value[part], tuple(rest), new), *value[part + 1 :])
    return dataclasses.replace(value, **{part: changed(getattr(value, part), tuple(rest), new)})


def has_ids(value: Any) -> bool:
    """Holds an id somewhere: its change may be a mere renaming."""
    if isinstance(value, tuple):
        return any(map(has_ids, value))
    if dataclasses.is_dataclass(value):
        return any(f.name in IDS or has_ids(getattr(value, f.name)) for f in dataclasses.fields(value))
    return False


def eventful_run() -> Trajectory:
    """The refund with an approval, a cancel, input that was dropped and history that was replaced."""
    run = refund_run()
    call, said = CallId("call_2_0"), run.events[4].fact.message  # type: ignore[union-attr]
    asked = (CancelBy.USER, CancelScope.TURN, QueueDisposition.KEEP, "late")
    facts: tuple[Fact, ...] = (
        ApprovalAsked(call),
        ApprovalAnswered(call, ApprovalOutcome.ALLOWED, "a person"),
        InboxDiscarded(InboxQueue.FOLLOWUP, (MessageId("m2"),), "too late"),
        CancelRequested(*asked),
        CancelDelivered(*asked),
        ContextReplaced(4, first(run, ToolResult, 2), said),
    )
    at = first(run, TurnEnd)
    more = [Event(0, fact, Origin.SUBJECT, 0, "", 1) for fact in facts]
    return numbered(run, [*run.events[:at], *more, *run.events[at:]])


EVENTFUL = eventful_run()
PLACES = {"start", "end"}
"""Of replaced history: two numbers may be one place (see below)."""
LEAVES = [
    (i, leaf)
    for i, event in enumerate(EVENTFUL)
    for leaf in compared_leaves(event.fact)
    if leaf[-1:] and leaf[-1] not in PLACES
]


def test_every_kind_of_event_that_is_compared_has_its_fields_changed() -> None:
    compared = {kind for kind, cls in FACT_TYPES.items() if not is_ignorable(cls) and not issubclass(cls, NOISE)}
    never = {"assistant/chunk"}
    assert compared - never <= {EVENTFUL.events[i].fact.TYPE for i, _ in LEAVES} | {
        event.fact.TYPE for event in EVENTFUL
    }


def test_other_history_replaced_is_a_difference() -> None:
    at = first(EVENTFUL, ContextReplaced)
    fact = EVENTFUL.events[at].fact
    assert isinstance(fact, ContextReplaced)
    for change in ({"start": fact.end}, {"end": fact.start}):
        mutant = dataclasses.replace(EVENTFUL.events[at], fact=dataclasses.replace(fact, **change))
        check_is_different(EVENTFUL, (*EVENTFUL.events[:at], mutant, *EVENTFUL.events[at + 1 :]))


@given(data=st.data())
@settings(max_examples=500)
def test_any_change_of_one_field_that_is_no_noise_is_a_difference(data: st.DataObject) -> None:
    run = EVENTFUL
    index, path = data.draw(st.sampled_from(LEAVES))
    event = run.events[index]
    hints = get_type_hints(type(at(event.fact, path[:-1])))
    new = data.draw(values_of(hints[path[-1]]))
    assume(new != at(event.fact, path) and not has_ids(new))
    mutant = dataclasses.replace(event, fact=changed(event.fact, path, new))
    check_is_different(run, (*run.events[:index], mutant, *run.events[index + 1 :]))


def test_no_content_and_a_content_of_no_parts_are_two() -> None:
    run = refund_run()
    at = first(run, AssistantMessage, 2)
    fact = run.events[at].fact
    assert isinstance(fact, AssistantMessage)
    assert fact.content is None
    mutant = dataclasses.replace(run.events[at], fact=dataclasses.replace(fact, content=()))
    check_is_different(run, (*run.events[:at], mutant, *run.events[at + 1 :]))


def check_is_different(run: Trajectory, events: tuple[Any, ...]) -> None:
    other = dataclasses.replace(run, events=events)
    for base, candidate in ((run, other), (other, run)):
        found = first_divergence(base, candidate)
        assert found is not None
        assert found.path
        assert found.base != found.candidate
        explanation = explain(base, candidate)
        assert explanation is not None
        assert explanation.first == found
        assert not align(base, candidate, found).is_equal
        assert digest_of(base) != digest_of(candidate)


@pytest.mark.parametrize("place", ["turn", "step", "agent"])
def test_an_event_in_another_place_is_a_difference(place: str) -> None:
    run = refund_run()
    for index, event in enumerate(run.events):
        if isinstance(event.fact, NOISE):
            continue
        value: Any = "child" if place == "agent" else 99
        moved = dataclasses.replace(event, **{place: value})
        check_is_different(run, (*run.events[:index], moved, *run.events[index + 1 :]))


@given(st.data())
def test_a_lost_doubled_or_exchanged_event_is_a_difference(data: st.DataObject) -> None:
    run = EVENTFUL
    kept = [i for i, event in enumerate(run) if not isinstance(event.fact, NOISE)]
    index = data.draw(st.sampled_from(kept))
    events = run.events
    check_is_different(run, events[:index] + events[index + 1 :])
    check_is_different(run, events[: index + 1] + events[index:])
    if index in kept[:-1]:
        after = kept[kept.index(index) + 1]
        swapped = list(events)
        swapped[index], swapped[after] = swapped[after], swapped[index]
        check_is_different(run, tuple(swapped))


@given(st.data())
def test_any_message_of_a_request_counts(data: st.DataObject) -> None:
    run = refund_run()
    index = data.draw(st.sampled_from([i for i, e in enumerate(run) if isinstance(e.fact, ModelRequest)]))
    shown = list(run.events[index].fact.messages)  # type: ignore[union-attr]
    n = data.draw(st.integers(0, len(shown) - 1))
    mutant = dataclasses.replace(shown[n], extra="{}")
    for messages in ([*shown[:n], mutant, *shown[n + 1 :]], [*shown[:n], *shown[n + 1 :]], [*shown, shown[n]]):
        event = dataclasses.replace(run.events[index], fact=ModelRequest(Messages.of(messages)))
        check_is_different(run, (*run.events[:index], event, *run.events[index + 1 :]))


@given(st.data())
def test_any_change_of_the_header_that_is_no_identity_is_a_difference(data: st.DataObject) -> None:
    run = refund_run()
    name = data.draw(st.sampled_from([f.name for f in dataclasses.fields(Header) if f.name not in IDENTITY]))
    new = data.draw(values_of(get_type_hints(Header)[name]))
    old = getattr(run.header, name)
    assume(new != old)
    if name in ("limits", "expectations") and new is not None:
        assume(first_difference(parse_json(new), parse_json(old or "null")) is not None)
    if name in ("models", "observed"):
        assume(len(dict(new)) == len(new))
    other = dataclasses.replace(run, header=dataclasses.replace(run.header, **{name: new}))
    assert first_divergence(run, other) is not None
    assert digest_of(run) != digest_of(other)


def test_a_view_holds_no_id_of_the_run_and_no_time() -> None:
    text = repr([view.key for view in committed_view(refund_run(ids="secret_{}_{}".format))])
    assert "secret" not in text
    assert "time" not in Viewed.__slots__


def test_ranges_of_replaced_context_are_renumbered() -> None:
    def with_replacement(run: Trajectory) -> Trajectory:
        users = [e.seq for e in run if e.fact.TYPE in ("user/message", "assistant/message", "tool/result")]
        fact = ContextReplaced(users[0], users[2], refund_run().events[4].fact.message)  # type: ignore[union-attr]
        last = dataclasses.replace(run.events[-1], seq=len(run), fact=fact)
        return dataclasses.replace(run, events=(*run.events, last))

    seen, unseen = with_replacement(refund_run()), with_replacement(refund_run(doors=False))
    assert seen.events[-1].fact != unseen.events[-1].fact
    assert first_divergence(seen, unseen) is None


def test_a_child_agent_is_named_by_first_appearance() -> None:
    def child(call: str) -> Trajectory:
        run = refund_run(ids=lambda step, n: f"{call}{step}{n}")
        event = dataclasses.replace(run.events[7], agent=CallId(f"{call}10"))
        return dataclasses.replace(run, events=(*run.events, dataclasses.replace(event, seq=len(run))))

    assert first_divergence(child("a"), child("b")) is None
