"""``-k`` expressions choose scenarios by words of their ids and tags."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.scenarios import scenario, selection

SLOW = scenario(id="cancellation/slow-tool", task="t", tags=["sweep", "Nightly"])
FAST = scenario(id="articles/answer-52", task="t")


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        pytest.param("slow", "S", id="word-in-the-id"),
        pytest.param("sweep", "S", id="tag"),
        pytest.param("NIGHTLY", "S", id="case-counts-as-equal"),
        pytest.param("articles/answer", "F", id="part-of-a-path"),
        pytest.param("52", "F", id="number"),
        pytest.param("a", "SF", id="in-both"),
        pytest.param("not slow", "F", id="not"),
        pytest.param("not not slow", "S", id="not-not"),
        pytest.param("slow or 52", "SF", id="or"),
        pytest.param("slow and 52", "", id="and"),
        pytest.param("52 or slow and nope", "F", id="and-binds-closer-than-or"),
        pytest.param("(52 or slow) and sweep", "S", id="parentheses"),
        pytest.param("not (52 or nope)", "S", id="not-of-parentheses"),
        pytest.param("not 52 and not nope", "S", id="not-binds-closest"),
        pytest.param("android", "", id="a-word-that-begins-with-and"),
    ],
)
def test_an_expression_chooses(expression: str, chosen: str) -> None:
    fits = selection(expression)
    assert "".join(name for name, value in (("S", SLOW), ("F", FAST)) if fits(value)) == chosen


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        pytest.param("", "expected a word, found the end at column 1", id="nothing"),
        pytest.param("a and", "expected a word, found the end at column 6", id="and-nothing"),
        pytest.param("or a", "expected a word, found 'or' at column 1", id="nothing-or"),
        pytest.param("a b", "expected 'and', 'or' or the end, found 'b' at column 3", id="two-words"),
        pytest.param("(a", "expected '\\)', found the end", id="unclosed"),
        pytest.param("a)", "found '\\)' at column 2", id="unopened"),
        pytest.param("()", "expected a word", id="empty-parentheses"),
        pytest.param("not", "expected a word", id="not-nothing"),
        pytest.param("(" * 5_000, "at most 50 levels", id="too-deep"),
        pytest.param("not " * 5_000 + "a", "at most 50 levels", id="too-many-nots"),
    ],
)
def test_a_bad_expression_is_refused_with_its_column(expression: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        selection(expression)
