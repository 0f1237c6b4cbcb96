"""Cancels, time-outs and threads: who is stopped, who is waited for, who is named."""

import asyncio
import threading
from typing import Any

import pytest

from harness.protocols import ToolContext
from harness.tools import FunctionTool
from harness.tools.probes import DEFAULT_MS, slow, slow_cleanup, stubborn, sync_in_thread
from harness.types.codes import CancelBy, ClockKind, Code, Origin, ToolOutcome
from harness.types.doors import ToolReply
from harness.types.lifecycle import RunQuiescent
from harness.types.reasons import Cancelled
from tests.tools.lab import Lab, in_lab, made, ticks, until

HOUR_MS = 3_600_000


async def cancelled_call(lab: Lab, name: str, *, after_ms: int = 10) -> ToolReply | asyncio.CancelledError:
    """Start a call, cancel its task after a while; the reply, or the CancelledError that came out."""
    task = asyncio.create_task(lab.call(name))
    await lab.clock.sleep_ms(after_ms)
    task.cancel()
    await asyncio.wait([task])
    return _end_of(task)


def _end_of(task: "asyncio.Task[ToolReply]") -> ToolReply | asyncio.CancelledError:
    try:
        return task.result()
    except asyncio.CancelledError as error:
        return error


def test_a_cancel_is_recorded_as_such_and_passes_through() -> None:
    async def main(lab: Lab) -> Any:
        end = await cancelled_call(lab, "probe_slow")
        return end, lab.ends(), lab.door.open_bodies(), lab.clock.now_ms()

    end, ends, alive, now_ms = in_lab([slow(HOUR_MS)], main)
    assert isinstance(end, asyncio.CancelledError)
    assert end.args == ()
    assert (ends, alive, now_ms) == ([(0, "cancelled", None)], (), 10)


@pytest.mark.public_case("PB-022")
def test_a_body_that_swallows_the_cancel_and_returns_keeps_its_own_result() -> None:
    async def main(lab: Lab) -> Any:
        return await cancelled_call(lab, "probe_stubborn"), lab.ends(), lab.clock.now_ms()

    end, ends, now_ms = in_lab([stubborn(50)], main)
    assert isinstance(end, ToolReply)
    assert (end.content, end.outcome, ends, now_ms) == (
        "went on after the cancel",
        ToolOutcome.OK,
        [(0, "ok", None)],
        60,
    )


def test_a_slow_clean_up_is_waited_for_and_then_the_cancel_passes() -> None:
    async def main(lab: Lab) -> Any:
        return await cancelled_call(lab, "probe_slow_cleanup"), lab.ends(), lab.clock.now_ms()

    end, ends, now_ms = in_lab([slow_cleanup(40)], main)
    assert (type(end), ends, now_ms) == (asyncio.CancelledError, [(0, "cancelled", None)], 50)


def test_an_open_body_is_named_with_its_start() -> None:
    async def main(lab: Lab) -> Any:
        tasks = [asyncio.create_task(lab.call("probe_slow", call_id=f"c{n}")) for n in range(2)]
        await ticks()
        alive = lab.door.open_bodies()
        await asyncio.gather(*tasks)
        return alive, lab.door.open_bodies()

    alive, later = in_lab([slow()], main)
    assert [(body.kind, body.name, body.start) for body in alive] == [
        ("tool", "probe_slow", 0),
        ("tool", "probe_slow", 1),
    ]
    assert later == ()


@pytest.mark.public_case("PB-023")
def test_a_body_that_answers_the_cooperative_signal_by_cancelled_error_is_cancelled_not_failed() -> None:
    async def body(context: ToolContext) -> None:
        await context.signal.wait()
        raise asyncio.CancelledError

    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call("t"))
        await ticks()
        lab.stop.set(Cancelled(by=CancelBy.USER))
        await asyncio.wait([task])
        return task.cancelled(), lab.ends()

    assert in_lab([made(body, name="t")], main) == (True, [(0, "cancelled", None)])


def test_a_body_that_answers_the_cooperative_signal_by_returning_keeps_its_result() -> None:
    async def body(context: ToolContext) -> str:
        await context.signal.wait()
        return f"stopped by {context.signal.by}"

    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call("t"))
        await ticks()
        lab.stop.set(Cancelled(by=CancelBy.USER))
        return (await task).content

    assert in_lab([made(body, name="t")], main) == "stopped by user"


def test_a_body_that_ends_after_the_last_line_adds_no_line() -> None:
    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call("probe_slow"))
        await ticks()
        lab.log.record(RunQuiescent(lab.door.open_bodies()), origin=Origin.PROBE)
        await task
        return [event.fact.TYPE for event in lab.log.events], lab.door.open_bodies()

    assert in_lab([slow()], main) == (["tool/start", "run/quiescent"], ())


@pytest.mark.conformance("41")
def test_a_tool_that_takes_too_long_is_an_error_of_its_own_and_its_siblings_go_on() -> None:
    async def main(lab: Lab) -> Any:
        replies = await asyncio.gather(lab.call("long"), lab.call("short", call_id="c2"))
        return replies, lab.ends(), lab.clock.now_ms(), lab.door.open_bodies()

    tools = [slow(HOUR_MS, name="long"), slow(70, name="short")]
    (late, good), ends, now_ms, alive = in_lab(tools, main, timeout_ms=100)
    assert (late.code, late.is_error, good.code, now_ms) == (Code.TOOL_TIMEOUT, True, None, 100)
    assert "'long' did not end within 100 ms" in late.content
    assert (ends, alive) == ([(1, "ok", None), (0, "error", "TOOL_TIMEOUT")], ())


@pytest.mark.conformance("41")
def test_time_that_suffices_changes_nothing() -> None:
    async def main(lab: Lab) -> Any:
        return (await lab.call("probe_slow")).content, lab.ends()

    assert in_lab([slow(100)], main, timeout_ms=101) == ("slow", [(0, "ok", None)])


def test_a_deadline_holds_against_a_tool_that_ignores_it_and_the_tool_is_named() -> None:
    async def main(lab: Lab) -> Any:
        reply = await lab.call("probe_stubborn")
        answered_ms, alive, ends = lab.clock.now_ms(), lab.door.open_bodies(), lab.ends()
        await lab.clock.sleep_ms(HOUR_MS)
        return reply, answered_ms, alive, ends, lab.ends(), lab.door.open_bodies()

    tool = stubborn(1_000)
    reply, answered_ms, alive, ends, later, alive_later = in_lab([tool], main, timeout_ms=100, grace_ms=50)
    assert (reply.code, answered_ms) == (Code.TOOL_TIMEOUT, 150)
    assert "still running" in reply.content
    assert ([body.name for body in alive], ends) == (["probe_stubborn"], [])
    assert (later, alive_later) == ([(0, "ok", None)], ())


def test_a_late_body_that_ends_within_the_grace_keeps_its_result() -> None:
    async def main(lab: Lab) -> Any:
        return await lab.call("probe_stubborn"), lab.ends()

    reply, ends = in_lab([stubborn(60)], main, timeout_ms=50, grace_ms=100)
    assert (reply.content, ends) == ("went on after the cancel", [(0, "ok", None)])


def test_a_body_that_turns_its_time_out_into_an_exception_is_still_timed_out() -> None:
    async def body() -> None:
        try:
            await asyncio.sleep(HOUR_MS)
        except asyncio.CancelledError:
            raise RuntimeError("connection lost") from None

    async def main(lab: Lab) -> Any:
        return (await lab.call("t")).code, lab.ends()

    assert in_lab([made(body, name="t")], main, timeout_ms=50) == (Code.TOOL_TIMEOUT, [(0, "error", "TOOL_TIMEOUT")])


@pytest.mark.parametrize(
    ("tool", "kind", "outcome"),
    [
        pytest.param(slow(HOUR_MS, name="t"), asyncio.CancelledError, "cancelled", id="async"),
        pytest.param(slow_cleanup(40, name="t"), asyncio.CancelledError, "cancelled", id="slow-clean-up"),
        pytest.param(stubborn(50, name="t"), ToolReply, "ok", id="swallows"),
    ],
)
def test_a_cancel_from_outside_is_no_time_out(tool: FunctionTool, kind: type, outcome: str) -> None:
    async def main(lab: Lab) -> Any:
        return await cancelled_call(lab, "t"), lab.ends(), lab.door.open_bodies()

    end, ends, alive = in_lab([tool], main, timeout_ms=HOUR_MS)
    assert (type(end), ends, alive) == (kind, [(0, outcome, None)], ())


def test_a_cancel_while_an_overdue_body_is_stopped_passes_through_with_its_reply() -> None:
    async def main(lab: Lab) -> Any:
        return await cancelled_call(lab, "probe_slow_cleanup", after_ms=60), lab.ends()

    end, ends = in_lab([slow_cleanup(100, work_ms=HOUR_MS)], main, timeout_ms=50, grace_ms=HOUR_MS)
    assert isinstance(end, asyncio.CancelledError)
    assert end.args[0].code is Code.TOOL_TIMEOUT
    assert ends == [(0, "error", "TOOL_TIMEOUT")]


# ---------------------------------------------------------------- threads


def held() -> tuple[threading.Event, threading.Event, FunctionTool]:
    """A thread tool that says when it is inside and goes on when it is let go."""
    inside, go = threading.Event(), threading.Event()

    def work() -> str:
        inside.set()
        assert go.wait(20)
        return "effect happened"

    return inside, go, sync_in_thread(work)


def test_a_thread_is_waited_for_after_a_cancel_and_its_result_is_not_lost() -> None:
    inside, go, tool = held()

    async def main(lab: Lab) -> Any:
        task = asyncio.create_task(lab.call(tool.name))
        await until(inside.is_set)
        task.cancel()
        await ticks()
        task.cancel()
        await ticks()
        alive, done = lab.door.open_bodies(), task.done()
        go.set()
        await asyncio.wait([task])
        return alive, done, _end_of(task), lab.ends(), lab.door.open_bodies()

    alive, done, end, ends, later = in_lab([tool], main, kind=ClockKind.SYSTEM)
    assert ([body.name for body in alive], done) == (["probe_sync_in_thread"], False)
    assert isinstance(end, asyncio.CancelledError)
    assert end.args[0].content == "effect happened"
    assert (ends, later) == ([(0, "ok", None)], ())


def test_a_thread_that_outlives_its_time_out_is_named_until_it_ends() -> None:
    _, go, tool = held()

    async def main(lab: Lab) -> Any:
        reply = await lab.call(tool.name)
        alive = lab.door.open_bodies()
        go.set()
        await until(lambda: not lab.door.open_bodies())
        return reply.code, [body.name for body in alive], lab.ends()

    result = in_lab([tool], main, kind=ClockKind.SYSTEM, timeout_ms=20, grace_ms=1)
    assert result == (Code.TOOL_TIMEOUT, ["probe_sync_in_thread"], [(0, "ok", None)])


def test_as_many_threads_run_at_once_as_bodies_were_started() -> None:
    barrier = threading.Barrier(12, timeout=20)

    async def main(lab: Lab) -> Any:
        calls = [lab.call("probe_sync_in_thread", call_id=f"c{n}") for n in range(12)]
        return {reply.code for reply in await asyncio.gather(*calls)}

    def meet() -> str:
        barrier.wait()
        return "met"

    assert in_lab([sync_in_thread(meet)], main, kind=ClockKind.SYSTEM) == {None}


def test_no_thread_is_left_when_its_call_is_answered() -> None:
    before = set(threading.enumerate())

    async def main(lab: Lab) -> Any:
        for _ in range(50):
            await lab.call("probe_sync_in_thread")
            assert set(threading.enumerate()) <= before

    in_lab([sync_in_thread()], main, kind=ClockKind.SYSTEM)


def test_a_thread_tool_works_under_virtual_time_too() -> None:
    async def main(lab: Lab) -> Any:
        return (await lab.call("probe_sync_in_thread")).content, lab.clock.now_ms()

    assert in_lab([sync_in_thread()], main) == ("worked in a thread", 0)


def test_the_default_grace_is_long_enough_for_the_default_probe() -> None:
    async def main(lab: Lab) -> Any:
        return (await lab.call("probe_slow_cleanup")).code

    assert in_lab([slow_cleanup(DEFAULT_MS)], main, timeout_ms=50) is Code.TOOL_TIMEOUT
