"""The verdict where there is no gate: every difference fails, and nothing that was not seen passes."""

from __future__ import annotations

from typing import Final

from harness.gates.exact import errors, on_both_sides, says_nothing
from harness.types.codes import Outcome
from harness.types.records import Comparison
from harness.types.review import GateVerdict

NOTHING: Final = "nothing to compare: no scenario is on both sides"
ALL_ERRORED: Final = "no run of the candidate came to anything but an error: nothing is known of the change"
ALL_STALE: Final = "every recording of the candidate is out of date: nothing is known of the change"


def without_gate(comparison: Comparison) -> GateVerdict:
    """Every difference fails where nobody says otherwise; a candidate of which all errored does not differ."""
    match comparison.outcome:
        case Outcome.PASS:
            return _of_equal_runs(comparison)
        case Outcome.INVALID:
            return GateVerdict(Outcome.INVALID, NOTHING)
        case _:
            nothing = nothing_known(comparison)
            beside = any(not on_both_sides(row) for row in comparison.scenarios)
            if nothing is not None and nothing[0] is Outcome.ERROR and not beside:
                return GateVerdict(*nothing)
            return GateVerdict(comparison.outcome, "without a gate every difference fails")


def _of_equal_runs(comparison: Comparison) -> GateVerdict:
    """No difference, which is nothing where nothing ran, and not known of what the world kept from running."""
    nothing = nothing_known(comparison)
    if nothing is not None and nothing[0] is Outcome.ERROR:
        return GateVerdict(*nothing)
    found = not_run(comparison)
    if found is not None and found[0] is Outcome.FAIL:
        return GateVerdict(*found)
    n = sum(bool(errors(row)) for row in comparison.scenarios)
    if n:
        told = f"in {n} scenario{'' if n == 1 else 's'} the candidate came to an error"
        return GateVerdict(Outcome.ERROR, f"{told}: nothing is known of the change there")
    n = sum(any(one.stale and one.n_candidate for one in row.unpassed) for row in comparison.scenarios)
    if n:
        told = "1 recording is" if n == 1 else f"{n} recordings are"
        return GateVerdict(Outcome.INCONCLUSIVE, f"{told} out of date on both sides: nothing is known there")
    return GateVerdict(Outcome.PASS, "no difference") if found is None else GateVerdict(*found)


def nothing_known(comparison: Comparison) -> tuple[Outcome, str] | None:
    """What it means that no run of the candidate on both sides says anything (INVARIANTS 31); None: one does."""
    both = [row for row in comparison.scenarios if on_both_sides(row)]
    if not both:
        return Outcome.INVALID, NOTHING
    if not all(map(says_nothing, both)):
        return None
    return (Outcome.ERROR, ALL_ERRORED) if any(map(errors, both)) else (Outcome.INVALID, ALL_STALE)


def not_run(comparison: Comparison) -> tuple[Outcome, str] | None:
    """What it means that planned runs of the candidate were not run: FAIL where the base ran more; None: all ran."""
    base, candidate = comparison.base_side, comparison.candidate_side
    n = candidate.not_run if candidate else 0
    if not n:
        return None
    more = n > (base.not_run if base else 0)
    text = f"{n} planned run{'' if n == 1 else 's'} of the candidate {'was' if n == 1 else 'were'} not run"
    return (Outcome.FAIL if more else Outcome.INCONCLUSIVE), text
