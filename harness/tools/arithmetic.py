"""Arithmetic by a parser of its own: exact, and bounded in length, depth and size.

Whole numbers and decimal fractions are exact; a quotient whose decimals never end is rounded to 16
significant digits when it is shown, and so is one of more than MAX_PLACES decimals. Nothing is ever evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Final

from harness.errors import ToolError

MAX_LENGTH: Final = 1_000
MAX_DEPTH: Final = 50
MAX_EXPONENT: Final = 1_000
MAX_BITS: Final = 10_000
"""No intermediate value has more bits than this (some 3,000 digits)."""

MAX_PLACES: Final = 1_000

ALLOWED: Final = "allowed: numbers, + - * / // % ** and parentheses"
_DIGITS: Final = 16
_TOKEN: Final = re.compile(r"\s*(?:(\d+(?:\.\d+)?|\.\d+)|(\*\*|//|[-+*/%()])|(\S))", re.ASCII)
_SAME: Final = str.maketrans("×÷−（）＋－＊／", "*/-()+-*/")
_HINTS: Final = {
    "^": "for a power write '**'",
    ",": "write numbers without separators",
    "=": "give one expression, not an equation",
}


def calculate(expression: str) -> str:
    """The value of an expression as decimal text. Raises ToolError, which says what is allowed."""
    if len(expression) > MAX_LENGTH:
        raise ToolError(f"the expression has {len(expression)} characters; allowed: at most {MAX_LENGTH}")
    parser = _Parser(expression)
    value = parser.sum()
    parser.expect_end()
    return _shown(value)


class _Parser:
    """Recursive descent with Python's precedences: sum, product, unary, power, atom."""

    def __init__(self, expression: str) -> None:
        self._expression = expression
        self._tokens = self._read(expression.translate(_SAME))
        self._next = 0
        self._depth = 0

    def _read(self, text: str) -> list[str]:
        tokens = []
        for number, operator, other in _TOKEN.findall(text.rstrip()):
            if other:
                raise self._fault(other)
            tokens.append(number or operator)
        if not tokens:
            raise ToolError(f"the expression is empty; {ALLOWED}")
        return tokens

    def _fault(self, token: str) -> ToolError:
        hint = _HINTS.get(token, "")
        if token.isalpha() or token == "%":
            hint = "words and percentages are not understood: 15% of 260 is 260 * 15 / 100"
        more = f" ({hint})" if hint else ""
        return ToolError(f"unexpected {token!r} in {self._expression!r}{more}; {ALLOWED}")

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self, *tokens: str) -> str:
        token = self._peek()
        if token not in tokens:
            return ""
        self._next += 1
        return token

    def expect_end(self) -> None:
        if self._peek():
            raise self._fault(self._peek())

    def sum(self) -> Fraction:
        value = self._product()
        while operator := self._take("+", "-"):
            right = self._product()
            value = self._bounded(value + right if operator == "+" else value - right)
        return value

    def _product(self) -> Fraction:
        value = self._unary()
        while operator := self._take("*", "/", "//", "%"):
            value = self._bounded(self._combined(operator, value, self._unary()))
        return value

    def _combined(self, operator: str, left: Fraction, right: Fraction) -> Fraction:
        if operator == "*":
            return left * right
        if right == 0:
            raise ToolError(f"division by zero in {self._expression!r}; allowed: any other divisor")
        return _DIVISIONS[operator](left, right)

    def _unary(self) -> Fraction:
        sign = 1
        while operator := self._take("+", "-"):
            sign = -sign if operator == "-" else sign
        return sign * self._power()

    def _power(self) -> Fraction:
        base = self._atom()
        if not self._take("**"):
            return base
        self._deeper()
        exponent = self._unary()  # right-associative: 2 ** 3 ** 2 is 2 ** 9
        self._depth -= 1
        return self._raised(base, exponent)

    def _raised(self, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
            raise ToolError(
                f"exponent {_shown(exponent)[:40]}; allowed: whole exponents from -{MAX_EXPONENT} to {MAX_EXPONENT}"
            )
        if base == 0 and exponent < 0:
            raise ToolError(f"division by zero in {self._expression!r}; allowed: any other base")
        if _bits(base) * abs(exponent.numerator) > MAX_BITS:
            raise self._too_large()
        return Fraction(base**exponent.numerator)

    def _atom(self) -> Fraction:
        if self._take("("):
            self._deeper()
            value = self.sum()
            if not self._take(")"):
                raise ToolError(f"a ')' is missing in {self._expression!r}; {ALLOWED}")
            self._depth -= 1
            return value
        token = self._peek()
        if not token:
            raise ToolError(f"the expression {self._expression!r} ends too early; {ALLOWED}")
        if not (token[0].isdigit() or token[0] == "."):
            raise self._fault(token)
        self._next += 1
        return self._bounded(Fraction(token))

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ToolError(f"the expression is nested too deep; allowed: at most {MAX_DEPTH} levels")

    def _bounded(self, value: Fraction) -> Fraction:
        if _bits(value) > MAX_BITS:
            raise self._too_large()
        return value

    def _too_large(self) -> ToolError:
        return ToolError(
            f"a value in {self._expression!r:.100} is too large; allowed: about {MAX_BITS * 3 // 10} digits"
        )


_DIVISIONS: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "/": lambda left, right: left / right,
    "//": lambda left, right: Fraction(left // right),
    "%": lambda left, right: left % right,
}


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _shown(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    rest, places = value.denominator, 0
    for prime in (2, 5):
        n = 0
        while rest % prime == 0:
            rest, n = rest // prime, n + 1
        places = max(places, n)
    if rest != 1 or places > MAX_PLACES:
        rounded = Context(prec=_DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
        return format(rounded, "f") if -20 < rounded.adjusted() < 20 else str(rounded)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
