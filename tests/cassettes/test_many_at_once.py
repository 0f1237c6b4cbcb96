"""Many requests and many recordings at once: each answer is given once, and none is mixed up."""

from __future__ import annotations

import asyncio
import threading

import pytest

from harness.cassettes import ReplayTransport
from harness.types.codes import Outcome
from tests.cassettes.lab import cassette, client, outcome_of, post

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


@pytest.mark.asyncio
async def test_equal_requests_at_once_get_each_recorded_answer_once() -> None:
    transport = ReplayTransport(cassette(*[HELLO] * 200), "c.yaml")
    async with client(transport) as asking:
        answers = await asyncio.gather(*(post(asking, HELLO) for _ in range(200)))
    said = [answer["choices"][0]["message"]["content"] for answer in answers]
    assert sorted(said) == sorted(f"answer {n}" for n in range(1, 201))
    assert transport.closing_verdicts()[0].outcome is Outcome.PASS


def test_two_recordings_in_two_threads_do_not_see_each_other() -> None:
    # vcrpy's patches are global, so there the last cassette to be opened wins.
    bodies = [[{**HELLO, "seed": seed, "user": name} for seed in range(30)] for name in ("one", "two")]
    transports = [ReplayTransport(cassette(*asked), "c.yaml") for asked in bodies]
    said: dict[int, list[str]] = {}
    barrier = threading.Barrier(2)

    def run(at: int) -> None:
        barrier.wait(timeout=10)
        said[at] = asyncio.run(outcome_of(transports[at], *bodies[at]))

    threads = [threading.Thread(target=run, args=(at,)) for at in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert said[0] == said[1] == [f"answer {n}" for n in range(1, 31)]
    assert [one.closing_verdicts()[0].outcome for one in transports] == [Outcome.PASS, Outcome.PASS]


@pytest.mark.asyncio
async def test_two_recordings_in_one_loop_do_not_see_each_other() -> None:
    transports = [ReplayTransport(cassette({**HELLO, "user": name}), "c.yaml") for name in ("one", "two")]
    said = await asyncio.gather(
        outcome_of(transports[0], {**HELLO, "user": "one"}), outcome_of(transports[1], {**HELLO, "user": "two"})
    )
    assert said == [["answer 1"], ["answer 1"]]
