"""What is shown of `scenario mutate`: what a scenario would not notice first, then counts by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from harness.report.text import counted, piece
from harness.types.codes import Outcome
from harness.types.mutating import MutantVerdict, Mutation

_LONGEST: Final = 70
_LONGEST_HINT: Final = 90
_WIDTH: Final = 100
_SHOWN: Final = 5
"""Mutants of one kind that are shown; the others are counted."""


def mutation_text(mutation: Mutation, outcome: Outcome, *, verbose: bool = False) -> str:
    """One line of outcome and counts, what nothing notices and what would, and a line for each kind.

    ``verbose`` shows every unnoticed mutant, and what notices the others.
    """
    lines = [f"{outcome}  {mutation.scenario}  {_counts(mutation)}"]
    if mutation.reference is not Outcome.PASS:
        return "\n".join(
            [*lines, f"  {piece(mutation.why, 3 * _LONGEST)}", "  A scenario must pass before it is mutated."]
        )
    unnoticed = [one for one in mutation.mutants if not one.noticed]
    lines += _unnoticed(mutation, unnoticed, verbose=verbose)
    lines += [f"  {line}" for line in _kinds(mutation)]
    if verbose:
        lines += [
            f"  noticed: {one.what} ({one.where}): {piece(one.message, _LONGEST)}"
            for one in mutation.mutants
            if one.noticed
        ]
    if mutation.advice:
        lines += ["  These fields would notice them (in place of those of the same name):"]
        lines += [f"    {line}" for line in mutation.advice.rstrip("\n").split("\n")]
    return "\n".join([*lines, *_left_out(mutation)])


def _counts(mutation: Mutation) -> str:
    if mutation.reference is not Outcome.PASS:
        return f"the run itself came to {mutation.reference}, so nothing was mutated"
    if not mutation.counted:
        return "nothing in the run could be made another"
    n = len(mutation.counted)
    return f"{counted(n, 'mutant')}, {mutation.n_noticed} noticed, {len(mutation.unnoticed)} not"


def _unnoticed(mutation: Mutation, unnoticed: Sequence[MutantVerdict], *, verbose: bool) -> list[str]:
    lines = []
    for kind, _, _ in mutation.by_kind:
        of_kind = [one for one in unnoticed if one.kind is kind]
        shown = of_kind if verbose else of_kind[:_SHOWN]
        allowed = " (allowed)" if kind in mutation.allowed else ""
        for one in shown:
            lines.append(f"  not noticed{allowed}: {one.what} ({one.where})")
            lines += _change_and_hint(one, mutation.advice, verbose=verbose)
        if len(shown) < len(of_kind):
            lines.append(f"  not noticed{allowed}: {len(of_kind) - len(shown)} more of {kind} (-v shows them)")
    return lines


def _change_and_hint(one: MutantVerdict, advice: str, *, verbose: bool) -> list[str]:
    """What was, what is instead, and what would notice it: on one line where they are short."""
    change, hint = _change(one), _hint(one, advice, verbose=verbose)
    if len(change) + len(hint) < _WIDTH:
        return [f"    {change}    {hint}"]
    return [f"    {change}", f"    {hint}"]


def _change(one: MutantVerdict) -> str:
    before, after = _around_the_difference(one.before, one.after)
    return f"{before or 'nothing'}  ->  {after or 'nothing'}"


def _around_the_difference(one: str, other: str) -> tuple[str, str]:
    """Both texts; of long ones the piece where they begin to differ."""
    same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if max(len(one), len(other)) <= _LONGEST or same < _LONGEST // 2:
        return piece(one, _LONGEST), piece(other, _LONGEST)
    start = same - _LONGEST // 3
    return "…" + piece(one[start:], _LONGEST), "…" + piece(other[start:], _LONGEST)


def _hint(one: MutantVerdict, advice: str, *, verbose: bool) -> str:
    """The fields that would notice it: whole where they are short, else where they can be read."""
    if not one.hint:
        return "no field of expect tells them apart: write a check of your own"
    text = one.hint.rstrip("\n")
    if "\n" not in text and len(text) <= _LONGEST_HINT:
        return f"would be noticed by  {text}"
    if verbose:
        return "would be noticed by  " + text.replace("\n", "\n    ")
    below = all(f"{name}:" in advice for name in one.fields)
    return f"would be noticed by  {', '.join(one.fields)} ({'below' if below else '-v shows it'})"


def _kinds(mutation: Mutation) -> list[str]:
    width = max((len(kind) for kind, _, _ in mutation.by_kind), default=0)
    rows = []
    for kind, noticed, there in mutation.by_kind:
        by = {name: None for one in mutation.mutants if one.kind is kind for name in one.noticed_by}
        told = f"{kind:<{width}}  {noticed} of {there} noticed"
        rows.append(told + (f" by {', '.join(by)}" if by else ""))
    return rows


def _left_out(mutation: Mutation) -> list[str]:
    lines = []
    if mutation.n_left_out:
        told = counted(mutation.n_left_out, "mutant")
        more = " or more" if mutation.n_left_out >= len(mutation.mutants) else ""
        lines.append(f"  left out: {told}{more} beyond the bound (--limit)")
    if mutation.n_unsound:
        lines.append(
            f"  left out: {counted(mutation.n_unsound, 'mutant')} that the run's own limits or context rule out"
        )
    if mutation.n_meant:
        lines.append(
            f"  left out: {counted(mutation.n_meant, 'mutant')} in another order, which the scenario leaves open"
        )
    return lines


def mutations_line(mutations: Sequence[Mutation], *, wall_ms: int) -> str:
    """All of them in one line."""
    n_tried = sum(one.reference is Outcome.PASS for one in mutations)
    n_mutants = sum(len(one.counted) for one in mutations)
    n_noticed = sum(one.n_noticed for one in mutations)
    share = f" ({100 * n_noticed // n_mutants} %)" if n_mutants else ""
    return (
        f"{n_tried} of {counted(len(mutations), 'scenario')} mutated: {counted(n_mutants, 'mutant')}, "
        f"{n_noticed} noticed{share}, {n_mutants - n_noticed} not, {wall_ms} ms"
    )
