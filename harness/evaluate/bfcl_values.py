"""Is a value one of those that BFCL accepts for a parameter? The benchmark's rules, written anew from what they are.

Values are compared as Python compares them (``1 == 1.0 == True``), but only after their types agree exactly: a
boolean is no integer, and no float is taken for an integer. What a list holds is looked at one level deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from harness.evaluate.bfcl_types import Expected

LEFT_OUT: Final = ""
"""Among the acceptable values: the parameter may be left out."""

_DROPPED: Final = str.maketrans({"'": '"'} | dict.fromkeys(" ,./-_*^"))


class BfclFault(StrEnum):
    """Why the benchmark does not accept an answer."""

    NOT_DECODED = "arguments are not JSON"
    NOT_AN_OBJECT = "arguments are not an object"
    UNWANTED_CALL = "a call where none is right"
    NO_CALL = "no call where one is right"
    WRONG_COUNT = "wrong number of calls"
    WRONG_NAME = "wrong name"
    NO_MATCH = "no call fits an expected one"
    MISSING_REQUIRED = "a required parameter is missing"
    MISSING_EXPECTED = "an expected parameter is missing"
    UNEXPECTED = "unexpected parameter"
    NOT_TEXT = "a Java or JavaScript value that is not text"
    WRONG_TYPE = "wrong type"
    WRONG_ITEM_TYPE = "wrong type in a list"
    WRONG_TEXT = "wrong text"
    WRONG_LIST = "wrong list"
    WRONG_LENGTH = "wrong number of objects in a list"
    WRONG_KEY = "wrong or missing key"
    WRONG_KEY_VALUE = "wrong value of a key"
    ONLY_LEFT_OUT = "right only when left out"
    WRONG_VALUE = "wrong value"


@dataclass(frozen=True, slots=True)
class Refused:
    """A fault and its place: ``path`` is from the value, "" for the value itself."""

    fault: BfclFault
    path: str
    message: str


def refusal_of_value(value: Any, expected: Expected, answers: Sequence[Any]) -> Refused | None:
    """Why ``value`` is none of ``answers``; None where it is one.

    Where the first of the answers has another type than the one declared, they name a variable: a value of their
    type or of the declared one is then compared as it is, without anything being read over.
    """
    kind = _answered_type(answers)
    variable = kind is not None and kind is not expected.outer
    if type(value) is not expected.outer:
        if kind is None or type(value) is not kind:
            return Refused(BfclFault.WRONG_TYPE, "", f"expected {expected.declared}, was {value!r:.80}")
        variable = True
    elif expected.inner is not None:
        refused = _wrong_items(value, expected, answers)
        if refused is not None:
            return refused
    if variable:
        return _literal(value, answers)
    return _by_type(value, expected, answers)


def _by_type(value: Any, expected: Expected, answers: Sequence[Any]) -> Refused | None:
    if expected.outer is dict:
        return _object_refused(value, answers)
    if expected.outer is list:
        return _objects_refused(value, answers) if expected.inner is dict else _list_refused(value, answers)
    if expected.outer is str:
        return _text_refused(value, answers)
    return _literal(value, answers)


def plain(text: str) -> str:
    """Text as it is compared: lower case, without spaces and ``,./-_*^``, every ' a "."""
    return text.lower().translate(_DROPPED)


def _plainly(value: Any) -> Any:
    return plain(value) if type(value) is str else value


def _answered_type(answers: Sequence[Any]) -> type | None:
    return next((type(answer) for answer in answers if answer != LEFT_OUT), None)


# ---------------------------------------------------------------- items of a list


def _wrong_items(value: Any, expected: Expected, answers: Sequence[Any]) -> Refused | None:
    """One answer whose type the items have is enough; an answer that is no list asks nothing of them."""
    first_bad = 0
    for answer in answers:
        bad = None if type(answer) is not list else _first_bad(value, expected, answer)
        if bad is None:
            return None
        first_bad = bad
    if not answers:
        return Refused(BfclFault.WRONG_TYPE, "", "no value is accepted here")
    return Refused(
        BfclFault.WRONG_ITEM_TYPE,
        f"[{first_bad}]",
        f"expected {expected.declared} of {expected.items}, was {value[first_bad]!r:.80}",
    )


def _first_bad(value: Any, expected: Expected, answer: list[Any]) -> int | None:
    kind = _answered_type(answer)
    return next((i for i, item in enumerate(value) if type(item) not in (expected.inner, kind)), None)


# ---------------------------------------------------------------- values


def _literal(value: Any, answers: Sequence[Any]) -> Refused | None:
    if value in answers:
        return None
    return Refused(BfclFault.WRONG_VALUE, "", _one_of(answers, value))


def _text_refused(value: str, answers: Sequence[Any]) -> Refused | None:
    if plain(value) in [plain(answer) for answer in answers if type(answer) is str]:
        return None
    return Refused(BfclFault.WRONG_TEXT, "", _one_of(answers, value))


def _list_refused(value: list[Any], answers: Sequence[Any]) -> Refused | None:
    """Element by element, in order. A text among the answers is the list of its characters, so "" is the empty list."""
    wanted = [[_plainly(item) for item in answer] for answer in answers if isinstance(answer, (list, str))]
    if [_plainly(item) for item in value] in wanted:
        return None
    return Refused(BfclFault.WRONG_LIST, "", _one_of(answers, value))


def _object_refused(value: Any, answers: Sequence[Any]) -> Refused | None:
    refused: Refused | None = Refused(BfclFault.ONLY_LEFT_OUT, "", f"was {value!r:.80}")
    for answer in answers:
        if answer != LEFT_OUT:
            refused = _one_object_refused(value, answer)
            if refused is None:
                return None
    return refused


def _one_object_refused(value: Any, answer: Any) -> Refused | None:
    if not isinstance(value, dict) or not isinstance(answer, dict):
        return Refused(BfclFault.WRONG_VALUE, "", f"expected {answer!r:.80}, was {value!r:.80}")
    missing = next((key for key in answer if key not in value and not _may_be_left_out(answer[key])), None)
    for key, item in value.items():
        if key not in answer:
            found = Refused(BfclFault.WRONG_KEY, f".{key}", f"key {key!r} is not among {sorted(answer)}")
        elif _plainly(item) not in [_plainly(choice) for choice in _choices(answer[key])]:
            found = Refused(BfclFault.WRONG_KEY_VALUE, f".{key}", _one_of(_choices(answer[key]), item))
        else:
            continue
        # A key that is missing is what is told, where both are wrong.
        return found if missing is None else _missing_key(missing)
    return None if missing is None else _missing_key(missing)


def _choices(value: Any) -> Sequence[Any]:
    """The acceptable values of a key; a text in place of a list is the list of its characters."""
    return value if isinstance(value, (list, str)) else [value]


def _may_be_left_out(choices: Any) -> bool:
    """A key may be left out where "" is among its values; where a text stands in place of a list, too."""
    return isinstance(choices, str) or (isinstance(choices, list) and LEFT_OUT in choices)


def _missing_key(key: str) -> Refused:
    return Refused(BfclFault.WRONG_KEY, f".{key}", f"key {key!r} is missing")


def _objects_refused(value: list[Any], answers: Sequence[Any]) -> Refused | None:
    refused: Refused | None = Refused(BfclFault.ONLY_LEFT_OUT, "", f"was {value!r:.80}")
    for answer in answers:
        if not isinstance(answer, (list, str)) or len(value) != len(answer):
            refused = Refused(BfclFault.WRONG_LENGTH, "", f"expected {answer!r:.80}, were {len(value)} objects")
            continue
        refused = _each_refused(value, answer)
        if refused is None:
            return None
    return refused


def _each_refused(value: list[Any], answer: Sequence[Any]) -> Refused | None:
    for i, (item, one) in enumerate(zip(value, answer, strict=True)):
        refused = _object_refused(item, [one])
        if refused is not None:
            return Refused(refused.fault, f"[{i}]{refused.path}", refused.message)
    return None


def _one_of(answers: Sequence[Any], value: Any) -> str:
    return f"expected one of {list(answers)!r:.200}, was {value!r:.80}"
