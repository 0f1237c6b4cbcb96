"""Repair on disk: under a lock, whole or not at all, and only where something is owed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import RecordingFailed, TrajectoryFormatError
from harness.folds import repaired
from harness.runner import judge, summarise_file
from harness.store import (
    Existing,
    dump_trajectory,
    open_sink,
    read_bytes,
    read_trajectory,
    repair_file,
    write_trajectory,
)
from tests.conftest import REPO
from tests.resume.lab import cut, deaths, two_turns, written
from tests.strategies import small_trajectory

WHOLE = two_turns().run().trajectory
LOCKS = pytest.mark.skipif(sys.platform == "win32", reason="no such locks there")


@pytest.mark.conformance("130", "139")
def test_a_file_cut_at_any_byte_reads_repairs_to_the_same_bytes_twice_and_loses_no_whole_line(tmp_path: Path) -> None:
    data = dump_trajectory(cut(WHOLE, 24))
    first = data.index(b"\n") + 1
    for n_bytes in range(first, len(data) + 1, 1):
        died = data[:n_bytes]
        n_lines = died.count(b"\n") - 1
        read = read_bytes(died, "died.jsonl")
        assert read.events == WHOLE.events[:n_lines]
        assert (read.torn is None) == died.endswith(b"\n")
        if n_bytes % 7 and n_bytes != len(data):
            continue  # the same on disk, for some of them
        results = set()
        for name in ("one.jsonl", "two.jsonl"):
            path = tmp_path / name
            path.write_bytes(died)
            done = repair_file(path)
            assert done.n_cut_bytes == n_bytes - (died.rindex(b"\n") + 1)
            assert done.trajectory.events == read_trajectory(path).events
            results.add(path.read_bytes())
        (repaired_bytes,) = results
        assert repaired_bytes == dump_trajectory(repaired(replace(read, torn=None)))
        assert repaired_bytes.startswith(died[: died.rindex(b"\n") + 1])


def test_damage_before_the_tail_is_refused_with_its_line_and_the_file_stays(tmp_path: Path) -> None:
    lines = dump_trajectory(cut(WHOLE, 10)).splitlines(keepends=True)
    lines[5] = b"{broken\n"
    path = tmp_path / "run.jsonl"
    path.write_bytes(b"".join(lines))
    with pytest.raises(TrajectoryFormatError, match=r"run\.jsonl:6: not JSON"):
        repair_file(path)
    assert path.read_bytes() == b"".join(lines)


@pytest.mark.conformance("134")
def test_a_sound_file_is_not_written_to(tmp_path: Path) -> None:
    path = written(WHOLE, tmp_path)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    done = repair_file(path)
    assert not done.changed
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


@pytest.mark.conformance("135")
def test_reading_judging_and_summarising_what_died_writes_nothing(tmp_path: Path) -> None:
    path = written(cut(WHOLE, 12), tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type":"tool/st')
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    judge(read_trajectory(path))
    summarise_file(path, tmp_path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [one.name for one in tmp_path.iterdir()] == ["run.jsonl"]


@LOCKS
@pytest.mark.conformance("136")
def test_a_live_run_cannot_be_repaired_nor_replaced_and_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = small_trajectory(6)
    with open_sink(path, whole.header) as sink:
        sink.append(whole.events[0])
        sink.commit()
        before = path.read_bytes()
        with pytest.raises(RecordingFailed, match=r"run\.jsonl: a live run is writing it"):
            repair_file(path)
        with pytest.raises(RecordingFailed, match="a live run is writing it"):
            open_sink(path, whole.header, existing=Existing.REPLACE)
        assert path.read_bytes() == before
        assert read_trajectory(path).events == whole.events[:1]
        sink.append(whole.events[1])
    assert read_trajectory(path).events == whole.events[:2]
    repair_file(path)


HOLDER = """
import sys, time
from harness.store import open_sink
from tests.strategies import small_trajectory
whole = small_trajectory(6)
sink = open_sink(sys.argv[1], whole.header)
sink.append(whole.events[0])
sink.commit()
print("ready", flush=True)
sys.stdin.read()
"""


@LOCKS
@pytest.mark.conformance("136")
def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        with pytest.raises(RecordingFailed, match="a live run"):
            repair_file(path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert len(repair_file(path).trajectory.events) >= 1


def test_what_is_not_there_or_may_not_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryFormatError, match=r"none\.jsonl"):
        repair_file(tmp_path / "none.jsonl")


@pytest.mark.conformance("139")
def test_a_repair_killed_in_its_write_is_completed_by_the_next(tmp_path: Path) -> None:
    died = next(one for one in deaths(WHOLE) if len(one.events) == 12)
    path = written(died, tmp_path)
    start = path.stat().st_size
    repair_file(path)
    whole = path.read_bytes()
    ends = whole.index(b'{"type":"run/end"')
    for n_bytes in range(start, ends, 5):
        copy = tmp_path / "again.jsonl"
        copy.write_bytes(whole[:n_bytes])
        repair_file(copy)
        assert copy.read_bytes() == whole, n_bytes


def test_repair_goes_on_behind_requests_so_that_the_file_still_rebuilds(tmp_path: Path) -> None:
    path = written(cut(WHOLE, 29), tmp_path)
    repair_file(path)
    copy = tmp_path / "copy.jsonl"
    write_trajectory(copy, read_trajectory(path))
    assert copy.read_bytes() == path.read_bytes()
    shutil.rmtree(tmp_path)
