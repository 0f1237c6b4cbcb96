"""A send at every event, 0 to 3 ticks later, into every queue: nothing is lost, doubled or stranded."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from harness.clock import Clocks
from harness.errors import UsageError
from harness.loop import Enter, Hooks, Reject
from harness.types.codes import InboxQueue, QueueDisposition, Status
from harness.types.events import Event
from harness.types.exchange import UserMessage
from harness.types.messages import ChatUser, Messages
from harness.types.scenario import Limits
from harness.types.script import ScriptCall, ScriptFailure, ScriptReply
from tests.loop.desk import Desk, accounts, in_virtual_time

SAYS = [ScriptReply(say=f"answer {n}") for n in range(1, 8)]
PAIR = ScriptReply(calls=(ScriptCall("wait", '{"ms":10}'), ScriptCall("double", '{"n":2}')))
HANGS = ScriptReply(calls=(ScriptCall("wait", '{"ms":60000}'), ScriptCall("double", '{"n":2}')))


async def no_first_step(history: Messages, claimed: tuple[ChatUser, ...]) -> Enter | Reject:
    return Enter() if history or claimed[0].content != "one" else Reject("not one")


async def one_more(history: Messages) -> str | None:
    return "really?" if len(history) < 4 else None


@dataclass(frozen=True)
class Case:
    """A run to disturb: what the model says, what cancels it, which turns park what is queued behind them."""

    script: list[ScriptReply]
    cancel: tuple[str, QueueDisposition] | None = None
    hooks: Hooks = field(default_factory=Hooks)
    parks: bool = False


CASES = {
    "two-steps": Case([PAIR, *SAYS]),
    "failing": Case([ScriptReply(fail=ScriptFailure("SERVER", "no")), *SAYS], parks=True),
    "blocked": Case(SAYS, hooks=Hooks(pre_step=(no_first_step,)), parks=True),
    "asked-when-stopping": Case(SAYS, hooks=Hooks(turn_stopping=(one_more,))),
    "cancelled-and-dropped": Case([HANGS, *SAYS], ("tool/start", QueueDisposition.DROP)),
    "cancelled-and-kept": Case([HANGS, *SAYS], ("tool/start", QueueDisposition.KEEP), parks=True),
    "cancelled-in-its-end": Case(SAYS, ("turn/end", QueueDisposition.KEEP), parks=True),
}
TEXT = "in between"


@dataclass
class Sent:
    """What became of the send: its id, or that it was refused to its sender."""

    id: str | None = None
    refused: bool = False


def later(n_ticks: int, act: Callable[[], Any]) -> None:
    if n_ticks == 0:
        act()
    else:
        asyncio.get_running_loop().call_soon(later, n_ticks - 1, act)


def disturbed(case: Case, at: int | None, n_ticks: int, queue: InboxQueue, *, attached: bool) -> tuple[Desk, Sent]:
    """A run of two follow-ups with a send at event ``at``; an attached host looks again for some ticks."""

    async def main(clock: Clocks) -> tuple[Desk, Sent]:
        desk, sent = Desk(clock, case.script, limits=Limits(grace_ms=20), hooks=case.hooks), Sent()

        def send() -> None:
            try:
                sent.id = desk.driver.send(TEXT, queue=queue)
            except UsageError:
                sent.refused = True

        def listener(event: Event) -> None:
            if event.seq == at:
                later(n_ticks, send)

        if case.cancel is not None:
            kind, disposition = case.cancel
            desk.at(kind, lambda: desk.driver.cancel(queue=disposition))
        desk.log.listen(listener)
        desk.driver.open()
        desk.driver.send("one")
        desk.driver.send("two")
        await desk.driver.run_until_idle()
        for _ in range(4 * attached):
            await asyncio.sleep(0)
            await desk.driver.run_until_idle()
        desk.driver.close()
        for _ in range(4):
            await asyncio.sleep(0)
        return desk, sent

    result: tuple[Desk, Sent] = in_virtual_time(main)
    return result


@pytest.mark.conformance("103a", "117", "118", "105", "110", "111", "114", "104")
@pytest.mark.parametrize("queue", list(InboxQueue), ids=str)
@pytest.mark.parametrize("name", CASES)
def test_a_send_at_any_event_is_taken_once_or_pending_for_a_reason_or_dropped_or_refused(
    name: str, queue: InboxQueue
) -> None:
    case = CASES[name]
    reference, _ = disturbed(case, None, 0, queue, attached=True)
    became: Counter[str] = Counter()
    for at in range(len(reference.log.events)):
        for n_ticks in range(4):
            for attached in (True, False):
                desk, sent = disturbed(case, at, n_ticks, queue, attached=attached)
                where = f"{queue} at {desk.log.events[at].fact.TYPE} ({at}), {n_ticks} ticks later"
                assert desk.complaints() == [], where
                assert (sent.id is None) is sent.refused, where
                became[account_of(desk, sent, where, case, queue)] += 1
    assert became["taken"]
    assert became["refused"]


def account_of(desk: Desk, sent: Sent, where: str, case: Case, queue: InboxQueue) -> str:
    """What became of the message; what its account says is what the transcript and the requests show."""
    n_entered = sum(isinstance(e.fact, UserMessage) and e.fact.message.content == TEXT for e in desk.log.events)
    told = accounts(desk.log.events)
    if sent.refused:
        assert n_entered == 0, where
        return "refused"
    became = {str(one): what for one, what in told.items()}[sent.id or ""]
    assert n_entered == (became == "taken"), where
    assert all(user_texts.count(TEXT) <= 1 for user_texts in desk.shown()), where
    if became == "taken" and desk.ends()[-1].status is Status.COMPLETED:
        assert desk.shown()[-1].count(TEXT) == 1, where
    if became == "pending":
        assert case.parks or queue is InboxQueue.INJECT, where
    if became == "dropped":
        assert case.cancel is not None or case.hooks.pre_step, where
    return became
