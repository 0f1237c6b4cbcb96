"""The items of the Berkeley Function Calling Leaderboard (BFCL v4): what is asked, what is offered, what is right.

Parameters stay in the benchmark's own form (its type names, not JSON Schema's); free JSON is JSON text, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.types.messages import ChatMessage, JsonText


class BfclCategory(StrEnum):
    """A category of the benchmark, by the name that begins its items' ids and is in its file's name."""

    SIMPLE_PYTHON = "simple_python"
    SIMPLE_JAVA = "simple_java"
    SIMPLE_JAVASCRIPT = "simple_javascript"
    MULTIPLE = "multiple"
    PARALLEL = "parallel"
    PARALLEL_MULTIPLE = "parallel_multiple"
    IRRELEVANCE = "irrelevance"
    LIVE_SIMPLE = "live_simple"
    LIVE_MULTIPLE = "live_multiple"
    LIVE_PARALLEL = "live_parallel"
    LIVE_PARALLEL_MULTIPLE = "live_parallel_multiple"
    LIVE_IRRELEVANCE = "live_irrelevance"
    LIVE_RELEVANCE = "live_relevance"
    MULTI_TURN_BASE = "multi_turn_base"
    MULTI_TURN_MISS_FUNC = "multi_turn_miss_func"
    MULTI_TURN_MISS_PARAM = "multi_turn_miss_param"
    MULTI_TURN_LONG_CONTEXT = "multi_turn_long_context"


class Pairing(StrEnum):
    """How a category compares calls. ONE: exactly one, the only function; NAMED: exactly one, of the expected name;
    GREEDY: as many as expected, in any order; NONE: no call is right; SOME: any call is right; TURNS: not by calls.
    """

    ONE = "one call"
    NAMED = "one call of that name"
    GREEDY = "calls in any order"
    NONE = "no call"
    SOME = "some call"
    TURNS = "turns"


_PAIRINGS: Final[dict[BfclCategory, Pairing]] = {
    BfclCategory.SIMPLE_PYTHON: Pairing.ONE,
    BfclCategory.SIMPLE_JAVA: Pairing.ONE,
    BfclCategory.SIMPLE_JAVASCRIPT: Pairing.ONE,
    BfclCategory.LIVE_SIMPLE: Pairing.ONE,
    BfclCategory.MULTIPLE: Pairing.NAMED,
    BfclCategory.LIVE_MULTIPLE: Pairing.NAMED,
    BfclCategory.PARALLEL: Pairing.GREEDY,
    BfclCategory.PARALLEL_MULTIPLE: Pairing.GREEDY,
    BfclCategory.LIVE_PARALLEL: Pairing.GREEDY,
    BfclCategory.LIVE_PARALLEL_MULTIPLE: Pairing.GREEDY,
    BfclCategory.IRRELEVANCE: Pairing.NONE,
    BfclCategory.LIVE_IRRELEVANCE: Pairing.NONE,
    BfclCategory.LIVE_RELEVANCE: Pairing.SOME,
    BfclCategory.MULTI_TURN_BASE: Pairing.TURNS,
    BfclCategory.MULTI_TURN_MISS_FUNC: Pairing.TURNS,
    BfclCategory.MULTI_TURN_MISS_PARAM: Pairing.TURNS,
    BfclCategory.MULTI_TURN_LONG_CONTEXT: Pairing.TURNS,
}


class Language(StrEnum):
    """Whose types a category's functions speak of."""

    PYTHON = "Python"
    JAVA = "Java"
    JAVASCRIPT = "JavaScript"


TYPE_NAMES: Final[dict[Language, frozenset[str]]] = {
    Language.PYTHON: frozenset({"string", "integer", "float", "boolean", "array", "tuple", "dict", "any"}),
    Language.JAVA: frozenset(
        {"String", "any", "boolean", "char", "byte", "short", "integer", "long", "float", "double"}
        | {"Array", "ArrayList", "HashMap"}
    ),
    Language.JAVASCRIPT: frozenset({"String", "any", "Boolean", "integer", "float", "Bigint", "array", "dict"}),
}
"""The type names that a language's functions may use."""

LIST_TYPES: Final = frozenset({"array", "tuple", "Array", "ArrayList"})
"""The type names whose ``items`` say what is in the list."""


def pairing_of(category: BfclCategory) -> Pairing:
    """How the calls of a category are compared."""
    return _PAIRINGS[category]


def language_of(category: BfclCategory) -> Language:
    """The language of a category's functions: Python for all but two."""
    match category:
        case BfclCategory.SIMPLE_JAVA:
            return Language.JAVA
        case BfclCategory.SIMPLE_JAVASCRIPT:
            return Language.JAVASCRIPT
        case _:
            return Language.PYTHON


@dataclass(frozen=True, slots=True)
class BfclFunction:
    """A function that is offered; ``parameters`` as the benchmark has them: ``{"type": "dict", "properties": …}``."""

    name: str
    description: str
    parameters: JsonText


@dataclass(frozen=True, slots=True)
class BfclCall:
    """An expected call. ``answers`` is an object: by parameter the list of acceptable values, "" for left out."""

    name: str
    answers: JsonText


@dataclass(frozen=True, slots=True)
class BfclItem:
    """One item of a single turn. ``truth`` is empty where the benchmark has none (irrelevance and relevance).

    ``source`` and ``line`` say where it stands.
    """

    id: str
    category: BfclCategory
    messages: tuple[ChatMessage, ...]
    functions: tuple[BfclFunction, ...]
    truth: tuple[BfclCall, ...] = ()
    source: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class BfclTurnsItem:
    """One item of several turns, each with its messages (none where a function arrives) and its calls of the truth.

    ``truth`` has the calls as the Python text that the benchmark runs; ``functions`` are those of ``classes`` without
    the excluded ones; ``missed`` says from which turn (from 0) on functions are offered that were held back before.
    """

    id: str
    category: BfclCategory
    turns: tuple[tuple[ChatMessage, ...], ...]
    functions: tuple[BfclFunction, ...]
    classes: tuple[str, ...]
    initial_config: JsonText
    path: tuple[str, ...]
    truth: tuple[tuple[str, ...], ...]
    excluded: tuple[str, ...] = ()
    missed: tuple[tuple[int, tuple[str, ...]], ...] = ()
    source: str = ""
    line: int | None = None
