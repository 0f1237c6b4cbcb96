"""Lint of pairs of tools: which two a model could take for one another."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from harness.tools.lint_words import LintFinding, Looked, words_of

_NEAR: Final = 0.8
_NEAR_WITH_OTHER_VERB: Final = 0.9
"""Descriptions that begin with another word, such as ``Get`` and ``Delete``, differ in what matters."""
_NEAR_NAMES: Final = 0.9
_FEWEST_WORDS: Final = 4
_MOST_TOOLS: Final = 500
"""Tools that are compared with one another; beyond that only equal ones are found."""
_FILLERS: Final = "a an the this that to of for in on by with and or is are it its be as at from"
_EMPTY_WORDS: Final = frozenset(_FILLERS.split(" "))
_PLURAL: Final = re.compile(r"(?<=[a-z]{2})(ies|es|s)$")


def neighbour_findings(looked: Sequence[Looked]) -> Iterator[LintFinding]:
    """Rules ``neighbour-description`` and ``neighbour-name``, each pair once, at the tool that comes first."""
    sides = [(one, words_of(one.tool.description), _bag(one.tool.description)) for one in looked]
    for number, (one, words, bag) in enumerate(sides):
        for other, other_words, other_bag in sides[number + 1 :]:
            share = _share(words, other_words, bag, other_bag, is_exact=len(looked) > _MOST_TOOLS)
            if share >= (_NEAR if words[:1] == other_words[:1] else _NEAR_WITH_OTHER_VERB):
                yield _finding(one, other, share)
            elif _are_near(one.tool.name, other.tool.name):
                yield one.finding(
                    "neighbour-name",
                    f"its name and {other.tool.name!r} are nearly the same",
                    "give them names that differ in what the tools do",
                )


def _finding(one: Looked, other: Looked, share: float) -> LintFinding:
    return one.finding(
        "neighbour-description",
        f"its description and that of {other.tool.name!r} are {round(share * 100)} % the same",
        "say in both what the other is for: 'For …, not for …, where X is right'",
    )


def _bag(text: str) -> Counter[str]:
    return Counter(_PLURAL.sub("", word) for word in words_of(text) if word not in _EMPTY_WORDS)


def _share(
    words: Sequence[str], other: Sequence[str], bag: Counter[str], other_bag: Counter[str], *, is_exact: bool
) -> float:
    """How much two descriptions have in common, 0 to 1: of their words, and of these in their order, the greater."""
    if min(len(words), len(other)) < _FEWEST_WORDS:
        return 1.0 if words and words == other else 0.0
    n_all = bag.total() + other_bag.total()
    common = 2 * (bag & other_bag).total() / n_all if n_all else 0.0
    if is_exact or common < _NEAR - 0.2:  # words in order cannot be nearer than words in any order, by much
        return common if common >= 1.0 or not is_exact else 0.0
    return max(common, difflib.SequenceMatcher(None, words, other, autojunk=False).ratio())


def _are_near(name: str, other: str) -> bool:
    """Whether two names differ only in a plural, in how they are written, or in one or two letters."""
    mine, its = (["".join(_PLURAL.sub("", word)) for word in words_of(text)] for text in (name, other))
    if sorted(mine) == sorted(its):
        return True
    short = min(len(name), len(other))
    if short < 8 or len(mine) != len(its) or mine[:1] != its[:1]:  # get_order and set_order differ in what matters
        return False
    digits = [word for word in (*mine, *its) if word.isdecimal()]
    return (
        not digits and difflib.SequenceMatcher(None, name.lower(), other.lower(), autojunk=False).ratio() >= _NEAR_NAMES
    )
