"""The mutation law: any change of a recorded request is a miss that names the path (INVARIANTS 21)."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassettes import Cassette, ReplayTransport
from harness.cassettes.bodies import read_body
from harness.errors import CassetteMiss
from tests.cassettes.lab import all_mutations, cassette, exchange, outcome_of, two_steps

MUTATIONS = list(all_mutations(two_steps()))


@pytest.mark.public_case("PB-033")
@pytest.mark.parametrize(
    ("number", "path", "body"), MUTATIONS, ids=[f"{n}-{path}-{at}" for at, (n, path, _) in enumerate(MUTATIONS)]
)
@pytest.mark.asyncio
async def test_any_change_of_a_recorded_request_is_a_miss_that_names_the_path(
    number: int, path: str, body: dict[str, Any]
) -> None:
    # INVARIANTS 21
    (text,) = await outcome_of(ReplayTransport(cassette(*two_steps()), "c.yaml"), body)
    assert path in text
    if path != "messages":  # without its last message, or without any, the second request is as near to the first
        assert f"nearest is recorded request {number}" in text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def same(one: Any, other: Any) -> bool:
    """JSON's own notion of same, told apart from the code under test."""
    if isinstance(one, bool) or isinstance(other, bool) or one is None or other is None:
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) in (int, float, str) and not isinstance(one, str) ^ isinstance(other, str) and one == other


@given(JSON, JSON)
def test_two_bodies_match_exactly_when_their_values_are_the_same(one: Any, other: Any) -> None:
    left, right = (read_body(json.dumps(value).encode()).canonical for value in (one, other))
    if abs_floats_fit(one) and abs_floats_fit(other):
        assert (left == right) == same(one, other)


def abs_floats_fit(value: Any) -> bool:
    """No number beyond 2**53, where one float stands for many integers."""
    if isinstance(value, dict):
        return all(map(abs_floats_fit, value.values()))
    if isinstance(value, list):
        return all(map(abs_floats_fit, value))
    return not isinstance(value, int | float) or abs(value) <= 2**53


@pytest.mark.parametrize("body", [b"not json", b"\xff\xfe", b'{"a":1,"a":2}', b"[" * 1000, b""])
@pytest.mark.asyncio
async def test_a_body_that_is_no_strict_json_is_matched_byte_by_byte(body: bytes) -> None:
    transport = ReplayTransport(Cassette((exchange(body),)), "c.yaml")
    url = "http://nowhere.invalid/v1/chat/completions"
    async with httpx2.AsyncClient(transport=transport) as asking:
        with pytest.raises(CassetteMiss):
            await asking.post(url, content=body + b" ")
        assert (await asking.post(url, content=body)).status_code == 200
