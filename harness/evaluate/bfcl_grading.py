"""Cases of the public benchmark, graded by its own rules (``grading: bfcl``) in place of the matchers."""

from __future__ import annotations

from harness.errors import InvalidValueError
from harness.evaluate.bfcl import BfclNames, grade_bfcl
from harness.evaluate.bfcl_case import item_of_case, misfit_of
from harness.evaluate.decision import Decision
from harness.evaluate.pairing import hallucinated
from harness.types.evaluation import Case
from harness.types.grades import Misfit
from harness.types.jsontext import parse_json


def benchmark_misfits(case: Case, decision: Decision) -> tuple[Misfit, ...]:
    """What the benchmark refuses in a decision, one difference at most; nothing for what it counts as right.

    It knows only its own functions, by the evaluation's names. A call of a name that this case and arm do not offer
    is therefore no call of any of them, whatever it would count for: every such call is named, and nothing else.

    Raises InvalidValueError for a case without the benchmark's record, UnsupportedError for a category that is not
    judged by its calls.
    """
    record = None if case.bfcl is None else parse_json(case.bfcl)
    if not isinstance(record, dict):
        raise InvalidValueError(f"case {case.id!r} has no record 'bfcl', by which it is to be graded; import it anew")
    not_offered = tuple(hallucinated(call) for call in decision.calls if not call.offered)
    if not_offered:
        return not_offered
    item = item_of_case(case.id, record)
    misfit = misfit_of(item, decision.calls, grade_bfcl(item, decision.calls, BfclNames.AS_WRITTEN))
    return () if misfit is None else (misfit,)
