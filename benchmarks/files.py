"""Writing and reading the log: one event flushed, one event read, and what streaming keeps in memory."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import orjson

from benchmarks import ours
from benchmarks.measure import Row, ratio, rounds
from harness.store import Existing, iter_events, open_sink
from harness.types.codes import Origin
from harness.types.events import Event
from harness.types.exchange import ModelRequest, ToolResult
from harness.types.facts import Fact
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.messages import CallId, ChatUser, Messages

N_STEPS = 1000
TIMES = 9
WRITE_BUDGET = 3.0
READ_BUDGET = 1.5
"""Under 5 µs an event where ``json.loads`` of its line takes 3.2: what counts."""
READ_FIRST_BUDGETS = {"json": 5 / 4.5, "floor": 5 / 1.2}
"""What was wished for at first: 5 µs where ``json.loads`` takes 4.5 and ``orjson.loads`` 1.2."""
FLAT_BYTES = 100_000


def rows(folder: Path) -> Iterator[Row]:
    """One event written and flushed; one event read; growth of memory from 10,000 to 100,000 events."""
    path = folder / "events.jsonl"
    n_events = ours.run_loop(N_STEPS, path)
    lines = path.read_bytes().splitlines()[1:]
    values = [orjson.loads(line) for line in lines]
    yield _writing(folder, list(iter_events(path)), values)
    found = rounds(
        {
            "ours": partial(_drain, path),
            "floor": partial(_each_line, path, orjson.loads),
            "json": partial(_each_line, path, json.loads),
        },
        n_events,
        TIMES,
    )
    yield Row(
        "read an event",
        "µs",
        median(found["ours"]),
        median(found["floor"]),
        (("json", median(found["json"])),),
        measure="ratio to json",
        value=ratio(found, floor="json"),
        budget=READ_BUDGET,
        aim=1.0,
    )
    for name, budget in READ_FIRST_BUDGETS.items():
        other = "orjson" if name == "floor" else name
        yield Row(
            "  as wished for at first",
            "µs",
            median(found["ours"]),
            median(found["floor"]),
            measure=f"ratio to {other}",
            value=ratio(found, floor=name),
            budget=budget,
            counts=False,
        )
    grown = _peak(folder, 100_000) - _peak(folder, 10_000)
    yield Row("memory, 100k less 10k read", "kB", grown / 1e3, measure="kB", value=grown / 1e3, budget=FLAT_BYTES / 1e3)


def _writing(folder: Path, events: list[Event], values: list[dict[str, Any]]) -> Row:
    found = rounds(
        {
            "ours": partial(_write, folder / "written.jsonl", events),
            "floor": partial(_dump, folder / "floor.jsonl", values, orjson.dumps),
            "json": partial(_dump, folder / "json.jsonl", values, lambda value: json.dumps(value).encode()),
        },
        len(events),
        TIMES,
    )
    return Row(
        "write an event, flushed",
        "µs",
        median(found["ours"]),
        median(found["floor"]),
        (("json", median(found["json"])),),
        value=ratio(found),
        budget=WRITE_BUDGET,
        aim=2.0,
    )


def _write(path: Path, events: list[Event]) -> None:
    with open_sink(path, ours.HEADER, existing=Existing.REPLACE) as sink:
        for event in events:
            sink.append(event)
            sink.commit()


def _dump(path: Path, values: list[dict[str, Any]], dumps: Callable[[Any], bytes]) -> None:
    with path.open("wb") as file:
        for value in values:
            file.write(dumps(value) + b"\n")
            file.flush()


def _each_line(path: Path, loads: Callable[[bytes], object]) -> None:
    with path.open("rb") as file:
        for line in file:
            loads(line)


def _drain(path: Path) -> int:
    return sum(1 for _ in iter_events(path))


def _peak(folder: Path, n_events: int) -> int:
    """Bytes that reading needs at most, of a run whose requests show a window of constant length."""
    path = folder / f"{n_events}.jsonl"
    with open_sink(path, ours.HEADER, existing=Existing.REPLACE) as sink:
        for event in _window_events(n_events):
            sink.append(event)
    tracemalloc.start()
    try:
        if _drain(path) != n_events:
            raise RuntimeError("not all events were read")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        path.unlink()


def _window_events(n_events: int) -> Iterator[Event]:
    for step in range(n_events // 4):
        window = Messages.of([ChatUser(f"message {step}"), ChatUser(f"message {step + 1}")])
        facts: tuple[Fact, ...] = (
            StepStart(),
            ModelRequest(window),
            ToolResult(CallId(f"c{step}"), "lookup", f"value {step}"),
            StepEnd(),
        )
        for at, fact in enumerate(facts):
            yield Event(4 * step + at, fact, Origin.SUBJECT, 0, "", 1, step + 1)
