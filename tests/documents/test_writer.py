"""What is written reads back equal, here and in other YAML readers, and looks as a person would write it."""

from __future__ import annotations

import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.documents import dump_yaml, load_document
from harness.errors import InvalidValueError
from harness.types.jsontext import canonical_json

TRAPS = st.sampled_from(
    ["on", "no", "12:30", "0o17", "0x1", "1e3", "1e400", ".inf", "~", "", " a", "a ", "a\n", "\n", "\na", " \n a\n", "a\n\nb",
     "a: b", "# a", "- a", "<<", "...", "---", "...\n", "a\n...\n", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "x\u2028y", "\x85", "\ufeff",
     "a\tb", "\t", "tab\t\nx", "\0", "\x1b", "模型 🚀 äß", "2024-01-01", "1_000", "=", "'", '"', "{", "[", "a #b", "1" * 5000, "k" * 300]
)  # fmt: skip
TEXTS = TRAPS | st.text(max_size=30) | st.text("ab \n:#-'\"", max_size=20)
SCALARS = (
    TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


def same(left: object, right: object) -> bool:
    """Equal as JSON, with 1 and 1.0 and True kept apart."""
    return canonical_json(left) == canonical_json(right)


@given(VALUES)
def test_reading_what_was_written_gives_it_back(value: object) -> None:
    text = dump_yaml(value)
    assert same(load_document(text, "x").value, value)
    assert dump_yaml(load_document(text, "x").value) == text


@given(st.dictionaries(st.text("ab", min_size=1), TRAPS | st.booleans() | st.integers(), max_size=4))
def test_another_yaml_reader_sees_the_same_values(value: dict[str, object]) -> None:
    assert same(yaml.safe_load(dump_yaml(value)), value)


@given(VALUES)
def test_lines_end_in_lf_only(value: object) -> None:
    text = dump_yaml(value)
    assert text.endswith("\n")
    assert not set(text) & set("\r\x85\u2028\u2029")


def test_a_document_looks_as_a_person_would_write_it() -> None:
    value = {
        "format": "harness-scenario/1",
        "tags": ["a", "b"],
        "task": "first line\nsecond line\n",
        "script": [{"call": {"calculator": {"expression": "6 * 7"}}}, {"say": "42"}],
        "expect": {"status": "completed", "before": [["a", "b"], ["b", "c"]], "answer": "no"},
        "script2": [],
    }
    assert dump_yaml(value) == (
        "format: harness-scenario/1\n"
        "tags: [a, b]\n"
        "task: |\n"
        "  first line\n"
        "  second line\n"
        "script:\n"
        "  - call: {calculator: {expression: 6 * 7}}\n"
        "  - say: '42'\n"
        "expect: {status: completed, before: [[a, b], [b, c]], answer: 'no'}\n"
        "script2: []\n"
    )


CYCLE: list[object] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(math.nan, id="nan"),
        pytest.param({"a": [math.inf]}, id="infinity"),
        pytest.param({1: "a"}, id="key-that-is-a-number"),
        pytest.param({"a": {1, 2}}, id="set"),
        pytest.param({"a": b"x"}, id="bytes"),
        pytest.param(CYCLE, id="cycle"),
    ],
)
def test_what_is_not_json_is_refused(value: object) -> None:
    with pytest.raises(InvalidValueError):
        dump_yaml(value)


def test_half_a_surrogate_pair_is_written_as_the_replacement_character() -> None:
    assert load_document(dump_yaml({"a": "x\ud800"}), "x").value == {"a": "x\ufffd"}
