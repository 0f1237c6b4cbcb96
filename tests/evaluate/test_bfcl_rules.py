"""Each rule by which BFCL compares calls, as a table: the value, what is accepted, and the fault (None: valid)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.errors import UnsupportedError
from harness.evaluate.bfcl import BfclNames, grade_bfcl
from harness.evaluate.bfcl_values import BfclFault as F
from harness.types.bfcl import BfclCategory as C
from tests.evaluate.bfcl_lab import Called, Schema, array, call, expected, function, item

TUPLE: Schema = {"type": "tuple", "items": {"type": "float"}}


def fault_of(value: Any, schema: Schema | str, answers: list[Any], category: C = C.SIMPLE_PYTHON) -> F | None:
    one = item(expected(x=answers), functions=function(x=schema), category=category)
    return grade_bfcl(one, [call(x=value)]).fault


@pytest.mark.parametrize(
    ("value", "schema", "answers", "fault"),
    [
        pytest.param(5, "integer", [5], None, id="int-is-int"),
        pytest.param(5, "integer", [4, 5], None, id="one-of-several"),
        pytest.param(6, "integer", [5], F.WRONG_VALUE, id="another-int"),
        pytest.param(5.0, "integer", [5], F.WRONG_TYPE, id="no-float-for-an-int"),
        pytest.param(True, "integer", [1], F.WRONG_TYPE, id="no-bool-for-an-int"),
        pytest.param(1, "boolean", [True], F.WRONG_TYPE, id="no-int-for-a-bool"),
        pytest.param("5", "integer", [5], F.WRONG_TYPE, id="no-text-for-an-int"),
        pytest.param(None, "integer", [5], F.WRONG_TYPE, id="no-null-for-an-int"),
        pytest.param(5, "float", [5.0], None, id="an-int-becomes-a-float"),
        pytest.param(True, "float", [1.0], F.WRONG_TYPE, id="a-bool-becomes-no-float"),
        pytest.param(5, "float", [5], None, id="an-int-in-the-truth-too"),
        pytest.param(10**400, "float", [5.0], F.WRONG_TYPE, id="no-float-holds-it"),
        pytest.param(5.0001, "float", [5.0], F.WRONG_VALUE, id="floats-are-exact"),
        pytest.param(None, "string", ["", None], None, id="null-where-null-is-accepted"),
        pytest.param("null", "string", ["", None], F.WRONG_VALUE, id="text-beside-null-is-literal"),
        pytest.param("x", "any", ["x"], None, id="any-is-text"),
        pytest.param(5, "any", ["5"], F.WRONG_TYPE, id="any-is-no-number"),
    ],
)
def test_numbers_and_types_are_exact_but_for_ints_as_floats(value: Any, schema: str, answers: list[Any], fault: F | None) -> None:
    assert fault_of(value, schema, answers) is fault


@pytest.mark.parametrize(
    ("value", "answers", "fault"),
    [
        pytest.param("new york,  NY", ["New York, NY"], None, id="case-spaces-commas"),
        pytest.param("2024/01-02", ["2024.01.02"], None, id="slashes-hyphens-points"),
        pytest.param("a_b*c^d", ["abcd"], None, id="underscores-stars-carets"),
        pytest.param("it's", ['it"s'], None, id="quotes-are-one"),
        pytest.param("a\tb", ["ab"], F.WRONG_TEXT, id="a-tab-is-no-space"),
        pytest.param("a:b", ["ab"], F.WRONG_TEXT, id="a-colon-counts"),
        pytest.param("(a)", ["a"], F.WRONG_TEXT, id="brackets-count"),
        pytest.param("Boston", ["New York"], F.WRONG_TEXT, id="another-text"),
        pytest.param("", ["", "x"], None, id="empty-text-where-it-may-be-left-out"),
        pytest.param(" - ", ["", "x"], None, id="read-over-it-is-empty"),
        pytest.param("", ["x"], F.WRONG_TEXT, id="empty-text-elsewhere"),
        pytest.param("a,b", [["a", "b"]], F.WRONG_VALUE, id="text-where-a-list-is-accepted"),
    ],
)
def test_text_is_read_over(value: str, answers: list[Any], fault: F | None) -> None:
    assert fault_of(value, "string", answers) is fault


@pytest.mark.parametrize(
    ("value", "schema", "answers", "fault"),
    [
        pytest.param([1, 2], array("integer"), [[1, 2]], None, id="same"),
        pytest.param([2, 1], array("integer"), [[1, 2]], F.WRONG_LIST, id="order-counts"),
        pytest.param([1], array("integer"), [[1, 2]], F.WRONG_LIST, id="length-counts"),
        pytest.param([1.0, 2], array("integer"), [[1, 2]], F.WRONG_ITEM_TYPE, id="items-are-exact"),
        pytest.param([1], array("float"), [[1.0]], F.WRONG_ITEM_TYPE, id="no-int-becomes-a-float-inside"),
        pytest.param([1], array("float"), [[1]], None, id="but-the-truths-own-type-will-do"),
        pytest.param([True], array("integer"), [[1]], F.WRONG_ITEM_TYPE, id="no-bool-inside"),
        pytest.param(["New York"], array("string"), [["new-york"]], None, id="texts-inside-are-read-over"),
        pytest.param([["A"]], array("array"), [[["a"]]], F.WRONG_LIST, id="but-not-two-levels-deep"),
        pytest.param([[True]], array("array"), [[[1]]], None, id="two-levels-deep-as-python-compares"),
        pytest.param([], array("integer"), ["", [1]], None, id="an-empty-list-where-it-may-be-left-out"),
        pytest.param([], array("integer"), [[1]], F.WRONG_LIST, id="an-empty-list-elsewhere"),
        pytest.param(["x"], array("integer"), ["", [1]], F.WRONG_LIST, id="items-of-any-type-beside-left-out"),
        pytest.param([1], array("integer"), [], F.WRONG_TYPE, id="nothing-is-accepted"),
        pytest.param("data", array("integer"), ["data"], None, id="a-variable-by-its-name"),
        pytest.param("Data", array("integer"), ["data"], F.WRONG_VALUE, id="a-variable-is-literal"),
        pytest.param([1], array("integer"), ["data"], F.WRONG_VALUE, id="a-list-where-a-variable-is-meant"),
        pytest.param([1.5, 2.0], TUPLE, [[1.5, 2.0]], None, id="a-list-for-a-tuple"),
        pytest.param({"a": 1}, array("integer"), [[1]], F.WRONG_TYPE, id="no-object-for-a-list"),
    ],
)
def test_lists_keep_their_order_and_are_looked_at_one_level_deep(value: Any, schema: Schema, answers: list[Any], fault: F | None) -> None:
    assert fault_of(value, schema, answers) is fault


SIZE = {"size": ["Large", "L"], "milk": ["", "oat"]}


@pytest.mark.parametrize(
    ("value", "answers", "fault"),
    [
        pytest.param({"size": "l", "milk": "Oat"}, [SIZE], None, id="each-key-has-its-values"),
        pytest.param({"size": "large"}, [SIZE], None, id="a-key-that-may-be-left-out"),
        pytest.param({"milk": "oat"}, [SIZE], F.WRONG_KEY, id="a-key-that-may-not"),
        pytest.param({"size": "L", "cup": 1}, [SIZE], F.WRONG_KEY, id="a-key-too-many"),
        pytest.param({"size": "S"}, [SIZE], F.WRONG_KEY_VALUE, id="another-value"),
        pytest.param({"size": "L", "milk": 1}, [SIZE], F.WRONG_KEY_VALUE, id="another-type"),
        pytest.param({"n": True}, [{"n": [1]}], None, id="inside-as-python-compares"),
        pytest.param({"tags": ["A"]}, [{"tags": [["a"]]}], F.WRONG_KEY_VALUE, id="a-list-inside-is-literal"),
        pytest.param({"size": "S"}, [{"size": ["M"]}, {"size": ["S"]}], None, id="the-second-object"),
        pytest.param({"size": "S"}, [""], F.ONLY_LEFT_OUT, id="right-only-when-left-out"),
        pytest.param({}, ["", {}], None, id="empty"),
        pytest.param([], [SIZE], F.WRONG_TYPE, id="no-list"),
    ],
)
def test_objects_are_compared_key_by_key(value: Any, answers: list[Any], fault: F | None) -> None:
    assert fault_of(value, "dict", answers) is fault


PAIR = [{"a": [1]}, {"a": [2]}]


@pytest.mark.parametrize(
    ("value", "answers", "fault"),
    [
        pytest.param([{"a": 1}, {"a": 2}], [PAIR], None, id="in-order"),
        pytest.param([{"a": 2}, {"a": 1}], [PAIR], F.WRONG_KEY_VALUE, id="in-another-order"),
        pytest.param([{"a": 1}], [PAIR], F.WRONG_LENGTH, id="too-few"),
        pytest.param([{"a": 1}], [PAIR, PAIR[:1]], None, id="the-second-list"),
        pytest.param([{"b": 1}, {"a": 2}], [PAIR], F.WRONG_KEY, id="another-key"),
        pytest.param(["x", "y"], [PAIR], F.WRONG_ITEM_TYPE, id="no-objects"),
        pytest.param(["x", "y"], ["", PAIR], F.WRONG_VALUE, id="no-objects-beside-left-out"),
        pytest.param([], [""], None, id="empty-where-it-may-be-left-out"),
    ],
)
def test_lists_of_objects_are_compared_in_order(value: Any, answers: list[Any], fault: F | None) -> None:
    assert fault_of(value, array("dict"), answers) is fault


@pytest.mark.parametrize(
    ("arguments", "fault", "path"),
    [
        pytest.param({"city": "Oslo"}, None, "", id="what-may-be-left-out"),
        pytest.param({"city": "Oslo", "unit": "C"}, None, "", id="and-what-is-there"),
        pytest.param({"unit": "C"}, F.MISSING_REQUIRED, "calls[1].arguments.city", id="required"),
        pytest.param({"city": "Oslo", "cty": 1}, F.UNEXPECTED, "calls[1].arguments.cty", id="not-declared"),
        pytest.param({"city": "Oslo", "days": 1}, F.UNEXPECTED, "calls[1].arguments.days", id="declared-and-not-expected"),
        pytest.param({"city": "Bergen", "unit": 1}, F.WRONG_TEXT, "calls[1].arguments.city", id="in-the-models-order"),
    ],
)
def test_parameters_are_those_declared_and_expected(arguments: dict[str, Any], fault: F | None, path: str) -> None:
    weather = function(required=("city",), city="string", unit="string", days="integer")
    verdict = grade_bfcl(item(expected(city=["Oslo"], unit=["", "C"]), functions=weather), [call(**arguments)])
    assert (verdict.fault, verdict.path) == (fault, path)


def test_an_expected_parameter_that_is_not_marked_must_be_there_though_it_is_not_required() -> None:
    one = item(expected(city=["Oslo"], unit=["C"]), functions=function(city="string", unit="string"))
    assert grade_bfcl(one, [call(city="Oslo")]).fault is F.MISSING_EXPECTED


@pytest.mark.parametrize(
    ("calls", "fault"),
    [
        pytest.param([], F.WRONG_COUNT, id="none"),
        pytest.param([call(x=1), call(x=1)], F.WRONG_COUNT, id="twice"),
        pytest.param([call("g", x=1)], F.WRONG_NAME, id="another-name"),
        pytest.param([Called("f", '{"x": 1')], F.NOT_DECODED, id="cut"),
        pytest.param([Called("f", "")], F.NOT_DECODED, id="empty"),
        pytest.param([Called("f", "[1]")], F.NOT_AN_OBJECT, id="a-list"),
        pytest.param([Called("f", "{}"), Called("f", "")], F.NOT_DECODED, id="one-that-is-cut-spoils-all"),
        pytest.param([Called("f", '{"x": 2, "x": 1}')], None, id="the-last-of-two-keys-counts"),
        pytest.param([Called("f", "[" * 100_000)], F.NOT_DECODED, id="too-deep"),
    ],
)
def test_one_call_is_expected_and_can_be_read(calls: list[Called], fault: F | None) -> None:
    assert grade_bfcl(item(expected(x=[1]), functions=function(x="integer")), calls).fault is fault


@pytest.mark.parametrize(
    ("said", "names", "valid"),
    [
        pytest.param("a_b", BfclNames.UNDERSCORED, True, id="underscored"),
        pytest.param("a.b", BfclNames.UNDERSCORED, False, id="dotted-where-underscored"),
        pytest.param("a.b", BfclNames.AS_WRITTEN, True, id="dotted"),
        pytest.param("a_b", BfclNames.AS_WRITTEN, False, id="underscored-where-dotted"),
    ],
)
def test_dots_in_names_are_what_the_model_was_offered(said: str, names: BfclNames, valid: bool) -> None:
    one = item(expected("a.b", x=[1]), functions=(function("c"), function("a.b", x="integer")), category=C.MULTIPLE)
    assert grade_bfcl(one, [call(said, x=1)], names).valid is valid


def test_expected_calls_take_the_first_call_that_fits_which_is_no_largest_matching() -> None:
    # The first expected call takes x=1; the second, which wants x=1 and nothing else, finds only x=2.
    wide, narrow = expected(x=[1, 2]), expected(x=[1])
    one = item(wide, narrow, functions=function(x="integer"), category=C.PARALLEL)
    assert grade_bfcl(one, [call(x=2), call(x=1)]).valid
    verdict = grade_bfcl(one, [call(x=1), call(x=2)])
    assert (verdict.fault, verdict.path) == (F.NO_MATCH, "expected[2]")
    assert [(closest.fault, closest.path) for closest in verdict.closest] == [(F.WRONG_VALUE, "calls[2].arguments.x")]


def test_calls_may_come_in_another_order_and_each_answers_once() -> None:
    functions = (function("f", x="integer"), function("g", y="integer"))
    one = item(expected("f", x=[1]), expected("g", y=[2]), functions=functions, category=C.PARALLEL_MULTIPLE)
    assert grade_bfcl(one, [call("g", y=2), call("f", x=1)]).valid
    assert grade_bfcl(one, [call("f", x=1), call("f", x=1)]).fault is F.NO_MATCH
    assert grade_bfcl(one, [call("f", x=1)]).fault is F.WRONG_COUNT


@pytest.mark.parametrize(
    ("category", "calls", "fault"),
    [
        pytest.param(C.IRRELEVANCE, [], None, id="nothing"),
        pytest.param(C.IRRELEVANCE, [call()], F.UNWANTED_CALL, id="a-call"),
        pytest.param(C.LIVE_IRRELEVANCE, [Called("f", "no")], None, id="a-call-that-cannot-be-read-is-none"),
        pytest.param(C.LIVE_RELEVANCE, [call("unheard_of", z=1)], None, id="any-call"),
        pytest.param(C.LIVE_RELEVANCE, [], F.NO_CALL, id="no-call"),
        pytest.param(C.LIVE_RELEVANCE, [Called("f", "7")], F.NO_CALL, id="no-object"),
    ],
)
def test_where_nothing_is_to_be_called_and_where_anything_is(category: C, calls: list[Called], fault: F | None) -> None:
    assert grade_bfcl(item(functions=function(), category=category), calls).fault is fault


def test_items_of_several_turns_are_not_judged_by_their_calls() -> None:
    with pytest.raises(UnsupportedError, match="simulated state"):
        grade_bfcl(item(functions=function(), category=C.MULTI_TURN_BASE), [])
