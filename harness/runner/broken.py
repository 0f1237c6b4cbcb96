"""Runs loops that are broken on purpose, and tells which checks accuse them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.mutants.lab import SCENARIOS, fields_of
from harness.mutants.loops import LOOPS, LoopMutant
from harness.mutants.plain import PlainLoop
from harness.protocols import Subject
from harness.runner.executing import execute
from harness.runner.specs import RunOptions, plan
from harness.runner.sweep import plan_sweeps, sweep_one
from harness.scenarios import scenario
from harness.subjects import BuiltInLoop, Ending, FunctionSubject
from harness.types.codes import Outcome


@dataclass(frozen=True, slots=True)
class LoopKill:
    """A loop, where it was run, and the checks that accuse it (none: it survived)."""

    mutant: str
    checks: tuple[str, ...]


def loop_kills(names: tuple[str, ...] | None = None) -> Iterator[LoopKill]:
    """Run every broken loop (or those named) where its fault shows."""
    for mutant in LOOPS.values():
        if names is None or mutant.name in names:
            yield LoopKill(mutant.name, accusers(mutant.subject(BuiltInLoop(), as_subject), mutant))


def accusers(subject: Subject, where: LoopMutant) -> tuple[str, ...]:
    """Checks that accuse a subject in the scenario (and the sweep) of a mutant, each once, in their order."""
    return accused(subject, where.scenario, where.sweep)


def accused(subject: Subject, name: str, sweep: str = "") -> tuple[str, ...]:
    """Checks that fail on one run of a scenario of the lab, or in a red cell of its sweep."""
    wanted = scenario(**fields_of(name))
    if sweep:
        (spec,) = plan_sweeps([wanted], RunOptions(), [sweep])
        found = [one.check for cell in sweep_one(spec, subject=subject).red for one in cell.findings]
    else:
        (run,) = plan([wanted], RunOptions())
        verdicts = execute(run, subject=subject).verdicts
        found = [verdict.check for verdict in verdicts if verdict.outcome is Outcome.FAIL]
    return tuple(dict.fromkeys(found))


def as_subject(loop: type[PlainLoop], name: str) -> Subject:
    """A loop over ``env`` as a subject."""
    return FunctionSubject(lambda env: loop(env, Ending).run(), name=name)


def false_alarms() -> list[str]:
    """What the sound loops are accused of in all the scenarios and sweeps of the broken ones; empty is right."""
    told = []
    for mutant in (
        LoopMutant("plain", "", "", loop=PlainLoop),
        LoopMutant("built-in", "", "", seam=lambda world: world),
    ):
        same = [one for one in LOOPS.values() if (one.loop is None) == (mutant.loop is None)]
        for name, sweep in dict.fromkeys((one.scenario, one.sweep) for one in same):
            found = accused(mutant.subject(BuiltInLoop(), as_subject), name, sweep)
            told += [f"{mutant.name}, {name}{f' swept with {sweep}' if sweep else ''}: {check}" for check in found]
    return told


__all__ = ["SCENARIOS", "LoopKill", "accused", "accusers", "as_subject", "false_alarms", "loop_kills"]
