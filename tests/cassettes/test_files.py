"""Cassette files: what is written is read back, and anything less than whole is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes import (
    About,
    Cassette,
    Chunk,
    Exchange,
    RecordedRequest,
    RecordedResponse,
    RecordingInfo,
    ReplayTransport,
    dump_cassette,
    open_replay,
    parse_cassette,
    read_cassette,
)
from harness.errors import CassetteError
from tests.cassettes.lab import INFO, cassette, two_steps

NASTY = "模型 🚀 äß \u2028 \x85 \x07 'quoted' \"twice\" : # - {a: b} &x *x !!binary no yes 12:30 2026-01-31 \t end "


def ours(*bodies: Any) -> Cassette:
    return Cassette(cassette(*bodies).exchanges, About(INFO, "lab-model", "lab-1", "lab/1.0", "localhost"))


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
NAMES = st.sampled_from(["content-type", "retry-after", "x-kept"])
HEADERS = st.lists(st.tuples(NAMES, TEXTS), max_size=3, unique_by=lambda pair: pair[0]).map(sorted).map(tuple)


@st.composite
def responses(draw: st.DrawFn) -> RecordedResponse:
    pieces = draw(st.lists(st.binary(max_size=8) | TEXTS.map(str.encode), max_size=4))
    delays = draw(st.lists(st.integers(0, 10**6), min_size=len(pieces), max_size=len(pieces)))
    chunks = tuple(Chunk(len(piece), ms) for piece, ms in zip(pieces, delays, strict=True))
    return RecordedResponse(draw(st.integers(100, 599)), draw(TEXTS), draw(HEADERS), b"".join(pieces), chunks)




def is_address(text: str) -> bool:
    """Whether the client takes it for an address, whatever it is."""
    try:
        httpx2.URL(text)
    except httpx2.InvalidURL:
        return False
    return True


ADDRESSES = TEXTS.filter(is_address)
EXCHANGES = st.builds(
    Exchange,
    st.builds(
        RecordedRequest,
        st.sampled_from(["POST", "GET"]),
        ADDRESSES,
        HEADERS,
        st.binary(max_size=12) | TEXTS.map(str.encode),
    ),
    responses(),
)
INFOS = st.builds(RecordingInfo, TEXTS, TEXTS, TEXTS, TEXTS, st.lists(TEXTS, max_size=2).map(tuple))
CASSETTES = st.builds(
    Cassette,
    st.lists(EXCHANGES, min_size=1, max_size=3).map(tuple),
    st.builds(About, INFOS, TEXTS, TEXTS, TEXTS, TEXTS),
)


@given(CASSETTES)
def test_reading_what_was_written_gives_it_back(one: Cassette) -> None:
    data = dump_cassette(one)
    assert parse_cassette(data, "c.yaml") == one
    assert dump_cassette(parse_cassette(data, "c.yaml")) == data


@pytest.mark.public_case("PB-048")
def test_a_file_is_ascii_with_lf_line_ends_whatever_was_said() -> None:
    one = ours({"messages": [{"role": "user", "content": NASTY}]})
    data = dump_cassette(one)
    assert data.isascii()
    assert b"\r" not in data
    assert parse_cassette(data, "c.yaml") == one


def test_every_cut_of_a_file_is_refused() -> None:
    data = dump_cassette(ours(*two_steps()))
    assert parse_cassette(data, "c.yaml")
    for end in range(len(data) - 1):
        with pytest.raises(CassetteError):
            parse_cassette(data[:end], "c.yaml")


def document() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(dump_cassette(ours(*two_steps())))
    return loaded


def broken(change: str) -> bytes:
    whole = document()
    exchange = whole["interactions"][0]
    match change:
        case "no-exchanges":
            whole["interactions"] = []
        case "one-exchange-lost":
            del whole["interactions"][1]
        case "unknown-key":
            exchange["request"]["extra"] = 1
        case "no-version":
            del whole["version"]
        case "other-version":
            whole["version"] = 2
        case "a-list":
            return yaml.safe_dump([whole]).encode()
        case "status-text":
            exchange["response"]["status"]["code"] = "200"
        case "status-true":
            exchange["response"]["status"]["code"] = True
        case "no-uri":
            del exchange["request"]["uri"]
        case "body-number":
            exchange["request"]["body"] = 7
        case "body-base64-string":
            exchange["response"]["body"] = {"base64_string": "e30="}
        case "headers-list":
            exchange["request"]["headers"] = ["a"]
        case "chunks-do-not-add-up":
            exchange["harness"] = {"chunks": [{"bytes": 1, "delay_ms": 0}]}
        case "other-format":
            whole["metadata"]["harness"]["format"] = "harness-cassette/9"
        case "not-gzip":
            exchange["response"]["headers"]["Content-Encoding"] = ["gzip"]
            exchange["response"]["body"]["string"] = "plain text"
    return yaml.safe_dump(whole).encode()


BROKEN = [
    "no-exchanges", "one-exchange-lost", "unknown-key", "no-version", "other-version", "a-list", "status-text", "status-true", "no-uri",
    "body-number", "body-base64-string", "headers-list", "chunks-do-not-add-up", "other-format", "not-gzip",
]  # fmt: skip


@pytest.mark.parametrize("change", BROKEN)
def test_a_file_of_another_shape_is_refused_by_name(change: str) -> None:
    with pytest.raises(CassetteError, match=r"cassette 'c\.yaml'"):
        parse_cassette(broken(change), "c.yaml")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b" \n\n", "empty", id="blank"),
        pytest.param(b"\xff\xfe\x00", "damaged", id="not-utf-8"),
        pytest.param(b"interactions: [\nversion: 1\n", "damaged", id="not-yaml"),
        pytest.param(b"version: 1\nversion: 1\ninteractions: []\n", "line 2: key 'version' stands twice", id="duplicate-key"),
        pytest.param(b"1: 2\n", "key 1 is not text", id="key-no-text"),
        pytest.param(b"a: &a [*a]\n", "damaged", id="recursive"),
        pytest.param(b"a: !!python/object/apply:os.system [id]\n", "damaged", id="python-object"),
        pytest.param(b"a: 2026-99-99\n", "damaged", id="no-such-date"),
        pytest.param(b"[" * 100_000, "damaged", id="deep"),
        pytest.param(b"<<: {a: 1}\n", "damaged", id="merge-key"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_an_error_that_says_how(data: bytes, says: str) -> None:
    with pytest.raises(CassetteError, match=says):
        parse_cassette(data, "c.yaml")


@pytest.mark.public_case("PB-035")
def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="not found") as caught:
        open_replay(tmp_path / "none.yaml")
    assert caught.value.exit_code == 4
    assert "overwrit" not in str(caught.value)


def test_a_folder_in_place_of_a_file_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        read_cassette(tmp_path)


@pytest.mark.public_case("PB-049")
def test_a_cassette_of_another_scenario_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(dump_cassette(ours(*two_steps())))
    assert isinstance(open_replay(path, scenario="weather/oslo"), ReplayTransport)
    with pytest.raises(CassetteError, match="recorded for scenario 'weather/oslo', not for 'weather/bergen'"):
        open_replay(path, scenario="weather/bergen")


@pytest.mark.asyncio
async def test_a_compressed_body_of_vcrpys_making_is_replayed_decoded() -> None:
    first, _ = two_steps()
    whole = {
        "interactions": [
            {
                "request": {"method": "POST", "uri": "http://h.test/v1/x", "body": json.dumps(first), "headers": {}},
                "response": {
                    "status": {"code": 200, "message": "OK"},
                    "headers": {"Content-Encoding": ["gzip"], "Content-Length": ["99"]},
                    "body": {"string": gzip.compress(b'{"said": 1}')},
                },
            }
        ],
        "version": 1,
    }
    data = yaml.safe_dump(whole).encode()
    assert b"!!binary" in data
    transport = ReplayTransport(parse_cassette(data, "c.yaml"), "c.yaml")
    async with httpx2.AsyncClient(transport=transport) as asking:
        response = await asking.post("http://other.test/v1/x", json=first)
    assert response.json() == {"said": 1}
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize(
    "value",
    ['!!int ""', '!!int "_"', '!!float ""', "!!bool x", "!!timestamp x", '!!binary "?"', "!!omap x", "!!python/object/new:_io.BytesIO {state: 7}", "!!python/object/apply:builtins.iter {args: [7]}", "!!python/object/apply:os.system [exit]", "!!python/name:os.system"],
)
def test_a_value_that_its_tag_does_not_fit_is_damage_and_nothing_is_called(value: str) -> None:
    with pytest.raises(CassetteError, match=r"cassette 'c\.yaml'"):
        parse_cassette(f"interactions: []\nmetadata: {value}\nversion: 1\n".encode(), "c.yaml")


@pytest.mark.parametrize("uri", ["http://host/a\tb", "http://host:port/a", "http://" + "h" * 70_000])
def test_an_address_that_is_none_is_damage(uri: str) -> None:
    one = cassette(two_steps()[0]).exchanges[0]
    broken = Cassette((Exchange(RecordedRequest("POST", uri, (), b""), one.response),))
    with pytest.raises(CassetteError, match=r"interaction 1, request: the uri is no address"):
        parse_cassette(dump_cassette(broken), "c.yaml")
