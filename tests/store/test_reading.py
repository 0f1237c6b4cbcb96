"""What the reader takes, what it refuses and with which line, and what it calls a torn tail."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from harness.errors import TrajectoryFormatError
from harness.store import (
    continue_sink,
    dump_trajectory,
    is_trajectory,
    iter_events,
    open_reader,
    read_bytes,
    read_trajectory,
    repair_tail,
)
from harness.types.codes import Origin
from harness.types.events import Event, TornTail, Trajectory
from harness.types.exchange import ModelRequest, ToolResult
from harness.types.lifecycle import StepEnd, StepStart
from harness.types.messages import CallId, ChatUser, Messages
from tests.strategies import NASTY, small_trajectory, unknown_event

HEADER = b'{"type":"trajectory/header","format":"harness-trajectory/1","version":"1","runId":"r","subject":"s"}\n'
START = b'{"type":"run/start","seq":0,"origin":"subject"}\n'


def refusal(data: bytes) -> TrajectoryFormatError:
    with pytest.raises(TrajectoryFormatError) as caught:
        read_bytes(data, "run.jsonl")
    return caught.value


@pytest.mark.conformance("128", "130", "119")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        pytest.param('{"type":"run/start","seq":1,"origin":"subject"}', "seq 1, expected was 0", id="gap"),
        pytest.param('{"type":"run/start","origin":"subject"}', "seq must be a whole number", id="no-seq"),
        pytest.param('{"type":"run/start","seq":true,"origin":"subject"}', "seq must be a whole number", id="seq-true"),
        pytest.param('{"type":"run/start","seq":0.0,"origin":"subject"}', "seq must be a whole number", id="seq-float"),
        pytest.param('{"type":"run/start","seq":0}', "origin must be one of probe, subject, import", id="no-origin"),
        pytest.param('{"type":"run/start","seq":0,"origin":"heaven"}', "origin must be one of", id="odd-origin"),
        pytest.param('{"type":"run/start","seq":0,"origin":[]}', "origin must be one of", id="origin-list"),
        pytest.param('{"type":"run/start","seq":0,"origin":"probe","time":"1"}', "time must be a whole number", id="time-text"),
        pytest.param('{"type":"run/start","seq":0,"origin":"probe","agent":""}', "agent must be text", id="empty-agent"),
        pytest.param('{"type":"run/start","seq":0,"origin":"probe","turn":1.5}', "turn and step", id="turn-float"),
        pytest.param('{"type":"run/start","seq":0,"origin":"probe","ignorable":true}', "ignorable must be False", id="not-ignorable"),
        pytest.param('{"type":"note","seq":0,"origin":"probe","name":"x"}', "ignorable must be True", id="ignorable-missing"),
        pytest.param('{"type":"run/begin","seq":0,"origin":"probe"}', "unknown type 'run/begin'", id="unknown"),
        pytest.param('{"type":"run/begin","seq":0,"origin":"probe","ignorable":1}', "unknown type", id="ignorable-one"),
        pytest.param('{"seq":0,"origin":"probe"}', "no type", id="no-type"),
        pytest.param('{"type":7,"seq":0,"origin":"probe"}', "no type", id="type-number"),
        pytest.param('{"type":"run/start","seq":0,"origin":"probe","colour":1}', "colour", id="unknown-field"),
        pytest.param('{"type":"tool/call","seq":0,"origin":"probe","name":"x","arguments":"{}"}', "callId", id="missing-field"),
        pytest.param('{"type":"tool/call","seq":0,"origin":"probe","callId":1,"name":"x","arguments":"{}"}', "callId", id="number-for-text"),
        pytest.param('{"type":"tool/call","seq":0,"origin":"probe","callId":"c","name":"x","arguments":{}}', "arguments", id="object-for-text"),
        pytest.param('{"type":"tool/end","seq":0,"origin":"probe","start":1,"outcome":"fine"}', "outcome", id="odd-word"),
        pytest.param('{"type":"tool/end","seq":0,"origin":"probe","start":"1","outcome":"ok"}', "start", id="text-for-number"),
        pytest.param('{"type":"turn/end","seq":0,"origin":"probe","status":"completed","reason":{}}', "reason", id="reason-without-kind"),
        pytest.param('{"type":"run/start","seq":0,"seq":0,"origin":"probe"}', 'duplicate key "seq"', id="duplicate-key"),
        pytest.param('{"type":"user/message","seq":0,"origin":"probe","message":{"role":"user","role":"user","content":""}}', "duplicate", id="duplicate-inside"),
        pytest.param('{"type":"run/start","seq":NaN,"origin":"probe"}', "not JSON", id="nan"),
        pytest.param('{"type":"model/request","seq":0,"origin":"probe","keep":[[0,1]]}', "previous request has 0", id="keeps-nothing"),
        pytest.param('{"type":"model/request","seq":0,"origin":"probe","keep":[[0]]}', "keep", id="half-a-range"),
        pytest.param('{"type":"note","seq":0,"origin":"probe","ignorable":true,"name":"\\ud800"}', "not JSON", id="lone-surrogate"),
        pytest.param('{"type":"request/header","seq":0,"origin":"probe","system":[],"tools":"[]","parameters":"{}x","why":"initial"}', "'request/header': parameters: not the JSON text", id="parameters-no-json"),
        pytest.param('{"type":"request/header","seq":0,"origin":"probe","system":[],"tools":"[","parameters":"{}","why":"initial"}', "'request/header': tools: not the JSON text", id="tools-no-json"),
        pytest.param("[]", "not a JSON object", id="list"),
        pytest.param("", "a blank line", id="blank"),
        pytest.param("[" * 100_000, "not JSON", id="deep"),
        pytest.param("9" * 10_000, "not JSON", id="digits"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_event_is_refused_by_its_number_and_reason(line: str, words: str) -> None:
    error = refusal(HEADER + line.encode("utf-8") + b"\n" + START)
    assert (error.file, error.line) == ("run.jsonl", 2)
    assert words in str(error)
    assert str(error).startswith("run.jsonl:2: ")


@pytest.mark.parametrize(
    ("keep", "fine"),
    [("[[0,2]]", True), ("[[0,1],[1,2]]", True), ("[[1,2]]", True), ("[[0,3]]", False), ("[[1,1]]", False), ("[[1,2],[0,1]]", False), ("[[-1,1]]", False)],
)  # fmt: skip
def test_ranges_must_rise_inside_the_previous_request_of_the_same_agent(keep: str, fine: bool) -> None:
    first = b'{"type":"model/request","seq":0,"origin":"probe","append":[{"role":"user","content":"a"},{"role":"user","content":"b"}]}\n'
    second = f'{{"type":"model/request","seq":1,"origin":"probe","keep":{keep}}}\n'.encode()
    data = HEADER + first + second
    if fine:
        assert len(read_bytes(data, "f").events) == 2
    else:
        assert refusal(data).line == 3
    elsewhere = second.replace(b'"origin"', b'"agent":"c","origin"')
    assert refusal(HEADER + first + elsewhere).line == 3, "another agent's request is no previous one"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        pytest.param(b"", "the file is empty", id="empty"),
        pytest.param(b"\n", "not JSON", id="blank-header"),
        pytest.param(START, "no trajectory: the first line must be", id="no-header"),
        pytest.param(b"\x89PNG\r\n\x1a\n" * 9, "not JSON", id="binary"),
        pytest.param(HEADER[:-1], "the header line is not finished", id="torn-header"),
        pytest.param(HEADER.replace(b"/1", b"/2"), "'harness-trajectory/2' is not 'harness-trajectory/1'", id="later-format"),
        pytest.param(HEADER.replace(b'"runId":"r",', b""), "runId", id="missing-field"),
        pytest.param(HEADER.replace(b"}", b',"seq":0}'), "seq", id="header-with-envelope"),
        pytest.param(b"\xef\xbb\xbf" + HEADER, "not JSON", id="byte-order-mark"),
        pytest.param(HEADER.replace(b"}", b',"limits":"{}x"}'), "limits: not the JSON text", id="limits-no-json"),
        pytest.param(HEADER.replace(b"}", b',"expectations":""}'), "expectations: not the JSON text", id="expectations-empty"),
        pytest.param(HEADER.replace(b"}", b',"tools":[{"name":"x","description":"","parameters":"{"}]}'), "tools.0.parameters: not the JSON text", id="schema-no-json"),
    ],
)
def test_a_file_without_a_proper_header_is_refused_at_line_one(data: bytes, words: str) -> None:
    error = refusal(data)
    assert error.line == 1
    assert words in str(error)


def test_bad_utf8_is_refused_with_its_line() -> None:
    error = refusal(HEADER + START.replace(b"subject", b"subj\xff") + START)
    assert error.line == 2


@pytest.mark.parametrize("case", ["missing", "folder"])
def test_what_cannot_be_opened_is_refused_by_name(case: str, tmp_path: Path) -> None:
    path = tmp_path if case == "folder" else tmp_path / "none.jsonl"
    with pytest.raises(TrajectoryFormatError, match="cannot be read") as caught:
        read_trajectory(path)
    assert caught.value.file == str(path)


# ---------------------------------------------------------------- torn tails (PB-038)


@pytest.mark.public_case("PB-038")
@pytest.mark.parametrize(
    ("tail", "n_bytes"),
    [
        pytest.param(b'{"type":"step/sta', 17, id="torn"),
        pytest.param(b'{"type":"step/sta\n\n', 19, id="torn-then-blank"),
        pytest.param(b'{"type":"step/sta\n\n  \n\r\n', 24, id="torn-then-blanks"),
        pytest.param(b'{"type":"run/start","seq":1,"origin":"subject"}', 47, id="whole-json-but-no-line-feed"),
        pytest.param(b"\n\n", 2, id="blank-lines"),
        pytest.param(b"\x00\x00\x00\x00", 4, id="zeros"),
    ],
)
def test_a_torn_tail_is_reported_and_never_parsed(tail: bytes, n_bytes: int) -> None:
    read = read_bytes(HEADER + START + tail, "run.jsonl")
    assert [event.seq for event in read] == [0]
    assert read.torn == TornTail(line=3, offset=len(HEADER + START), n_bytes=n_bytes)


@pytest.mark.public_case("PB-038")
@pytest.mark.parametrize("after", [b"", START.replace(b":0", b":2"), b"\n" + START, b"\n\n{"], ids=["committed", "more", "blank-then-more", "blanks-then-torn"])  # fmt: skip
def test_damage_that_is_no_tail_is_refused_with_its_line(after: bytes) -> None:
    error = refusal(HEADER + START + b'{"seq":2,"te\n' + after)
    assert error.line == 3
    assert "not JSON" in str(error)


@pytest.mark.public_case("PB-038")
def test_a_wrong_record_is_damage_even_when_only_blank_lines_follow() -> None:
    assert refusal(HEADER + START + START + b"\n\n").line == 3


@pytest.mark.public_case("PB-038")
@pytest.mark.conformance("139")
def test_an_append_after_a_torn_tail_needs_a_repair_and_then_stands_on_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = small_trajectory(6)
    lines = dump_trajectory(whole).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:3]) + lines[3][:20])
    with pytest.raises(TrajectoryFormatError, match="Repair the file first") as caught:
        continue_sink(path)
    assert caught.value.line == 4
    assert repair_tail(path) == lines[3][:20]
    assert repair_tail(path) == b"", "a whole file is left alone"
    with continue_sink(path) as sink:
        for event in whole.events[2:]:
            sink.append(event)
    assert path.read_bytes() == b"".join(lines), "requests go on from those in the file"
    assert read_trajectory(path).events == whole.events


@pytest.mark.parametrize(
    ("data", "is_ours"),
    [
        pytest.param(HEADER, True, id="as-written"),
        pytest.param(HEADER + b"damage", True, id="damaged-behind-its-header"),
        pytest.param(HEADER.replace(b":", b": ").replace(b",", b", "), True, id="with-blanks"),
        pytest.param(b'{"format":"harness-trajectory/1","type":"trajectory/header"}\n', True, id="in-another-order"),
        pytest.param(b"  " + HEADER, True, id="blanks-before"),
        pytest.param(b'{"type":"message","text":"trajectory/header"}\n' + HEADER, False, id="said-elsewhere"),
        pytest.param(b'{"type":"trajectory/header"', True, id="nothing-else"),
        pytest.param(b'{ "type":"trajectory/header"', False, id="not-finished"),
        pytest.param(b'["trajectory/header"]\n', False, id="a-list"),
        pytest.param(b"{\n" + HEADER, False, id="a-brace-first"),
        pytest.param(b"", False, id="empty"),
        pytest.param(b"\xff\xfe\x00", False, id="no-text"),
    ],
)
def test_a_file_is_ours_by_its_first_line_however_it_is_spaced(data: bytes, is_ours: bool, tmp_path: Path) -> None:
    path = tmp_path / "any"
    path.write_bytes(data)
    assert is_trajectory(path) is is_ours


def test_a_file_that_cannot_be_opened_is_not_called_somebody_elses(tmp_path: Path) -> None:
    with pytest.raises(TrajectoryFormatError, match="cannot be read"):
        is_trajectory(tmp_path / "none")


@pytest.mark.conformance("135")
def test_reading_a_torn_file_leaves_it_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(HEADER + START + b"{")
    assert read_trajectory(path).torn is not None
    assert path.read_bytes() == HEADER + START + b"{"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.jsonl"]


def test_repair_refuses_a_file_that_is_damaged_before_its_tail(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(HEADER + b"{\n" + START + b"{")
    with pytest.raises(TrajectoryFormatError, match=":2: "):
        repair_tail(path)
    assert path.read_bytes() == HEADER + b"{\n" + START + b"{"


# ---------------------------------------------------------------- lines and texts


@pytest.mark.public_case("PB-039")
def test_only_a_line_feed_ends_a_line_whoever_wrote_the_file() -> None:
    texts = ["a\u2028b", "c\x85d\u2029e\x0bf\x0cg", "tail"]
    requests = tuple(Event(seq, ModelRequest(Messages.of([ChatUser(content=text)])), Origin.PROBE) for seq, text in enumerate(texts))  # fmt: skip
    ours = dump_trajectory(Trajectory(small_trajectory(0).header, requests))
    foreign = b"".join(
        json.dumps(json.loads(line), ensure_ascii=escape, separators=(", ", ": ")).encode("utf-8") + b"\n"
        for line, escape in zip(ours.split(b"\n")[:-1], [False, True, False, True], strict=True)
    )
    for data in (ours, foreign):
        assert data.count(b"\n") == 4
        read = read_bytes(data, "f")
        assert [event.fact.messages[0].content for event in read] == texts  # type: ignore[union-attr]


def test_lines_that_end_in_carriage_return_and_line_feed_are_read() -> None:
    assert len(read_bytes((HEADER + START).replace(b"\n", b"\r\n"), "f").events) == 1


@pytest.mark.conformance("128")
@pytest.mark.parametrize("extra", ["", ', "x" : [1.50, "\\u5317", {"a":1e3}]', ',"x":"a\u2028b"'])
def test_an_ignorable_line_of_a_later_version_survives_to_the_byte(extra: str) -> None:
    event = unknown_event(0, extra)
    data = dump_trajectory(Trajectory(small_trajectory(0).header, (event,)))
    assert f"{event.fact.line}\n".encode() in data  # type: ignore[union-attr]
    read = read_bytes(data, "f")
    assert read.events == (event,)
    assert dump_trajectory(read) == data


def test_an_ignorable_line_that_was_moved_keeps_what_it_says_under_its_new_number() -> None:
    moved = Event(1, unknown_event(5, ',"x":[1,2]').fact, Origin.PROBE, time=3, agent="c", turn=1, step=2)
    data = dump_trajectory(Trajectory(small_trajectory(0).header, (Event(0, StepStart(), Origin.PROBE), moved)))
    assert data.endswith(
        b'{"type":"later/kind","seq":1,"time":3,"origin":"probe","agent":"c","turn":1,"step":2,"ignorable":true,"x":[1,2]}\n'
    )
    assert len(read_bytes(data, "f").events) == 2


@pytest.mark.conformance("148")
def test_text_that_cannot_be_encoded_becomes_a_replacement_mark_when_it_is_written() -> None:
    event = Event(0, ModelRequest(Messages.of([ChatUser(content="a\ud800b\ude00")])), Origin.PROBE)
    read = read_bytes(dump_trajectory(Trajectory(small_trajectory(0).header, (event,))), "f")
    assert read.events[0].fact == ModelRequest(Messages.of([ChatUser(content="a\ufffdb\ufffd")]))


@pytest.mark.conformance("33")
@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:20])
def test_a_nasty_text_comes_back_from_every_place_that_takes_text(text: str) -> None:
    event = Event(0, ToolResult(CallId(text), text, text, message=text), Origin.PROBE, agent=text)
    assert read_bytes(dump_trajectory(Trajectory(small_trajectory(0).header, (event,))), "f").events == (event,)


# ---------------------------------------------------------------- streaming


def test_streaming_gives_the_same_events_and_knows_the_tail_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = small_trajectory(40)
    path.write_bytes(dump_trajectory(whole) + b"{")
    assert tuple(iter_events(path)) == whole.events
    with open_reader(path) as reader:
        assert reader.header == whole.header
        assert reader.torn is None
        assert sum(1 for _ in reader) == 40
        assert reader.torn == TornTail(42, path.stat().st_size - 1, 1)


def test_requests_that_grow_share_one_buffer_when_they_are_read() -> None:
    whole = small_trajectory(80)
    views = [event.fact.messages for event in read_bytes(dump_trajectory(whole), "f") if isinstance(event.fact, ModelRequest)]
    assert len(views) == 20
    assert all(later.extends(earlier) for earlier, later in pairwise(views))
    assert [len(view) for view in views] == list(range(1, 21))


def test_an_error_inside_the_reading_code_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(dump_trajectory(small_trajectory(2)))

    def report() -> None:
        with open_reader(path) as reader:
            for _ in reader:
                raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        report()


def test_a_step_that_ends_is_not_one_that_starts() -> None:
    data = HEADER + b'{"type":"step/start","seq":0,"origin":"probe"}\n{"type":"step/end","seq":1,"origin":"probe"}\n'
    assert [type(event.fact) for event in read_bytes(data, "f")] == [StepStart, StepEnd]
