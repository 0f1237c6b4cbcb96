"""Costs that need no clock: bytes a step, messages looked at, memory while streaming (performance page)."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import httpx2
import pytest

from harness.models import model_over
from harness.store import dump_trajectory, iter_events, open_sink, read_bytes
from harness.types.codes import Origin
from harness.types.doors import ModelCall
from harness.types.events import Event, Header, Trajectory
from harness.types.exchange import ModelRequest, ToolResult
from harness.types.facts import Fact
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.messages import CallId, ChatMessage, ChatUser, JsonText, Messages, RunId
from harness.types.model_spec import ModelApi, ModelSpec
from tests.models.support import Flag, ignore, virtually

HEADER = Header(version="1", run_id=RunId("r"), subject="s")


class Watched(list[ChatMessage]):
    """A buffer that counts how often a message is taken out of it."""

    n_taken = 0

    def __getitem__(self, index: Any) -> Any:
        Watched.n_taken += len(range(*index.indices(len(self)))) if isinstance(index, slice) else 1
        return super().__getitem__(index)


def growing(n_steps: int, *, shared: bool) -> tuple[Event, ...]:
    """Steps of a request that grows by one message and a result."""
    buffer = Watched()
    found: list[Event] = []
    for step in range(n_steps):
        buffer.append(ChatUser(content=f"message {step:08}"))
        view = Messages(buffer, len(buffer)) if shared else Messages.of(list.copy(buffer))
        facts: list[Fact] = [StepStart(), ModelRequest(view), ToolResult(CallId(f"c{step:08}"), "t", "out"), StepEnd()]
        found += [Event(len(found) + at, fact, Origin.SUBJECT, turn=1, step=1) for at, fact in enumerate(facts)]
    return tuple(found)


@pytest.mark.parametrize("api", list(ModelApi))
def test_a_request_over_http_looks_only_at_messages_that_are_new(api: ModelApi) -> None:
    """Both adapters render a message once, however many requests show it."""
    responses = api is ModelApi.RESPONSES
    message = {"role": "assistant", "content": [{"type": "output_text", "text": "x"}] if responses else "x"}
    whole = {"status": "completed", "output": [{"type": "message", **message}]} if responses else {"choices": [{"message": message, "finish_reason": "stop"}]}
    bodies: list[int] = []

    def handler(request: httpx2.Request) -> httpx2.Response:
        bodies.append(len(json.loads(request.content)["input" if responses else "messages"]))
        return httpx2.Response(200, json=whole)

    async def main(_: Any) -> None:
        model = model_over(httpx2.MockTransport(handler), ModelSpec("m", api=api))
        buffer = Watched()
        for step in range(60):
            buffer.append(ChatUser(content=f"message {step}"))
            asked = ModelCall((), Messages(buffer, len(buffer)), JsonText("[]"), JsonText("{}"))
            await model.answer(asked, signal=Flag(), emit=ignore)
        await model.aclose()

    Watched.n_taken = 0
    virtually(main)
    assert bodies == list(range(1, 61))
    assert Watched.n_taken == 60


@pytest.mark.conformance("8")
@pytest.mark.parametrize("shared", [True, False], ids=["own-loop", "foreign-loop"])
def test_bytes_a_step_do_not_depend_on_the_length_of_the_history(shared: bool) -> None:
    sizes = [len(dump_trajectory(Trajectory(HEADER, growing(n, shared=shared)))) / n for n in (50, 400)]
    assert sizes[1] < 1.05 * sizes[0] + 10


def test_writing_a_request_that_grew_takes_out_only_what_is_new() -> None:
    events = growing(300, shared=True)
    Watched.n_taken = 0
    dump_trajectory(Trajectory(HEADER, events))
    assert Watched.n_taken == 300


def test_reading_back_keeps_one_copy_of_each_message() -> None:
    read = read_bytes(dump_trajectory(Trajectory(HEADER, growing(200, shared=False))), "f")
    views = [event.fact.messages for event in read if isinstance(event.fact, ModelRequest)]
    assert len({id(message) for view in views for message in view}) == 200


def test_streaming_a_long_file_takes_the_memory_of_a_short_one(tmp_path: Path) -> None:
    def peak(n_events: int) -> int:
        path = tmp_path / f"{n_events}.jsonl"
        with open_sink(path, HEADER) as sink:
            for seq in range(n_events):
                sink.append(Event(seq, ToolResult(CallId("c"), "t", "x" * 200), Origin.SUBJECT))
        for _ in iter_events(path):
            break  # what is built once is built now
        tracemalloc.start()
        assert sum(1 for _ in iter_events(path)) == n_events
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    assert peak(20_000) < 1.2 * peak(500) + 100_000
