"""Calls are matched as multisets where order is free, and each False says what is missing or surplus."""

import json
import sys
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.matching import match_calls
from harness.types.messages import CallId, JsonText
from harness.types.reasons import EmittedCall
from harness.types.scenario import CallOrder, ExpectedCall

EXACT, IN_ORDER, ANY_ORDER = CallOrder.EXACT, CallOrder.IN_ORDER, CallOrder.ANY_ORDER
SUBSET, SUPERSET = CallOrder.SUBSET, CallOrder.SUPERSET


def wanted(*calls):
    """Expected calls from names or (name, matcher) pairs."""
    pairs = [(call, None) if isinstance(call, str) else call for call in calls]
    return tuple(ExpectedCall(n, None if m is None else JsonText(json.dumps(m))) for n, m in pairs)


def made(*calls):
    """Actual calls from names or (name, arguments) pairs; arguments as a value or as the text sent."""
    pairs = [(call, {}) if isinstance(call, str) else call for call in calls]
    return tuple(
        EmittedCall(CallId(f"c{i}"), n, a if isinstance(a, str) else json.dumps(a)) for i, (n, a) in enumerate(pairs)
    )


@pytest.mark.public_case("PB-037")
@pytest.mark.parametrize(
    ("order", "expected", "actual", "said"),
    [
        pytest.param(ANY_ORDER, ["search", "search"], ["search"], "calls: missing call of 'search'", id="one-missing"),
        pytest.param(
            ANY_ORDER, ["search"], ["search", "search"], "calls[2]: surplus call of 'search' with {}", id="one-surplus"
        ),
        pytest.param(SUPERSET, ["search"], ["search", "search"], None, id="superset-did-at-least"),
        pytest.param(EXACT, [("f", {"n": 1})], [("f", {"n": 1.0})], None, id="one-json-number"),
        pytest.param(
            EXACT,
            [("f", {"n": 1})],
            [("f", {"n": True})],
            "calls[1].arguments.n: expected 1, was true",
            id="true-is-no-number",
        ),
        pytest.param(EXACT, [], ["search"], "calls[1]: surplus call of 'search' with {}", id="nothing-expected"),
    ],
)
def test_repeats_and_types_count(order, expected, actual, said):
    assert [str(m) for m in match_calls(order, wanted(*expected), made(*actual))] == ([said] if said else [])


@pytest.mark.parametrize(
    ("order", "expected", "actual", "fits"),
    [
        pytest.param(EXACT, ["a", "b"], ["a", "b"], True, id="exact-same"),
        pytest.param(EXACT, ["a", "b"], ["b", "a"], False, id="exact-swapped"),
        pytest.param(EXACT, ["a"], ["a", "b"], False, id="exact-surplus"),
        pytest.param(EXACT, ["a", "b"], ["a"], False, id="exact-missing"),
        pytest.param(EXACT, [], [], True, id="exact-none"),
        pytest.param(IN_ORDER, ["a", "b"], ["x", "a", "y", "b", "z"], True, id="in-order-with-others-between"),
        pytest.param(IN_ORDER, ["a", "b"], ["b", "a"], False, id="in-order-swapped"),
        pytest.param(IN_ORDER, ["a", "a"], ["a", "b"], False, id="in-order-repeats-count"),
        pytest.param(IN_ORDER, [("a", {"$any": True}), ("a", {"n": 1})], [("a", {"n": 1}), ("a", {"n": 1})], True, id="in-order-takes-the-earliest"),
        pytest.param(ANY_ORDER, ["a", "b"], ["b", "a"], True, id="any-order-swapped"),
        pytest.param(ANY_ORDER, ["a", "b"], ["b", "a", "a"], False, id="any-order-surplus"),
        pytest.param(SUBSET, ["a", "b"], ["b"], True, id="subset-did-less"),
        pytest.param(SUBSET, ["a", "b"], [], True, id="subset-did-nothing"),
        pytest.param(SUBSET, ["a", "b"], ["c"], False, id="subset-did-another"),
        pytest.param(SUBSET, ["a"], ["a", "a"], False, id="subset-did-it-twice"),
        pytest.param(SUPERSET, ["a", "b"], ["c", "b", "a"], True, id="superset-did-more"),
        pytest.param(SUPERSET, ["a", "a"], ["a"], False, id="superset-did-it-once"),
        pytest.param(
            ANY_ORDER,
            [("f", {"$any": True}), ("f", {"$subset": {"n": 1}}), ("f", {"n": 1})],
            [("f", {"n": 1}), ("f", {"n": 1, "m": 2}), ("f", {})],
            True,
            id="a-general-expectation-does-not-steal-the-call-of-a-narrow-one",
        ),
    ],
)  # fmt: skip
def test_each_order_takes_and_refuses_what_it_says(order, expected, actual, fits):
    assert (match_calls(order, wanted(*expected), made(*actual)) == []) is fits


@pytest.mark.parametrize(
    ("order", "expected", "actual", "said"),
    [
        pytest.param(EXACT, ["a"], ["b"], "calls[1]: expected call of 'a', was 'b'", id="exact-other-name"),
        pytest.param(EXACT, [("a", {"x": 1})], [], 'calls: missing call of \'a\' with {"x": 1}', id="exact-missing"),
        pytest.param(IN_ORDER, ["a", "b"], ["b", "a"], "calls[1]: call of 'b' is expected later, not found after call 2", id="found-too-early"),
        pytest.param(IN_ORDER, ["a"], ["b"], "calls: missing call of 'a': not found at all", id="in-order-missing"),
        pytest.param(IN_ORDER, [("a", {"x": 1})], [("a", {"x": 2})], "calls[1].arguments.x: expected 1, was 2", id="in-order-arguments"),
        pytest.param(ANY_ORDER, [("a", {"x": 1})], ["b", ("a", {"x": 2})], "calls[2].arguments.x: expected 1, was 2", id="any-order-arguments"),
        pytest.param(SUBSET, [("a", {"x": 1})], [("a", {"x": 2})], "calls[1].arguments.x: expected 1, was 2", id="subset-arguments"),
        pytest.param(SUPERSET, ["a"], ["b"], "calls: missing call of 'a'", id="superset-missing"),
        pytest.param(EXACT, [("a", {"x": 1})], [("a", '{"x":')], "which is not JSON", id="malformed-arguments"),
        pytest.param(EXACT, [("a", {"x": 1})], [("a", '{"x":NaN}')], "NaN is not JSON", id="nan-is-no-json"),
    ],
)  # fmt: skip
def test_a_mismatch_says_which_call_and_what_differs(order, expected, actual, said):
    found = match_calls(order, wanted(*expected), made(*actual))
    assert said in str(found[0])


def test_malformed_arguments_fit_where_none_are_asked_for():
    assert match_calls(EXACT, wanted("a"), made(("a", "{oops"))) == []


@pytest.mark.parametrize("text", [pytest.param("{", id="no-json"), pytest.param('{"$nope":1}', id="no-matcher")])
def test_expected_arguments_that_cannot_be_matched_are_refused(text):
    with pytest.raises(UsageError, match="expected arguments are not"):
        match_calls(EXACT, (ExpectedCall("a", JsonText(text)),), made("a"))


CALLS = st.lists(st.tuples(st.sampled_from("fg"), st.sampled_from([{}, {"n": 1}, {"n": 1.0}, {"n": True}, {"n": 1, "m": 2}])), max_size=5)  # fmt: skip
EXPECTED = st.lists(
    st.tuples(
        st.sampled_from("fg"),
        st.sampled_from([None, {}, {"n": 1}, {"n": True}, {"$subset": {"n": 1}}, {"$any": True}, {"n": {"$any": True}}]),
    ),
    max_size=5,
)  # fmt: skip


@given(EXPECTED, CALLS, st.randoms(use_true_random=False), st.sampled_from([ANY_ORDER, SUBSET, SUPERSET]))
def test_the_order_of_expectations_changes_nothing_where_order_is_free(expected, actual, random, order):
    shuffled = list(expected)
    random.shuffle(shuffled)
    assert match_calls(order, wanted(*expected), made(*actual)) == match_calls(order, wanted(*shuffled), made(*actual))


def fits_by_trying_all(order, expected, actual):
    """The definition itself: some way to give calls to expectations, one each."""
    small, large = (expected, actual) if len(expected) <= len(actual) else (actual, expected)
    if order is ANY_ORDER and len(expected) != len(actual):
        return False
    if (order is SUBSET and len(actual) > len(expected)) or (order is SUPERSET and len(expected) > len(actual)):
        return False
    pairs = (zip(small, chosen, strict=True) for chosen in permutations(large, len(small)))
    if small is not expected:
        pairs = ([(e, a) for a, e in pair] for pair in pairs)
    return any(all(not match_calls(EXACT, wanted(e), made(a)) for e, a in pair) for pair in pairs)


@given(EXPECTED, CALLS, st.sampled_from([ANY_ORDER, SUBSET, SUPERSET]))
def test_a_fit_is_found_whenever_some_assignment_is_one(expected, actual, order):
    assert (match_calls(order, wanted(*expected), made(*actual)) == []) == fits_by_trying_all(order, expected, actual)


@given(CALLS)
def test_what_was_done_fits_itself_in_every_order(actual):
    for order in CallOrder:
        assert match_calls(order, wanted(*actual), made(*actual)) == []


def n_function_calls(work):
    """How many Python functions are called in it: a measure of work that no busy machine changes."""
    n = 0

    def count(_, event, __):
        nonlocal n
        n += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return n


@pytest.mark.parametrize("order", [ANY_ORDER, SUBSET, SUPERSET])
@pytest.mark.parametrize("matcher", [{"x": {"$any": True}}, {"x": {"$near": {"value": 20, "tolerance": 40}}}])
def test_many_equal_expectations_cost_little_more_than_one(order, matcher):
    expected = wanted(*[("a", matcher)] * 40)
    actual = made(*[("a", {"x": n}) for n in range(40)])
    many = n_function_calls(lambda: match_calls(order, expected, actual))
    one = n_function_calls(lambda: match_calls(SUBSET, expected[:1], actual))
    assert many < 3 * one


def test_a_matcher_is_looked_through_once_and_not_for_each_call():
    expected = wanted(*[("a", {"x": {"$one_of": [{"$near": {"value": n}} for n in range(40)]}})] * 2)
    actual = made(*[("a", {"x": n % 2}) for n in range(40)])
    match_calls(IN_ORDER, expected, actual)
    assert n_function_calls(lambda: match_calls(IN_ORDER, expected, actual)) < 300
