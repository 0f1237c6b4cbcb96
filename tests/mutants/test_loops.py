"""Broken loops are accused where their fault shows; the sound ones are accused of nothing there."""

import pytest

from harness.checks import CHECKS
from harness.mutants import MUTANTS, kills
from harness.mutants.lab import SCENARIOS
from harness.mutants.loops import LOOPS
from harness.runner.broken import false_alarms, loop_kills

KILLS = {kill.mutant: kill.checks for kill in loop_kills()}


def test_there_are_at_least_fifty_broken_loops_of_different_names():
    assert len(LOOPS) >= 50
    assert not set(LOOPS) & set(MUTANTS)


@pytest.mark.conformance("2", "28", "30", "42", "63", "64", "67", "89", "103")
@pytest.mark.parametrize("name", LOOPS)
def test_a_broken_loop_is_accused_where_its_fault_shows(name):
    assert KILLS[name], f"{name} ({LOOPS[name].about}) passes {LOOPS[name].scenario!r}"


def test_the_sound_loops_are_accused_of_nothing_in_the_same_scenarios_and_sweeps():
    assert false_alarms() == []


def test_every_scenario_of_the_lab_reveals_some_loop():
    assert {one.scenario for one in LOOPS.values()} == set(SCENARIOS)


@pytest.mark.parametrize("check", sorted(set(CHECKS) - {"provider_history"}))  # its docstring says why it is there
def test_each_check_refuses_a_mutant_that_no_other_refuses(check):
    refused = {name: set(checks) for name, checks in KILLS.items()}
    for kill in kills():
        refused.setdefault(f"trajectory:{kill.mutant}", set()).update(kill.checks)
    assert {check} in refused.values()
