"""`children`: a child agent works inside the call that it is for, and is stopped with whoever called it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.checks.base import BuiltCheck, Found, found
from harness.checks.children_ends import outcome_findings, reach_findings
from harness.checks.reading import at, sees
from harness.types.agents import child_path
from harness.types.codes import CancelBy, Origin
from harness.types.context import is_summariser
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolEnd, ToolStart
from harness.types.lifecycle import CancelDelivered, Note, TurnEnd, TurnStart
from harness.types.profile_run import ParentCancel
from harness.types.reasons import Cancelled

_RULE = "conformance:88"


@dataclass(slots=True)
class _Child:
    """One child: the body that it is, its open turn, and whether it was told of a parent's cancel."""

    body: Event | None = None
    ended: Event | None = None
    turn: Event | None = None
    told: bool = False


def _children(trajectory: Trajectory) -> Iterator[Found]:
    bodies: dict[str, Event] = {}
    children: dict[str, _Child] = {}
    told = trajectory.header.profile.parent_cancel is not ParentCancel.CHILDREN_GO_ON
    for event in trajectory.events:
        fact = event.fact
        if isinstance(fact, ToolStart) and fact.call_id is not None:
            bodies[child_path(event.agent, fact.call_id)] = event
        elif isinstance(fact, ToolEnd):
            yield from _body_ended(event, fact, children)
        if event.agent and not isinstance(fact, Note) and not is_summariser(event.agent):
            child = children.setdefault(event.agent, _Child(bodies.get(event.agent)))
            yield from _work(child, event, told=told)
    yield from outcome_findings(trajectory)
    if trajectory.header.profile.parent_cancel is ParentCancel.REACHES_CHILDREN:
        yield from reach_findings(trajectory)


def _body_ended(event: Event, fact: ToolEnd, children: dict[str, _Child]) -> Iterator[Found]:
    for agent, child in children.items():
        if child.body is not None and child.body.seq == fact.start:
            child.ended = event
            if child.turn is not None:
                text = f"the call of agent {agent!r} ended{at(event)} while a turn of it was open"
                yield found(text, child.turn, event, rule=_RULE)


def _work(child: _Child, event: Event, *, told: bool) -> Iterator[Found]:
    what = f"{event.fact.TYPE} of agent {event.agent!r}"
    if child.body is None:
        yield found(f"{what}, but no call of that name has begun", event, rule=_RULE)
        child.body = event
    elif child.ended is not None and not isinstance(event.fact, ToolEnd):  # a body that was given up may still end
        yield found(f"{what} after its call had ended", child.ended, event, rule=_RULE)
    match event.fact:
        case TurnStart():
            child.turn = event
        case CancelDelivered(by=CancelBy.PARENT):
            child.told = True
        case TurnEnd(reason=Cancelled(by=by)):
            child.turn = None
            if told and child.told and by is not CancelBy.PARENT:
                yield found(f"{what} says cancelled by {by}, its parent had cancelled it", event, rule=_RULE)
        case TurnEnd():
            child.turn = None
        case _:
            pass


def _has_children(trajectory: Trajectory) -> str:
    if not any(event.agent and not is_summariser(event.agent) for event in trajectory.events):
        return "there are no child agents"
    return "" if sees(trajectory, ToolEnd.TYPE) else "ends of bodies are not seen"


CHILDREN = BuiltCheck(
    name="children",
    about="a child agent works inside the call that it is for, is stopped with its parent, and its call tells its end",
    needs=(("tool/start", Origin.PROBE), ("tool/end", Origin.PROBE)),
    rules=(_RULE, "article:21"),
    findings=_children,
    applies=_has_children,
)
