"""The last line of a run names what is still running, and nothing that is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from harness.testing import Env, scenario, subject
from harness.types.codes import Outcome
from harness.types.lifecycle import RunQuiescent
from harness.types.reasons import Alive

pytestmark = pytest.mark.conformance("76")


def last_line(function: Any, **fields: Any) -> RunQuiescent:
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True, **fields).run(subject(function))
    fact = run.trajectory.events[-1].fact
    assert isinstance(fact, RunQuiescent)
    return fact


async def clean(env: Env) -> str:
    return "done"


async def leaves_a_task_that_ends(env: Env) -> str:
    LEFT.append(asyncio.create_task(asyncio.sleep(10), name="short nap"))
    return "done"


async def leaves_a_task_for_ever(env: Env) -> str:
    LEFT.append(asyncio.create_task(asyncio.Event().wait(), name="watcher"))
    return "done"


async def used_a_thread(env: Env) -> str:
    return await asyncio.to_thread(lambda: "done")


LEFT: list[asyncio.Task[Any]] = []


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    LEFT.clear()


def test_a_run_that_left_nothing_is_quiet_at_once() -> None:
    assert last_line(clean) == RunQuiescent((), 0)


def test_what_ends_by_itself_is_waited_for_in_virtual_time() -> None:
    assert last_line(leaves_a_task_that_ends) == RunQuiescent((), 10_000)


def test_a_task_that_never_ends_is_named_after_an_hour_of_virtual_time() -> None:
    assert last_line(leaves_a_task_for_ever) == RunQuiescent((Alive("task", "watcher"),), 3_600_000)


def test_a_task_left_for_ever_fails_the_run_by_name() -> None:
    run = scenario(task="x", script=[{"say": "x"}], allow_leftovers=True).run(subject(leaves_a_task_for_ever))
    assert run.outcome is Outcome.FAIL
    assert any("watcher" in finding.message for finding in run.findings)


def test_a_thread_of_the_loop_s_executor_that_only_waits_for_work_is_not_named() -> None:
    assert last_line(used_a_thread, clock="system").alive == ()


@contextmanager
def released(event: threading.Event, threads: list[threading.Thread]) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()
        for thread in threads:
            thread.join()


def test_a_thread_that_was_left_running_is_named() -> None:
    event, threads = threading.Event(), []

    async def leaves_a_thread(env: Env) -> str:
        threads.append(threading.Thread(target=event.wait, name="poller"))
        threads[0].start()
        return "done"

    with released(event, threads):
        assert last_line(leaves_a_thread, clock="system").alive == (Alive("thread", "poller"),)


def test_threads_that_were_there_before_the_run_are_none_of_its_own() -> None:
    event = threading.Event()
    thread = threading.Thread(target=event.wait, name="older")
    thread.start()
    with released(event, [thread]):
        assert last_line(clean, clock="system").alive == ()


async def leaves_a_thread_that_ends_soon(env: Env) -> str:
    threading.Thread(target=threading.Event().wait, args=(0.05,), name="short").start()
    return "done"


def test_a_thread_that_ends_while_it_is_waited_for_is_not_named() -> None:
    line = last_line(leaves_a_thread_that_ends_soon, clock="system")
    assert line.alive == ()
    assert line.settle_ms < 350


def test_a_thread_of_another_run_is_not_held_against_this_one() -> None:
    began, goes_on = threading.Event(), threading.Event()

    async def holds(env: Env) -> str:
        threading.Thread(target=goes_on.wait, args=(10,), name="of the other run").start()
        began.set()
        await asyncio.to_thread(goes_on.wait, 10)
        return "done"

    async def meanwhile(env: Env) -> str:
        other.start()
        assert await asyncio.to_thread(began.wait, 10)
        return "done"

    other = threading.Thread(target=last_line, args=(holds,), kwargs={"clock": "system"})
    line = last_line(meanwhile, clock="system")
    goes_on.set()
    other.join(10)
    assert line.alive == ()
