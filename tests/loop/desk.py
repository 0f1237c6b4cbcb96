"""A driver by itself: real recorder, scripted model, two tools, virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from harness.checks import judge
from harness.clock import Clocks, run_in_loop
from harness.loop import Driver, StrictAnswers
from harness.models import RecordingDoor, ScriptedModel
from harness.recorder import Recorder
from harness.subjects import BUILT_IN_PROFILE, BuiltInLoop
from harness.tools import Door, FunctionTool
from harness.types.codes import ClockKind, Outcome
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import ModelRequest
from harness.types.lifecycle import InboxClaimed, InboxDiscarded, InboxQueued, RunQuiescent, TurnEnd
from harness.types.messages import MessageId, RunId
from harness.types.scenario import Limits
from harness.types.script import ScriptReply

CHECKED = (
    "event_grammar", "pairing", "provider_history", "termination", "context_closure", "inbox", "quiescence",
    "cancel_no_tool_start", "cancel_no_model_request", "cancel_no_input_consumed", "cancel_settled", "approval", "tool_runs",
)  # fmt: skip


def double(n: int) -> int:
    """Twice the number."""
    return 2 * n


async def wait(ms: int) -> str:
    """Wait for some time."""
    await asyncio.sleep(ms / 1000)
    return "waited"


def no_names(name: str) -> Any:
    raise AssertionError(f"{name} is not looked up here")


class Desk:
    """A driver with a real recorder, a scripted model and two tools."""

    def __init__(self, clock: Clocks, script: Sequence[ScriptReply], *, sink: Any = None, **options: Any) -> None:
        self.log = Recorder(clock, sink)
        self.model = ScriptedModel(script, scenario="desk", clock=clock, resolve=no_names)
        tools = [FunctionTool(double), FunctionTool(wait), *options.pop("tools", ())]
        self.driver = Driver(
            model=RecordingDoor(StrictAnswers(self.model), self.log),
            tools=Door(tools, log=self.log, clock=clock, redact=str),
            log=self.log,
            limits=options.pop("limits", Limits()),
            **options,
        )

    def ends(self) -> list[TurnEnd]:
        return [event.fact for event in self.log.events if isinstance(event.fact, TurnEnd)]

    def kinds(self) -> list[str]:
        return [event.fact.TYPE for event in self.log.events]

    def shown(self) -> list[list[str]]:
        """What the user said, as each request shows it."""
        requests = [event.fact.messages for event in self.log.events if isinstance(event.fact, ModelRequest)]
        return [[str(m.content) for m in messages if m.role == "user"] for messages in requests]

    def roles(self, number: int) -> list[str]:
        """Roles of the messages of request ``number`` (from 1)."""
        requests = [event.fact.messages for event in self.log.events if isinstance(event.fact, ModelRequest)]
        return [message.role for message in requests[number - 1]]

    def at(self, kind: str, act: Callable[[], Any], *, nth: int = 1) -> None:
        """Do something inside the nth event of a kind."""
        left = [nth]

        def listener(event: Event) -> None:
            if kind == event.fact.TYPE:
                left[0] -= 1
                if left[0] == 0:
                    act()

        self.log.listen(listener)

    def complaints(self) -> list[str]:
        """What the checks find in the log."""
        return complaints(self.log.events)


def complaints(events: Sequence[Event]) -> list[str]:
    """What the checks find in what a driver recorded."""
    header = Header(
        version="0", run_id=RunId("desk"), subject="desk", profile=BUILT_IN_PROFILE, observed=BuiltInLoop.observed
    )
    last = Event(len(events), RunQuiescent(), dict(BuiltInLoop.observed)["run/quiescent"], time=events[-1].time)
    verdicts = judge(Trajectory(header, (*events, last), source="desk"), names=CHECKED)
    return [f"{v.check}: {v.findings}" for v in verdicts if v.outcome not in (Outcome.PASS, Outcome.NOT_APPLICABLE)]


def accounts(events: Sequence[Event]) -> dict[MessageId, str]:
    """What became of each piece of input: taken, dropped or pending; a KeyError for one that nobody sent."""
    told: dict[MessageId, str] = {}
    for event in events:
        match event.fact:
            case InboxQueued(messages=messages):
                told.update((message.id, "pending") for message in messages)
            case InboxClaimed(message_ids=ids):
                assert all(told[one] == "pending" for one in ids)
                told.update(dict.fromkeys(ids, "taken"))
            case InboxDiscarded(message_ids=ids):
                assert all(told[one] != "dropped" for one in ids)
                told.update(dict.fromkeys(ids, "dropped"))
            case _:
                pass
    return told


def in_virtual_time(main: Callable[[Clocks], Coroutine[Any, Any, Any]]) -> Any:
    return run_in_loop(ClockKind.VIRTUAL, main)
