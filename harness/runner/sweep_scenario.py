"""The scenario that a sweep runs, and the file that shows a red cell again."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from harness.documents import dump_yaml
from harness.folds import place_text, requests_of, when_text
from harness.scenarios import follows_history, to_document
from harness.types.events import Trajectory
from harness.types.messages import ChatAssistant
from harness.types.records import Finding
from harness.types.scenario import Expectations, Injection, Scenario
from harness.types.script import ScriptBranch, ScriptEntry, ScriptFollows
from harness.types.sweeps import CellOutcome, SweepCell

WAIT_MS: Final = 1
"""How long an answer of a swept script takes at least, so that a cancel can meet a loop that waits for it."""
SWEEP_TAG: Final = "harness-sweep"
"""The tag of scenario files that show a red cell again."""
_NO_WHEN: Final = ("inside", "next-tick", "tick")


def bare(scenario: Scenario) -> Scenario:
    """The scenario without what it wants of an undisturbed run; no answer comes at once (see WAIT_MS)."""
    script = None if scenario.script is None else _waited_for(scenario.script)
    return replace(scenario, script=script, expect=Expectations(), allow_leftovers=True, covers=(), title="", skip=None)


def answered_anew(scenario: Scenario, reference: Trajectory) -> Scenario:
    """The scenario with a script that follows the history, where the reference asked once for each answer.

    Then a loop that begins anew after a failure is answered as it was at first, and is seen to run its tools again.
    """
    asked = [sum(isinstance(one, ChatAssistant) for one in trace.messages) for trace in requests_of(reference)]
    once_each = asked == list(range(len(asked)))
    if not (once_each and follows_history(scenario.script or ())):
        return scenario
    return replace(scenario, script_follows=ScriptFollows.HISTORY)


def _waited_for(script: tuple[ScriptEntry, ...]) -> tuple[ScriptEntry, ...]:
    return tuple(map(_waited, script))


def _waited(entry: ScriptEntry) -> ScriptEntry:
    if isinstance(entry, ScriptBranch):
        return replace(entry, cases=tuple(replace(case, script=_waited_for(case.script)) for case in entry.cases))
    return replace(entry, delay_ms=max(entry.delay_ms, WAIT_MS))


def injection_text(injection: Injection | None) -> str:
    """``cancel, inside tool/start of 'slow'``."""
    if injection is None:
        return "nothing injected"
    row = SweepCell(injection, CellOutcome.VOID).row.split()
    what = " ".join(part for part in row if part not in _NO_WHEN)
    return f"{what}, {when_text(injection.at) or 'at'} {place_text(injection.at)}"


def cell_text(cell: SweepCell) -> str:
    """What was done to the run of a cell, in words: an injection, a limit, a kill, or nothing."""
    also = f" ({', '.join(cell.axes)})" if cell.axes else ""
    return f"{_done_text(cell)}{also}"


def _done_text(cell: SweepCell) -> str:
    if cell.killed is not None:
        return f"killed behind event {cell.killed - 1} and resumed" if cell.killed else "killed before its first event"
    if cell.release:
        return f"bodies end in the order {', '.join(cell.release)}"
    if cell.second is not None:
        return f"{injection_text(cell.injection)}, then {injection_text(cell.second)}"
    return injection_text(cell.injection) if cell.limit is None else f"limits.{cell.limit[0]} {cell.limit[1]}"


def reproduction(
    scenario: Scenario,
    injection: Injection | None,
    findings: tuple[Finding, ...],
    *,
    expect: Expectations = Expectations(),  # noqa: B008 - frozen
    done: SweepCell | None = None,
) -> str:
    """The text of a scenario file that shows the findings: a :func:`bare` scenario with the injection added.

    All checks that apply judge it; ``expect`` is what is wished of it where none of them would tell.
    """
    inject = scenario.inject if injection is None else (*scenario.inject, injection)
    title = f"{cell_text(done or SweepCell(injection, CellOutcome.RED))}: {findings[0].check}"
    named = replace(scenario, id=f"{scenario.id}-red", title=title, tags=(SWEEP_TAG,))
    return dump_yaml(to_document(replace(named, inject=inject, expect=expect)))
