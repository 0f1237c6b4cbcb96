"""Canonical JSON has one text for a value; the strict reader refuses what is not lossless, with a reason."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidValueError
from harness.types.jsontext import MAX_DEPTH, Refusal, canonical_json, clean_text, parse_json
from tests.strategies import NASTY, json_values


@pytest.mark.conformance("119")
@given(json_values)
def test_reading_canonical_text_gives_the_value_back(value: Any) -> None:
    assert parse_json(canonical_json(value)) == value


@given(json_values)
def test_canonical_text_is_its_own_canonical_text_and_everybodys_json(value: Any) -> None:
    text = canonical_json(value)
    assert canonical_json(parse_json(text)) == text
    assert json.loads(text) == value
    assert "\n" not in text


@given(st.dictionaries(st.text(max_size=4), st.integers(), max_size=5))
def test_the_order_of_keys_does_not_matter(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


@pytest.mark.parametrize("number", [0, -1, 2**53 + 1, 10**300, -(2**64), 12345678901234567890123])
def test_whole_numbers_stay_exact(number: int) -> None:
    assert parse_json(canonical_json({"n": number})) == {"n": number}


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.conformance("119")
@pytest.mark.parametrize(
    "value",
    [
        pytest.param(float("nan"), id="nan"),
        pytest.param([float("inf")], id="infinity"),
        pytest.param({"x": float("-inf")}, id="minus-infinity"),
        pytest.param(cyclic(), id="cycle"),
        pytest.param(nested(MAX_DEPTH + 1), id="deep"),
        pytest.param({1: 2}, id="key-number"),
        pytest.param({None: 2}, id="key-none"),
        pytest.param({1, 2}, id="set"),
        pytest.param(b"x", id="bytes"),
        pytest.param(object(), id="object"),
        pytest.param(1 + 2j, id="complex"),
    ],
)
def test_a_value_that_is_not_lossless_json_cannot_be_written(value: Any) -> None:
    with pytest.raises(InvalidValueError, match="not lossless JSON"):
        canonical_json(value)


@pytest.mark.conformance("35")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("", "Expecting value", id="empty"),
        pytest.param('{"a": ', "Expecting value", id="cut"),
        pytest.param("NaN", "NaN is not JSON", id="nan"),
        pytest.param("[Infinity]", "Infinity is not JSON", id="infinity"),
        pytest.param("-Infinity", "-Infinity is not JSON", id="minus-infinity"),
        pytest.param("1e400", "1e400 is out of range", id="too-large"),
        pytest.param('{"a":1,"a":1}', "duplicate key 'a'", id="duplicate"),
        pytest.param('[{"b":{"a":1,"a":2}}]', "duplicate key 'a'", id="duplicate-inside"),
        pytest.param("9" * 5000, "digits", id="digits"),
        pytest.param("[" * 100_000, "nested deeper", id="deep"),
        pytest.param('{"a":' * 5000 + "1" + "}" * 5000, "nested deeper", id="deep-objects"),
        pytest.param("{'a': 1}", "Expecting property name", id="single-quotes"),
        pytest.param("[1,]", "", id="trailing-comma"),
        pytest.param("1 2", "Extra data", id="two-values"),
    ],
)
def test_text_that_is_not_strict_json_is_refused_with_a_reason(text: str, words: str) -> None:
    refused = parse_json(text)
    assert isinstance(refused, Refusal)
    assert refused.message
    assert words in refused.message


@pytest.mark.parametrize("depth", [1, MAX_DEPTH - 1, MAX_DEPTH])
def test_nesting_up_to_the_bound_is_read_and_written(depth: int) -> None:
    assert parse_json(canonical_json(nested(depth))) == nested(depth)
    assert isinstance(parse_json("[" + canonical_json(nested(MAX_DEPTH)) + "]"), Refusal)


def test_brackets_inside_strings_are_not_nesting() -> None:
    text = json.dumps(["[" * 1000, '\\"{' * 500])
    assert parse_json(text) == json.loads(text)


@pytest.mark.conformance("148")
@pytest.mark.parametrize(
    ("text", "clean"),
    [("a\ud800b", "a\ufffdb"), ("\udc00", "\ufffd"), ("\ud83d\ude00", "\U0001f600"), ("\ude00\ud83d", "\ufffd\ufffd"), ("", "")],
)
def test_lone_surrogates_become_replacement_marks(text: str, clean: str) -> None:
    assert clean_text(text) == clean
    assert canonical_json({text: text}) == json.dumps({clean: clean}, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize("text", NASTY, ids=lambda text: ascii(text)[:20])
def test_text_that_can_be_encoded_is_left_alone(text: str) -> None:
    assert clean_text(text) is text
    assert parse_json(canonical_json([text])) == [text]
