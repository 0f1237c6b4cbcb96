"""Reading what was written gives it back, whatever the texts, and no damage passes silently."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import TrajectoryFormatError
from harness.store import dump_trajectory, read_bytes
from harness.store.deltas import kept_ranges
from harness.types.events import Event, Trajectory
from harness.types.exchange import ModelRequest
from harness.types.messages import ChatUser, Messages
from tests.strategies import messages, small_trajectory, trajectories


@pytest.mark.conformance("8", "119", "123")
@given(trajectories())
def test_reading_what_was_written_gives_it_back(trajectory: Trajectory) -> None:
    data = dump_trajectory(trajectory)
    read = read_bytes(data, "memory")
    assert (read.header, read.events, read.torn) == (trajectory.header, trajectory.events, None)
    assert dump_trajectory(read) == data


@given(trajectories())
def test_every_record_is_one_line_that_ends_in_one_line_feed(trajectory: Trajectory) -> None:
    data = dump_trajectory(trajectory)
    assert data.count(b"\n") == 1 + len(trajectory.events)
    assert data.endswith(b"}\n")


@given(trajectories(max_size=4))
def test_every_line_is_json_for_everybody(trajectory: Trajectory) -> None:
    for line in dump_trajectory(trajectory).split(b"\n")[:-1]:
        record = json.loads(line.decode("utf-8"))
        assert next(iter(record)) == "type"
        assert None not in record.values()


@pytest.mark.conformance("130")
def test_truncation_at_every_byte_gives_a_prefix_or_is_refused_at_the_header() -> None:
    regular = small_trajectory(200, texts=("a", "\u2028", "äß", "🚀"))
    # Short lines, because every byte costs one reading of the file.
    whole = Trajectory(regular.header, tuple(Event(event.seq, event.fact, event.origin) for event in regular))
    data = dump_trajectory(whole)
    n_header = data.index(b"\n") + 1
    for length in range(len(data) + 1):
        cut = data[:length]
        if length < n_header:
            with pytest.raises(TrajectoryFormatError, match=r"^cut:1: "):
                read_bytes(cut, "cut")
            continue
        read = read_bytes(cut, "cut")
        assert len(read.events) == cut.count(b"\n") - 1
        assert (read.torn is None) == cut.endswith(b"\n")
        assert read.events[-1:] == whole.events[: len(read.events)][-1:]
        if read.torn is None:
            assert (read.header, read.events) == (whole.header, whole.events[: len(read.events)])


def _read_or_refused(data: bytes) -> Trajectory | TrajectoryFormatError:
    try:
        return read_bytes(data, "changed")
    except TrajectoryFormatError as error:
        return error


@given(st.data())
def test_a_changed_byte_is_refused_or_shows_in_the_events(data: st.DataObject) -> None:
    whole = small_trajectory(12)
    original = dump_trajectory(whole)
    place = data.draw(st.integers(0, len(original) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != original[place]))
    changed = original[:place] + bytes([byte]) + original[place + 1 :]
    read = _read_or_refused(changed)
    if isinstance(read, TrajectoryFormatError):
        assert 1 <= (read.line or 0) <= changed.count(b"\n") + 1
        return
    # What is still readable differs where the byte differs, or the byte had no meaning (white space).
    same = (read.header, read.events) == (whole.header, whole.events)
    assert not same or json.loads(changed.split(b"\n")[original[:place].count(b"\n")]) == json.loads(
        original.split(b"\n")[original[:place].count(b"\n")]
    )


@pytest.mark.parametrize("structural", [b"{", b"}", b'":', b',"', b"\n"])
def test_a_lost_structural_byte_before_the_tail_is_refused_with_its_line(structural: bytes) -> None:
    data = dump_trajectory(small_trajectory(8))
    for line in range(1, 8):
        start = sum(len(text) + 1 for text in data.split(b"\n")[: line - 1])
        place = data.index(structural, start)
        with pytest.raises(TrajectoryFormatError) as caught:
            read_bytes(data[:place] + data[place + 1 :], "damaged")
        assert caught.value.line == line


@given(st.lists(messages, max_size=6), st.lists(messages, max_size=6), st.data())
def test_kept_ranges_and_the_rest_give_the_new_request(old: list, new: list, data: st.DataObject) -> None:  # type: ignore[type-arg]
    kept = data.draw(st.lists(st.booleans(), min_size=len(old), max_size=len(old)))
    shown = [message for message, keep in zip(old, kept, strict=True) if keep] + new
    ranges = kept_ranges(Messages.of(old), Messages.of(shown))
    rebuilt = [message for start, end in ranges for message in old[start:end]]
    assert rebuilt == shown[: len(rebuilt)]
    assert len(rebuilt) >= sum(kept), "what was kept is found, or as much"
    assert all(start < end for start, end in ranges)
    assert all(one[1] < two[0] for one, two in pairwise(ranges)), "ranges are as long as can be"


def test_a_file_of_growing_requests_grows_linearly() -> None:
    def size(n: int, *, shared: bool) -> int:
        history: list[ChatUser] = []
        events = []
        for seq in range(n):
            history.append(ChatUser(content=f"message {seq:06}"))
            view = Messages(history, len(history)) if shared else Messages.of(history)  # type: ignore[arg-type]
            events.append(Event(seq, ModelRequest(view), small_trajectory(1).events[0].origin))
        return len(dump_trajectory(Trajectory(small_trajectory(0).header, tuple(events))))

    for shared in (True, False):
        assert size(400, shared=shared) < 2.1 * size(200, shared=shared)
    assert size(200, shared=True) == size(200, shared=False)
