"""BFCL's own way of grading a single turn: an item and the calls that were made give valid, or why not.

Pure. The rules are the benchmark's, its oddities included (docs/bfcl.md): expected calls take the first call left that
fits, in the order of the ground truth, which is not a largest matching; types are exact; text is read over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, assert_never

from harness.errors import UnsupportedError
from harness.evaluate.bfcl_java import java_value
from harness.evaluate.bfcl_javascript import javascript_value
from harness.evaluate.bfcl_types import Expected, expected_of
from harness.evaluate.bfcl_values import LEFT_OUT, BfclFault, Refused, refusal_of_value
from harness.matching import Called
from harness.types.bfcl import BfclCall, BfclFunction, BfclItem, Language, Pairing, language_of, pairing_of


class BfclNames(StrEnum):
    """How the model was offered names with dots. UNDERSCORED: as ``a_b``, for providers that allow no ``a.b``."""

    AS_WRITTEN = "as written"
    UNDERSCORED = "underscored"


@dataclass(frozen=True, slots=True)
class BfclVerdict:
    """What the benchmark makes of an answer: ``fault`` None means valid.

    ``path`` is ``calls[1].arguments.city`` (from 1, in the model's order), or ``expected[1]`` for a call of the ground
    truth that nothing fits; ``closest`` is then why the calls left do not fit, one each.
    """

    fault: BfclFault | None = None
    path: str = ""
    message: str = ""
    closest: tuple[BfclVerdict, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the benchmark counts the answer as right."""
        return self.fault is None


VALID: Final = BfclVerdict()


def grade_bfcl(item: BfclItem, calls: Sequence[Called], names: BfclNames = BfclNames.UNDERSCORED) -> BfclVerdict:
    """The verdict on the calls of one answer, each with its name as the model said it and its arguments as JSON text.

    Raises UnsupportedError for a category that is not judged by its calls alone.
    """
    pairing = pairing_of(item.category)
    if pairing is Pairing.TURNS:
        raise UnsupportedError(f"{item.id!r}: {item.category} is judged by simulated state, not by its calls")
    decoded = _decoded(calls)
    if pairing is Pairing.NONE or pairing is Pairing.SOME:
        return _called(isinstance(decoded, list) and bool(decoded), pairing)
    if isinstance(decoded, BfclVerdict):
        return decoded
    if len(decoded) != len(item.truth):
        return BfclVerdict(BfclFault.WRONG_COUNT, "calls", f"expected {len(item.truth)} calls, were {len(decoded)}")
    if pairing is Pairing.GREEDY:
        return _greedily(item, decoded, names)
    return _verdict(_fits(item, item.truth[0], decoded[0], names), 0)


def _called(called: bool, pairing: Pairing) -> BfclVerdict:
    if called and pairing is Pairing.NONE:
        return BfclVerdict(BfclFault.UNWANTED_CALL, "calls[1]", "no call was expected")
    if not called and pairing is Pairing.SOME:
        return BfclVerdict(BfclFault.NO_CALL, "calls", "a call was expected, any")
    return VALID


@dataclass(frozen=True, slots=True)
class _Made:
    name: str
    arguments: dict[str, Any]


def _decoded(calls: Sequence[Called]) -> list[_Made] | BfclVerdict:
    """The calls with their arguments read; all must be JSON before any is looked at."""
    values = []
    for i, call in enumerate(calls):
        try:
            values.append(json.loads(call.arguments))
        except (ValueError, RecursionError) as error:
            return BfclVerdict(BfclFault.NOT_DECODED, f"calls[{i + 1}].arguments", str(error))
    for i, value in enumerate(values):
        if not isinstance(value, dict):
            return BfclVerdict(BfclFault.NOT_AN_OBJECT, f"calls[{i + 1}].arguments", f"was {value!r:.80}")
    return [_Made(call.name, value) for call, value in zip(calls, values, strict=True)]


def _greedily(item: BfclItem, made: list[_Made], names: BfclNames) -> BfclVerdict:
    left = list(range(len(made)))
    for i, truth in enumerate(item.truth):
        refusals: list[BfclVerdict] = []
        for index in left:
            refused = _fits(item, truth, made[index], names)
            if refused is None:
                left.remove(index)
                break
            refusals.append(_verdict(refused, index))
        else:
            why = "; ".join(f"{one.path}: {one.message}" for one in refusals)
            message = f"no call left fits {truth.name!r}: {why}"
            return BfclVerdict(BfclFault.NO_MATCH, f"expected[{i + 1}]", message, tuple(refusals))
    return VALID


def _verdict(refused: Refused | None, index: int) -> BfclVerdict:
    if refused is None:
        return VALID
    return BfclVerdict(refused.fault, f"calls[{index + 1}]{refused.path}", refused.message)


# ---------------------------------------------------------------- one call


def _fits(item: BfclItem, truth: BfclCall, made: _Made, names: BfclNames) -> Refused | None:
    function = _function(item, truth.name)
    name = function.name.replace(".", "_") if names is BfclNames.UNDERSCORED else function.name
    if made.name != name:
        return Refused(BfclFault.WRONG_NAME, ".name", f"expected {name!r}, was {made.name!r}")
    schema = json.loads(function.parameters)
    answers = json.loads(truth.answers)
    required = next((key for key in schema.get("required", []) if key not in made.arguments), None)
    if required is not None:
        return Refused(BfclFault.MISSING_REQUIRED, f".arguments.{required}", "it is required, and missing")
    for key, value in made.arguments.items():
        refused = _argument_refused(language_of(item.category), schema["properties"], answers, key, value)
        if refused is not None:
            return Refused(refused.fault, f".arguments.{key}{refused.path}", refused.message)
    missing = next((key for key in answers if key not in made.arguments and LEFT_OUT not in answers[key]), None)
    if missing is not None:
        return Refused(BfclFault.MISSING_EXPECTED, f".arguments.{missing}", "it is expected, and missing")
    return None


def _function(item: BfclItem, name: str) -> BfclFunction:
    return next(function for function in item.functions if function.name == name)


def _argument_refused(
    language: Language, properties: Mapping[str, Any], answers: Mapping[str, Any], key: str, value: Any
) -> Refused | None:
    if key not in properties or key not in answers:
        return Refused(BfclFault.UNEXPECTED, "", "nothing of this name is declared and expected")
    if language is not Language.PYTHON and not isinstance(value, str):
        return Refused(BfclFault.NOT_TEXT, "", f"{language} values are sent as text, was {value!r:.80}")
    expected = expected_of(language, properties[key])
    return refusal_of_value(_value(language, value, expected), expected, answers[key])


def _value(language: Language, value: Any, expected: Expected) -> Any:
    match language:
        case Language.PYTHON:
            return _as_float(value) if expected.outer is float and type(value) is int else value
        case Language.JAVA:
            return java_value(value, expected.declared, expected.items)
        case Language.JAVASCRIPT:
            return javascript_value(value, expected.declared, expected.items)
        case _:
            assert_never(language)


def _as_float(value: int) -> float | int:
    """The one conversion there is. What no float can hold stays as it is, and has then the wrong type."""
    try:
        return float(value)
    except OverflowError:
        return value
