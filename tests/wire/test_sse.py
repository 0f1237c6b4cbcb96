"""Server-sent events: one reading of the bytes, however they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ModelError
from harness.wire.sse import SseDecoder, SseEvent

BODY = (
    b"\xef\xbb\xbf: OPENROUTER PROCESSING\r\n\r\n"
    b"id: 1\r\nevent: note\r\ndata: one\r\ndata:two\r\n\r\n"
    b": ping\n\n:\n\n"
    b"retry: 1500\rdata\rdata: \xf0\x9f\x8c\x9e \xe2\x80\xa8\xc2\x85 sun\r\r"
    b"unknown: x\nid: 2\n\n"
    b"data: [DONE]\n\n"
    b"data: never ended\n"
)
EVENTS = [
    SseEvent("one\ntwo", "note", "1"),
    SseEvent("\n🌞 \u2028\x85 sun", "message", "1"),
    SseEvent("[DONE]", "message", "2"),
]


def read(body: bytes, *cuts: int) -> tuple[list[SseEvent], SseDecoder]:
    decoder, found, start = SseDecoder(), [], 0
    for end in (*sorted(cuts), len(body)):
        found += decoder.feed(body[start:end])
        start = end
    return found, decoder


@pytest.mark.public_case("PB-009")
def test_a_body_is_read_by_the_rules_of_the_format() -> None:
    found, decoder = read(BODY)
    assert found == EVENTS
    assert (decoder.retry_ms, decoder.replaced, decoder.is_between_events) == (1500, False, False)


@pytest.mark.conformance("148")
def test_cut_at_every_byte_and_byte_by_byte_it_is_the_same() -> None:
    assert all(read(BODY, cut)[0] == EVENTS for cut in range(len(BODY) + 1))
    assert read(BODY, *range(len(BODY)))[0] == EVENTS


PIECES = st.sampled_from([b"data: a", b"data", b"\n", b"\r", b"\r\n", b": c", b"event: e", b"id: 7", b"\n\n", b"x", "é🌞".encode(), b"\xef\xbb\xbf", b"\xff"])


@given(st.lists(PIECES, max_size=14).map(b"".join), st.data())
def test_the_way_a_body_is_cut_never_matters(body: bytes, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(body)), max_size=6))
    assert read(body, *cuts)[0] == read(body)[0]


@given(st.lists(PIECES, max_size=14).map(b"".join))
def test_a_reader_of_another_make_finds_the_same(body: bytes) -> None:
    """Lines by a plain split of the whole text: slow, whole, and simple enough to be right."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]
    found, data, event, last = [], [], "", ""
    for line in lines:
        if not line:
            found += [SseEvent("\n".join(data), event or "message", last)] if data else []
            data, event = [], ""
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        data += [value] if name == "data" else []
        event = value if name == "event" else event
        last = value if name == "id" else last
    if body.count(b"\xef\xbb\xbf") <= 1 and b"\xff" not in body:  # an odd byte joins its neighbours line by line only here
        assert read(body)[0] == found


@pytest.mark.parametrize("tail", [b"data: x", b"data: x\n", b"data: x\r", b"event: e\ndata: x\r\n"])
def test_what_stands_unfinished_at_the_end_is_no_event(tail: bytes) -> None:
    found, decoder = read(b"data: whole\n\n" + tail)
    assert [event.data for event in found] == ["whole"]
    assert not decoder.is_between_events


def test_an_event_is_given_before_later_bytes_are_looked_at() -> None:
    decoder = SseDecoder(most_event_bytes=100)
    found = []
    events = decoder.feed(b"data: first\r\rdata: " + b"x" * 200)
    found.append(next(events).data)
    with pytest.raises(ModelError) as caught:
        next(events)
    assert found == ["first"]
    assert (caught.value.code, "longer than 100 bytes" in str(caught.value)) == ("DAMAGED_RESPONSE", True)


def _feed_on(decoder: SseDecoder, data: bytes) -> None:
    for _ in range(1100):
        list(decoder.feed(data))


@pytest.mark.parametrize("endless", [b"x", b"data: x\n"], ids=["one-line", "many-lines"])
def test_an_event_that_never_ends_is_refused_by_us(endless: bytes) -> None:
    decoder = SseDecoder(most_event_bytes=1000)
    with pytest.raises(ModelError):
        _feed_on(decoder, endless)


def test_comments_for_ever_are_no_long_event() -> None:
    decoder = SseDecoder(most_event_bytes=64)
    for _ in range(1000):
        assert list(decoder.feed(b": keep-alive\n\n")) == []


@pytest.mark.parametrize("line", [b"\n", b":\n", b"data: x\n", b"data: x\r\n\r\n"], ids=["blank", "comments", "data", "events"])
def test_a_stream_of_too_many_lines_is_refused(line: bytes) -> None:
    decoder, most = SseDecoder(most_lines=100), 100 // line.count(b"\n")
    list(decoder.feed(line * most))
    with pytest.raises(ModelError, match="too many lines"):
        list(decoder.feed(line))


def test_bytes_that_are_no_utf_8_are_replaced_and_told() -> None:
    found, decoder = read(b"data: a\xffb\n\n")
    assert ([event.data for event in found], decoder.replaced) == (["a\ufffdb"], True)
