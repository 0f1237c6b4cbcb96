"""Virtual time jumps, is exact, and knows when nothing can happen any more; a run may start anywhere."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.clock import Clocks, SystemClock, VirtualClock, VirtualLoop, monotonic_ms, run_in_loop, wall_clock_iso
from harness.errors import DeadlockError
from harness.types.codes import ClockKind

VIRTUAL, SYSTEM = ClockKind.VIRTUAL, ClockKind.SYSTEM
BOTH = pytest.mark.parametrize("kind", [VIRTUAL, SYSTEM])


@given(st.lists(st.integers(0, 10**7), max_size=6))
def test_virtual_sleeps_take_exactly_as_long_as_they_say_and_no_real_time(durations: list[int]) -> None:
    async def main(clock: Clocks) -> list[int]:
        stamps = []
        for duration in durations:
            await clock.sleep_ms(duration)
            stamps.append(clock.now_ms())
        return stamps

    began = monotonic_ms()
    assert run_in_loop(VIRTUAL, main) == [sum(durations[: n + 1]) for n in range(len(durations))]
    assert monotonic_ms() - began < 10_000


def test_sleepers_wake_in_the_order_of_their_times_and_ties_in_the_order_they_slept() -> None:
    async def main(clock: Clocks) -> list[tuple[str, int]]:
        woke: list[tuple[str, int]] = []

        async def sleeper(name: str, duration: int) -> None:
            await clock.sleep_ms(duration)
            woke.append((name, clock.now_ms()))

        await asyncio.gather(*(sleeper(*one) for one in (("c", 30), ("a", 10), ("b", 10), ("d", 0), ("year", 31_536_000_000))))
        return woke

    assert run_in_loop(VIRTUAL, main) == [("d", 0), ("a", 10), ("b", 10), ("c", 30), ("year", 31_536_000_000)]


def test_timeouts_of_plain_asyncio_code_obey_virtual_time() -> None:
    async def main(clock: Clocks) -> int:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), timeout=3600)
        return clock.now_ms()

    assert run_in_loop(VIRTUAL, main) == 3_600_000


def test_a_virtual_run_takes_the_same_way_each_time() -> None:
    async def main(clock: Clocks) -> list[tuple[int, int]]:
        seen: list[tuple[int, int]] = []

        async def worker(n: int) -> None:
            for _ in range(4):
                await clock.sleep_ms(random.randrange(50))
                seen.append((n, clock.now_ms()))

        await asyncio.gather(*map(worker, range(5)))
        return seen

    assert run_in_loop(VIRTUAL, main) == run_in_loop(VIRTUAL, main)
    assert run_in_loop(VIRTUAL, main, seed=1) != run_in_loop(VIRTUAL, main, seed=2)


def test_chance_goes_on_afterwards_as_if_there_had_been_no_run() -> None:
    async def main(clock: Clocks) -> float:
        return random.random()

    random.seed(7)
    first, second = random.random(), random.random()
    random.seed(7)
    assert random.random() == first
    run_in_loop(VIRTUAL, main, seed=3)
    assert random.random() == second


def never(clock: Clocks) -> Coroutine[Any, Any, object]:
    return asyncio.Event().wait()


async def _stubborn(clock: Clocks) -> None:
    async def ignore_cancel() -> None:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    await asyncio.shield(asyncio.ensure_future(ignore_cancel()))


async def _hung_thread(clock: Clocks) -> None:
    await asyncio.get_running_loop().create_future()


@pytest.mark.parametrize("main", [never, _hung_thread], ids=["event", "future"])
def test_a_run_in_which_nothing_can_happen_any_more_is_ended_and_says_why(main: Callable[[Clocks], Any]) -> None:
    with pytest.raises(DeadlockError, match=re.escape("nothing in this run is ready and no timer is set")) as error:
        run_in_loop(VIRTUAL, main)
    assert "clock: system" in str(error.value)


def test_a_deadlock_is_found_although_a_task_ignores_its_cancel() -> None:
    with pytest.raises(DeadlockError):
        run_in_loop(VIRTUAL, _stubborn)


def test_years_of_virtual_time_pass_although_fractions_of_seconds_came_first() -> None:
    async def main(clock: Clocks) -> int:
        for duration in (33, 7, 20 * 365 * 86_400_000, 1):
            await clock.sleep_ms(duration)
        return clock.now_ms()

    assert run_in_loop(VIRTUAL, main) == 20 * 365 * 86_400_000 + 41


def test_a_deadlock_lets_the_run_clean_up() -> None:
    cleaned: list[str] = []

    async def main(clock: Clocks) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("main")

    with pytest.raises(DeadlockError):
        run_in_loop(VIRTUAL, main)
    assert cleaned == ["main"]


def test_a_timer_far_away_is_no_deadlock() -> None:
    async def main(clock: Clocks) -> int:
        woken = asyncio.Event()
        asyncio.get_running_loop().call_later(10**6, woken.set)
        await woken.wait()
        return clock.now_ms()

    assert run_in_loop(VIRTUAL, main) == 10**9


def test_jobs_for_a_thread_run_inline_and_their_errors_come_back() -> None:
    async def main(clock: Clocks) -> tuple[bool, str]:
        same = await asyncio.to_thread(lambda: threading.current_thread() is threading.main_thread())
        with pytest.raises(KeyError, match="x"):
            await asyncio.to_thread({}.__getitem__, "x")
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.to_thread(next, iter(()))
        return same, "done"

    assert run_in_loop(VIRTUAL, main) == (True, "done")


def test_a_job_that_was_cancelled_before_its_tick_never_runs() -> None:
    ran: list[int] = []

    async def main(clock: Clocks) -> None:
        job = asyncio.get_running_loop().run_in_executor(None, ran.append, 1)
        job.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    run_in_loop(VIRTUAL, main)
    assert ran == []


def test_a_socket_that_is_ready_is_seen_before_time_jumps() -> None:
    async def main(clock: Clocks) -> tuple[bytes, int]:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            theirs.send(b"here")
            waiting = asyncio.ensure_future(asyncio.get_running_loop().sock_recv(ours, 10))
            other = asyncio.ensure_future(clock.sleep_ms(60_000))
            got = await waiting
            at = clock.now_ms()
            other.cancel()
        return got, at

    assert run_in_loop(VIRTUAL, main) == (b"here", 0)


@BOTH
def test_results_and_errors_come_out_as_they_are(kind: ClockKind) -> None:
    async def good(clock: Clocks) -> str:
        await clock.sleep_ms(1)
        return clock.kind

    async def bad(clock: Clocks) -> None:
        raise LookupError("mine")

    assert run_in_loop(kind, good) == kind
    with pytest.raises(LookupError, match="mine"):
        run_in_loop(kind, bad)


@BOTH
def test_what_a_run_left_running_is_cancelled_and_never_goes_on(kind: ClockKind) -> None:
    seen: list[str] = []

    async def lingering(clock: Clocks) -> None:
        try:
            await clock.sleep_ms(3_600_000)
            seen.append("went on")
        finally:
            seen.append("cleaned up")

    async def main(clock: Clocks) -> None:
        kept.append(asyncio.ensure_future(lingering(clock)))
        await asyncio.sleep(0)

    kept: list[Any] = []
    run_in_loop(kind, main)
    assert seen == ["cleaned up"]


def test_a_task_that_ignores_its_cancel_does_not_keep_a_virtual_run_from_ending() -> None:
    async def main(clock: Clocks) -> str:
        kept.append(asyncio.ensure_future(_stubborn(clock)))
        await asyncio.sleep(0)
        return "ended"

    kept: list[Any] = []
    assert run_in_loop(VIRTUAL, main) == "ended"


@BOTH
@pytest.mark.asyncio
async def test_a_run_works_inside_a_running_loop_and_leaves_that_as_it_was(kind: ClockKind) -> None:
    outer, task = asyncio.get_running_loop(), asyncio.current_task()

    async def main(clock: Clocks) -> bool:
        await clock.sleep_ms(1)
        return asyncio.get_running_loop() is not outer

    assert run_in_loop(kind, main)
    assert asyncio.get_running_loop() is outer
    assert asyncio.current_task() is task
    await asyncio.sleep(0)


@pytest.mark.asyncio
async def test_an_error_inside_a_running_loop_gives_that_loop_back_too() -> None:
    outer = asyncio.get_running_loop()
    with pytest.raises(DeadlockError):
        run_in_loop(VIRTUAL, never)
    assert asyncio.get_running_loop() is outer
    await asyncio.wait_for(asyncio.sleep(0), 1)


def test_a_run_inside_a_run_has_its_own_time() -> None:
    async def inner(clock: Clocks) -> int:
        await clock.sleep_ms(500)
        return clock.now_ms()

    async def main(clock: Clocks) -> tuple[int, int]:
        await clock.sleep_ms(100)
        return run_in_loop(VIRTUAL, inner), clock.now_ms()

    assert run_in_loop(VIRTUAL, main) == (500, 100)


def test_the_system_clock_never_goes_back_and_sleeps_at_least_as_long_as_asked() -> None:
    async def main(clock: Clocks) -> list[int]:
        stamps = [clock.now_ms()]
        await clock.sleep_ms(5)
        return [*stamps, clock.now_ms()]

    first, second = run_in_loop(SYSTEM, main)
    assert second - first >= 4
    assert (SystemClock.kind, VirtualClock.kind) == (SYSTEM, VIRTUAL)


def test_the_date_of_now_is_utc_in_whole_seconds() -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", wall_clock_iso())


def test_a_tick_s_callback_comes_before_what_runs_in_that_tick_and_at_its_time() -> None:
    async def main(clock: Clocks) -> list[tuple[str, int]]:
        seen: list[tuple[str, int]] = []
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        here = loop.n_ticks
        loop.at_tick(here + 1, lambda: seen.append(("next", clock.now_ms())))
        loop.at_tick(here + 2, lambda: seen.append(("timer", clock.now_ms())))
        loop.at_tick(here, lambda: seen.append(("over", clock.now_ms())))
        await asyncio.sleep(0)
        seen.append(("woken", loop.n_ticks - here))
        await clock.sleep_ms(500)
        seen.append(("slept", clock.now_ms()))
        return seen

    assert run_in_loop(VIRTUAL, main) == [("next", 0), ("woken", 1), ("timer", 500), ("slept", 500)]
