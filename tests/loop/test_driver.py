"""The driver by itself: driven by hand, asked twice, cancelled from outside, stopped by its hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from harness.clock import Clocks
from harness.errors import RecordingFailed, UsageError
from harness.loop import Driver, Enter, Hooks, Progress, Reject
from harness.types.codes import CancelScope, Code, Status
from harness.types.events import Event
from harness.types.exchange import ModelRequest, ToolStart
from harness.types.lifecycle import RunEnd, TurnEnd
from harness.types.messages import ChatUser, Messages
from harness.types.reasons import Blocked, Failed
from harness.types.scenario import Limits
from harness.types.script import ScriptCall, ScriptReply
from tests.loop.desk import Desk, in_virtual_time

TWO_STEPS = (ScriptReply(calls=(ScriptCall("double", '{"n":21}'),)), ScriptReply(say="42"))


async def driven(clock: Clocks, drive: Callable[[Driver], Coroutine[Any, Any, None]]) -> list[Event]:
    desk = Desk(clock, [*TWO_STEPS, ScriptReply(say="again")])
    desk.driver.open()
    for text in ("first", "second"):
        desk.driver.send(text)
        await drive(desk.driver)
    desk.driver.close()
    return list(desk.log.events)


@pytest.mark.conformance("27")
def test_driving_by_hand_gives_the_log_of_driving_automatically() -> None:
    progress: list[Progress] = []

    async def by_hand(driver: Driver) -> None:
        while (now := await driver.step()) is not Progress.IDLE:
            progress.append(now)

    automatic = in_virtual_time(lambda clock: driven(clock, Driver.run_until_idle))
    assert in_virtual_time(lambda clock: driven(clock, by_hand)) == automatic
    assert progress == [Progress.STEPPED, Progress.TURN_ENDED, Progress.TURN_ENDED]


@pytest.mark.conformance("20")
def test_a_second_step_while_one_is_under_way_is_refused_and_nothing_interleaves() -> None:
    async def main(clock: Clocks) -> None:
        desk = Desk(clock, [ScriptReply(calls=(ScriptCall("wait", '{"ms":100}'),)), ScriptReply(say="done")])
        desk.driver.open()
        desk.driver.send("go")
        first = asyncio.ensure_future(desk.driver.run_until_idle())
        await clock.sleep_ms(10)
        with pytest.raises(UsageError, match="under way"):
            await desk.driver.step()
        await first
        desk.driver.close()
        assert desk.ends()[0].status is Status.COMPLETED

    in_virtual_time(main)


@pytest.mark.conformance("20")
def test_input_that_comes_while_a_turn_runs_waits_for_a_turn_of_its_own() -> None:
    async def main(clock: Clocks) -> None:
        desk = Desk(clock, [*TWO_STEPS, ScriptReply(say="second")])
        desk.driver.open()
        desk.log.listen(lambda event: desk.driver.send("more") and None if isinstance(event.fact, ToolStart) else None)
        desk.driver.send("go")
        await desk.driver.run_until_idle()
        desk.driver.close()
        requests = [event.fact for event in desk.log.events if isinstance(event.fact, ModelRequest)]
        assert [len(request.messages) for request in requests] == [1, 3, 5]
        assert len(desk.ends()) == 2

    in_virtual_time(main)


@pytest.mark.conformance("81")
def test_a_cancel_while_idle_does_nothing_and_does_not_poison_the_next_turn() -> None:
    async def main(clock: Clocks) -> None:
        desk = Desk(clock, TWO_STEPS)
        desk.driver.open()
        desk.driver.cancel(scope=CancelScope.TURN)
        desk.driver.send("go")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert desk.ends()[0].status is Status.COMPLETED
        assert not any(event.fact.TYPE.startswith("cancel/") for event in desk.log.events)  # type: ignore[union-attr]

    in_virtual_time(main)


@pytest.mark.conformance("9", "67")
def test_a_cancel_of_the_surrounding_task_closes_the_turn_before_it_passes_on() -> None:
    async def main(clock: Clocks) -> list[Event]:
        desk = Desk(clock, [ScriptReply(calls=(ScriptCall("wait", '{"ms":60000}'),))], limits=Limits(grace_ms=10))
        desk.driver.open()
        desk.driver.send("go")
        task = asyncio.ensure_future(desk.driver.run_until_idle())
        await clock.sleep_ms(5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        desk.driver.close()
        return list(desk.log.events)

    kinds = [event.fact.TYPE for event in in_virtual_time(main)]
    ending = ["cancel/requested", "cancel/delivered", "tool/end", "tool/result", "step/end", "turn/end", "run/end"]
    assert kinds[-len(ending) :] == ending
    assert kinds.count("tool/start") == kinds.count("tool/end") == kinds.count("tool/result") == 1


@pytest.mark.conformance("13")
def test_a_rejected_step_ends_the_turn_as_blocked_and_asks_the_model_nothing() -> None:
    async def reject(history: Messages, claimed: tuple[ChatUser, ...]) -> Reject:
        return Reject(f"not {claimed[0].content!r} behind {len(history)} messages")

    async def main(clock: Clocks) -> None:
        desk = Desk(clock, [ScriptReply(say="never")], hooks=Hooks(pre_step=(reject,)))
        desk.driver.open()
        desk.driver.send("go")
        await desk.driver.run_until_idle()
        desk.driver.close()
        assert desk.ends() == [TurnEnd(Status.BLOCKED, Blocked("not 'go' behind 0 messages"))]
        assert desk.model.asked == []

    in_virtual_time(main)


@pytest.mark.conformance("12", "155")
def test_a_hook_that_throws_fails_its_turn_and_the_next_one_works() -> None:
    calls: list[int] = []

    async def once(history: Messages, claimed: tuple[ChatUser, ...]) -> Enter:
        calls.append(len(claimed))
        if len(calls) == 1:
            raise ValueError("broken policy")
        return Enter()

    async def main(clock: Clocks) -> None:
        desk = Desk(clock, [ScriptReply(say="works")], hooks=Hooks(pre_step=(once,)))
        desk.driver.open()
        for text in ("one", "two"):
            desk.driver.send(text)
            await desk.driver.run_until_idle()
        desk.driver.close()
        failed, fine = desk.ends()
        assert isinstance(failed.reason, Failed)
        assert failed.reason.code is Code.HOOK_FAILED
        assert fine.status is Status.COMPLETED
        assert len(desk.model.asked) == 1

    in_virtual_time(main)


class FullDisk:
    """A sink that takes ``n_left`` events and then no more."""

    def __init__(self, n_left: int) -> None:
        self.n_left = n_left

    def append(self, event: Event) -> None:
        self.n_left -= 1
        if self.n_left < 0:
            raise RecordingFailed("no space left on device")

    def commit(self) -> None:
        pass


@pytest.mark.conformance("116", "10")
@pytest.mark.parametrize("n_left", range(20))
def test_from_a_failed_write_on_no_request_is_made_and_no_tool_starts(n_left: int) -> None:
    async def main(clock: Clocks) -> tuple[list[Event], int]:
        desk = Desk(clock, TWO_STEPS, sink=FullDisk(n_left))
        desk.driver.open()
        desk.driver.send("go")
        await desk.driver.run_until_idle()
        desk.driver.close()
        return list(desk.log.events), len(desk.model.asked)

    events, n_asked = in_virtual_time(main)
    late = [event for event in events if event.seq >= n_left and isinstance(event.fact, ModelRequest | ToolStart)]
    assert late == []
    assert n_asked == sum(isinstance(event.fact, ModelRequest) for event in events)
    end = events[-1].fact
    assert isinstance(end, RunEnd)
    asked_all = n_asked == 2
    assert asked_all or (isinstance(end.reason, Failed) and end.reason.code is Code.RECORDING_FAILED)


def test_input_before_the_run_is_open_is_refused() -> None:
    async def main(clock: Clocks) -> None:
        desk = Desk(clock, [ScriptReply(say="x")])
        with pytest.raises(UsageError, match="open"):
            desk.driver.send("too early")

    in_virtual_time(main)
