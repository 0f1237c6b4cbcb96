"""The item behind a case that was imported from BFCL, so that it can be graded by the benchmark's rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.evaluate.bfcl import BfclVerdict
from harness.evaluate.bfcl_values import BfclFault
from harness.matching import Called
from harness.types.bfcl import BfclCall, BfclCategory, BfclFunction, BfclItem
from harness.types.grades import Misfit, MisfitKind
from harness.types.jsontext import canonical_json

_KINDS: Final = {
    BfclFault.NOT_DECODED: MisfitKind.INVALID_ARGUMENTS,
    BfclFault.NOT_AN_OBJECT: MisfitKind.INVALID_ARGUMENTS,
    BfclFault.NOT_TEXT: MisfitKind.INVALID_ARGUMENTS,
    BfclFault.WRONG_TYPE: MisfitKind.INVALID_ARGUMENTS,
    BfclFault.WRONG_ITEM_TYPE: MisfitKind.INVALID_ARGUMENTS,
    BfclFault.UNWANTED_CALL: MisfitKind.UNWANTED,
    BfclFault.NO_CALL: MisfitKind.NO_CALL,
    BfclFault.WRONG_NAME: MisfitKind.WRONG_TOOL,
    BfclFault.MISSING_REQUIRED: MisfitKind.MISSING_ARGUMENT,
    BfclFault.MISSING_EXPECTED: MisfitKind.MISSING_ARGUMENT,
    BfclFault.UNEXPECTED: MisfitKind.EXTRA_ARGUMENT,
}
"""Our class of what the benchmark refuses; of all else it is a wrong value."""


def item_of_case(identity: str, record: Mapping[str, Any]) -> BfclItem:
    """The item of a case, from its field ``bfcl``: ``{category, functions: [{name, parameters}], truth: [{name: …}]}``.

    Names are those under which the tools are offered, so answers are graded with ``BfclNames.AS_WRITTEN``.
    """
    return BfclItem(
        id=identity,
        category=BfclCategory(record["category"]),
        messages=(),
        functions=tuple(
            BfclFunction(function["name"], "", canonical_json(function["parameters"]))
            for function in record["functions"]
        ),
        truth=tuple(
            BfclCall(name, canonical_json(answers)) for call in record["truth"] for name, answers in call.items()
        ),
    )


def misfit_of(item: BfclItem, calls: Sequence[Called], verdict: BfclVerdict) -> Misfit | None:
    """The benchmark's verdict on these calls as a difference of ours; None for a valid answer.

    Of an expected call that nothing fits, it is why a call of that name does not, where there is one.
    """
    if verdict.fault is None:
        return None
    if verdict.fault is BfclFault.WRONG_COUNT:
        return Misfit(_count_kind(len(calls), len(item.truth)), verdict.path, verdict.message)
    if verdict.fault is BfclFault.NO_MATCH:
        named = [one for one in verdict.closest if one.fault is not BfclFault.WRONG_NAME]
        return misfit_of(item, calls, (named or list(verdict.closest))[0])
    kind = _KINDS.get(verdict.fault, MisfitKind.WRONG_VALUE)
    if kind is MisfitKind.WRONG_TOOL and _unheard_of(item, calls, verdict):
        kind = MisfitKind.HALLUCINATED
    return Misfit(kind, verdict.path, verdict.message)


def _count_kind(n_made: int, n_expected: int) -> MisfitKind:
    if n_made == 0:
        return MisfitKind.NO_CALL
    return MisfitKind.EXTRA_CALL if n_made > n_expected else MisfitKind.MISSING_CALL


def _unheard_of(item: BfclItem, calls: Sequence[Called], verdict: BfclVerdict) -> bool:
    position = int(verdict.path.removeprefix("calls[").split("]")[0])
    offered = {name for function in item.functions for name in (function.name, function.name.replace(".", "_"))}
    return calls[position - 1].name not in offered
