"""What runs change in their process is put back, in whatever order overlapping runs end."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from collections.abc import Callable

import pytest

from harness.clock import Clocks, run_in_loop
from harness.types.codes import ClockKind

State = tuple[object, object]


def state() -> State:
    return gc.get_threshold(), random.getstate()


def in_thread(goes_on: threading.Event, began: threading.Event) -> threading.Thread:
    async def main(_: Clocks) -> float:
        began.set()
        assert goes_on.wait(10)
        return random.random()

    thread = threading.Thread(target=run_in_loop, args=(ClockKind.VIRTUAL, main))
    thread.start()
    assert began.wait(10)
    return thread


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0), (0, 2, 1), (2, 0, 1)], ids=str)
def test_collector_and_chance_are_as_before_when_the_last_of_overlapping_runs_has_ended(order: tuple[int, ...]) -> None:
    before = state()
    go_on = [threading.Event() for _ in order]
    threads = [in_thread(event, threading.Event()) for event in go_on]
    assert state() != before
    for place in order:
        go_on[place].set()
        threads[place].join(10)
    assert state() == before


def test_a_run_inside_a_run_leaves_it_its_chance() -> None:
    def numbers(inside: Callable[[], object]) -> list[float]:
        async def main(_: Clocks) -> list[float]:
            drawn = [random.random()]
            inside()
            return [*drawn, random.random()]

        return run_in_loop(ClockKind.VIRTUAL, main, seed=7)

    assert numbers(lambda: None) == numbers(lambda: run_in_loop(ClockKind.VIRTUAL, lambda _: asyncio.sleep(1), seed=3))
