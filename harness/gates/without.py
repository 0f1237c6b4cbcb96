"""The verdict where there is no gate: every difference fails, and nothing that was not seen passes."""

from __future__ import annotations

from typing import Final, assert_never

from harness.folds import worst_outcome
from harness.gates.exact import errors, on_both_sides, says_nothing
from harness.types.codes import Outcome
from harness.types.records import Comparison
from harness.types.review import GateVerdict

NOTHING: Final = "nothing to compare: no scenario is on both sides"
NO_BASE: Final = "the merge base has no scenario, so nothing was compared"
ALL_ERRORED: Final = "no run of the candidate came to anything but an error: nothing is known of the change"
ALL_STALE: Final = "every recording of the candidate is out of date: nothing is known of the change"


def without_gate(comparison: Comparison, *, empty_base: bool = False) -> GateVerdict:
    """Every difference fails where nobody says otherwise; a candidate of which all errored does not differ.

    ``empty_base``: see :func:`without_base`.
    """
    if empty_base:
        return GateVerdict(*without_base(comparison))
    match comparison.outcome:
        case Outcome.PASS:
            return _of_equal_runs(comparison)
        case Outcome.INVALID:
            return GateVerdict(Outcome.INVALID, NOTHING)
        case Outcome.FAIL | Outcome.ERROR | Outcome.INCONCLUSIVE | Outcome.NOT_APPLICABLE:
            nothing = nothing_known(comparison)
            beside = any(not on_both_sides(row) for row in comparison.scenarios)
            if nothing is not None and nothing[0] is Outcome.ERROR and not beside:
                return GateVerdict(*nothing)
            beside_that = not_run(comparison)
            more = f"; {beside_that[1]}" if beside_that else ""
            return GateVerdict(comparison.outcome, f"without a gate every difference fails{more}")
        case _:
            assert_never(comparison.outcome)


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


def without_base(comparison: Comparison) -> tuple[Outcome, str]:
    """The verdict without a gate where the base is known to have no scenario at all, as before the first ones came.

    One that does not pass keeps its outcome; else as :func:`of_new_ones`.
    """
    rows = comparison.scenarios
    bad = [one.outcome for row in rows for one in row.unpassed]
    if bad:
        n = sum(bool(row.unpassed) for row in rows)
        return worst_outcome(bad), f"{NO_BASE}: {n} of {len(rows)} new scenarios {_DO[n == 1]} not pass"
    return not_run(comparison) or of_new_ones(comparison)


def of_new_ones(comparison: Comparison) -> tuple[Outcome, str]:
    """PASS where a new scenario passes, and told that nothing was compared; INVALID where none does.

    It is no pass of nothing (INVARIANTS 31): those that pass were judged by their own checks.
    """
    rows = comparison.scenarios
    n_pass = sum(row.candidate is not None and row.candidate.outcome is Outcome.PASS for row in rows)
    if not n_pass or any(map(on_both_sides, rows)):
        return Outcome.INVALID, NOTHING
    return Outcome.PASS, f"{NO_BASE}: {n_pass} new scenario{_PASSES[n_pass == 1]} checks"


_DO: Final = ("do", "does")
_PASSES: Final = ("s pass their own", " passes its own")


def nothing_known(comparison: Comparison) -> tuple[Outcome, str] | None:
    """What it means that no run of the candidate on both sides says anything (INVARIANTS 31); None: one does."""
    both = [row for row in comparison.scenarios if on_both_sides(row)]
    if not both:
        return Outcome.INVALID, NOTHING
    if not all(map(says_nothing, both)):
        return None
    return (Outcome.ERROR, ALL_ERRORED) if any(map(errors, both)) else (Outcome.INVALID, ALL_STALE)


def not_run(comparison: Comparison) -> tuple[Outcome, str] | None:
    """What it means that planned runs were not run; None: all ran.

    FAIL where the candidate ran fewer of its own than the base. What the base did not run is not known: what the
    candidate does there is neither new nor the same.
    """
    sides = {"base": comparison.base_side, "candidate": comparison.candidate_side}
    n = {name: side.not_run if side else 0 for name, side in sides.items()}
    if not any(n.values()):
        return None
    of = "candidate" if n["candidate"] else "base"
    text = f"{n[of]} planned run{'' if n[of] == 1 else 's'} of the {of} {'was' if n[of] == 1 else 'were'} not run"
    return (Outcome.FAIL if n["candidate"] > n["base"] else Outcome.INCONCLUSIVE), text
