"""Java and JavaScript values out of text, oddities included; and that they must be text."""

from __future__ import annotations

from typing import Any

import pytest

from harness.evaluate.bfcl import grade_bfcl
from harness.evaluate.bfcl_java import java_value
from harness.evaluate.bfcl_javascript import javascript_value
from harness.evaluate.bfcl_values import BfclFault
from harness.types.bfcl import BfclCategory
from tests.evaluate.bfcl_lab import array, call, expected, function, item


@pytest.mark.parametrize(
    ("text", "declared", "items", "value"),
    [
        pytest.param("plain", "String", None, "plain", id="text"),
        pytest.param("'plain'", "String", None, "plain", id="quotes-go"),
        pytest.param("'mixed\"", "String", None, "'mixed\"", id="unlike-quotes-stay"),
        pytest.param("-12", "integer", None, -12, id="int"),
        pytest.param("1.5", "integer", None, "1.5", id="no-int-stays-text"),
        pytest.param("9" * 5000, "integer", None, "9" * 5000, id="too-long-to-be-read"),
        pytest.param("4", "float", None, 4.0, id="float"),
        pytest.param("1e5", "float", None, "1e5", id="no-exponents"),
        pytest.param("12n", "Bigint", None, 12, id="bigint"),
        pytest.param("12", "Bigint", None, "12", id="bigint-without-n"),
        pytest.param("true", "Boolean", None, True, id="bool"),
        pytest.param("True", "Boolean", None, "True", id="another-languages-bool"),
        pytest.param(" [1, 'two', true, x]", "array", None, [1, "two", True, "x"], id="array"),
        pytest.param("[]", "array", "String", [], id="empty-array"),
        pytest.param("['a, b']", "array", "String", ["'a", "b'"], id="split-at-every-comma"),
        pytest.param("new Array(1.5, 2)", "array", "float", [1.5, 2.0], id="made-array"),
        pytest.param("[[1, 2], [ 3 ]]", "array", None, [[1, 2], [3]], id="rows"),
        pytest.param("new Array([1], [2])", "array", "array", [[1], [2]], id="made-rows"),
        pytest.param("items", "array", "String", "items", id="a-variable"),
        pytest.param("[1,\n2]", "array", None, "[1,\n2]", id="several-lines-stay-text"),
        pytest.param("[1] and more", "array", None, [1], id="what-stands-behind-is-not-looked-at"),
        pytest.param("{}", "dict", None, {}, id="empty-object"),
        pytest.param("{a: 1, 'b': [x, 2], c: '5'}", "dict", None, {"a": 1, "b": ["x", 2], "c": 5}, id="object"),
        pytest.param("{a: {b: 1}}", "dict", None, {"a": "{b: 1"}, id="ends-at-the-first-brace"),
        pytest.param("config", "dict", None, "config", id="object-by-its-name"),
        pytest.param("x => x", "any", None, "x => x", id="anything"),
    ],
)
def test_a_javascript_value_is_read_as_the_benchmark_reads_it(text: str, declared: str, items: str | None, value: Any) -> None:
    read = javascript_value(text, declared, items)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "declared", "items", "value"),
    [
        pytest.param("-7", "short", None, -7, id="short"),
        pytest.param("7", "long", None, "7", id="long-without-l"),
        pytest.param("7L", "long", None, 7, id="long"),
        pytest.param("1.5f", "float", None, 1.5, id="float"),
        pytest.param("1.5", "float", None, "1.5", id="float-without-f"),
        pytest.param("1e-2", "double", None, 0.01, id="double"),
        pytest.param("false", "boolean", None, False, id="bool"),
        pytest.param("'a'", "char", None, "'a'", id="a-char-keeps-its-quotes"),
        pytest.param('"a"', "String", None, '"a"', id="a-text-keeps-its-quotes"),
        pytest.param("new int[]{1, 2}", "Array", "integer", [1, 2], id="array"),
        pytest.param('new String[]{"a"}', "Array", "String", ['"a"'], id="texts-in-an-array-keep-their-quotes"),
        pytest.param("numbers", "Array", "integer", "numbers", id="array-by-its-name"),
        pytest.param('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"], id="list-of-texts"),
        pytest.param("new ArrayList<>(Arrays.asList(ab))", "ArrayList", "String", [""], id="first-and-last-character-go"),
        pytest.param("new ArrayList<Long>() {{ add(1L); add(2L); }}", "ArrayList", "long", [1, 2], id="list-that-adds"),
        pytest.param("new ArrayList<Object>()", "ArrayList", "any", [], id="empty-list"),
        pytest.param('new HashMap<String, Object>() {{ put("a", 1); put("b", "x"); }}', "HashMap", None, {"a": 1, "b": "x"}, id="map"),
        pytest.param("new HashMap<>()", "HashMap", None, {}, id="empty-map"),
        pytest.param("settings", "HashMap", None, "settings", id="map-by-its-name"),
    ],
)
def test_a_java_value_is_read_as_the_benchmark_reads_it(text: str, declared: str, items: str | None, value: Any) -> None:
    read = java_value(text, declared, items)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("category", [BfclCategory.SIMPLE_JAVA, BfclCategory.SIMPLE_JAVASCRIPT])
@pytest.mark.parametrize("value", [5, True, None, [1], {"a": 1}])
def test_a_value_that_is_not_text_is_refused_even_where_it_is_right(category: BfclCategory, value: Any) -> None:
    one = item(expected(x=[5]), functions=function(x="integer"), category=category)
    assert grade_bfcl(one, [call(x="5")]).valid
    assert grade_bfcl(one, [call(x=value)]).fault is BfclFault.NOT_TEXT


def test_the_types_in_a_list_of_text_are_judged_after_it_was_read() -> None:
    one = item(expected(x=[[1.0, 2.0]]), functions=function(x=array("float")), category=BfclCategory.SIMPLE_JAVASCRIPT)
    assert grade_bfcl(one, [call(x="[1, 2.0]")]).valid
    assert grade_bfcl(one, [call(x="[1, two]")]).fault is BfclFault.WRONG_ITEM_TYPE
