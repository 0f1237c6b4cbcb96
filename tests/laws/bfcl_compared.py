"""One answer judged by BFCL's own checker and by us: whether they agree, and the class of a disagreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.evaluate.bfcl import BfclVerdict
from harness.evaluate.bfcl_values import BfclFault
from tests.laws.bfcl_answers import Answer

VALID = "valid"

REASONS: dict[str, BfclFault] = {
    "ast_decoder:decoder_failed": BfclFault.NOT_DECODED,
    "ast_decoder:decoder_wrong_output_format": BfclFault.NOT_AN_OBJECT,
    "irrelevance_error:decoder_success": BfclFault.UNWANTED_CALL,
    "relevance_error:decoder_failed": BfclFault.NO_CALL,
    "simple_function_checker:wrong_count": BfclFault.WRONG_COUNT,
    "multiple_function_checker:wrong_count": BfclFault.WRONG_COUNT,
    "parallel_function_checker_no_order:wrong_count": BfclFault.WRONG_COUNT,
    "parallel_function_checker_no_order:cannot_find_match": BfclFault.NO_MATCH,
    "simple_function_checker:wrong_func_name": BfclFault.WRONG_NAME,
    "simple_function_checker:missing_required": BfclFault.MISSING_REQUIRED,
    "simple_function_checker:missing_optional": BfclFault.MISSING_EXPECTED,
    "simple_function_checker:unexpected_param": BfclFault.UNEXPECTED,
    "type_error:java": BfclFault.NOT_TEXT,
    "type_error:js": BfclFault.NOT_TEXT,
    "type_error:simple": BfclFault.WRONG_TYPE,
    "type_error:nested": BfclFault.WRONG_ITEM_TYPE,
    "value_error:string": BfclFault.WRONG_TEXT,
    "value_error:list/tuple": BfclFault.WRONG_LIST,
    "value_error:list_dict_count": BfclFault.WRONG_LENGTH,
    "value_error:dict_key": BfclFault.WRONG_KEY,
    "value_error:dict_value": BfclFault.WRONG_KEY_VALUE,
    "value_error:others": BfclFault.WRONG_VALUE,
    "dict_checker:unclear": BfclFault.ONLY_LEFT_OUT,
    "list_dict_checker:unclear": BfclFault.ONLY_LEFT_OUT,
}
"""Its reasons, and ours for the same."""


def our_faults(verdict: BfclVerdict) -> list[BfclFault | None]:
    """The fault of a verdict and those of its closest; empty for a valid one."""
    return [] if verdict.valid else [verdict.fault, *(one.fault for one in verdict.closest)]


@dataclass(frozen=True)
class Compared:
    """An answer, what its checker said (``valid``, ``invalid`` with reasons, or ``raised``), and what we say."""

    answer: Answer
    theirs: tuple[str, ...]
    ours: BfclVerdict

    @property
    def ours_in_words(self) -> str:
        return VALID if self.ours.fault is None else self.ours.fault.name

    @property
    def theirs_in_words(self) -> str:
        return " ".join(self.theirs[:2]) if self.theirs[0] != "invalid" else self.theirs[1]

    @property
    def same_verdict(self) -> bool:
        return self.theirs[0] != "raised" and (self.theirs[0] == VALID) == self.ours.valid

    @property
    def same_reason(self) -> bool:
        """The same fault, and of expected calls that nothing fits the same fault of each call that was left."""
        faults = [REASONS.get(reason) for reason in self.theirs[1:]]
        return self.same_verdict and faults == our_faults(self.ours)


def class_of(found: Compared, classes: dict[str, dict[str, Any]]) -> str | None:
    """The first class whose conditions all hold; None for none."""
    facts = {
        "ours": found.ours_in_words,
        "theirs": found.theirs_in_words,
        "item": found.answer.item.id,
        "category": str(found.answer.item.category),
    }
    for name, entry in classes.items():
        if entry["when"] and all(facts[key] in wanted for key, wanted in entry["when"].items()):
            return name
    return None


def sorted_out(results: Sequence[Compared], classes: dict[str, dict[str, Any]]) -> tuple[Counter[str], list[Compared]]:
    """How many disagreements fell into each class, and those that fell into none."""
    counts: Counter[str] = Counter(dict.fromkeys(classes, 0))
    left = []
    for found in results:
        if not found.same_reason:
            name = class_of(found, classes)
            if name is None:
                left.append(found)
            else:
                counts[name] += 1
    return counts, left
