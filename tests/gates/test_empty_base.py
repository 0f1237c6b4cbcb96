"""A base that is known to have no scenario: nothing is compared, and what its own checks say of each new one decides."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from harness.compare import About
from harness.gates import without_gate
from harness.types.codes import Outcome
from harness.types.gates import UNLESS_SAID, Gate, Quarantine
from harness.types.review import Rule, Severity
from tests.gates.lab import compared, judged, run, suite

PASS, FAIL, ERROR = Outcome.PASS, Outcome.FAIL, Outcome.ERROR
OPEN, INVALID = Outcome.INCONCLUSIVE, Outcome.INVALID
NEW_PASSES = Gate(exact=tuple((rule, Severity.PASS) for rule in UNLESS_SAID))


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        pytest.param([], PASS, id="all-pass"),
        pytest.param([{"open": ("answer",)}], OPEN, id="one-is-not-decided"),
        pytest.param([{"errors": ("endpoint",)}, {"open": ("answer",)}], ERROR, id="one-errored"),
        pytest.param([{"errors": ("endpoint",)}, {"fails": ("answer",)}], FAIL, id="one-fails"),
        pytest.param([{"outcome": INVALID}], INVALID, id="one-in-which-nothing-was-judged"),
    ],
)
def test_the_verdict_is_the_worst_of_the_new_ones_with_a_gate_and_without(broken: list[dict[str, Any]], outcome: Outcome) -> None:
    new = [run(f"s{n:03}", **(broken[n] if n < len(broken) else {})) for n in range(4)]
    found = compared([], new)
    assert without_gate(found, empty_base=True).outcome is outcome
    assert judged(found, empty_base=True).outcome is outcome
    assert without_gate(found, empty_base=True).text.startswith("the merge base has no scenario, so nothing was compared") is True


@pytest.mark.parametrize(
    "gate",
    [
        pytest.param(Gate(quarantine=(Quarantine("s000", "2026-12-31", "x", tuple(Rule)),)), id="held-back"),
        pytest.param(Gate(exact=tuple((rule, Severity.WARN if rule is Rule.NEW else Severity.FAIL) for rule in UNLESS_SAID)), id="only-warns"),
    ],
)
def test_a_gate_that_was_there_before_them_judges_the_new_ones(gate: Gate) -> None:
    found = compared([], [run("s000", fails=("answer",)), *suite(4)[1:]])
    verdict = judged(found, gate, empty_base=True)
    assert verdict.outcome is (PASS if gate.quarantine else INVALID), "a gate whose every rule here only warns cannot fail"
    assert without_gate(found, empty_base=True).outcome is FAIL


def test_only_who_knows_that_the_base_is_empty_may_say_so() -> None:
    found = compared([], suite(4))
    assert (without_gate(found).outcome, judged(found).outcome) == (INVALID, INVALID)


def test_nothing_at_all_is_no_pass_and_neither_is_a_run_that_was_planned_and_not_run() -> None:
    assert without_gate(compared([], []), empty_base=True).outcome is INVALID
    some = compared([], suite(2), (About(), About(0, 1)))
    assert without_gate(some, empty_base=True).outcome is FAIL


@pytest.mark.parametrize(
    "gate",
    [
        pytest.param(NEW_PASSES, id="nobody-asks-for-new-ones"),
        pytest.param(Gate(quarantine=(Quarantine("*", "2026-12-31", "x", tuple(Rule)),)), id="all-in-quarantine"),
    ],
)
def test_a_gate_that_cannot_fail_is_no_pass_here_either(gate: Gate) -> None:
    assert judged(compared([], suite(4)), gate, empty_base=True).outcome is INVALID


def test_a_scenario_without_any_check_is_no_pass() -> None:
    bare = dataclasses.replace(run("a"), verdicts=(), outcome=Outcome.NOT_APPLICABLE)
    assert without_gate(compared([], [bare]), empty_base=True).outcome is INVALID
