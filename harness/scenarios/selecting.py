"""``-k`` expressions: words in ids and tags, joined by ``and``, ``or``, ``not`` and parentheses."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NoReturn, TypeAlias

from harness.errors import UsageError
from harness.types.scenario import Scenario

Predicate: TypeAlias = Callable[[Scenario], bool]

_TOKEN: Final = re.compile(r"\s*(?:([()])|([^\s()]+))")
_MAX_DEPTH: Final = 50


def selection(expression: str) -> Predicate:
    """Whether a scenario fits an expression.

    A word fits where it occurs in the id or in a tag (upper and lower case count as equal).
    ``not`` binds closest, then ``and``, then ``or``. Raises UsageError with the position of what
    cannot be read.
    """
    return _Parser(expression).whole()


class _Parser:
    def __init__(self, expression: str) -> None:
        self._expression = expression
        found = _TOKEN.finditer(expression.rstrip())
        self._tokens = [(token.group().strip(), token.start(token.lastindex or 0) + 1) for token in found]
        self._at = 0
        self._depth = 0

    def whole(self) -> Predicate:
        predicate = self._any()
        if self._at < len(self._tokens):
            self._refuse("'and', 'or' or the end")
        return predicate

    def _any(self) -> Predicate:
        parts = [self._all()]
        while self._take("or"):
            parts.append(self._all())
        return lambda scenario: any(part(scenario) for part in parts)

    def _all(self) -> Predicate:
        parts = [self._one()]
        while self._take("and"):
            parts.append(self._one())
        return lambda scenario: all(part(scenario) for part in parts)

    def _one(self) -> Predicate:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._refuse(f"at most {_MAX_DEPTH} levels")
        predicate = self._simple()
        self._depth -= 1
        return predicate

    def _simple(self) -> Predicate:
        if self._take("not"):
            inner = self._one()
            return lambda scenario: not inner(scenario)
        if self._take("("):
            inner = self._any()
            if not self._take(")"):
                self._refuse("')'")
            return inner
        if self._at == len(self._tokens) or self._tokens[self._at][0] in ("and", "or", ")"):
            self._refuse("a word")
        word = self._tokens[self._at][0].lower()
        self._at += 1
        return lambda scenario: any(word in name.lower() for name in (scenario.id, *scenario.tags))

    def _take(self, word: str) -> bool:
        if self._at < len(self._tokens) and self._tokens[self._at][0] == word:
            self._at += 1
            return True
        return False

    def _refuse(self, expected: str) -> NoReturn:
        at_end = self._at >= len(self._tokens)
        what = "the end" if at_end else repr(self._tokens[self._at][0])
        column = len(self._expression) + 1 if at_end else self._tokens[self._at][1]
        raise UsageError(
            f"-k {self._expression!r}: expected {expected}, found {what} at column {column}; "
            "write words joined by 'and', 'or', 'not' and parentheses"
        )
