"""SIGINT during a run under the virtual clock: the first stops the run, the next one does not wait for it."""

from __future__ import annotations

import asyncio
import signal

import pytest

from harness.clock import Clocks, run_in_loop
from harness.types.codes import ClockKind


def interrupted(told: list[str], *, times: int) -> None:
    async def main(clock: Clocks) -> None:
        try:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
            await clock.sleep_ms(1000)
            told.append("went on")
        except asyncio.CancelledError:
            told.append("stopped")
            raise

    run_in_loop(ClockKind.VIRTUAL, main)


@pytest.mark.parametrize(("times", "told"), [pytest.param(1, ["stopped"], id="one"), pytest.param(2, [], id="two")])
def test_an_interrupt_stops_the_run_in_good_order_and_a_second_one_at_once(times: int, told: list[str]) -> None:
    found: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(found, times=times)
    assert found == told
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_that_is_there_already_stays_and_gets_the_signal() -> None:
    got: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _frame: got.append(number))
    try:
        told: list[str] = []
        interrupted(told, times=1)
    finally:
        signal.signal(signal.SIGINT, before)
    assert got == [signal.SIGINT]
    assert told == ["went on"]


def test_a_run_that_returns_although_it_was_interrupted_gives_its_result() -> None:
    async def main(clock: Clocks) -> str:
        signal.raise_signal(signal.SIGINT)
        try:
            await clock.sleep_ms(1000)
        except asyncio.CancelledError:
            return "closed"
        return "went on"

    assert run_in_loop(ClockKind.VIRTUAL, main) == "closed"


def test_an_async_generator_that_was_left_open_is_closed_with_the_run() -> None:
    told: list[str] = []

    async def numbers():  # type: ignore[no-untyped-def]
        try:
            yield 1
        finally:
            told.append("closed")

    async def main(clock: Clocks) -> object:
        left = numbers()
        assert await anext(left) == 1
        return left

    run_in_loop(ClockKind.VIRTUAL, main)
    assert told == ["closed"]
