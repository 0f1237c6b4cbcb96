"""The calculator: exact, bounded, and clear about what it does not take."""

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ToolError
from harness.tools.arithmetic import MAX_DEPTH, calculate


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("6 * 7", "42"),
        ("17 × 38", "646"),
        ("((1+2)*3+4)*5", "65"),
        ("（1＋2）×5", "15"),
        ("(12 + 34) * 5", "230"),
        ("10 / 4", "2.5"),
        ("0.1 + 0.2", "0.3"),
        ("1 / 3", "0.3333333333333333"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("7.5 % 2", "1.5"),
        ("-2 ** 2", "-4"),
        ("2 ** -2", "0.25"),
        ("2 ** 3 ** 2", "512"),
        ("--3", "3"),
        ("2 - 3 - 4", "-5"),
        ("8 / 4 / 2", "1"),
        ("1 + 2 * 3", "7"),
        (".5 * 2", "1"),
        ("-1 / 8", "-0.125"),
        ("9007199254740993 + 0", "9007199254740993"),
        ("99999999999999999999 * 99999999999999999999", "9999999999999999999800000000000000000001"),
    ],
)
def test_a_value_is_exact(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.article("7")
@pytest.mark.parametrize(
    ("expression", "words"),
    [
        pytest.param("9**9**9", ["exponent", "387420489", "allowed", "1000"], id="tower"),
        pytest.param("10 / 0", ["division by zero", "'10 / 0'", "allowed"], id="zero"),
        pytest.param("10 // (1 - 1)", ["division by zero"], id="zero-after-work"),
        pytest.param("10 % 0", ["division by zero"], id="zero-remainder"),
        pytest.param("0 ** -1", ["division by zero"], id="zero-to-minus-one"),
        pytest.param("15% of 260", ["260 * 15 / 100", "allowed"], id="percentage"),
        pytest.param("2 ** 0.5", ["exponent 0.5", "whole"], id="root"),
        pytest.param("2^3", ["'^'", "**"], id="caret"),
        pytest.param("1,000", ["','", "separators"], id="comma"),
        pytest.param("", ["empty", "allowed"], id="empty"),
        pytest.param("(1", ["')'", "missing"], id="open"),
        pytest.param("1)", ["')'"], id="closed"),
        pytest.param("1 +", ["too early"], id="early-end"),
        pytest.param("1 2", ["'2'"], id="two-numbers"),
        pytest.param("__import__('os')", ["'_'", "allowed"], id="code"),
        pytest.param("1" * 1_001, ["1001", "1000"], id="long"),
        pytest.param("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), ["deep", "50"], id="deep"),
        pytest.param("2 ** " * 60 + "1", ["deep"], id="deep-tower"),
        pytest.param("(10 ** 900 * 10 ** 900 * 10 ** 900) * 10 ** 900", ["too large", "3000"], id="large"),
        pytest.param("(9 ** 999) ** 9", ["too large"], id="large-power"),
        pytest.param("١ + ١", ["'١'"], id="other-digits"),
    ],
)
def test_what_cannot_be_worked_out_is_refused_at_once_with_what_is_allowed(expression: str, words: list[str]) -> None:
    began = time.process_time()
    with pytest.raises(ToolError) as caught:
        calculate(expression)
    assert time.process_time() - began < 1.0
    assert [word for word in words if word not in str(caught.value)] == []
    assert len(str(caught.value)) < 1_300


def test_the_smallest_value_within_bounds_is_shown_without_thousands_of_decimals() -> None:
    assert len(calculate("(2 ** -1000) ** 9")) < 40


NUMBERS = st.integers(0, 10**6).map(str) | st.decimals(0, 1000, places=3, allow_nan=False).map(lambda d: format(d, "f"))
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})")
        | inner.map(lambda text: f"-{text}")
    ),
    max_leaves=12,
)


def expected(text: str) -> Fraction | None:
    """The same by Python's own grammar over exact fractions; None for a division by zero."""
    import ast

    def value(node: ast.AST) -> Fraction:
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        if isinstance(node, ast.BinOp):
            left, right = value(node.left), value(node.right)
            operations = {
                ast.Add: left.__add__,
                ast.Sub: left.__sub__,
                ast.Mult: left.__mul__,
                ast.Div: left.__truediv__,
            }
            return Fraction(operations[type(node.op)](right))
        assert isinstance(node, ast.Constant)
        return Fraction(ast.get_source_segment(text, node) or "")

    import re

    text = re.sub(r"(?<![\d.])0+(?=\d)", "", text)
    try:
        return value(ast.parse(text, mode="eval").body)
    except ZeroDivisionError:
        return None


@given(EXPRESSIONS)
def test_any_expression_has_the_value_that_exact_fractions_give(expression: str) -> None:
    wanted = expected(expression)
    if wanted is None:
        with pytest.raises(ToolError, match="division by zero"):
            calculate(expression)
    else:
        shown = Fraction(calculate(expression))
        assert shown == wanted or abs(shown - wanted) <= abs(wanted) / 10**15


@given(st.text(alphabet="0123456789.+-*/%() eE^,x×", max_size=60))
def test_any_text_gives_a_number_or_a_tool_error(text: str) -> None:
    try:
        shown = calculate(text)
    except ToolError as error:
        shown, refusal = "0", str(error)
    else:
        refusal = "allowed"
    Fraction(shown)
    assert "allowed" in refusal
