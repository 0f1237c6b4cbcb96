"""A sample of `make canaries`, and that the looking itself finds what it must."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.redaction import Piece, piece_mask, redact_text, secret_mask
from tests.laws import canaries as law

SECRET = "canary-Value/1+x-00007"


def test_no_canary_of_a_sample_stands_in_anything_written() -> None:
    # INVARIANTS 23, RELIABILITY P5
    told = law.tried(500)
    assert told.hits == []
    assert told.counts["in recordings"] >= 300
    assert told.counts["in runs"] >= 200
    assert told.counts["files"] > 50
    assert told.counts["written"] > 20


@pytest.mark.parametrize("secret", [kind.format(n=7) for kind in law.KINDS])
@pytest.mark.parametrize("way", law.WAYS)
def test_the_looking_finds_a_canary_however_it_is_spelt(way: str, secret: str) -> None:
    said = law.WAYS[way](secret)
    for written in (said, json.dumps({"x": said}), json.dumps({"x": json.dumps({"y": said})}, ensure_ascii=False)):
        assert law.leaks(written.encode(), secret), written


def test_the_looking_finds_a_canary_cut_over_chunks() -> None:
    lines = [json.dumps({"type": "assistant/chunk", "seq": at, "chunk": chunk(piece)}, separators=(",", ":")) for at, piece in enumerate(cut(3))]
    assert "over chunks" in law.leaks("\n".join(lines).encode(), SECRET)


@pytest.mark.parametrize("text", ["", "the key is <secret>", "canary", json.dumps({"a": "canary-Value"})])
def test_the_looking_is_calm_where_nothing_is(text: str) -> None:
    assert law.leaks(text.encode(), SECRET) == []


# ---------------------------------------------------------------- pieces


def chunk(text: str) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]})


def text_of(chunk_text: str) -> str:
    return str(json.loads(chunk_text)["choices"][0]["delta"]["content"])


def cut(every: int, text: str = f"the key is {SECRET}, keep it") -> list[str]:
    return [text[at : at + every] for at in range(0, len(text), every)]


def masked(texts: list[str], *, at_once: int = 1000, is_open: bool = False) -> str:
    """Pieces through one mask, some at a time."""
    mask = piece_mask([SECRET])
    assert mask is not None
    found = []
    for start in range(0, len(texts), at_once):
        some = [Piece("s", chunk(text), is_open or start + at_once < len(texts)) for text in texts[start : start + at_once]]
        found += [text_of(one) for one in mask(some)]
    return "".join(found)


@pytest.mark.parametrize("every", range(1, len(SECRET) + 2))
def test_pieces_in_hand_give_the_masked_text_and_nothing_else_changes(every: int) -> None:
    assert masked(cut(every)) == "the key is <secret>, keep it"


@pytest.mark.parametrize("every", range(1, 12))
@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_of_a_secret_over_pieces_that_are_gone_no_more_than_four_characters_are_left(every: int, at_once: int) -> None:
    said = masked(cut(every), at_once=at_once)
    assert not any(SECRET[at : at + 5] in said for at in range(len(SECRET) - 4))
    assert said.endswith(", keep it")


@given(st.lists(st.text("canry-Vlue/1+x07 ", max_size=6), max_size=12))
def test_pieces_without_a_secret_come_back_as_the_same_objects(texts: list[str]) -> None:
    mask = piece_mask([SECRET])
    assert mask is not None
    pieces = [Piece("s", chunk(text), is_open=False) for text in texts]
    if SECRET not in "".join(texts):
        assert all(one is piece.text for one, piece in zip(mask(pieces), pieces, strict=True))


def test_pieces_of_two_streams_and_of_two_places_are_kept_apart() -> None:
    mask = piece_mask([SECRET])
    assert mask is not None
    pieces = [Piece("a", chunk(SECRET[:9]), is_open=False), Piece("b", chunk(SECRET[9:]), is_open=False)]
    assert mask(pieces) == [one.text for one in pieces]


def test_a_damaged_chunk_is_masked_as_text() -> None:
    mask = piece_mask([SECRET])
    assert mask is not None
    assert mask([Piece("a", f"{{no json {SECRET}", is_open=False)]) == ["{no json <secret>"]


# ---------------------------------------------------------------- what a cut leaves


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        pytest.param(f"bad key {SECRET[:15]}…", "bad key <secret>…", id="its-beginning"),
        pytest.param(f"…{SECRET[-13:]} is bad", "…<secret> is bad", id="its-end"),
        pytest.param(f"bad key {SECRET[:8]}…", f"bad key {SECRET[:8]}…", id="what-a-provider-shows"),
        pytest.param("a text that goes on…", "a text that goes on…", id="another-text"),
    ],
)
def test_what_a_cut_leaves_of_a_secret_is_masked_too(text: str, clean: str) -> None:
    mask = secret_mask([SECRET])
    assert mask is not None
    assert mask(text.encode()) == clean.encode()
    assert redact_text(text, secrets=[SECRET]) == clean
