"""The inbox of a driver: three queues, the latch, parking, removal, disposal, maintenance."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.clock import Clocks
from harness.errors import UsageError
from harness.loop import Enter, Hooks, Reject
from harness.types.codes import CancelBy, CancelScope, InboxQueue, QueueDisposition, Status
from harness.types.exchange import ToolResult
from harness.types.lifecycle import InboxClaimed, InboxDiscarded, InboxQueued, RunEnd
from harness.types.messages import ChatUser, Messages
from harness.types.reasons import Blocked, Cancelled, Concluded
from harness.types.scenario import Limits
from harness.types.script import ScriptCall, ScriptFailure, ScriptReply
from tests.loop.desk import Desk, accounts, in_virtual_time

STEER, INJECT, FOLLOWUP = InboxQueue.STEER, InboxQueue.INJECT, InboxQueue.FOLLOWUP
SAYS = [ScriptReply(say=f"answer {n}") for n in range(1, 12)]
TWO_CALLS = ScriptReply(calls=(ScriptCall("wait", '{"ms":10}'), ScriptCall("wait", '{"ms":50}')))
HANGS = ScriptReply(calls=(ScriptCall("wait", '{"ms":60000}'),))


def drive(
    before: Callable[[Desk], None],
    *texts: str,
    script: Any = SAYS,
    after: Callable[[Desk], Coroutine[Any, Any, None]] | None = None,
    **options: Any,
) -> Desk:
    """A whole run: prepared, the texts sent, driven until idle, gone on with, closed; the checks are content."""

    async def main(clock: Clocks) -> Desk:
        desk = Desk(clock, script, limits=Limits(grace_ms=10), **options)
        before(desk)
        desk.driver.open()
        for text in texts:
            desk.driver.send(text)
        await desk.driver.run_until_idle()
        if after is not None:
            await after(desk)
        desk.driver.close()
        return desk

    desk: Desk = in_virtual_time(main)
    assert desk.complaints() == []
    return desk


def nothing(desk: Desk) -> None:
    """No preparation."""


# ---------------------------------------------------------------- follow-ups


@pytest.mark.conformance("103", "107")
@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_a_burst_of_n_messages_has_n_turns_in_the_order_of_arrival(texts: list[str]) -> None:
    desk = drive(nothing, *texts)
    assert [end.status for end in desk.ends()] == [Status.COMPLETED] * len(texts)
    assert desk.shown() == [texts[: n + 1] for n in range(len(texts))]


# ---------------------------------------------------------------- steering


@pytest.mark.conformance("104", "107", "108")
@pytest.mark.public_case("PB-005")
@pytest.mark.parametrize("durations", [pytest.param((10, 50), id="in-order"), pytest.param((50, 10), id="turned")])
@pytest.mark.parametrize("kinds", [("tool/start", "tool/end"), ("tool/call", "tool/start"), ("tool/end", "tool/end")])
def test_what_steers_during_tools_stands_behind_all_results_in_sending_order(
    durations: tuple[int, int], kinds: tuple[str, str]
) -> None:
    def steer(desk: Desk) -> None:
        desk.at(kinds[0], lambda: desk.driver.send("use docx", queue=STEER))
        desk.at(kinds[1], lambda: desk.driver.send("and hurry", queue=STEER), nth=1 + (kinds[0] == kinds[1]))

    calls = tuple(ScriptCall("wait", f'{{"ms":{ms}}}') for ms in durations)
    desk = drive(steer, "begin", script=[ScriptReply(calls=calls), ScriptReply(say="noted")])
    assert desk.roles(2) == ["user", "assistant", "tool", "tool", "user", "user"]
    assert desk.shown()[1] == ["begin", "use docx", "and hurry"]
    assert len(desk.shown()) == 2
    assert [e.fact.is_error for e in desk.log.events if isinstance(e.fact, ToolResult)] == [False, False]
    last_result = max(event.seq for event in desk.log.events if isinstance(event.fact, ToolResult))
    steered = [e for e in desk.log.events if isinstance(e.fact, InboxClaimed) and e.fact.queue is STEER]
    assert [event.fact.message_ids for event in steered] == [("m2", "m3")]  # type: ignore[union-attr]
    assert steered[0].seq > last_result


@pytest.mark.conformance("106", "117")
@pytest.mark.parametrize(
    "kind", ["inbox/claimed", "user/message", "step/start", "request/header", "model/request", "assistant/message"]
)
def test_input_that_arrives_while_a_request_is_prepared_or_answered_joins_the_next(kind: str) -> None:
    desk = drive(lambda desk: desk.at(kind, lambda: desk.driver.send("more", queue=STEER)), "go")
    assert desk.shown() == [["go"], ["go", "more"]]
    assert len(desk.ends()) == 1


@pytest.mark.conformance("106")
def test_input_that_arrives_while_a_hook_admits_a_step_joins_the_next_request() -> None:
    desks: list[Desk] = []

    async def sending(history: Messages, claimed: tuple[ChatUser, ...]) -> Enter:
        if not history:
            desks[0].driver.send("more", queue=STEER)
        return Enter()

    assert drive(desks.append, "go", hooks=Hooks(pre_step=(sending,))).shown() == [["go"], ["go", "more"]]


@pytest.mark.conformance("104")
def test_what_steers_an_idle_driver_begins_a_turn_and_joins_a_follow_up_that_came_first() -> None:
    async def steer(desk: Desk) -> None:
        desk.driver.send("two", queue=STEER)
        await desk.driver.run_until_idle()
        desk.driver.send("three")
        desk.driver.send("and so", queue=STEER)
        await desk.driver.run_until_idle()

    desk = drive(nothing, "one", after=steer)
    assert desk.shown() == [["one"], ["one", "two"], ["one", "two", "three", "and so"]]
    assert len(desk.ends()) == 3


@pytest.mark.conformance("91", "103a")
def test_what_steers_at_the_last_step_that_the_limit_allows_begins_a_turn_of_its_own() -> None:
    async def main(clock: Clocks) -> Desk:
        desk = Desk(clock, SAYS, limits=Limits(steps=1))
        desk.at("model/request", lambda: desk.driver.send("more", queue=STEER))
        desk.driver.open()
        desk.driver.send("go")
        await desk.driver.run_until_idle()
        desk.driver.close()
        return desk

    desk = in_virtual_time(main)
    assert [end.status for end in desk.ends()] == [Status.COMPLETED] * 2
    assert desk.shown() == [["go"], ["go", "more"]]


# ---------------------------------------------------------------- injecting


@pytest.mark.conformance("105")
def test_injected_input_starts_nothing_while_idle_and_is_seen_by_the_next_turn_in_order_of_arrival() -> None:
    async def inject(desk: Desk) -> None:
        desk.driver.send("account 7", queue=INJECT)
        await desk.driver.run_until_idle()
        assert len(desk.ends()) == 1
        desk.driver.send("two")
        await desk.driver.run_until_idle()

    desk = drive(nothing, "one", after=inject)
    assert desk.shown() == [["one"], ["one", "account 7", "two"]]


@pytest.mark.conformance("105")
def test_injected_input_is_seen_by_the_next_request_of_the_open_turn_and_does_not_keep_it_open() -> None:
    def inject(desk: Desk) -> None:
        desk.at("tool/start", lambda: desk.driver.send("account 7", queue=INJECT))
        desk.at("model/request", lambda: desk.driver.send("too late", queue=INJECT), nth=2)

    desk = drive(inject, "go", script=[TWO_CALLS, *SAYS])
    assert desk.shown() == [["go"], ["go", "account 7"]]
    assert accounts(desk.log.events) == {"m1": "taken", "m2": "taken", "m3": "pending"}


# ---------------------------------------------------------------- cancel, latch, park


@pytest.mark.conformance("111", "21", "83")
@pytest.mark.parametrize("scope", list(CancelScope), ids=str)
@pytest.mark.parametrize("queue", [FOLLOWUP, STEER], ids=str)
@pytest.mark.parametrize("kind", ["cancel/delivered", "tool/result", "step/end", "turn/end"])
def test_a_waking_message_between_cancel_and_idle_runs_after_convergence_as_its_own_turn(
    kind: str, queue: InboxQueue, scope: CancelScope
) -> None:
    def cancel(desk: Desk) -> None:
        desk.at("tool/start", lambda: desk.driver.cancel(scope=scope))
        desk.at(kind, lambda: desk.driver.send("again", queue=queue))

    desk = drive(cancel, "go", script=[HANGS, *SAYS])
    assert [end.status for end in desk.ends()] == [Status.CANCELLED, Status.COMPLETED]
    assert desk.shown() == [["go"], ["go", "again"]]


@pytest.mark.conformance("112")
def test_a_latched_message_that_is_removed_again_begins_no_turn() -> None:
    def cancel(desk: Desk) -> None:
        desk.at("tool/start", desk.driver.cancel)
        desk.at("cancel/delivered", lambda: desk.driver.send("again", id="x"))
        desk.at("turn/end", lambda: desk.driver.remove("x"))

    desk = drive(cancel, "go", script=[HANGS, *SAYS])
    assert len(desk.ends()) == 1
    assert accounts(desk.log.events)["x"] == "dropped"  # type: ignore[index]


@pytest.mark.conformance("112")
@pytest.mark.article("24")
def test_a_message_removed_while_the_start_of_its_turn_is_observed_leaves_a_balanced_turn_without_steps() -> None:
    desk = drive(lambda desk: desk.at("turn/start", lambda: desk.driver.remove("m1")), "go")
    assert desk.kinds() == [
        "run/start", "inbox/queued", "turn/start", "inbox/discarded", "turn/end", "run/end",
    ]  # fmt: skip
    assert (desk.ends()[0].status, desk.ends()[0].reason) == (Status.COMPLETED, Concluded())


@pytest.mark.article("24")
def test_a_turn_is_recorded_as_begun_before_its_input_is_claimed() -> None:
    kinds = drive(nothing, "go").kinds()
    assert kinds.index("inbox/queued") < kinds.index("turn/start") < kinds.index("inbox/claimed")


@pytest.mark.conformance("112", "110")
def test_removing_what_woke_the_driver_leaves_what_a_cancel_parked_parked() -> None:
    async def wake_and_think_again(desk: Desk) -> None:
        desk.driver.send("wake", id="x")
        assert desk.driver.remove("x")
        assert not desk.driver.remove("x")
        await desk.driver.run_until_idle()

    def cancel(desk: Desk) -> None:
        desk.at("tool/start", lambda: desk.driver.cancel(queue=QueueDisposition.KEEP))

    desk = drive(cancel, "go", "parked", script=[HANGS, *SAYS], after=wake_and_think_again)
    assert len(desk.ends()) == 1
    assert accounts(desk.log.events) == {"m1": "taken", "m2": "pending", "x": "dropped"}


@pytest.mark.conformance("109", "110")
@pytest.mark.parametrize("kind", ["tool/start", "assistant/message", "turn/end"])
def test_what_a_cancel_keeps_is_parked_until_a_later_message_wakes_it_and_then_runs_in_order(kind: str) -> None:
    async def wake(desk: Desk) -> None:
        assert len(desk.ends()) == 1
        desk.driver.send("account 7", queue=INJECT)
        await desk.driver.run_until_idle()
        assert len(desk.ends()) == 1
        desk.driver.send("wake")
        await desk.driver.run_until_idle()

    def cancel(desk: Desk) -> None:
        desk.at(kind, lambda: desk.driver.cancel(queue=QueueDisposition.KEEP))

    desk = drive(cancel, "go", "two", "three", script=[HANGS if kind == "tool/start" else SAYS[0], *SAYS], after=wake)
    assert desk.shown()[-3:] == [
        ["go", "two", "account 7"],
        ["go", "two", "account 7", "three"],
        ["go", "two", "account 7", "three", "wake"],
    ]


@pytest.mark.conformance("110")
def test_what_is_parked_all_runs_once_something_that_steers_has_woken_the_driver() -> None:
    async def wake(desk: Desk) -> None:
        desk.driver.send("wake", queue=STEER)
        await desk.driver.run_until_idle()

    def cancel(desk: Desk) -> None:
        desk.at("turn/end", lambda: desk.driver.cancel(queue=QueueDisposition.KEEP))

    desk = drive(cancel, "go", "two", "three", after=wake)
    assert desk.shown() == [["go"], ["go", "two", "wake"], ["go", "two", "wake", "three"]]


@pytest.mark.conformance("66", "109", "118")
@pytest.mark.parametrize("queue", list(QueueDisposition), ids=str)
@pytest.mark.parametrize("scope", list(CancelScope), ids=str)
def test_a_cancel_in_the_terminal_event_keeps_the_next_turn_from_beginning(
    queue: QueueDisposition, scope: CancelScope
) -> None:
    def cancel(desk: Desk) -> None:
        desk.at("turn/end", lambda: desk.driver.cancel(scope=scope, queue=queue))

    desk = drive(cancel, "go", "two")
    assert desk.shown() == [["go"]]
    expected = "pending" if queue is QueueDisposition.KEEP else "dropped"
    assert accounts(desk.log.events) == {"m1": "taken", "m2": expected}


@pytest.mark.conformance("65", "109")
def test_a_cancel_drops_all_three_queues_and_says_so_of_each() -> None:
    def cancel(desk: Desk) -> None:
        for queue in InboxQueue:
            desk.at("tool/call", lambda queue=queue: desk.driver.send(str(queue), queue=queue))  # type: ignore[misc]
        desk.at("tool/start", desk.driver.cancel)

    desk = drive(cancel, "go", script=[HANGS, *SAYS])
    dropped = [event.fact for event in desk.log.events if isinstance(event.fact, InboxDiscarded)]
    assert {fact.queue for fact in dropped} == set(InboxQueue)
    assert accounts(desk.log.events) == {"m1": "taken", "m2": "dropped", "m3": "dropped", "m4": "dropped"}


@pytest.mark.conformance("82", "111")
def test_a_second_cancel_takes_back_what_was_latched_after_the_first() -> None:
    def cancel_twice(desk: Desk) -> None:
        desk.at("tool/start", desk.driver.cancel)
        desk.at("cancel/delivered", lambda: desk.driver.send("again"))
        desk.at("tool/result", desk.driver.cancel)

    desk = drive(cancel_twice, "go", script=[HANGS, *SAYS])
    assert accounts(desk.log.events) == {"m1": "taken", "m2": "dropped"}
    assert desk.kinds().count("turn/start") == 1


@pytest.mark.conformance("114", "149")
def test_behind_a_failed_or_blocked_turn_other_messages_stay_pending_in_order() -> None:
    async def reject(history: Messages, claimed: tuple[ChatUser, ...]) -> Enter | Reject:
        return Reject("not this one") if claimed[0].content == "go" else Enter()

    async def wake(desk: Desk) -> None:
        assert len(desk.ends()) == 1
        assert accounts(desk.log.events)["m2"] == accounts(desk.log.events)["m3"] == "pending"  # type: ignore[index]
        desk.driver.send("four")
        await desk.driver.run_until_idle()

    failed = drive(
        nothing, "go", "two", "three", script=[ScriptReply(fail=ScriptFailure("AUTH", "no")), *SAYS], after=wake
    )
    blocked = drive(nothing, "go", "two", "three", after=wake, hooks=Hooks(pre_step=(reject,)))
    assert failed.shown()[-1] == ["go", "two", "three", "four"]
    assert blocked.shown()[-1] == ["two", "three", "four"]
    assert blocked.ends()[0].reason == Blocked("not this one")
    assert accounts(blocked.log.events)["m1"] == "dropped"  # type: ignore[index]


# ---------------------------------------------------------------- ids, disposal, maintenance


@pytest.mark.conformance("115")
@pytest.mark.parametrize("bad", ["x", "m1", ""])
def test_a_message_id_that_is_taken_or_empty_is_refused_and_nothing_is_queued(bad: str) -> None:
    async def main(clock: Clocks) -> None:
        desk = Desk(clock, SAYS)
        desk.driver.open()
        desk.driver.send("one")
        desk.driver.send("two", id="x")
        before = list(desk.log.events)
        with pytest.raises(UsageError, match="id"):
            desk.driver.send("three", queue=STEER, id=bad)
        assert list(desk.log.events) == before

    in_virtual_time(main)


@pytest.mark.conformance("115")
def test_ids_given_by_arrival_pass_over_those_that_a_sender_gave() -> None:
    async def main(clock: Clocks) -> list[str]:
        desk = Desk(clock, SAYS)
        desk.driver.open()
        return [desk.driver.send("one", id="m2"), desk.driver.send("two"), desk.driver.send("three")]

    assert in_virtual_time(main) == ["m2", "m3", "m4"]


@pytest.mark.conformance("113", "117", "80")
@pytest.mark.article("23")
@pytest.mark.parametrize("kind", ["tool/start", "cancel/requested", "cancel/delivered", "turn/end"])
def test_once_disposed_nothing_is_accepted_and_the_open_turn_ends_as_cancelled_by_dispose(kind: str) -> None:
    refused: list[str] = []

    def dispose(desk: Desk) -> None:
        def send() -> None:
            with pytest.raises(UsageError, match="over"):
                desk.driver.send("late")
            refused.append(kind)

        desk.at("tool/start", desk.driver.dispose)
        desk.at(kind, send)

    desk = drive(dispose, "go", "two", script=[HANGS, *SAYS])
    assert refused == [kind]
    assert [end.reason for end in desk.ends()] == [Cancelled(CancelBy.DISPOSE)]
    assert desk.log.events[-1].fact == RunEnd(Status.CANCELLED, Cancelled(CancelBy.DISPOSE))
    assert accounts(desk.log.events) == {"m1": "taken", "m2": "dropped"}


@pytest.mark.article("23")
def test_an_idle_driver_that_is_disposed_tells_its_end_at_once_and_only_once() -> None:
    async def dispose(desk: Desk) -> None:
        desk.driver.dispose()
        assert desk.kinds()[-1] == "run/end"
        desk.driver.dispose()

    desk = drive(nothing, "go", after=dispose)
    assert desk.kinds().count("run/end") == 1
    assert desk.ends()[-1].status is Status.COMPLETED


@pytest.mark.conformance("80")
def test_a_user_s_cancel_that_is_followed_by_dispose_stays_the_user_s() -> None:
    def both(desk: Desk) -> None:
        desk.at("tool/start", desk.driver.cancel)
        desk.at("tool/end", desk.driver.dispose)

    desk = drive(both, "go", script=[HANGS, *SAYS])
    assert desk.ends()[0].reason == Cancelled(CancelBy.USER)


@pytest.mark.article("23")
@pytest.mark.conformance("111")
def test_input_that_arrives_in_maintenance_is_latched_and_runs_when_it_is_over() -> None:
    async def main(clock: Clocks) -> Desk:
        desk = Desk(clock, SAYS)
        desk.driver.open()
        async with desk.driver.maintenance():
            desk.driver.send("go")
            with pytest.raises(UsageError, match="maintenance"):
                await desk.driver.step()
            with pytest.raises(UsageError, match="maintenance"):
                async with desk.driver.maintenance():
                    pass
            waiting = asyncio.ensure_future(desk.driver.run_until_idle())
            await clock.sleep_ms(100)
            assert "turn/start" not in desk.kinds()
        await waiting
        desk.driver.close()
        return desk

    desk = in_virtual_time(main)
    assert desk.shown() == [["go"]]
    assert desk.complaints() == []


@pytest.mark.article("23")
def test_maintenance_does_not_begin_while_a_turn_is_open() -> None:
    async def main(clock: Clocks) -> None:
        desk = Desk(clock, [TWO_CALLS, *SAYS])
        desk.driver.open()
        desk.driver.send("go")
        await desk.driver.step()
        with pytest.raises(UsageError, match="idle"):
            async with desk.driver.maintenance():
                pass
        await desk.driver.run_until_idle()

    in_virtual_time(main)


def test_announced_input_keeps_an_idle_run_open_until_it_came_or_is_called_off() -> None:
    async def main(clock: Clocks) -> list[bool]:
        desk = Desk(clock, SAYS)
        desk.driver.open()
        loop = asyncio.get_running_loop()
        assert await desk.driver.awaited() is False
        release, other = desk.driver.hold(), desk.driver.hold()
        loop.call_later(0.1, lambda: (desk.driver.send("go"), release()))
        came = await desk.driver.awaited()
        await desk.driver.run_until_idle()
        loop.call_later(0.1, other)
        return [came, await desk.driver.awaited()]

    assert in_virtual_time(main) == [True, False]


@pytest.mark.conformance("103a", "113")
def test_a_run_out_of_time_accepts_nothing_and_leaves_what_was_pending_pending() -> None:
    async def main(clock: Clocks) -> Desk:
        desk = Desk(clock, [HANGS, *SAYS], limits=Limits(wall_ms=100, grace_ms=10))
        desk.driver.open()
        desk.driver.send("go")
        desk.driver.send("two")
        await desk.driver.run_until_idle()
        with pytest.raises(UsageError):
            desk.driver.send("three")
        desk.driver.close()
        return desk

    desk = in_virtual_time(main)
    assert desk.ends()[0].status is Status.LIMIT_REACHED
    assert accounts(desk.log.events) == {"m1": "taken", "m2": "pending"}
    assert sum(isinstance(event.fact, InboxQueued) for event in desk.log.events) == 2
    assert desk.complaints() == []
