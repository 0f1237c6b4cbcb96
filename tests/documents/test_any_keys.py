"""Descriptions of interfaces have keys that are numbers; read so, a key counts as the text that it is written with."""

import pytest

from harness.documents import load_document
from harness.errors import ScenarioError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("200: ok", {"200": "ok"}, id="number"),
        pytest.param("null: a\ntrue: b\n0x1f: c\n1.50: d", {"null": "a", "true": "b", "0x1f": "c", "1.50": "d"}, id="words-as-written"),
        pytest.param("a: {1: {2: 3}}", {"a": {"1": {"2": 3}}}, id="nested"),
    ],
)
def test_a_key_is_the_text_that_it_is_written_with(text: str, value: object) -> None:
    assert load_document(text, "a.yaml", any_keys=True).value == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("200: a\n'200': b", "'200' stands twice", id="one-key-twice"),
        pytest.param("? [a]\n: b", "is not text", id="a-list-as-key"),
        pytest.param("<<: {a: b}", "merge keys", id="merge-key"),
    ],
)
def test_what_is_no_text_even_so_is_refused(text: str, says: str) -> None:
    with pytest.raises(ScenarioError, match=says):
        load_document(text, "a.yaml", any_keys=True)


def test_numbers_as_keys_stay_refused_where_nobody_asked() -> None:
    with pytest.raises(ScenarioError, match="200 is not text"):
        load_document("200: ok", "a.yaml")


def test_the_most_values_can_be_given() -> None:
    text = "[a, b, c]"
    assert load_document(text, "a.yaml", max_nodes=4).value == ["a", "b", "c"]
    with pytest.raises(ScenarioError, match="more than 3 values"):
        load_document(text, "a.yaml", max_nodes=3)
