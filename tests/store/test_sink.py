"""Acknowledged is in the file; a failed write is said, and leaves what was acknowledged as it was."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import InvalidValueError, RecordingFailed
from harness.protocols import Sink
from harness.store import (
    Durability,
    Existing,
    continue_sink,
    dump_trajectory,
    open_sink,
    read_bytes,
    read_trajectory,
    write_trajectory,
)
from harness.store.sink import HELD_BYTES
from harness.types.codes import Origin
from harness.types.events import Event, Trajectory
from harness.types.exchange import ToolCall
from harness.types.lifecycle import Note, UnknownFact
from harness.types.messages import CallId, JsonText
from tests.strategies import small_trajectory

WHOLE = small_trajectory(12)
Write = Callable[[int, bytes], int]


def test_a_committed_event_is_in_the_file_before_commit_returns(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "run.jsonl"
    with open_sink(path, WHOLE.header) as sink:
        protocol: Sink = sink
        for n, event in enumerate(WHOLE.events, start=1):
            protocol.append(event)
            protocol.commit()
            assert read_trajectory(path).events == WHOLE.events[:n]
    assert path.read_bytes() == dump_trajectory(WHOLE)


def test_lines_between_commits_are_one_write(tmp_path: Path) -> None:
    writes: list[int] = []

    def counting(descriptor: int, data: bytes) -> int:
        writes.append(data.count(b"\n"))
        return os.write(descriptor, data)

    with open_sink(tmp_path / "run.jsonl", WHOLE.header, write=counting) as sink:
        for event in WHOLE.events:
            sink.append(event)
        assert writes == [1], "only the header so far"
        sink.commit()
        sink.commit()
    assert writes == [1, 12]


def test_a_flood_between_commits_is_handed_over_early(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with open_sink(path, WHOLE.header) as sink:
        sink.append(Event(0, Note("big", JsonText(f'"{"x" * HELD_BYTES}"')), Origin.PROBE))
        assert len(read_trajectory(path).events) == 1


def test_leaving_the_sink_commits_also_when_the_run_throws(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"

    def run_that_throws() -> None:
        with open_sink(path, WHOLE.header) as sink:
            sink.append(WHOLE.events[0])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_that_throws()
    assert read_trajectory(path).events == WHOLE.events[:1]


def test_short_writes_are_finished(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with open_sink(path, WHOLE.header, write=lambda descriptor, data: os.write(descriptor, data[:7])) as sink:
        for event in WHOLE.events:
            sink.append(event)
            sink.commit()
    assert path.read_bytes() == dump_trajectory(WHOLE)


def failing_at(nth: int, number: int, *, after_bytes: int) -> Write:
    """A disk whose nth write takes so many bytes and then fails for good."""
    n_calls = 0

    def write(descriptor: int, data: bytes) -> int:
        nonlocal n_calls
        n_calls += 1
        if n_calls == nth and after_bytes:
            return os.write(descriptor, data[:after_bytes])
        if n_calls >= nth:
            raise OSError(number, os.strerror(number))
        return os.write(descriptor, data)

    return write


@pytest.mark.conformance("116")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT], ids=errno.errorcode.get)
@pytest.mark.parametrize("after_bytes", [0, 30], ids=["at-once", "after-a-piece"])
@pytest.mark.parametrize("nth", range(2, 14))
def test_a_failed_write_names_the_file_and_leaves_what_was_acknowledged(tmp_path: Path, nth: int, number: int, after_bytes: int) -> None:
    path = tmp_path / "run.jsonl"
    sink = open_sink(path, WHOLE.header, write=failing_at(nth, number, after_bytes=after_bytes))
    acknowledged: list[Event] = []

    def record_all() -> None:
        for event in WHOLE.events:
            sink.append(event)
            sink.commit()
            acknowledged.append(event)

    with pytest.raises(RecordingFailed, match=r"run\.jsonl: cannot record: ") as caught:
        record_all()
    assert os.strerror(number) in str(caught.value)
    with pytest.raises(RecordingFailed, match="an earlier write failed"):
        sink.append(WHOLE.events[len(acknowledged)])
    with pytest.raises(RecordingFailed, match="an earlier write failed"):
        sink.commit()
    sink.close()
    read = read_trajectory(path)
    assert len(acknowledged) == nth - 2
    assert list(read.events) == acknowledged
    assert (read.torn is None) == (after_bytes == 0)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
def test_a_disk_that_is_full_at_the_header_is_said_at_once(tmp_path: Path, number: int) -> None:
    with pytest.raises(RecordingFailed, match=r"run\.jsonl"):
        open_sink(tmp_path / "run.jsonl", WHOLE.header, write=failing_at(1, number, after_bytes=0))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full here")
def test_a_device_that_is_really_full_is_recording_failed() -> None:
    with pytest.raises(RecordingFailed, match="/dev/full: cannot record: No space left"):
        open_sink("/dev/full", WHOLE.header, existing=Existing.REPLACE)


def test_an_interrupting_signal_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    code = (
        "import signal, sys\nfrom harness.store import open_sink\nfrom tests.strategies import small_trajectory\n"
        "signal.signal(signal.SIGALRM, lambda *_: None)\nsignal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)\n"
        "whole = small_trajectory(400)\n"
        "with open_sink(sys.argv[1], whole.header) as sink:\n"
        "    for event in whole.events:\n        sink.append(event)\n        sink.commit()\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, timeout=60, cwd=Path(__file__).parents[2])
    assert read_trajectory(path).events == small_trajectory(400).events


def test_a_file_that_exists_is_refused_unless_told_to_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_trajectory(path, WHOLE)
    with pytest.raises(RecordingFailed, match="exists already"):
        open_sink(path, WHOLE.header)
    assert path.read_bytes() == dump_trajectory(WHOLE)
    open_sink(path, WHOLE.header, existing=Existing.REPLACE).close()
    assert read_trajectory(path).events == ()


@pytest.mark.parametrize("seq", [1, -1, 7])
def test_an_event_out_of_turn_is_refused_and_the_file_stays_readable(tmp_path: Path, seq: int) -> None:
    path = tmp_path / "run.jsonl"
    with open_sink(path, WHOLE.header) as sink:
        with pytest.raises(RecordingFailed, match=f"got event {seq}, expected was 0"):
            sink.append(Event(seq, WHOLE.events[0].fact, Origin.PROBE))
        sink.append(WHOLE.events[0])
    assert read_trajectory(path).events == WHOLE.events[:1]


@pytest.mark.parametrize(
    "fact",
    [
        pytest.param(ToolCall(CallId("c"), "x", {"a": 1}), id="object-for-text"),  # type: ignore[arg-type]
        pytest.param(UnknownFact("k", JsonText("not json")), id="unknown-without-json"),
        pytest.param(UnknownFact("k", JsonText('{"a":1}\n{"b":2}')), id="unknown-of-two-lines"),
        pytest.param(object(), id="no-fact"),
    ],
)
def test_a_fact_that_has_no_place_on_disk_is_said_when_it_is_appended(tmp_path: Path, fact: ToolCall) -> None:
    path = tmp_path / "run.jsonl"
    with open_sink(path, WHOLE.header) as sink, pytest.raises(RecordingFailed, match="event 0"):
        sink.append(Event(0, fact, Origin.PROBE))
    with pytest.raises(InvalidValueError, match="event 0"):
        dump_trajectory(Trajectory(WHOLE.header, (Event(0, fact, Origin.PROBE),)))
    assert read_trajectory(path).events == ()


def test_a_closed_sink_takes_nothing_more_and_closes_twice(tmp_path: Path) -> None:
    sink = open_sink(tmp_path / "run.jsonl", WHOLE.header)
    sink.close()
    sink.close()
    with pytest.raises(RecordingFailed, match="closed"):
        sink.append(WHOLE.events[0])


def test_power_durability_reaches_the_disk_at_every_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    for durability, n_expected in ((Durability.PROCESS, 0), (Durability.POWER, 3)):
        synced.clear()
        with open_sink(tmp_path / f"{durability}.jsonl", WHOLE.header, durability=durability) as sink:
            for event in WHOLE.events[:2]:
                sink.append(event)
                sink.commit()
        assert len(synced) == n_expected


def test_going_on_in_a_file_numbers_and_keeps_as_if_it_had_never_stopped(tmp_path: Path) -> None:
    for cut in range(len(WHOLE.events) + 1):
        path = tmp_path / f"{cut}.jsonl"
        write_trajectory(path, Trajectory(WHOLE.header, WHOLE.events[:cut]))
        with continue_sink(path) as sink:
            for event in WHOLE.events[cut:]:
                sink.append(event)
        assert path.read_bytes() == dump_trajectory(WHOLE)


# ---------------------------------------------------------------- whole files


def test_writing_a_whole_file_replaces_it_or_leaves_it_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    write_trajectory(path, WHOLE)
    broken = Trajectory(WHOLE.header, (*WHOLE.events, Event(12, ToolCall(CallId("c"), "x", 3), Origin.PROBE)))  # type: ignore[arg-type]
    with pytest.raises(InvalidValueError):
        write_trajectory(path, broken)
    assert path.read_bytes() == dump_trajectory(WHOLE)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.jsonl"], "nothing is left beside it"


def test_a_whole_file_that_cannot_be_written_is_recording_failed(tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_bytes(b"")
    with pytest.raises(RecordingFailed, match=r"run\.jsonl"):
        write_trajectory(tmp_path / "file" / "run.jsonl", WHOLE)


@pytest.mark.public_case("PB-048")
def test_the_encoding_of_the_locale_changes_no_byte(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom harness.store import read_trajectory, write_trajectory\n"
        "write_trajectory(sys.argv[2], read_trajectory(sys.argv[1]))\n"
    )
    source = Path(__file__).parents[1] / "golden" / "every_kind.jsonl"
    for locale, utf8 in (("C", "0"), ("C.UTF-8", "1")):
        target = tmp_path / f"{locale} 模型 🚀 äß.jsonl"
        environment = {**os.environ, "LC_ALL": locale, "PYTHONUTF8": utf8, "PYTHONCOERCECLOCALE": "0"}
        subprocess.run([sys.executable, "-c", code, str(source), str(target)], check=True, env=environment, timeout=60, cwd=Path(__file__).parents[2])  # fmt: skip
        assert target.read_bytes() == source.read_bytes()


def test_what_was_dumped_is_what_a_sink_writes() -> None:
    assert read_bytes(dump_trajectory(WHOLE), "memory").events == WHOLE.events
