"""Hostile files cost bounded time and memory, and fail only as ours (RELIABILITY P7, in small)."""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import TrajectoryFormatError
from harness.store import dump_trajectory, read_bytes
from harness.types.events import Trajectory
from tests.strategies import NASTY, small_trajectory

GOLDEN = (Path(__file__).parents[1] / "golden" / "every_kind.jsonl").read_bytes()
PIECES = [text.encode("utf-8") for text in NASTY[:-1]] + [
    b"\n", b'"', b"{", b"}", b"[" * 300, b"null", b"1e999", b"NaN", b"9" * 5000, b"\\ud800", b"\xff\xfe", b'"seq":0,', b'"keep":[[0,99999999999]]',
]  # fmt: skip


def outcome(data: bytes) -> Trajectory | TrajectoryFormatError:
    try:
        return read_bytes(data, "hostile")
    except TrajectoryFormatError as error:
        return error


@given(st.lists(st.tuples(st.integers(0, len(GOLDEN)), st.integers(0, 30), st.sampled_from(PIECES)), min_size=1, max_size=4))
def test_a_mangled_file_reads_or_is_refused_by_line_and_nothing_else(cuts: list[tuple[int, int, bytes]]) -> None:
    data = GOLDEN
    for place, n_removed, piece in cuts:
        data = data[:place] + piece + data[place + n_removed :]
    found = outcome(data)
    if isinstance(found, TrajectoryFormatError):
        assert found.line is not None
    else:
        assert outcome(dump_trajectory(found)) is not None, "what was read can be written"
        assert read_bytes(dump_trajectory(found), "again").events == found.events


@given(st.binary(max_size=300))
def test_any_bytes_read_or_are_refused(data: bytes) -> None:
    found = outcome(data)
    assert isinstance(found, TrajectoryFormatError)
    assert found.line == 1
    tail = outcome(GOLDEN + data)
    assert isinstance(tail, Trajectory | TrajectoryFormatError)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"[" * 1_000_000, id="deep-list"),
        pytest.param(b'{"a":' * 500_000, id="deep-object"),
        pytest.param(b"9" * 1_000_000, id="long-number"),
        pytest.param(b'{"type":"' + b"x" * 5_000_000 + b'"}', id="long-type"),
        pytest.param(b'{"type":"run/start","seq":0,"origin":"probe","x":[' + b"0," * 1_000_000 + b"0]}", id="many-items"),
        pytest.param(b'{"type":"note","seq":0,"origin":"probe","ignorable":true,"name":"' + b"\\u0000" * 500_000, id="never-closed"),
        pytest.param(b'{"type":"later","seq":0,"origin":"probe","ignorable":true,"x":' + b"[" * 190 + b"1" + b"]" * 190 + b"}", id="deep-unknown"),
        pytest.param(b'{"type":"model/request","seq":0,"origin":"probe","keep":[' + b"[0,1]," * 100_000 + b"[0,1]]}", id="many-ranges"),
        pytest.param(b"\n" * 3_000_000 + b"x", id="blank-lines-then-text"),
    ],
)
def test_a_hostile_line_costs_bounded_time_and_memory(line: bytes) -> None:
    data = dump_trajectory(small_trajectory(0)) + line + b"\n"
    tracemalloc.start()
    began = time.process_time()
    found = outcome(data)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(found, Trajectory if b"later" in line[:20] else TrajectoryFormatError)
    assert len(str(found)) < 2000 or isinstance(found, Trajectory), "the message does not repeat the file"
    assert peak < 256 * 2**20
    assert seconds < 10, "a bound against hanging, with room for a slow machine; the aim is one second"
