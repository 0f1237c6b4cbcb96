"""Values are compared as JSON, and every difference names its place and both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.matching import Differs, Mismatch, exactly, match_value, matcher_problems, same_json

SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8)
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=4).filter(lambda key: not key.startswith("$")), inner, max_size=4),
    ),
    max_leaves=12,
)
BIG = 2**63 + 1


@pytest.mark.parametrize(
    ("matcher", "actual"),
    [
        pytest.param(1, 1.0, id="one-number-in-two-spellings"),
        pytest.param({"a": 1, "b": 2}, {"b": 2, "a": 1}, id="order-of-keys"),
        pytest.param(BIG, BIG, id="a-whole-number-beyond-64-bits"),
        pytest.param(None, None, id="null"),
        pytest.param({"$any": True}, None, id="any-takes-null"),
        pytest.param({"$regex": "ell"}, "hello", id="a-pattern-is-searched"),
        pytest.param({"$subset": {"a": 1}}, {"a": 1, "b": 2}, id="subset-leaves-others-open"),
        pytest.param({"$subset": {"a": {"$subset": {"x": 1}}}}, {"a": {"x": 1, "y": 2}}, id="subset-in-subset"),
        pytest.param({"$near": {"value": 230, "tolerance": 0.5}}, 230.5, id="near-takes-its-edge"),
        pytest.param({"$near": {"value": 0.3, "tolerance": 0.1}}, 0.25, id="near-below"),
        pytest.param({"$near": {"value": 0.3, "tolerance": 0.1}}, 0.2, id="near-takes-its-lower-edge-in-decimals"),
        pytest.param({"$near": {"value": 0.3, "tolerance": 0.1}}, 0.4, id="near-takes-its-upper-edge-in-decimals"),
        pytest.param({"$near": {"value": 1, "tolerance": 0.1}}, 1.1, id="near-takes-its-edge-of-a-whole-number"),
        pytest.param({"$near": {"value": -0.7, "tolerance": 0.1}}, -0.8, id="near-takes-its-edge-below-zero"),
        pytest.param({"$near": {"value": 1e23, "tolerance": 1e22}}, 1.1e23, id="near-takes-its-edge-of-big-decimals"),
        pytest.param({"$near": {"value": 2**63, "tolerance": 2048}}, float(2**63 + 2048), id="near-takes-its-edge-of-big-whole-numbers"),
        pytest.param({"$near": {"value": 2**63}}, float(2**63), id="near-takes-what-is-equal"),
        pytest.param({"$regex": "^a$"}, "a\n", id="the-end-of-a-pattern-is-also-before-a-last-newline"),
        pytest.param({"$near": {"value": BIG, "tolerance": 0}}, BIG, id="near-is-exact-for-big-numbers"),
        pytest.param({"$one_of": ["Oslo", {"$near": {"value": 7}}]}, 7.0, id="one-of-several-matchers"),
        pytest.param({"a": {"$one_of": [None, [1]]}}, {"a": None}, id="one-of-several-is-null"),
        pytest.param({"$contains": "65"}, "The answer is 65.", id="text-in-text"),
        pytest.param({"$contains": {"id": 7}}, [{"id": 6}, {"id": 7.0}], id="element-in-list"),
        pytest.param({"$contains": {"$regex": "^b"}}, ["abc", "bcd"], id="element-by-matcher"),
        pytest.param({"$equal": {"$any": True}}, {"$any": True}, id="equal-takes-dollar-keys-as-they-are"),
        pytest.param([{"$any": True}, 2], ["x", 2], id="matchers-inside-lists"),
        pytest.param({"a": {"$optional": 1}}, {}, id="optional-may-be-left-out"),
        pytest.param({"a": {"$optional": 1}}, {"a": 1.0}, id="optional-may-be-there"),
        pytest.param({"a": {"$optional": {"$regex": "^x"}}}, {"a": "xy"}, id="optional-holds-a-matcher"),
        pytest.param({"$subset": {"a": {"$optional": 1}}}, {"b": 2}, id="optional-inside-subset"),
        pytest.param({"a": {"b": {"$optional": 1}}}, {"a": {}}, id="optional-at-depth"),
        pytest.param([{"$optional": 1}], [1], id="optional-element-is-its-matcher"),
        pytest.param({"a": {"$equal": {"$optional": 1}}}, {"a": {"$optional": 1}}, id="equal-keeps-optional-as-it-is"),
        pytest.param({"city": {"$regex": "北京"}, "n": 1}, {"city": "北京市", "n": 1}, id="matchers-inside-objects"),
    ],
)
def test_a_value_that_fits_has_no_mismatch(matcher, actual):
    assert match_value(matcher, actual) == []


@pytest.mark.parametrize(
    ("matcher", "actual", "found"),
    [
        pytest.param(1, True, Mismatch("", "expected 1, was true"), id="true-is-no-number"),
        pytest.param(0, False, Mismatch("", "expected 0, was false"), id="false-is-no-zero"),
        pytest.param(True, 1, Mismatch("", "expected true, was 1"), id="one-is-not-true"),
        pytest.param(1, "1", Mismatch("", 'expected 1, was "1"'), id="text-is-no-number"),
        pytest.param(BIG, float(BIG), Mismatch("", f"expected {BIG}, was 9.223372036854776e+18"), id="big-is-exact"),
        pytest.param(None, {}, Mismatch("", "expected null, was {}"), id="null-is-not-empty"),
        pytest.param({"a": 1}, {}, Mismatch("a", "expected 1, was left out", Differs.LEFT_OUT), id="missing-property"),
        pytest.param({}, {"a": 1}, Mismatch("a", "expected nothing, was 1", Differs.SURPLUS), id="surplus-property"),
        pytest.param({"a": None}, {}, Mismatch("a", "expected null, was left out", Differs.LEFT_OUT), id="null-is-not-absent"),
        pytest.param({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, Mismatch("a.b[1]", "expected 2, was 3"), id="deep"),
        pytest.param({"a": {"$optional": 1}}, {"a": 2}, Mismatch("a", "expected 1, was 2"), id="optional-but-wrong"),
        pytest.param({"a": {"$optional": None}}, {"a": 0}, Mismatch("a", "expected null, was 0"), id="optional-null"),
        pytest.param(
            {"a": {"$optional": {"b": 1}}}, {"a": {}}, Mismatch("a.b", "expected 1, was left out", Differs.LEFT_OUT),
            id="what-is-inside-optional-is-not",
        ),
        pytest.param([{"$optional": 1}], [], Mismatch("", "expected 1 elements, were 0"), id="elements-are-never-optional"),
        pytest.param([1], [1, 2], Mismatch("", "expected 1 elements, were 2"), id="longer-list"),
        pytest.param([], {}, Mismatch("", "expected [], was {}"), id="list-is-no-object"),
        pytest.param({"a b": 1}, {"a b": 2}, Mismatch('["a b"]', "expected 1, was 2"), id="odd-key"),
        pytest.param(
            {"$regex": "^x"}, "yx", Mismatch("", "expected text with a match of '^x', was \"yx\""), id="regex"
        ),
        pytest.param(
            {"$regex": "1"}, 1, Mismatch("", "expected text with a match of '1', was 1"), id="regex-wants-text"
        ),
        pytest.param({"$subset": {"a": 1}}, {"a": 2}, Mismatch("a", "expected 1, was 2"), id="subset-value"),
        pytest.param({"$subset": {"a": 1}}, [1], Mismatch("", 'expected {"a":1}, was [1]'), id="subset-of-a-list"),
        pytest.param(
            {"$subset": {"a": {"x": 1}}},
            {"a": {"x": 1, "y": 2}},
            Mismatch("a.y", "expected nothing, was 2", Differs.SURPLUS),
            id="subset-is-one-level",
        ),
        pytest.param(
            {"$near": {"value": 1, "tolerance": 0.1}},
            1.2,
            Mismatch("", "expected a number within 0.1 of 1, was 1.2"),
            id="too-far",
        ),
        pytest.param({"$regex": r"^a\Z"}, "a\n", Mismatch("", 'expected text with a match of \'^a\\\\Z\', was "a\\n"'), id="the-very-end-is-not-before-it"),
        pytest.param({"$near": {"value": 0.3, "tolerance": 0.1}}, 0.19999999999999998, Mismatch("", "expected a number within 0.1 of 0.3, was 0.19999999999999998"), id="one-float-below-the-edge"),
        pytest.param({"$near": {"value": 0.3, "tolerance": 0.1}}, 0.4000000000000001, Mismatch("", "expected a number within 0.1 of 0.3, was 0.4000000000000001"), id="one-float-above-the-edge"),
        pytest.param(
            {"$near": {"value": 1, "tolerance": 5}},
            True,
            Mismatch("", "expected a number within 5 of 1, was true"),
            id="near-wants-a-number",
        ),
        pytest.param(
            {"a": {"$one_of": [1, "b"]}}, {"a": True}, Mismatch("a", 'expected one of [1,"b"], was true'), id="none-of-several"
        ),
        pytest.param(
            {"$contains": "x"}, "abc", Mismatch("", 'expected something that holds "x", was "abc"'), id="not-contained"
        ),
        pytest.param(
            {"$contains": 1}, "1", Mismatch("", 'expected something that holds 1, was "1"'), id="number-in-text"
        ),
        pytest.param({"$equal": 1}, 2, Mismatch("", "expected 1, was 2"), id="equal"),
    ],
)
def test_a_value_that_does_not_fit_is_named_with_its_path_and_both_sides(matcher, actual, found):
    assert match_value(matcher, actual) == [found]


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        pytest.param({"$regexp": "x"}, "unknown matcher '$regexp'", id="unknown-operator"),
        pytest.param({"a": [{"$near": {"value": "1"}}]}, "a[0]: '$near' takes an object of two numbers", id="bad-near"),
        pytest.param({"$near": {"value": 1, "tolerance": -1}}, "0 or more", id="negative-tolerance"),
        pytest.param({"a": {"$optional": {"$regex": "("}}}, "a.$optional: '$regex' takes a regular", id="bad-pattern-in-optional"),
        pytest.param({"a": {"$optional": 1, "b": 2}}, "stands alone", id="optional-beside-a-key"),
        pytest.param({"$regex": "("}, "takes a regular expression", id="bad-pattern"),
        pytest.param({"$any": False}, "'$any' takes true", id="any-false"),
        pytest.param({"$any": True, "b": 1}, "stands alone", id="operator-beside-a-key"),
        pytest.param({"$subset": [1]}, "'$subset' takes an object", id="subset-of-no-object"),
        pytest.param({"$subset": {"$any": True}}, "'$subset' takes an object of properties; '$any' is none", id="subset-of-a-matcher"),
        pytest.param({"$near": {"value": 1, "tolerance": float("inf")}}, "not lossless JSON", id="endless-tolerance"),
        pytest.param({"a": {"$near": {"value": float("nan")}}}, "not lossless JSON", id="near-no-number"),
        pytest.param({"$equal": [float("inf")]}, "not lossless JSON", id="equal-to-no-number"),
        pytest.param({"a": float("-inf")}, "not lossless JSON", id="no-number"),
        pytest.param({1: 2}, "not lossless JSON", id="key-that-is-no-text"),
        pytest.param({"$one_of": []}, "'$one_of' takes a list with at least one value", id="one-of-nothing"),
        pytest.param({"$one_of": [1, {"$oops": 1}]}, "$one_of[1]: unknown matcher '$oops'", id="inside-one-of"),
        pytest.param({"$subset": {"a": {"$oops": 1}}}, "$subset.a: unknown matcher '$oops'", id="inside-an-operator"),
    ],
)
def test_a_matcher_that_is_none_is_refused_and_not_compared(matcher, words):
    assert words in str(matcher_problems(matcher)[0])
    with pytest.raises(UsageError, match="not a matcher"):
        match_value(matcher, matcher)


def test_every_difference_is_listed_not_only_the_first():
    found = match_value({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 3, "d": 4})
    assert [mismatch.path for mismatch in found] == ["b", "c", "d"]


@given(JSON)
def test_a_value_matches_itself(value):
    assert match_value(value, value) == []
    assert same_json(value, value)


@given(JSON, JSON)
def test_plain_values_match_exactly_where_they_are_the_same_json(one, other):
    assert (match_value(one, other) == []) == same_json(one, other) == same_json(other, one)


@given(JSON)
def test_equal_reads_nothing_as_a_matcher_and_any_takes_everything(value):
    assert match_value({"$equal": value}, value) == []
    assert match_value({"$any": True}, value) == []


ODD_KEYS = st.sampled_from(["$any", "$equal", "$foo", "$subset", "a", "$"])
LIKE_MATCHERS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ODD_KEYS, inner, max_size=3)),
    max_leaves=8,
)


@given(LIKE_MATCHERS, LIKE_MATCHERS)
def test_exactly_a_value_is_met_by_it_and_by_no_other_whatever_its_keys_read_like(value, other):
    assert match_value(exactly(value), value) == []
    assert (match_value(exactly(value), other) == []) == same_json(value, other)


DECIMALS = st.decimals(-(10**6), 10**6, places=4)


@given(DECIMALS, st.decimals(0, 10**3, places=4), DECIMALS)
def test_near_reckons_with_decimals_as_they_are_written(value, tolerance, actual):
    near = {"$near": {"value": float(value), "tolerance": float(tolerance)}}
    edges = [value - tolerance, value + tolerance]
    assert [match_value(near, float(edge)) for edge in edges] == [[], []]
    assert (match_value(near, float(actual)) == []) == (abs(value - actual) <= tolerance)


NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))


@given(NUMBERS, NUMBERS)
def test_near_without_a_tolerance_takes_whatever_is_equal_and_of_fractions_nothing_else(one, other):
    assert match_value({"$near": {"value": one}}, one) == []
    if same_json(one, other):
        assert match_value({"$near": {"value": one}}, other) == []
    elif one != int(one):
        assert match_value({"$near": {"value": one}}, other) != []
