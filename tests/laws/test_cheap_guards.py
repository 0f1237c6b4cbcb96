"""Guards of speed that need no clock: what a step writes, copies and calls, counted (performance page)."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

import httpx2
import pytest

from harness.cassettes import Cassette, Exchange, RecordedRequest, RecordedResponse, ReplayTransport
from harness.clock import Clocks, run_in_loop
from harness.loop import Driver, StopSignal
from harness.models import RecordingDoor, ScriptedModel, chat_model_over, in_process_client
from harness.models.strict import StrictAnswers
from harness.recorder import Recorder
from harness.store import open_sink
from harness.tools import Door, FunctionTool
from harness.types.codes import ClockKind
from harness.types.doors import ModelCall
from harness.types.events import Event, Header
from harness.types.exchange import ModelRequest
from harness.types.jsontext import canonical_json
from harness.types.messages import ChatMessage, ChatUser, Messages, RunId
from harness.types.scenario import Limits
from harness.types.script import ScriptCall, ScriptReply
from harness.wire.requests import render_request

HEADER = Header(version="1", run_id=RunId("guard"), subject="built-in")


def calls_during(work: Callable[[], object]) -> Counter[tuple[str, str]]:
    """How often each Python function was called: (module, function) and number."""
    counted: Counter[tuple[str, str]] = Counter()

    def watch(frame: FrameType, what: str, _: Any) -> None:
        if what == "call":
            counted[frame.f_globals.get("__name__", ""), frame.f_code.co_name] += 1

    sys.setprofile(watch)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


# ---------------------------------------------------------------- the loop


@dataclass
class Written:
    """A run of the built-in loop: its events, and the size of every write to its file."""

    events: tuple[Event, ...] = ()
    sizes: list[int] = field(default_factory=list)

    def write(self, descriptor: int, data: bytes) -> int:
        self.sizes.append(len(data))
        return os.write(descriptor, data)


def lookup(key: str) -> str:
    """Look a key up."""
    return f"value of {key}"


def run_steps(n_steps: int, folder: Path) -> Written:
    """``n_steps`` steps with one call each, then an answer, recorded into a file."""
    calls = [ScriptCall("lookup", f'{{"key":"{at:06}"}}', id=f"call_{at:06}") for at in range(n_steps)]
    script = [*(ScriptReply(calls=(call,)) for call in calls), ScriptReply(say="done")]
    written = Written()

    async def main(clock: Clocks) -> None:
        with open_sink(folder / f"{n_steps}.jsonl", HEADER, write=written.write) as sink:
            log = Recorder(clock, sink)
            model = ScriptedModel(script, scenario="guard", clock=clock, resolve=lambda name: name)
            driver = Driver(
                model=RecordingDoor(StrictAnswers(model), log),
                tools=Door([FunctionTool(lookup)], log=log, clock=clock, redact=str),
                log=log,
                limits=Limits(steps=n_steps + 1),
            )
            driver.open()
            driver.send("go")
            await driver.run_until_idle()
            driver.close()
            written.events = tuple(log.events)

    run_in_loop(ClockKind.VIRTUAL, main)
    return written


def test_the_hundredth_step_writes_no_more_bytes_than_the_tenth(tmp_path: Path) -> None:
    sizes = {n: sum(run_steps(n, tmp_path).sizes) for n in (10, 20, 100, 200)}
    early, late = (sizes[20] - sizes[10]) / 10, (sizes[200] - sizes[100]) / 100
    assert late < early + 20  # numbers get a digit or two longer
    assert late < 1500


def test_a_step_writes_twice_once_before_each_of_its_effects(tmp_path: Path) -> None:
    assert len(run_steps(60, tmp_path).sizes) - len(run_steps(50, tmp_path).sizes) == 2 * 10


def test_no_message_is_copied_from_one_request_to_the_next(tmp_path: Path) -> None:
    requests = [event.fact for event in run_steps(50, tmp_path).events if isinstance(event.fact, ModelRequest)]
    assert len(requests) == 51
    assert all(later.messages.extends(earlier.messages) for earlier, later in pairwise(requests))
    assert len({id(message) for request in requests for message in request.messages}) == 1 + 2 * 50


def test_the_number_of_calls_in_a_step_does_not_grow_with_the_history(tmp_path: Path) -> None:
    made = {n: calls_during(lambda n=n: run_steps(n, tmp_path)).total() for n in (5, 10, 20, 100, 200)}  # type: ignore[misc]
    early, late = (made[20] - made[10]) / 10, (made[200] - made[100]) / 100
    assert late < 1.02 * early


# ---------------------------------------------------------------- replay


def call_of(number: int) -> ModelCall:
    """A request of some messages, different for each number."""
    messages: list[ChatMessage] = [ChatUser(f"question {number}, part {part}") for part in range(12)]
    return ModelCall((), Messages.of(messages), canonical_json([]), canonical_json({}))


def completion(number: int) -> bytes:
    message = {"role": "assistant", "content": f"answer {number}"}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    return json.dumps({"id": "c", "object": "chat.completion", "created": 0, "model": "m", "choices": choices}).encode()


def cassette(n_interactions: int) -> Cassette:
    """Requests 0 to n - 1, each with its answer."""

    def exchange(number: int) -> Exchange:
        body = json.dumps(render_request(call_of(number), "m")).encode()
        request = RecordedRequest("POST", "http://in-process.invalid/v1/chat/completions", (), body)
        headers = (("content-type", "application/json"),)
        return Exchange(request, RecordedResponse(200, "OK", headers, completion(number)))

    return Cassette(tuple(map(exchange, range(n_interactions))))


def replay(transport: ReplayTransport, numbers: range) -> None:
    """Ask for these requests through the real client."""

    async def main() -> None:
        model = chat_model_over(transport, name="m")
        for number in numbers:
            answer = await model.answer(call_of(number), signal=StopSignal(), emit=print)
            assert answer.content == f"answer {number}"
        await model.aclose()

    asyncio.run(main())


def transforms(counted: Counter[tuple[str, str]]) -> int:
    return sum(n for (module, name), n in counted.items() if module.startswith("openai") and "maybe_transform" in name)


def test_the_client_never_walks_the_messages_of_a_replayed_request() -> None:
    counted = calls_during(lambda: replay(ReplayTransport(cassette(3), "c"), range(3)))
    assert counted["harness.cassettes.replay", "handle_async_request"] == 3
    assert transforms(counted) == 0


def test_the_clients_own_create_is_seen_to_walk_them() -> None:
    async def main() -> None:
        async with in_process_client(
            httpx2.MockTransport(lambda _: httpx2.Response(200, content=completion(0)))
        ) as client:
            await client.chat.completions.create(**render_request(call_of(0), "m"))

    assert transforms(calls_during(lambda: asyncio.run(main()))) > 0


@pytest.mark.parametrize("n_recorded", [5, 200])
def test_a_replayed_request_is_read_and_looked_up_once_however_long_the_recording(n_recorded: int) -> None:
    transport = ReplayTransport(cassette(n_recorded), "c")
    counted = calls_during(lambda: replay(transport, range(5)))
    assert counted["harness.cassettes.index", "take"] == 5
    assert counted["harness.cassettes.bodies", "read_body"] == 5


def test_the_matcher_does_the_same_work_for_a_short_and_a_long_recording() -> None:
    def matching(n_recorded: int) -> dict[tuple[str, str], int]:
        transport = ReplayTransport(cassette(n_recorded), "c")
        counted = calls_during(lambda: replay(transport, range(5)))
        return {key: n for key, n in counted.items() if key[0].startswith("harness.cassettes")}

    assert matching(5) == matching(200)
