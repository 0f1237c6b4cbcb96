"""One stated rule how a tool's value becomes content."""

import dataclasses
import datetime
import enum
import json
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import InvalidValueError
from harness.tools.content import conclude, content_of, nothing, output_of
from harness.types.codes import Code
from tests.tools.lab import made, reply_of

pytestmark = pytest.mark.article("5")


class Colour(enum.Enum):
    RED = "red"


class Word(str, enum.Enum):  # noqa: UP042 - the older spelling, whose str() is not its value
    YES = "yes"


@dataclasses.dataclass
class Point:
    x: int
    at: datetime.date


class Model(pydantic.BaseModel):
    x: int
    colour: Colour = Colour.RED


EMPTY: tuple[Any, ...] = (None, "", [], {}, ())
FULL: tuple[Any, ...] = (0, False, 0.0, [None], " ", {"a": None})
CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.public_case("PB-029")
@pytest.mark.parametrize(
    ("value", "content"),
    [
        pytest.param("text", "text", id="text-as-it-is"),
        pytest.param('{"a": 1}', '{"a": 1}', id="json-text-is-not-touched"),
        pytest.param({"status": "ok", "n": 1}, '{"n":1,"status":"ok"}', id="object"),
        pytest.param([1, "x", None], '[1,"x",null]', id="list"),
        pytest.param((1, 2), "[1,2]", id="tuple"),
        pytest.param(None, "null", id="none"),
        pytest.param(0, "0", id="zero"),
        pytest.param(False, "false", id="false"),
        pytest.param("", "", id="empty-text"),
        pytest.param(2**53 + 1, "9007199254740993", id="integer-beyond-a-double"),
        pytest.param(datetime.datetime(2024, 1, 2, 3, 4), "2024-01-02T03:04:00", id="datetime"),
        pytest.param(Point(1, datetime.date(2024, 1, 2)), '{"at":"2024-01-02","x":1}', id="dataclass"),
        pytest.param(Model(x=1), '{"colour":"red","x":1}', id="pydantic-model"),
        pytest.param(Word.YES, "yes", id="enum-of-text"),
        pytest.param([Colour.RED, Word.YES], '["red","yes"]', id="enums-inside"),
        pytest.param("北京", "北京", id="chinese"),
        pytest.param({"c": "北京"}, '{"c":"北京"}', id="chinese-inside"),
    ],
)
def test_a_value_becomes_the_content_that_the_table_says(value: object, content: str) -> None:
    assert content_of(value) == content


@pytest.mark.conformance("40")
@pytest.mark.parametrize(
    ("value", "named"),
    [
        pytest.param(object(), "object", id="object"),
        pytest.param({1, 2}, "set", id="set"),
        pytest.param({"a": b"x"}, "bytes", id="bytes-inside"),
        pytest.param({1: "x"}, "int", id="key-that-is-no-text"),
        pytest.param(float("nan"), "nan", id="nan"),
        pytest.param([float("inf")], "inf", id="infinity"),
        pytest.param(CYCLE, "cycle", id="cycle"),
        pytest.param(Model, "ModelMetaclass", id="a-class-is-no-value"),
        pytest.param(10**5000, "digit", id="integer-that-no-reader-takes"),
    ],
)
def test_what_is_not_json_is_an_error_result_that_names_it(value: object, named: str) -> None:
    with pytest.raises(InvalidValueError, match=f"(?i){named}"):
        content_of(value)
    reply = reply_of(made(lambda: value, name="t"))
    assert (reply.is_error, reply.code) == (True, Code.INVALID_TOOL_OUTPUT)
    assert named in str(reply.content).lower() or named in str(reply.content)


@pytest.mark.article("6")
@pytest.mark.parametrize(
    ("value", "empty"),
    [
        *[pytest.param(value, True, id=f"empty-{value!r}") for value in EMPTY],
        *[pytest.param(value, False, id=f"full-{value!r}") for value in FULL],
    ],
)
def test_only_a_result_without_anything_in_it_is_empty_and_empty_is_no_failure(value: object, empty: bool) -> None:
    reply = reply_of(made(lambda: value, name="t"))
    assert (reply.code, reply.is_error) == (Code.EMPTY if empty else None, False)


@pytest.mark.public_case("PB-015")
@pytest.mark.parametrize("value", ["x\ud83d", ["x\ud83d"], {"x\ud83d": 1}])
def test_a_lone_surrogate_becomes_the_replacement_character(value: object) -> None:
    assert "x\ufffd" in str(content_of(value))


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(PLAIN)
def test_any_plain_value_is_utf8_and_comes_back_from_its_content(value: object) -> None:
    content = str(content_of(value))
    content.encode("utf-8")
    assert content == value if isinstance(value, str) else json.loads(content) == value


@given(st.text(st.characters(codec=None)))
def test_any_text_that_a_tool_can_return_can_be_written(text: str) -> None:
    output_of(text).content.encode("utf-8")


@pytest.mark.conformance("17")
@pytest.mark.parametrize(
    ("value", "content", "code"),
    [
        pytest.param("done", "done", None, id="text"),
        pytest.param({"a": 1}, '{"a":1}', None, id="json"),
        pytest.param(None, "null", Code.EMPTY, id="empty"),
        pytest.param(nothing("none left"), "none left", Code.EMPTY, id="nothing-found"),
    ],
)
def test_a_value_that_concludes_is_content_like_any_other_and_marked(
    value: object, content: str, code: Code | None
) -> None:
    def finish() -> Any:
        return conclude(value)

    def go_on() -> Any:
        return value

    reply = reply_of(made(finish))
    assert (reply.content, reply.code, reply.concludes, reply.is_error) == (content, code, True, False)
    assert not reply_of(made(go_on)).concludes


def test_a_value_that_concludes_and_is_not_json_is_an_error_result_that_does_not() -> None:
    def finish() -> Any:
        return conclude(object())

    reply = reply_of(made(finish))
    assert (reply.code, reply.is_error, reply.concludes) == (Code.INVALID_TOOL_OUTPUT, True, False)
